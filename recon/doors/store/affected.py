"""Who was affected by mismatches of one kind that began in a window: totals, cases, and the rows behind them.

An index answers each question: the kind and the time of a case, then keys and ids. Never moves a case.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, case, func, select

from recon.doors.store.engines import Database
from recon.doors.store.evidence import intent_record
from recon.doors.store.mirror import record
from recon.doors.store.rows import case_record
from recon.doors.store.statements import chunks
from recon.model.records.cases import Case
from recon.model.records.incidents import Incident, Totals, Window
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import AccountId, CaseState, Kind
from recon.model.tables import cases, intents, refunds

LISTED: Final = 500  # Cases of one incident on one page; the totals count all of them.
TIMES: Final = 20_000  # Of one day: an incident of more is found by its beginning all the same.


def incident(database: Database, kind: Kind, window: Window) -> Incident:
    """Return who was affected, all of it as of one moment.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    within = _within(kind, window)
    with database.read() as connection:
        totals = _totals(connection, within)
        query = select(cases).where(*within).order_by(cases.c.since, cases.c.id).limit(LISTED)
        found = tuple(map(case_record, connection.execute(query).mappings()))
        theirs, ours = _rows(connection, found)
    return Incident(kind, window, totals, found, theirs, ours)


def beginnings(database: Database, kind: Kind, length: timedelta) -> tuple[datetime, ...]:
    """Return when each disagreement of a kind began that began so long before the latest, latest first."""
    columns = cases.c
    with database.read() as connection:
        latest = connection.scalar(select(func.max(columns.since)).where(columns.kind == kind))
        if latest is None:
            return ()
        query = (
            select(columns.since)
            .where(columns.kind == kind, columns.since > latest - length)
            .order_by(columns.since.desc())
            .limit(TIMES)
        )
        return tuple(connection.execute(query).scalars())


def _within(kind: Kind, window: Window) -> Sequence[ColumnElement[bool]]:
    columns = cases.c
    return (columns.kind == kind, columns.since >= window.from_at, columns.since < window.to_at)


def _totals(connection: Connection, within: Iterable[ColumnElement[bool]]) -> Totals:
    columns = cases.c
    # One group by account: an id is one customer's or order's only within its account.
    facts = (columns.account, columns.state, columns.currency)
    numbers: Any = (
        func.count(),
        func.sum(columns.at_risk_minor),
        func.min(columns.since),
        func.max(columns.since),
        func.sum(case((columns.customer_id.is_(None), 1), else_=0)),
    )
    states, at_risk, without = dict.fromkeys(CaseState, 0), dict[str, int](), 0
    first: datetime | None = None
    last: datetime | None = None
    query = select(*facts, *numbers).where(*within).group_by(*facts)
    for _, state, currency, count, minor, begun, ended, unnamed in connection.execute(query):
        states[CaseState(state)] += int(count)
        at_risk[currency] = at_risk.get(currency, 0) + int(minor)  # PostgreSQL's sum is a Decimal.
        without += int(unnamed)
        first = begun if first is None else min(first, begun)
        last = ended if last is None else max(last, ended)
    return Totals(
        cases=sum(states.values()),
        customers=_different(connection, columns.customer_id, within),
        orders=_different(connection, columns.order_id, within),
        without_customer=without,
        states=states,
        at_risk={currency: minor for currency, minor in sorted(at_risk.items()) if minor},
        first_at=first,
        last_at=last,
    )


def _different(
    connection: Connection, column: ColumnElement[Any], within: Iterable[ColumnElement[bool]]
) -> int:
    """Return how many different values the cases have; equal ones of two accounts are two."""
    named = select(cases.c.account, column).where(*within, column.is_not(None)).distinct().subquery()
    return int(connection.scalar(select(func.count()).select_from(named)) or 0)


def _rows(connection: Connection, found: Iterable[Case]) -> tuple[tuple[Refund, ...], tuple[Intent, ...]]:
    """Return the refunds that take part, and the intents that they or the cases name, in time order."""
    theirs: list[Refund] = []
    ours: dict[tuple[str, str], Intent] = {}
    by_account: dict[AccountId, list[Case]] = {}
    for each in found:
        by_account.setdefault(each.account, []).append(each)
    for account, affected in by_account.items():
        ids: set[str] = {refund_id for each in affected for refund_id in each.mismatch.refund_ids}
        keys: set[str] = {each.mismatch.intent_key for each in affected if each.mismatch.intent_key}
        for chunk in chunks(sorted(ids)):
            query = select(refunds).where(refunds.c.account == account, refunds.c.id.in_(chunk))
            theirs += map(record, connection.execute(query))
        for refund in theirs:
            if refund.account == account:
                keys |= {key for key in (refund.operator_key, refund.intent_key, refund.request_key) if key}
        for column, values in ((intents.c.key, keys), (intents.c.refund_id, ids)):
            for chunk in chunks(sorted(values)):
                rows = select(intents).where(intents.c.account == account, column.in_(chunk))
                for row in connection.execute(rows).mappings():
                    ours[account, row["key"]] = intent_record(row)
    return (
        tuple(sorted(theirs, key=lambda each: (each.created_at, each.account, each.id))),
        tuple(sorted(ours.values(), key=lambda each: (each.created_at, each.account, each.key))),
    )
