"""How long recorded calls took, read back. Goes by the index on the calls' times; never writes one."""

from datetime import datetime, timedelta

from sqlalchemy import Row, select

from recon.doors.store.calls import are_calls
from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.holds import guarded
from recon.model.records.guarded import OutcomeStatus
from recon.model.records.latencies import Timed
from recon.model.records.words import IntentStatus

LIMIT = 100_000  # Calls in one reading: enough for any percentile, and read in about a second.


def since(
    database: Database, at: datetime, *, tool: str | None = None, limit: int = LIMIT
) -> tuple[tuple[Timed, ...], datetime]:
    """Return the times of the calls from a time on, the latest first, and from when on they are all of them.

    tool: None is every tool. Of more than the limit the latest are returned; then the time is later.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    same = (guarded.c.account == calls.c.account) & (guarded.c.key == calls.c.intent_key)
    columns = calls.c
    query = (
        select(columns.tool, columns.asked_at, columns.answered_at, columns.answer)
        .add_columns(guarded.c.sent_at, guarded.c.updated_at, guarded.c.status)
        .outerjoin(guarded, same)
        .where(columns.asked_at >= at, are_calls())
        .order_by(columns.asked_at.desc(), columns.number.desc())
        .limit(limit + 1)
    )
    if tool is not None:
        query = query.where(columns.tool == tool)
    with database.read() as connection:
        rows = connection.execute(query).all()
    whole = len(rows) <= limit
    kept = tuple(map(_timed, rows[:limit]))
    return kept, at if whole else rows[limit].asked_at + timedelta(microseconds=1)


def _timed(row: Row[tuple[str, datetime, datetime | None, str | None, object]]) -> Timed:
    return Timed(
        tool=row.tool,
        waited=None if row.answered_at is None else row.answered_at - row.asked_at,
        sent=_sent(row),
        unknown=row.answer == OutcomeStatus.PENDING_UNKNOWN,
    )


def _sent(row: Row[tuple[str, datetime, datetime | None, str | None, object]]) -> timedelta | None:
    """Return how long the answer to a request took, where this call sent it and knew what it made.

    A row that is done is not written again, so that its last time is when that was known.
    """
    if row.answer != OutcomeStatus.DONE or row.status != IntentStatus.DONE or row.sent_at is None:
        return None
    took: timedelta = row.updated_at - row.sent_at
    return took
