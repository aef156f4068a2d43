"""The cases as a queue: most severe first, then longest waiting; a page costs the same wherever it is.

Never moves a case.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, func, literal, or_, select, tuple_

from recon.doors.store.engines import Database
from recon.doors.store.rows import RANKS, SEVERITIES, case_record
from recon.model.records.queues import WAITING, Cursor, QueueFilters, QueuePage, QueueSummary
from recon.model.records.words import Kind, Severity
from recon.model.tables import case_refunds, cases

EVERYTHING_WAITING = QueueFilters()


def page(
    database: Database,
    filters: QueueFilters = EVERYTHING_WAITING,
    after: Cursor | None = None,
    limit: int = 50,
) -> QueuePage:
    """Return the cases that follow a place in the queue, at most limit of them."""
    worst = max(SEVERITIES) if after is None else RANKS[after.severity]
    rows: list[RowMapping] = []
    with database.read() as connection:
        # One query for each severity: no index runs down the severities and up the times at once.
        for rank in range(worst, min(SEVERITIES) - 1, -1):
            begin = after if rank == worst else None
            rows += _of_severity(connection, rank, filters, begin, limit + 1 - len(rows))
            if len(rows) > limit:
                break
    found = tuple(map(case_record, rows[:limit]))
    last = found[-1] if len(rows) > limit else None
    return QueuePage(found, None if last is None else Cursor(last.severity, last.opened_at, last.id))


def summary(database: Database) -> QueueSummary:
    """Return what waits for somebody."""
    columns = cases.c
    facts = (columns.kind, columns.rank, columns.owner_name, columns.currency)
    query: Select[Any] = (
        select(*facts, func.count(), func.sum(columns.at_risk_minor), func.min(columns.opened_at))
        .where(columns.waiting)
        .group_by(*facts)
    )
    kinds = dict.fromkeys(Kind, 0)
    severities = dict.fromkeys(Severity, 0)
    owners: dict[str, int] = {}
    at_risk: dict[str, int] = {}
    opened = []
    with database.read() as connection:
        for kind, rank, owner, currency, count, minor, first in connection.execute(query):
            kinds[Kind(kind)] += count
            severities[SEVERITIES[rank]] += count
            owners[owner or ""] = owners.get(owner or "", 0) + count
            at_risk[currency] = at_risk.get(currency, 0) + int(minor)  # PostgreSQL's sum is a Decimal.
            opened.append(first)
    return QueueSummary(
        waiting=sum(kinds.values()),
        kinds=kinds,
        severities=severities,
        owners=dict(sorted(owners.items())),
        at_risk={currency: minor for currency, minor in sorted(at_risk.items()) if minor},
        oldest_opened_at=min(opened, default=None),
    )


def standing(database: Database) -> Mapping[tuple[Kind, Severity, str], tuple[int, int]]:
    """Return how many cases wait and how many minor units are at risk, by kind, severity and currency."""
    columns = cases.c
    facts = (columns.kind, columns.rank, columns.currency)
    query: Select[Any] = (
        select(*facts, func.count(), func.sum(columns.at_risk_minor)).where(columns.waiting).group_by(*facts)
    )
    with database.read() as connection:
        return {
            (Kind(kind), SEVERITIES[rank], currency): (count, int(minor))  # PostgreSQL's sum is a Decimal.
            for kind, rank, currency, count, minor in connection.execute(query)
        }


def _of_severity(
    connection: Connection, rank: int, filters: QueueFilters, after: Cursor | None, limit: int
) -> Sequence[RowMapping]:
    columns = cases.c
    query = select(cases).where(*_conditions(filters), columns.rank == rank)
    if after is not None:
        place = (literal(after.opened_at, columns.opened_at.type), literal(after.case_id, columns.id.type))
        query = query.where(tuple_(columns.opened_at, columns.id) > tuple_(*place))
    query = query.order_by(columns.opened_at, columns.id).limit(limit)
    return connection.execute(query).mappings().all()


def _conditions(filters: QueueFilters) -> list[ColumnElement[bool]]:
    columns = cases.c
    found: list[ColumnElement[bool]] = []
    if filters.states:
        if set(filters.states) <= set(WAITING):
            found.append(columns.waiting)
        if set(filters.states) != set(WAITING):
            found.append(columns.state.in_(filters.states))
    if filters.kinds:
        found.append(columns.kind.in_(filters.kinds))
    if filters.severities:
        found.append(columns.rank.in_([RANKS[severity] for severity in filters.severities]))
    if filters.owners:
        found.append(func.coalesce(columns.owner_name, "").in_(filters.owners))
    if filters.search:
        found.append(_search(filters.search))
    return found


def _search(wanted: str) -> ColumnElement[bool]:
    columns = cases.c
    named = (columns.id, columns.order_id, columns.customer_id, columns.payment, columns.intent_key)
    subjects = [f"{side}:{wanted}" for side in ("intent", "refund")]
    of_refund = select(case_refunds.c.case_id).where(case_refunds.c.refund_id == wanted)
    return or_(
        *(column == wanted for column in named), columns.subject.in_(subjects), columns.id.in_(of_refund)
    )
