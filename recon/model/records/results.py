"""What the diff takes beside its two frames, and what it gives back.

Never holds a row of a frame: crowds are frames, a mismatch is an individual.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recon.model.records.words import (
    AccountId,
    Basis,
    Certainty,
    Direction,
    Finding,
    IntentKey,
    Kind,
    RefundId,
    Subject,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency.

    amount_minor: the currency's minor units as the provider counts them. currency: lower-case code.
    """

    amount_minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class Policy:
    """How long each kind of disagreement may last before it is a mismatch, and whether runs heal.

    A rule fires when age >= its grace. Every default is explained in config/recon.toml.
    """

    stuck_after: timedelta = timedelta(minutes=60)
    missing_after: timedelta = timedelta(minutes=15)
    orphan_after: timedelta = timedelta(minutes=15)
    duplicate_window: timedelta = timedelta(hours=24)
    repeat_window: timedelta = timedelta(days=30)
    inferred_window: timedelta = timedelta(hours=24)
    clock_skew: timedelta = timedelta(seconds=5)
    provider_pending_after: timedelta = timedelta(days=7)
    healing: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of one side of one account.

    from_at: the earliest time read; None is everything there ever was. to_at: the latest; None is up to
    as_of. complete: False when a page between the two failed, or nobody can prove that none did.
    """

    from_at: datetime | None = None
    to_at: datetime | None = None
    complete: bool = True


WHOLE = Reading()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was read, per account and side; an account that is not named was read like `default_*`.

    older_is_outside: what is older than a reading that is complete by itself is nobody's question: it is
    withheld and listed as `older`, and the result is not incomplete for it. An intent that was last sent
    before the reading began, and to which nothing is linked, is then withheld as well, not stuck.
    """

    refunds: Mapping[AccountId, Reading] = field(default_factory=dict)
    intents: Mapping[AccountId, Reading] = field(default_factory=dict)
    default_refunds: Reading = WHOLE
    default_intents: Reading = WHOLE
    older_is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that cannot be judged, kept with its source.

    source: file or table. row: from 1, without the header. id: the refund id or intent key, when it has one.
    account: when it could be read, else "". reason: one sentence. names: the intent keys a rejected refund
    names, or the refund ids a rejected intent names: what it touches is withheld. payments: the PaymentIntent
    and the charge, or the intent's payment: only to be said of what else is on them; neither written nor
    stored, so that a stored reject equals the one it was. Never carries amounts or customer data.
    """

    source: str
    row: int
    id: str | None
    reason: str
    account: AccountId = AccountId("")
    names: tuple[str, ...] = ()
    payments: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One disagreement about one subject, with its evidence. At most one per (account, subject).

    intent_key: of a refund subject, the key its metadata names, if any. payment: the PaymentIntent, or the
    charge where no PaymentIntent is known. refund_ids: all that take part, in time order; extra_refund_ids:
    those beyond what should stand. finding: only for stuck. direction: only for amount_mismatch. diagnosis: a
    likely cause, if one can be named. since: when the disagreement began. why: one sentence a person can act
    on. reason: the provider's, of the first refund that is extra, else of the first that takes part.
    """

    kind: Kind
    certainty: Certainty
    account: AccountId
    subject: Subject
    at_risk: Money
    since: datetime
    why: str
    finding: Finding | None = None
    intent_key: IntentKey | None = None
    order_id: str | None = None
    customer_id: str | None = None
    tool: str | None = None
    team: str | None = None
    payment: str | None = None
    refund_ids: tuple[RefundId, ...] = ()
    extra_refund_ids: tuple[RefundId, ...] = ()
    direction: Direction | None = None
    diagnosis: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class InFlight:
    """A subject about which nothing is wrong yet: what it becomes, and when, if nothing changes."""

    account: AccountId
    subject: Subject
    becomes: Kind
    breaks_at: datetime


@dataclass(frozen=True, slots=True)
class Healable:
    """An intent that a run may finish by itself, and the refund that proves it."""

    account: AccountId
    intent_key: IntentKey
    refund_id: RefundId
    basis: Basis


@dataclass(frozen=True, slots=True)
class Due:
    """When a subject must be judged again even if no row of it changes.

    becomes: what it is then, of a subject in flight; None where it is looked at for another reason.
    """

    account: AccountId
    subject: Subject
    at: datetime
    becomes: Kind | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of what; intents and refunds are standing rows. mismatches lists every kind, zeros too."""

    intents: int
    refunds: int
    matched: int
    matched_inferred: int
    declared_repeats: int
    in_flight: int
    healable: int
    system: int
    withheld: int
    rejected: int
    superseded: int
    unknown_status: int
    mismatches: Mapping[Kind, int]


@dataclass(frozen=True, slots=True)
class Result:
    """What the diff found, in stable order.

    mismatches: by kind in report order, account, subject. in_flight: by account, subject. healable: by
    account, key. rejected: by source, row. withheld: (account, subject) pairs that were not judged. due: when
    to judge again. incomplete: sentences that say which side was not read completely, for people. older:
    those of the withheld that are only older than what was read, where coverage says that this is outside.
    """

    as_of: datetime
    verdict: Verdict
    counts: Counts
    at_risk: Mapping[str, int]
    mismatches: tuple[Mismatch, ...]
    in_flight: tuple[InFlight, ...]
    healable: tuple[Healable, ...]
    rejected: tuple[Reject, ...]
    withheld: tuple[tuple[AccountId, Subject], ...]
    due: tuple[Due, ...]
    incomplete: tuple[str, ...] = ()
    older: tuple[tuple[AccountId, Subject], ...] = ()
