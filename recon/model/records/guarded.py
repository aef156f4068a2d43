"""What the guarded tool speaks of: what is wanted, what came of asking, and what a model is told.

Never holds a decision: rules/keys.py, rules/answers.py and rules/guarding.py make them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Money
from recon.model.records.words import AccountId, IntentKey, IntentStatus


class OutcomeStatus(StrEnum):
    """What a call of a guarded tool came to."""

    DONE = "done"  # This call did it.
    ALREADY_DONE = "already_done"  # An earlier call did it; nothing was sent by this one.
    PENDING_UNKNOWN = "pending_unknown"  # It was sent, by this or an earlier call, and nobody knows yet.
    REJECTED = "rejected"  # Certainly not done, by this or any earlier call, or not to be done again.
    DISABLED = "disabled"  # The kill switch is thrown, and nothing was ever sent.


class AnswerKind(StrEnum):
    """What one request to the provider, or its absence, means for what was to be done."""

    DONE = "done"  # It is done, and the answer names it.
    DEAD = "dead"  # It was done and came to nothing: the answer names what is left of it.
    REFUSED = "refused"  # This request did nothing, and the same again would do nothing either.
    NOT_SENT = "not_sent"  # Nothing left this machine: the same request later is a first one.
    TURNED_AWAY = "turned_away"  # It says that nothing was executed or kept: the same may be sent later.
    LIMITED = "limited"  # As turned away, because of a rate limit: the same request may follow soon.
    TAKEN = "taken"  # This request did nothing, because the money has gone: perhaps by our own earlier call.
    UNKNOWN = "unknown"  # It may be done or not: look.


class FindingKind(StrEnum):
    """What a look-up found."""

    LIVE = "live"  # It is done.
    DEAD = "dead"  # It was done and came to nothing.
    ABSENT = "absent"  # Everything was read, and it is not there.
    UNPROVED = "unproved"  # Whoever could be asked has answered, which proves nothing.
    UNREADABLE = "unreadable"  # Nobody answered, or not to the end, which proves nothing.


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back on one request that makes a refund. Source: the provider, or the wire.

    status: of HTTP; None where no answer came. refund: that the answer shows. refused: whether it is an error
    in the provider's own words, under its request's number. code, kind, param: its words in it. said: why
    there is no refund, without secrets. replayed: the answer is a kept one, of an earlier request with the
    same key. retry_after_seconds: None where nobody said. unsent: nothing left this machine.
    """

    status: int | None = None
    refund: Refund | None = None
    refused: bool = False
    code: str | None = None
    kind: str | None = None
    param: str | None = None
    said: str = ""
    replayed: bool = False
    retry_after_seconds: float | None = None
    unsent: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request came to.

    said: a sentence for people. id: of what was made, where it was. state: the provider's word for how that
    stands. replayed: it says how things stood when the first request with this key was answered.
    """

    kind: AnswerKind
    said: str = ""
    id: str | None = None
    state: str | None = None
    retry_after_seconds: float | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look-up found.

    id, state: of what was looked for. said: why nothing can be said. others: what stands in the same place
    under another key or none, live. money: that went back by it; None where nobody says.
    """

    kind: FindingKind
    id: str | None = None
    state: str | None = None
    said: str = ""
    others: tuple[Refund, ...] = ()
    money: Money | None = None


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why something cannot be asked for.

    reason: one sentence that says what was expected and what was found. for_person: nobody who asks again
    makes it better, because code or the books gave it.
    """

    reason: str
    for_person: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """One side effect that somebody decided on.

    noun: for messages, as "refund of 49.00 USD for order 8812". key: the same for every call of one decision.
    fingerprint: what the same key must always come with, as texts. body: what is sent, exactly. intent: its
    row among the intents, for what the hour compares with the provider's books; None for effects that are
    none of its business.
    """

    tool: str
    noun: str
    account: AccountId
    key: IntentKey
    fingerprint: Mapping[str, str]
    body: Mapping[str, object]
    intent: Intent | None = None

    @property
    def payment(self) -> str | None:
        """Return the payment that money goes back from; None where it is none of our business."""
        return None if self.intent is None else self.intent.payment


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: who asked, and for what in their words. Recorded, and never part of a key."""

    call_id: str | None = None
    caller: str | None = None
    words: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Guarded:
    """What is known of one side effect. Source: the tables guarded and intents.

    status: the intent's own where there is one, because runs and people settle intents too. result_id: what
    was made. body: what is sent, exactly. payment: of the intent; on one payment nothing is sent while
    another intent of it is unsettled. first_sent_at, sent_at: of the first request and of the latest; None
    while nothing was sent, whatever was answered. sends: requests that may have been executed; 0 with a
    first_sent_at where the provider says that none was. misses: complete look-ups since the
    latest of these that found nothing, each a while after the one before; missed_at: the latest of them.
    next_at: not swept before. refusal: what the provider said when it refused. holder, until, fence: who
    alone may send, until when, and how often that changed hands; until is in the past where nobody may.
    """

    account: AccountId
    key: IntentKey
    tool: str
    status: IntentStatus
    fingerprint: Mapping[str, str]
    body: Mapping[str, object]
    created_at: datetime
    updated_at: datetime
    next_at: datetime
    until: datetime
    payment: str | None = None
    result_id: str | None = None
    first_sent_at: datetime | None = None
    sent_at: datetime | None = None
    sends: int = 0
    misses: int = 0
    missed_at: datetime | None = None
    refusal: str | None = None
    holder: str = ""
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call is told.

    message: for the model, one instruction. intent_key: None where nothing could be made of what was asked.
    refund_id: of what stands, or of what came to nothing. is_refund: that is a refund; a model is told of the
    id of anything else as "id". others: of the same order, where it was asked for.
    """

    status: OutcomeStatus
    message: str
    intent_key: IntentKey | None = None
    refund_id: str | None = None
    others: "tuple[Outcome, ...]" = ()
    is_refund: bool = True

    def to_model(self) -> dict[str, object]:
        """Return what a model sees: status and message; refund_id, or id, and others where there are any."""
        told: dict[str, object] = {"status": str(self.status), "message": self.message}
        if self.refund_id is not None:
            told["refund_id" if self.is_refund else "id"] = self.refund_id
        if self.others:
            told["others"] = [each.to_model() for each in self.others]
        return told


@dataclass(frozen=True, slots=True)
class Settled:
    """What one sweep did: how many were looked up, and how many of them became what.

    unknown: those of which nobody knows still. unreadable: those for which nobody answered.
    """

    looked: int = 0
    done: int = 0
    failed: int = 0
    unknown: int = 0
    unreadable: int = 0
    cancelled: int = 0

    def __add__(self, other: "Settled") -> "Settled":
        """Return what this sweep and another did."""
        return Settled(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))
