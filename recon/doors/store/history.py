"""What a look back reads: runs with what each changed, rows that cannot be judged, what was told to whom.

Pages go by keyset, so that one costs the same wherever it is. Never changes anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, text

from recon.doors.store import runs as book
from recon.doors.store.engines import Database
from recon.doors.store.rows import notice_record, reject_record
from recon.model.records.cases import JOB
from recon.model.records.histories import (
    Move,
    NoticeFilters,
    NoticesPage,
    Passed,
    Rejects,
    RunCursor,
    RunsPage,
    earlier,
)
from recon.model.records.runs import Run
from recon.model.records.words import Action, CaseState, Kind, RunId
from recon.model.tables import cases, entries, notices, rejects, runs, seals, threads

EVERYTHING = NoticeFilters()
REJECTS_LIMIT = 50  # Rows shown: one cause is one reason for all of them, and the reasons are counted.
REASONS_LIMIT = 5
TARGETS_LIMIT = 200  # Channels and people: more than a list that somebody chooses from can use.

_SAME = and_(entries.c.topic == seals.c.topic, entries.c.version == seals.c.version)


def page(database: Database, after: RunCursor | None = None, limit: int = 50) -> RunsPage:
    """Return the runs that follow a place, newest first, at most limit of them."""
    columns = runs.c
    query = select(columns.number, columns.id).order_by(columns.number.desc()).limit(limit + 1)
    if after is not None:
        query = query.where(columns.number < after.number)
    with database.read() as connection:
        waiting = _before_any_newer(connection) if after is None else after.waiting
        numbers = {RunId(row.id): int(row.number) for row in connection.execute(query)}
        chosen = list(numbers)[:limit]
        passes = _passes(connection, numbers, chosen, waiting)
    last = passes[-1] if len(numbers) > limit else None
    if last is None:
        return RunsPage(passes, None)
    return RunsPage(passes, RunCursor(last.number, earlier(last.waiting, last.moves)))


def passed(database: Database, run_id: RunId) -> Passed | None:
    """Return one run with what came of it; None where no run of this id saved anything.

    What was saved after it is counted back, or all until it from nothing, whichever are fewer runs: one in
    the middle of a long history takes longer than the latest.
    """
    columns = runs.c
    with database.read() as connection:
        number = connection.scalar(select(columns.number).where(columns.id == run_id))
        if number is None:
            return None
        until = select(columns.id).where(columns.number <= number)
        newer = select(columns.id).where(columns.number > number)
        if _rows(connection, until) < _rows(connection, newer):
            waiting = _added(_together(_moves(connection, seals.c.run_id.in_(until))))
        else:
            later = _moves(connection, or_(seals.c.run_id.in_(newer), seals.c.run_id.is_(None)))
            waiting = earlier(_waiting(connection), _together(later))
        return _passes(connection, {run_id: int(number)}, [run_id], waiting)[0]


def before(database: Database, number: int) -> Run | None:
    """Return the run that saved before the one of this number; None of the first."""
    query: Select[Any] = select(runs).where(runs.c.number < number).order_by(runs.c.number.desc()).limit(1)
    with database.read() as connection:
        return next(iter(book.those(connection, query)), None)


def rejected(database: Database) -> Rejects:
    """Return the rows that cannot be judged as things stand, the latest first, and why."""
    columns, number = rejects.c, func.count()
    rows = select(rejects).order_by(columns.number.desc()).limit(REJECTS_LIMIT)
    reasons = (
        select(columns.source, columns.reason, number)
        .group_by(columns.source, columns.reason)
        .order_by(number.desc(), columns.source, columns.reason)
        .limit(REASONS_LIMIT)
    )
    with database.read() as connection:
        return Rejects(
            rows=int(connection.scalar(select(number).select_from(rejects)) or 0),
            first=tuple(map(reject_record, connection.execute(rows).mappings())),
            reasons=tuple((row[0], row[1], int(row[2])) for row in connection.execute(reasons)),
        )


def told(
    database: Database, filters: NoticeFilters = EVERYTHING, *, below: int | None = None, limit: int = 50
) -> NoticesPage:
    """Return the notices whose id is below one, newest first, at most limit of them."""
    columns = notices.c
    query = select(notices).where(*_fitting(filters)).order_by(columns.id.desc()).limit(limit + 1)
    if below is not None:
        query = query.where(columns.id < below)
    with database.read() as connection:
        found = [notice_record(row) for row in connection.execute(query).mappings()]
    more = len(found) > limit
    return NoticesPage(tuple(found[:limit]), found[limit - 1].id if more else None)


def targets(database: Database) -> tuple[str, ...]:
    """Return whom notices went to or wait for, each once, by name."""
    query = select(threads.c.target).distinct().order_by(threads.c.target).limit(TARGETS_LIMIT)
    with database.read() as connection:
        return tuple(connection.scalars(query))


def held(database: Database) -> Mapping[str, int]:
    """Return how many waiting cases have their owner by each rule, or by whoever gave them; "" by none."""
    columns = cases.c
    query = select(columns.owner_rule, func.count()).where(columns.waiting).group_by(columns.owner_rule)
    with database.read() as connection:
        return {row[0] or "": int(row[1]) for row in connection.execute(query)}


def _fitting(filters: NoticeFilters) -> list[ColumnElement[bool]]:
    columns = notices.c
    asked: tuple[tuple[Any, Sequence[str]], ...] = (
        (columns.state, filters.states),
        (columns.target, filters.targets),
        (columns.verb, filters.verbs),
    )
    return [column.in_(values) for column, values in asked if values]


def _waiting(connection: Connection) -> Mapping[Kind, int]:
    query = select(cases.c.kind, func.count()).where(cases.c.waiting).group_by(cases.c.kind)
    return {Kind(row[0]): int(row[1]) for row in connection.execute(query)}


def _before_any_newer(connection: Connection) -> Mapping[Kind, int]:
    """Return how many cases waited once the latest run had saved: what came since is not sealed yet."""
    return earlier(_waiting(connection), _together(_moves(connection, seals.c.run_id.is_(None))))


def _passes(
    connection: Connection,
    numbers: Mapping[RunId, int],
    chosen: Sequence[RunId],
    waiting: Mapping[Kind, int],
) -> tuple[Passed, ...]:
    """Return these runs, newest first. waiting: once the first of them had saved."""
    moves = _moves(connection, seals.c.run_id.in_(chosen))
    query: Select[Any] = select(runs).where(runs.c.id.in_(chosen)).order_by(runs.c.number.desc())
    found = []
    for run in book.those(connection, query):
        mine = tuple(moves.get(run.id, ()))
        found.append(Passed(numbers[run.id], run, mine, waiting))
        waiting = earlier(waiting, mine)
    return tuple(found)


def _moves(connection: Connection, which: ColumnElement[bool]) -> Mapping[RunId | None, list[Move]]:
    """Return how the cases were moved, by the run that was the first to save after it."""
    facts = (seals.c.run_id, cases.c.kind, entries.c.action, entries.c.from_state, entries.c.to_state)
    query: Select[Any] = (
        select(*facts, (entries.c.actor == JOB).label("by_job"), func.count())
        .select_from(seals.join(entries, _SAME).join(cases, cases.c.id == entries.c.topic))
        .where(which)
        # By its name: PostgreSQL takes a parameter that is said twice for two.
        .group_by(*facts, text("by_job"))
        .order_by(*facts, text("by_job"))
    )
    found: dict[RunId | None, list[Move]] = {}
    for run_id, kind, action, before, after, by_job, count in connection.execute(query):
        move = Move(
            kind=Kind(kind),
            action=Action(action),
            by_job=bool(by_job),
            before=None if before is None else CaseState(before),
            after=CaseState(after),
            cases=int(count),
        )
        found.setdefault(None if run_id is None else RunId(run_id), []).append(move)
    return found


def _rows(connection: Connection, query: Select[Any]) -> int:
    return int(connection.scalar(select(func.count()).select_from(query.subquery())) or 0)


def _added(moves: Iterable[Move]) -> Mapping[Kind, int]:
    """Return how many cases of each kind wait after these moves, where none waited before them."""
    return {kind: -before for kind, before in earlier({}, moves).items()}


def _together(moves: Mapping[RunId | None, list[Move]]) -> Iterable[Move]:
    return (move for each in moves.values() for move in each)
