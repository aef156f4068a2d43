"""What the desk's queue is asked and what it answers. Never says how it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from recon.model.characters import keepable
from recon.model.records.cases import Case
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseId, CaseState, Kind, Severity

WAITING = (CaseState.OPEN, CaseState.ACKNOWLEDGED)  # The states in which somebody must still act.


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """Which cases to show; an empty tuple or text, and None, filter nothing.

    owners: names; "" is nobody's. accounts: "" is the platform's own. person: whose they are, as their owner
    or because they acknowledged them. opened_from, opened_before: the first is included, the second is not.
    at_least: what must be at risk, in this currency. proposed: only what waits for a second person. search: a
    case id, order, customer, payment, intent key or refund id, exactly.
    """

    states: tuple[CaseState, ...] = WAITING
    kinds: tuple[Kind, ...] = ()
    severities: tuple[Severity, ...] = ()
    owners: tuple[str, ...] = ()
    accounts: tuple[AccountId, ...] = ()
    person: str = ""
    opened_from: datetime | None = None
    opened_before: datetime | None = None
    at_least: Money | None = None
    proposed: bool = False
    search: str = ""

    def keepable(self) -> Self:
        """Return the filters with only such characters as a database can hold."""
        return replace(
            self,
            owners=tuple(map(keepable, self.owners)),
            accounts=tuple(AccountId(keepable(each)) for each in self.accounts),
            person=keepable(self.person),
            search=keepable(self.search),
        )


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the queue: of one case, which itself is not on the page that follows."""

    severity: Severity
    opened_at: datetime
    case_id: CaseId


@dataclass(frozen=True, slots=True)
class QueuePage:
    """Some cases in the queue's order: the most severe first, then the longest waiting, then by id.

    next: where the following page begins; None on the last.
    """

    cases: tuple[Case, ...]
    next: Cursor | None


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """How many cases some filters let through, and how much that is.

    at_risk: minor units by currency, when each was found. oldest_opened_at: None when there are none.
    """

    cases: int
    at_risk: Mapping[str, int]
    oldest_opened_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """What waits for somebody, over all pages and filters.

    kinds, severities: every word, zeros too. owners: by name, "" is nobody's. accounts: "" is the platform's
    own. at_risk: minor units by currency. oldest_opened_at: None when nothing waits.
    """

    waiting: int
    kinds: Mapping[Kind, int]
    severities: Mapping[Severity, int]
    owners: Mapping[str, int]
    accounts: Mapping[AccountId, int]
    at_risk: Mapping[str, int]
    oldest_opened_at: datetime | None
