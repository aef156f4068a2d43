"""One pass of the job: its lease, what it read of each account, and what it left behind."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recon.model.records.words import AccountId, RunId, Verdict

HOUR = "hour"  # The name of the lease that a pass holds; a decision at the desk names its newest fence.


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write for a while.

    fence: grows with every taking; every later write checks that it is still the newest.
    """

    name: str
    holder: str
    fence: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Account:
    """What the mirror knows of one account at the provider.

    account: "" is the platform's own. livemode: None before the first pull. covered_from: the earliest
    creation time read without a gap up to watermark_at; both None before the first complete pull.
    """

    account: AccountId
    livemode: bool | None = None
    covered_from: datetime | None = None
    watermark_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cursors:
    """How far an account's other readings are; None before the first.

    relist_at: creation time from which the rolling re-list goes on. events_at: up to where events were read.
    """

    relist_at: datetime | None = None
    events_at: datetime | None = None


class Slice(NamedTuple):
    """A part of an account's window that was read to its end, both ends included.

    read_at: the provider's time before its first page was asked for.
    """

    from_at: datetime
    to_at: datetime
    read_at: datetime


@dataclass(frozen=True, slots=True)
class AccountReading:
    """What one run read of one account: a window, and whether all of it.

    refunds: read. changed: of those, new or really different. error: why it is incomplete, else None.
    """

    account: AccountId
    from_at: datetime
    to_at: datetime
    complete: bool
    pages: int
    refunds: int
    changed: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where an account's intents begin.

    earliest: when its first intent was created; None where there is none. older: live refunds made before
    that, or all of them; those that the provider made by itself are left out.
    """

    account: AccountId
    earliest: datetime | None
    older: int


@dataclass(frozen=True, slots=True)
class Older:
    """What of an account is older than what is judged, and therefore withheld.

    intents, refunds: how many. covered_from: from when its refunds were read. intents_from: from when its
    intents count; None is from ever. earliest: when the first intent of them, or of all that were read, was
    created.
    """

    account: AccountId
    intents: int
    refunds: int
    covered_from: datetime
    intents_from: datetime | None
    earliest: datetime


@dataclass(frozen=True, slots=True)
class Backfill:
    """An older window that a run is asked to read as well, both ends included.

    accounts: of which; None is all of them. notify: whether somebody is told of the cases that it opens.
    """

    from_at: datetime
    to_at: datetime
    accounts: tuple[AccountId, ...] | None = None
    notify: bool = False


@dataclass(frozen=True, slots=True)
class ReadBack:
    """An older window that was read of one account on purpose.

    before: from when its refunds were read without a gap until then. covered_from: the same after it; None
    where they never were. unread: rows of it that cannot be judged.
    """

    reading: AccountReading
    before: datetime
    covered_from: datetime | None
    unread: int

    @property
    def joined(self) -> bool:
        """Return whether the window reaches what is covered, so that all of it is judged."""
        return self.covered_from is not None and self.covered_from <= self.reading.from_at


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of the job.

    fence: of its lease. as_of: the provider's time that everything was judged at. mark: the touch number up
    to which this run saw everything. policy_digest: of the graces and the coverage it judged with; another
    one makes the next run a full diff. counts, at_risk: the result's; counts also keep from when it judged
    each account, and what is older. changes: cases moved; heals: intents finished. full: everything was read,
    not only what was touched. heads_digest: how many entries are sealed after the save, and a hash over
    this run's and the digest before.
    """

    id: RunId
    fence: int
    started_at: datetime
    finished_at: datetime
    as_of: datetime
    verdict: Verdict
    mark: int
    policy_digest: str
    full: bool
    counts: Mapping[str, object]
    at_risk: Mapping[str, int]
    opened: int
    cleared: int
    healed: int
    accounts: tuple[AccountReading, ...]
    heads_digest: str | None = None
