"""What is known of the latest days, counted by the database: rows come out by day, kind and owner.

The entries are looked through once for each question, in their own order; an index by time would be slower,
because the cases of a time lie all over the table. Never moves a case.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    and_,
    case,
    func,
    literal,
    not_,
    or_,
    select,
    type_coerce,
)

from recon.doors.store.engines import Database
from recon.model.records.queues import WAITING
from recon.model.records.trends import AGES, Agreed, Answer, Group, Heap, Past, Step, Took
from recon.model.records.words import CaseState, Kind, Verdict
from recon.model.stored import EPOCH
from recon.model.tables import cases, entries, runs

MINUTE: Final = 60 * 10**6  # Microseconds, as the database keeps times.
DAY: Final = 24 * 60 * MINUTE
# By what somebody takes a case on or decides it; what a run cleared, nobody answered.
ANSWERED: Final = (CaseState.ACKNOWLEDGED, CaseState.RESOLVED, CaseState.ACCEPTED)


def past(database: Database, *, days: int, now: datetime) -> Past:
    """Return what is known of so many days, today among them, all of it as of one moment.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    begin = datetime.combine(first, time.min, UTC)
    with database.read() as connection:
        return Past(
            now=now.astimezone(UTC),
            first=first,
            heaps=tuple(_heaps(connection, now)),
            steps=tuple(_steps(connection, begin)),
            took=(
                *_took(connection, begin, Answer.ACKNOWLEDGED),
                *_took(connection, begin, Answer.SETTLED),
            ),
            agreed=tuple(_agreed(connection, begin)),
        )


def _heaps(connection: Connection, now: datetime) -> Iterator[Heap]:
    columns = cases.c
    reached = [case((columns.opened_at <= now - age, 1), else_=0) for age in AGES]
    age: ColumnElement[int] = sum(reached[1:], start=reached[0])
    facts = (columns.kind, columns.owner_name, columns.currency, age.label("age"))
    numbers: Any = (func.count(), func.sum(columns.at_risk_minor))
    query = select(*facts, *numbers).where(columns.waiting).group_by(*facts[:3], "age")
    for kind, owner, currency, aged, count, minor in connection.execute(query):
        # PostgreSQL's sum is a Decimal.
        yield Heap(Group(Kind(kind), owner or "", currency), int(aged), int(count), int(minor))


def _steps(connection: Connection, begin: datetime) -> Iterator[Step]:
    to_waiting = entries.c.to_state.in_(WAITING)
    from_waiting = func.coalesce(entries.c.from_state, "").in_(WAITING)
    sign = case((to_waiting, 1), else_=-1)
    day = (_microseconds(entries.c.at) // literal(DAY, BigInteger)).label("day")
    facts = (cases.c.kind, cases.c.owner_name, cases.c.currency)
    numbers: Any = (func.sum(sign), func.sum(sign * cases.c.at_risk_minor))
    query = (
        select(day, *facts, *numbers)
        .join_from(entries, cases, cases.c.id == entries.c.topic)
        .where(
            entries.c.at >= begin,
            or_(and_(to_waiting, not_(from_waiting)), and_(from_waiting, not_(to_waiting))),
        )
        .group_by("day", *facts)
    )
    for number, kind, owner, currency, count, minor in connection.execute(query):
        yield Step(_date(number), Group(Kind(kind), owner or "", currency), int(count), int(minor))


def _took(connection: Connection, begin: datetime, answer: Answer) -> Iterator[Took]:
    """Return how long each answer of the days took, since the case last began to wait for it."""
    waits = (CaseState.OPEN,) if answer is Answer.ACKNOWLEDGED else WAITING
    ends = (
        entries.c.to_state.in_(ANSWERED)
        if answer is Answer.ACKNOWLEDGED
        else not_(entries.c.to_state.in_(waits))
    )
    earlier = entries.alias("earlier")
    begun = (
        select(_microseconds(earlier.c.at))
        .where(
            earlier.c.topic == entries.c.topic,
            earlier.c.version < entries.c.version,
            earlier.c.to_state.in_(waits),
            not_(func.coalesce(earlier.c.from_state, "").in_(waits)),
        )
        .order_by(earlier.c.version.desc())
        .limit(1)
        .scalar_subquery()
    )
    minutes = ((_microseconds(entries.c.at) - begun) // literal(MINUTE, BigInteger)).label("minutes")
    facts = (cases.c.kind, cases.c.owner_name)
    query = (
        select(*facts, minutes, func.count())
        .join_from(entries, cases, cases.c.id == entries.c.topic)
        .where(entries.c.at >= begin, entries.c.from_state.in_(waits), ends)
        .group_by(*facts, "minutes")
    )
    for kind, owner, number, count in connection.execute(query):
        # Clocks of two machines may differ: nobody answers before it is asked.
        yield Took(answer, Kind(kind), owner or "", max(int(number), 0), int(count))


def _agreed(connection: Connection, begin: datetime) -> Iterator[Agreed]:
    query = select(runs.c.as_of, runs.c.counts).where(
        runs.c.as_of >= begin, runs.c.verdict != Verdict.INCOMPLETE
    )
    days: dict[date, Agreed] = {}
    for as_of, counts in connection.execute(query):
        known = days.get(as_of.date(), Agreed(as_of.date(), 0, 0, 0))
        days[known.day] = Agreed(
            known.day,
            known.runs + 1,
            known.intents + int(counts.get("intents", 0)),
            known.matched + int(counts.get("matched", 0)),
        )
    yield from (days[day] for day in sorted(days))


def _microseconds(column: ColumnElement[Any]) -> ColumnElement[int]:
    return type_coerce(column, BigInteger)


def _date(number: int) -> date:
    return (EPOCH + timedelta(days=int(number))).date()
