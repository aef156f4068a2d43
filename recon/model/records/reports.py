"""What a report for people says beside the result: what was read, how it was judged, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum

from recon.model.records.comparisons import Comparison
from recon.model.records.results import Money, Policy, Reading, Result
from recon.model.records.words import AccountId, Subject


@dataclass(frozen=True, slots=True)
class Side:
    """One side as it was read.

    name: "intents" or "refunds". sources: the files' names. read: all rows; the next five add up to them.
    standing: rows that were compared. superseded: rows that another version of the same refund or intent
    replaced. duplicates: rows that equal another. left_out: rows that a map's filters keep out, records of
    other tables and charges with nothing refunded. rejected: rows that cannot be judged.
    first_at, last_at: the earliest and latest creation among standing rows, None where there are none.
    reading: what the options say of it. notes: sentences about how it was read.
    """

    name: str
    sources: tuple[str, ...]
    read: int
    standing: int
    superseded: int
    duplicates: int
    left_out: int
    rejected: int
    first_at: datetime | None
    last_at: datetime | None
    reading: Reading
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """Rows of one side, currency and status that were compared.

    side: "intents" or "refunds". status: in words. is_sum: whether it is of several statuses, each of which
    has a total of its own.
    """

    side: str
    status: str
    number: int
    amount: Money
    is_sum: bool = False


class StepRole(StrEnum):
    """What a line of the bridge is."""

    BEGINS = "begins"  # What our records call done.
    DIFFERS = "differs"  # Why what went back is another sum.
    ENDS = "ends"  # What went back, or will.


@dataclass(frozen=True, slots=True)
class Step:
    """One line of one currency's bridge from what our records call done to what went back.

    name: in words. number: how many intents or refunds are on it, of: which of the two. amount: of a
    difference what it adds, which may be less than nothing.
    """

    name: str
    role: StepRole
    number: int
    of: str
    amount: Money


@dataclass(frozen=True, slots=True)
class Report:
    """One result with all that a page about it says.

    linked: refunds that belong to an intent. came_to_nothing: refunds that belong to none, are not the
    provider's own, and failed or were canceled: no money moved. made: standing refunds by the quarter of an
    hour in which they were made, in time order. zone: of the times that people read.
    policy_from: where the graces come from, in words. hints: sentences about what may be wrong with the files
    rather than with the money. Only in forms for people: totals, of each side; bridge, from one to the other;
    why_withheld, why each withheld subject was not judged.
    """

    result: Result
    policy: Policy
    policy_from: str
    intents: Side
    refunds: Side
    linked: int
    came_to_nothing: int
    made: tuple[tuple[datetime, int], ...]
    zone: tzinfo
    zone_name: str
    comparison: Comparison | None = None
    hints: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    bridge: tuple[Step, ...] = ()
    why_withheld: Mapping[tuple[AccountId, Subject], str] = field(default_factory=dict)
