"""The cases as a queue: most severe first, then longest waiting; a page costs the same wherever it is.

Never moves a case.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Text,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    type_coerce,
    union,
    union_all,
)

from recon.doors.store.engines import Database
from recon.doors.store.rows import RANKS, SEVERITIES, case_record
from recon.model import subjects
from recon.model.records.cases import JOB, Case
from recon.model.records.queues import WAITING, Cursor, QueueFigures, QueueFilters, QueuePage, QueueSummary
from recon.model.records.words import AccountId, Action, CaseState, Kind, Severity
from recon.model.rights import proposals
from recon.model.stored import instant
from recon.model.tables import case_refunds, cases, entries

EVERYTHING_WAITING = QueueFilters()
OVER = tuple(state for state in CaseState if state not in WAITING)
CHUNK = 1_000  # Cases read at once where all are wanted: a megabyte or two.


def page(
    database: Database,
    filters: QueueFilters = EVERYTHING_WAITING,
    after: Cursor | None = None,
    limit: int = 50,
) -> QueuePage:
    """Return the cases that follow a place in the queue, at most limit of them."""
    with database.read() as connection:
        return _page(connection, filters, after, limit)


def every(database: Database, filters: QueueFilters) -> Iterator[tuple[Case, ...]]:
    """Yield all cases that the filters let through, some at a time, in the queue's order and in one view."""
    after: Cursor | None = None
    with database.read() as connection:
        while True:
            found = _page(connection, filters, after, CHUNK)
            yield found.cases
            if found.next is None:
                return
            after = found.next


def count(database: Database, filters: QueueFilters, *, limit: int) -> int:
    """Return how many cases the filters let through, counted no further than the limit."""
    some = select(cases.c.id).where(*_conditions(filters)).limit(limit).subquery()
    with database.read() as connection:
        return connection.scalar(select(func.count()).select_from(some)) or 0


def figures(database: Database, filters: QueueFilters) -> QueueFigures:
    """Return how many cases the filters let through, and how much that is: they are all looked at."""
    columns = cases.c
    first = func.min(type_coerce(columns.opened_at, BigInteger))
    numbers = (columns.currency, func.count(), func.sum(columns.at_risk_minor), first)
    query: Select[Any] = select(*numbers).where(*_conditions(filters)).group_by(columns.currency)
    with database.read() as connection:
        rows = connection.execute(query.order_by(columns.currency)).all()
    # PostgreSQL's sum is a Decimal.
    return QueueFigures(
        cases=sum(number for _, number, _, _ in rows),
        at_risk={currency: int(minor) for currency, _, minor, _ in rows if minor},
        oldest_opened_at=min((instant(int(first)) for *_, first in rows), default=None),
    )


def summary(database: Database) -> QueueSummary:
    """Return what waits for somebody."""
    heap = _heap()
    parts = {name: heap.c[name] for name in ("currency", "kind", "rank", "owner_name", "account")}
    # What waits is looked through once; each part of it comes out as a few rows.
    query = union_all(*(_counted(name, column, heap) for name, column in parts.items()))
    counted: dict[str, dict[str, int]] = {name: {} for name in parts}
    at_risk: dict[str, int] = {}
    opened = []
    with database.read() as connection:
        for part, word, number, minor, first in connection.execute(query):
            counted[part][word or ""] = int(number)  # PostgreSQL's sum is a Decimal.
            if part == "currency":
                at_risk[word] = int(minor)
                opened.append(instant(int(first)))
    return QueueSummary(
        waiting=sum(counted["kind"].values()),
        kinds={kind: counted["kind"].get(kind, 0) for kind in Kind},
        severities={severity: counted["rank"].get(str(RANKS[severity]), 0) for severity in Severity},
        owners=dict(sorted(counted["owner_name"].items())),
        accounts={AccountId(account): number for account, number in sorted(counted["account"].items())},
        at_risk={currency: minor for currency, minor in sorted(at_risk.items()) if minor},
        oldest_opened_at=min(opened, default=None),
    )


def _heap() -> CTE:
    """Return what waits, in as few rows as it can be counted from."""
    columns = cases.c
    facts = (columns.kind, columns.rank, columns.owner_name, columns.account, columns.currency)
    numbers: Any = (
        func.count().label("number"),
        func.sum(columns.at_risk_minor).label("minor"),
        func.min(type_coerce(columns.opened_at, BigInteger)).label("first"),
    )
    return select(*facts, *numbers).where(columns.waiting).group_by(*facts).cte("heap")


def _counted(name: str, column: ColumnElement[Any], heap: CTE) -> Select[Any]:
    """Return a query for one part of the summary: a row for each of its words, with the money by currency."""
    is_money = name == "currency"
    minor = func.sum(heap.c.minor) if is_money else literal(0)
    word = cast(column, Text)
    return select(literal(name), word, func.sum(heap.c.number), minor, func.min(heap.c.first)).group_by(
        column
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
            (Kind(kind), SEVERITIES[rank], currency): (number, int(minor))  # PostgreSQL's sum is a Decimal.
            for kind, rank, currency, number, minor in connection.execute(query)
        }


def _page(connection: Connection, filters: QueueFilters, after: Cursor | None, limit: int) -> QueuePage:
    worst = max(SEVERITIES) if after is None else RANKS[after.severity]
    wanted = {RANKS[severity] for severity in filters.severities or SEVERITIES.values()}
    rows: list[RowMapping] = []
    # One query for each severity: no index runs down the severities and up the times at once.
    for rank in sorted(wanted, reverse=True):
        if rank > worst or len(rows) > limit:
            continue
        begin = after if rank == worst else None
        rows += _of_severity(connection, rank, filters, begin, limit + 1 - len(rows))
    found = tuple(map(case_record, rows[:limit]))
    last = found[-1] if len(rows) > limit else None
    return QueuePage(found, None if last is None else Cursor(last.severity, last.opened_at, last.id))


def _of_severity(
    connection: Connection, rank: int, filters: QueueFilters, after: Cursor | None, limit: int
) -> Sequence[RowMapping]:
    columns = cases.c
    order = (columns.opened_at, columns.id)
    asked = filters.states or tuple(CaseState)
    waits, of_rank = _fact(columns.waiting, filters), _fact(columns.rank, filters)
    parts: list[Sequence[RowMapping]] = []
    # What waits and what is over each by itself: the index has their times in order only so.
    for waiting, those in ((True, WAITING), (False, OVER)):
        if set(asked).isdisjoint(those):
            continue
        ids = select(columns.id).where(waits == waiting, of_rank == rank, *_conditions(filters))
        if after is not None:
            place = (after.opened_at, after.case_id)
            typed = [literal(value, column.type) for value, column in zip(place, order, strict=True)]
            ids = ids.where(tuple_(*order) > tuple_(*typed))
        # First who, from the index alone; then only those are read.
        query = select(cases).where(columns.id.in_(ids.order_by(*order).limit(limit))).order_by(*order)
        parts.append(connection.execute(query).mappings().all())
    return tuple(islice(merge(*parts, key=lambda row: (row["opened_at"], row["id"])), limit))


def _conditions(filters: QueueFilters) -> list[ColumnElement[bool]]:
    columns = cases.c
    found = _states(filters)
    ranks = [RANKS[severity] for severity in filters.severities]
    words: tuple[tuple[ColumnElement[Any], Sequence[object]], ...] = (
        (_fact(columns.kind, filters), filters.kinds),
        (_fact(columns.rank, filters), ranks),
        (func.coalesce(columns.owner_name, ""), filters.owners),
        (_fact(columns.account, filters), filters.accounts),
    )
    found += [column.in_(wanted) for column, wanted in words if wanted]
    if filters.opened_from is not None:
        found.append(columns.opened_at >= filters.opened_from)
    if filters.opened_before is not None:
        found.append(columns.opened_at < filters.opened_before)
    if filters.at_least is not None:
        found.append(columns.currency == filters.at_least.currency)
        found.append(columns.at_risk_minor >= filters.at_least.amount_minor)
    if filters.person:
        found.append(_of_person(filters.person))
    if filters.proposed:
        waiting = select(proposals.c.case_id).where(proposals.c.state == literal_column("'open'"))
        found.append(columns.id.in_(waiting))
    if filters.search:
        found.append(_search(filters.search))
    return found


def _states(filters: QueueFilters) -> list[ColumnElement[bool]]:
    if not filters.states:
        return []
    found: list[ColumnElement[bool]] = []
    if set(filters.states) <= set(WAITING):
        found.append(_fact(cases.c.waiting, filters) == true())
    if set(filters.states) != set(WAITING):
        found.append(_fact(cases.c.state, filters).in_(filters.states))
    return found


def _fact(column: ColumnElement[Any], filters: QueueFilters) -> ColumnElement[Any]:
    """Return a column to ask about; beside a name, without its index: what the name finds is looked at."""
    return func.coalesce(column, column) if filters.search else column


def _of_person(name: str) -> ColumnElement[bool]:
    """Return whether somebody is the owner of a case or has acknowledged it."""
    of_entry = entries.c
    # The job acknowledges nothing; it is named as the index on people's entries names it.
    by_people = of_entry.actor != literal_column(f"'{JOB}'")
    taken = select(of_entry.topic).where(
        of_entry.actor == name, by_people, of_entry.action == Action.ACKNOWLEDGED
    )
    return or_(cases.c.owner_name == name, cases.c.id.in_(taken))


def _search(wanted: str) -> ColumnElement[bool]:
    columns = cases.c
    named = (columns.id, columns.order_id, columns.customer_id, columns.payment, columns.intent_key)
    either = (subjects.of_intent(wanted), subjects.of_refund(wanted))
    # Each by its own index: among alternatives with a subquery, PostgreSQL would read every case.
    found = union(
        *(select(columns.id).where(column == wanted) for column in named),
        select(columns.id).where(columns.subject.in_(either)),
        select(case_refunds.c.case_id).where(case_refunds.c.refund_id == wanted),
    )
    return columns.id.in_(found)
