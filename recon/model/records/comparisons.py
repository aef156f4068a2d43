"""Two results of the diff beside each other: what was there before, what is there now."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recon.model.records.results import Money
from recon.model.records.words import AccountId, Kind, RefundId, Subject, Verdict

Pair = tuple[AccountId, Subject]


class Standing(StrEnum):
    """What became of one subject between two results, in the order of every report."""

    NEW = "new"  # Only the later result has it.
    PERSISTING = "persisting"  # Both have it, as the same kind.
    RECLASSIFIED = "reclassified"  # Both have it, as another kind.
    RESOLVED = "resolved"  # Only the earlier result has it; Compared.now_is says why it is gone.
    NOT_JUDGED = "not_judged"  # Only the earlier result has it, and this time nobody could see it.


class NowIs(StrEnum):
    """Why a subject is no mismatch any more."""

    NO_MISMATCH = "no mismatch"  # Its rows were read, and nothing is wrong with them.
    IN_FLIGHT = "in flight"  # Too young to judge, under other graces or with another row.
    HEALABLE = "healable"  # A run finishes it by itself.
    NOT_JUDGED = "not judged"  # Withheld: not enough was read; or a row that it rests on was rejected.
    NOT_READ = "not in these files"  # No row of it was compared, or of a refund that took part in it.


@dataclass(frozen=True, slots=True)
class Seen:
    """How one result saw a subject. refund_ids: the refunds that took part in it."""

    kind: Kind
    at_risk: Money
    refund_ids: tuple[RefundId, ...] = ()


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a former report says. source: its file. seen: by account and subject."""

    source: str
    as_of: datetime
    verdict: Verdict
    seen: Mapping[Pair, Seen]


@dataclass(frozen=True, slots=True)
class Rows:
    """Which subjects of an earlier result, and which refunds in them, a later one has rows of.

    standing: those that were compared. rejected: those with a row that could not be judged.
    """

    standing: frozenset[Pair]
    rejected: frozenset[Pair]


@dataclass(frozen=True, slots=True)
class Compared:
    """One subject in two results. before, now: None where that result has no mismatch of it.

    now_is: only where it is resolved or not judged.
    """

    standing: Standing
    account: AccountId
    subject: Subject
    before: Seen | None
    now: Seen | None
    now_is: NowIs | None = None

    @property
    def changed_amount(self) -> bool:
        """Return whether both results have it and another amount, or currency, is at risk."""
        return self.before is not None and self.now is not None and self.before.at_risk != self.now.at_risk


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every subject of two results, by standing, account and subject.

    Of the earlier result's mismatches each is persisting, reclassified, resolved or not judged; of the later
    one's each is persisting, reclassified or new.
    """

    earlier: Earlier
    subjects: tuple[Compared, ...]

    def of(self, *standings: Standing) -> tuple[Compared, ...]:
        """Return those of these standings, in the same order."""
        return tuple(each for each in self.subjects if each.standing in standings)

    def at_risk(self, *standings: Standing) -> tuple[dict[str, int], dict[str, int]]:
        """Return what was at risk in these before and what is now, each per currency, in minor units."""
        before: Counter[str] = Counter()
        now: Counter[str] = Counter()
        for each in self.of(*standings):
            for seen, sums in ((each.before, before), (each.now, now)):
                if seen is not None:
                    sums[seen.at_risk.currency] += seen.at_risk.amount_minor
        return dict(sorted(before.items())), dict(sorted(now.items()))


# What the earlier result's mismatches became, and what the later one's were: each adds up to all of it.
OF_EARLIER = (Standing.PERSISTING, Standing.RECLASSIFIED, Standing.RESOLVED, Standing.NOT_JUDGED)
OF_LATER = (Standing.NEW, Standing.PERSISTING, Standing.RECLASSIFIED)
