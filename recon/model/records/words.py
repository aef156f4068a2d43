"""The closed vocabularies: every state, kind and finding has one spelling, in code, tables and on screens.

Never holds behaviour; a record or a rule decides what a word leads to.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NewType

AccountId = NewType("AccountId", str)
IntentKey = NewType("IntentKey", str)
RefundId = NewType("RefundId", str)
Subject = NewType("Subject", str)
CaseId = NewType("CaseId", str)
RunId = NewType("RunId", str)
Actor = NewType("Actor", str)


class IntentStatus(StrEnum):
    """What an intent says of itself."""

    PENDING = "pending"  # Written down; perhaps sent, no answer recorded.
    DONE = "done"  # The provider accepted the refund, or so the tool believes.
    PENDING_UNKNOWN = "pending_unknown"  # Sent, and nobody knows what became of it.
    FAILED = "failed"  # Refused; the money did not move, or so the tool believes.
    CANCELLED = "cancelled"  # Given up before anything was sent.


# Of these nobody knows the end: runs heal them, the guarded tool looks them up, people settle them.
UNSETTLED = (IntentStatus.PENDING, IntentStatus.PENDING_UNKNOWN)


class RefundStatus(StrEnum):
    """The provider's status of a refund. Source: Stripe, the refund object."""

    PENDING = "pending"  # On its way, the bank has not answered.
    REQUIRES_ACTION = "requires_action"  # The customer has to give bank data first.
    SUCCEEDED = "succeeded"  # Accepted; it can still become failed about 30 days later.
    FAILED = "failed"  # The money came back to us.
    CANCELED = "canceled"  # Called back before it left.


# A refund that is dead moved no money in the end; any other is live, also under a word that we do not know.
DEAD = (RefundStatus.FAILED, RefundStatus.CANCELED)
# Of what is live, what the provider has not finished.
ON_ITS_WAY = (RefundStatus.PENDING, RefundStatus.REQUIRES_ACTION)
# How far a refund has come: of several words about one, the furthest is the latest.
PROGRESS: Mapping[str, int] = {
    RefundStatus.PENDING: 0,
    RefundStatus.REQUIRES_ACTION: 1,
    RefundStatus.SUCCEEDED: 2,
    RefundStatus.FAILED: 3,
    RefundStatus.CANCELED: 3,
}
NO_PROGRESS = -1  # A word that we do not know says less than any that we do.


class Basis(StrEnum):
    """Why a refund is said to belong to an intent, strongest first."""

    OPERATOR = "operator"  # A person linked them.
    INTENT_KEY = "intent_key"  # The refund's metadata names the intent's key.
    REFUND_ID = "refund_id"  # The intent recorded this refund's id.
    REQUEST_KEY = "request_key"  # The request that made the refund carried the intent's key.
    INFERRED = "inferred"  # Same payment, amount, currency and time: weak, never heals.


class Kind(StrEnum):
    """What sort of disagreement a mismatch is, in the order of every report."""

    DUPLICATE = "duplicate"  # The customer has the money more than once, or seems to.
    CURRENCY_MISMATCH = "currency_mismatch"  # Refunded in another currency than intended.
    AMOUNT_MISMATCH = "amount_mismatch"  # Refunded more or less than intended.
    STATUS_MISMATCH = "status_mismatch"  # We say it did not happen; the provider paid.
    REFUND_FAILED = "refund_failed"  # We say done; the money came back.
    MISSING = "missing"  # We say done; the provider knows of no refund.
    STUCK = "stuck"  # Nobody knows, and too long already.
    OVERDUE = "overdue"  # The provider has had it pending for too long.
    ORPHAN = "orphan"  # Money went back that no intent asked for.


class Certainty(StrEnum):
    """Whether a mismatch is proved or only likely."""

    CONFIRMED = "confirmed"  # The books prove it.
    PROBABLE = "probable"  # A person has to look.


class Finding(StrEnum):
    """What was found at the provider for a stuck intent."""

    LANDED = "landed"  # Strongly linked refunds exist, but a run may not finish it by itself.
    PROBABLE = "probable"  # A refund that fits exists; nothing ties it to this intent.
    FAILED = "failed"  # Only refunds that failed or were canceled.
    ABSENT = "absent"  # Read completely, and nothing is there.
    UNKNOWN = "unknown"  # Not enough was read, or not enough is known, to say.


class Direction(StrEnum):
    """Which way an amount is off."""

    OVER = "over"  # More went back than intended.
    UNDER = "under"  # Less went back than intended.


class Verdict(StrEnum):
    """The one word of a result or a run, worst first."""

    INCOMPLETE = "incomplete"  # Something was not read: absence proves nothing.
    BREAKS = "breaks"  # Read completely, and there are mismatches.
    RECONCILED_WITH_PENDING = "reconciled_with_pending"  # No mismatch; some are too young or healable.
    RECONCILED = "reconciled"  # Everything agrees.


class CaseState(StrEnum):
    """Where a case stands."""

    OPEN = "open"  # Nobody has answered.
    ACKNOWLEDGED = "acknowledged"  # Somebody is at it.
    RESOLVED = "resolved"  # A person says the next run will agree.
    ACCEPTED = "accepted"  # A person lives with it until a date.
    CLEARED = "cleared"  # A complete run saw agreement.


class Action(StrEnum):
    """What an entry says was done to a case."""

    OPENED = "opened"  # A run saw the mismatch for the first time.
    CHANGED = "changed"  # A run saw other evidence of the same kind.
    RECLASSIFIED = "reclassified"  # A run saw another kind of mismatch on the same subject.
    REOPENED = "reopened"  # A run saw it again or saw other evidence, or a person took a decision back.
    REGRESSED = "regressed"  # A run saw again what a person had resolved.
    CLEARED = "cleared"  # A complete run saw agreement, or the rows are gone.
    HEALED = "healed"  # A run finished the intent from the provider's proof.
    ACKNOWLEDGED = "acknowledged"  # A person took it on.
    ASSIGNED = "assigned"  # A person, or changed rules, gave it another owner.
    COMMENTED = "commented"  # A person wrote something down.
    RESOLVED = "resolved"  # A person settled it, with a code and a reason.
    ACCEPTED = "accepted"  # A person lives with it until a date.
    SNOOZED = "snoozed"  # A person looks at it again from a date on; it stays theirs.
    ADOPTED = "adopted"  # A person made its refund an intent of ours.
    LINKED = "linked"  # A person said which intent a refund belongs to.
    UNLINKED = "unlinked"  # A person took that back.
    LOOKED = "looked"  # A person asked the provider again; the answer is in the reason.
    CONFIRMED = "confirmed"  # A person settled a stuck intent as done by a refund that the provider showed.
    REFUTED = "refuted"  # A person settled a stuck intent as not refunded, after a complete look.
    PROPOSED = "proposed"  # A person wants a move that a second person must approve.
    DECLINED = "declined"  # A second person said no, or who proposed it took it back.


class Resolution(StrEnum):
    """How a person settled a case."""

    RECOVERED = "recovered"  # The money was got back, or paid out at last.
    WRITTEN_OFF = "written_off"  # The loss is accepted.
    LEGITIMATE_REPEAT = "legitimate_repeat"  # Both refunds were meant.
    FIXED_AT_PROVIDER = "fixed_at_provider"  # Put right in the provider's own dashboard.
    FALSE_ALARM = "false_alarm"  # There was nothing wrong.


class Severity(StrEnum):
    """How soon somebody must look, worst first."""

    CRITICAL = "critical"  # Wakes somebody.
    HIGH = "high"  # Today.
    MEDIUM = "medium"  # This week.
    LOW = "low"  # When there is time.


class NoticeState(StrEnum):
    """What is known of an outgoing message."""

    WAITING = "waiting"  # Committed, not yet sent.
    SENDING = "sending"  # Claimed by a sender; if the claim lapses, unknown.
    UNKNOWN = "unknown"  # Sent, no usable answer: look before sending again.
    SENT = "sent"  # Slack has it, and we know its timestamp.
    UNDELIVERABLE = "undeliverable"  # Refused for good, or given up after the limit.


class Role(StrEnum):
    """What an operator may do at the desk."""

    VIEWER = "viewer"  # Reads.
    OPERATOR = "operator"  # Acts on cases.
    APPROVER = "approver"  # Also approves what another proposed.
    ADMIN = "admin"  # Also manages operators and switches.


class ProposalState(StrEnum):
    """Where a move that takes two people stands; whatever is no longer open stays as it is."""

    OPEN = "open"  # It waits for a second person.
    APPROVED = "approved"  # Somebody else approved it, and the move was made.
    DECLINED = "declined"  # Somebody else declined it, or who proposed it took it back.
    VOID = "void"  # Its case moved otherwise before anybody answered.
