"""How an owner's cases stand, for the digest of a day. Never changes anything."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, exists, func, or_, select, text
from sqlalchemy import case as sql_case

from recon.doors.store.engines import Database
from recon.doors.store.rows import SEVERITIES, case_record
from recon.model.records.reminders import Holdings, Pile
from recon.model.records.words import CaseState, Kind
from recon.model.tables import cases, notice_cases, notices

# One owner after the other along the index, however many cases each has.
_TARGETS = text(
    "WITH RECURSIVE each(target) AS (SELECT min(owner_target) FROM cases UNION ALL "
    "SELECT (SELECT min(owner_target) FROM cases WHERE owner_target > each.target) FROM each "
    "WHERE each.target IS NOT NULL) SELECT target FROM each WHERE target <> ''"
)
_KINDS = list(Kind)


def targets(database: Database) -> tuple[str, ...]:
    """Return where the owners of cases read, of all that there are or were, each once."""
    with database.read() as connection:
        return tuple(connection.scalars(_TARGETS))


def holdings(
    database: Database, target: str, *, since: datetime, due_at: datetime, now: datetime, until: datetime
) -> Holdings:
    """Return how the cases stand that are told there, those only of which somebody was told.

    since: from when on what was done is counted. due_at: when this was to be told. until: which acceptances
    that end are counted.
    """
    columns = cases.c
    mine = [columns.owner_target == target, exists().where(notice_cases.c.case_id == columns.id)]
    waiting = [*mine, columns.waiting]
    oldest = select(cases).where(*waiting).order_by(columns.since, columns.id).limit(1)
    ends = (
        columns.state == CaseState.ACCEPTED,
        columns.accepted_until > now,
        columns.accepted_until <= until,
    )
    cleared = (columns.state == CaseState.CLEARED, columns.updated_at >= since)
    resolved = (columns.state == CaseState.RESOLVED, columns.decided_at >= since)
    names = select(columns.owner_name).where(*waiting).distinct().order_by(columns.owner_name)
    first_end = select(func.min(columns.accepted_until)).where(*mine, *ends)
    with database.read() as connection:
        piles, asleep, wakes_at = _piles(connection, waiting, now=now)
        row = connection.execute(oldest).mappings().one_or_none()
        return Holdings(
            target=target,
            names=tuple(connection.scalars(names)),
            known=_count(connection, *waiting, _told_before(due_at)) > 0,
            piles=piles,
            snoozed=asleep,
            wakes_at=wakes_at,
            ending=_count(connection, *mine, *ends),
            ends_at=connection.scalar(first_end),
            cleared=_count(connection, *mine, *cleared),
            resolved=_count(connection, *mine, *resolved),
            oldest=None if row is None else case_record(row),
        )


def _told_before(due_at: datetime) -> ColumnElement[bool]:
    """Return whether a case's owner had heard of it by then; of a surge, the operators for them."""
    return exists().where(
        notice_cases.c.case_id == cases.c.id,
        notices.c.id == notice_cases.c.notice_id,
        notices.c.created_at < due_at,
        or_(notices.c.target == cases.c.owner_target, notices.c.thread_key.startswith("surge|")),
    )


def _count(connection: Connection, *which: ColumnElement[bool]) -> int:
    return int(connection.scalar(select(func.count()).select_from(cases).where(*which)) or 0)


def _piles(
    connection: Connection, which: Sequence[ColumnElement[bool]], *, now: datetime
) -> tuple[tuple[Pile, ...], int, datetime | None]:
    """Return the piles, worst first, and how many of all sleep, the first of them until when."""
    columns = cases.c
    asleep = columns.snoozed_until > now
    unanswered = and_(
        columns.state == CaseState.OPEN, or_(columns.snoozed_until.is_(None), columns.snoozed_until <= now)
    )
    query = (
        select(
            columns.kind,
            columns.rank,
            columns.currency,
            func.count().label("waiting"),
            func.sum(columns.at_risk_minor).label("minor"),
            func.sum(sql_case((unanswered, 1), else_=0)).label("unanswered"),
            func.min(columns.since).label("oldest_since"),
            func.sum(sql_case((asleep, 1), else_=0)).label("asleep"),
            func.min(sql_case((asleep, columns.snoozed_until))).label("wakes_at"),
        )
        .where(*which)
        .group_by(columns.kind, columns.rank, columns.currency)
        .order_by(columns.currency)
    )
    rows = connection.execute(query).all()
    found: dict[tuple[int, int], list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[-row.rank, _KINDS.index(Kind(row.kind))].append(row)
    wakes = [row.wakes_at for row in rows if row.wakes_at is not None]
    piles = tuple(_pile(found[place]) for place in sorted(found))
    return piles, sum(int(row.asleep) for row in rows), min(wakes, default=None)


def _pile(rows: Sequence[Row[Any]]) -> Pile:
    """Return one pile; its rows are its currencies."""
    return Pile(
        kind=Kind(rows[0].kind),
        severity=SEVERITIES[rows[0].rank],
        waiting=sum(int(row.waiting) for row in rows),
        unanswered=sum(int(row.unanswered) for row in rows),
        at_risk={row.currency: int(row.minor) for row in rows},  # PostgreSQL's sum is a Decimal.
        oldest_since=min(row.oldest_since for row in rows),
    )
