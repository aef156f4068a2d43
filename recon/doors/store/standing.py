"""How things stand, counted for those who watch from outside: each answer comes from an index, and is cheap.

Never changes anything, and never says what is too many.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, literal_column, or_, select

from recon.doors.store.engines import Database
from recon.doors.store.rows import RANKS
from recon.model.records.runs import HOUR
from recon.model.records.words import CaseState, Severity, Verdict
from recon.model.rights import leases
from recon.model.stored import EPOCH
from recon.model.tables import cases, intents, runs

# Word for word as the index says it, which serves no other.
_UNKNOWN: ColumnElement[bool] = literal_column("status = 'pending_unknown'")


@dataclass(frozen=True, slots=True)
class Passes:
    """How the passes over the books ended, since the first one.

    saved: by verdict, zeros too. unsaved: those that took the lease and left nothing: they failed, were
    killed, or were dry. The newest counts as neither before it has saved or given its lease back, also when
    that has lapsed: it may be slow and save yet, and a counter must not go down. Of one that was killed the
    next one tells.
    """

    saved: Mapping[Verdict, int]
    unsaved: int


def passes(database: Database) -> Passes:
    """Return how the passes ended: every fence ever given out was one, and those that saved are rows."""
    by_verdict = [select(func.count()).select_from(runs).where(runs.c.verdict == each) for each in Verdict]
    newest = select(runs.c.fence).order_by(runs.c.number.desc()).limit(1)
    given_out = select(leases.c.fence, leases.c.expires_at > EPOCH).where(leases.c.name == HOUR)
    with database.read() as connection:
        counted = [int(connection.scalar(each) or 0) for each in by_verdict]
        latest = connection.scalar(newest)
        fence, held = next(((row[0], row[1]) for row in connection.execute(given_out)), (0, False))
    at_work = bool(held) and latest != fence  # One that has saved gives its lease back a moment later.
    return Passes(dict(zip(Verdict, counted, strict=True)), max(0, fence - sum(counted) - at_work))


def pending_unknown(database: Database) -> int:
    """Return of how many intents nobody knows what became."""
    with database.read() as connection:
        return int(connection.scalar(select(func.count()).select_from(intents).where(_UNKNOWN)) or 0)


def waiting_since(database: Database) -> datetime | None:
    """Return since when the longest waiting case waits; None where none does."""
    columns = cases.c
    with database.read() as connection:
        firsts = [connection.scalar(_firsts(severity).where(columns.waiting)) for severity in Severity]
    return min((first for first in firsts if first is not None), default=None)


def unanswered_since(database: Database, *, now: datetime) -> Mapping[Severity, datetime | None]:
    """Return since when the longest unanswered case of each severity waits; None where there is none.

    Unanswered is an open case that nobody has put off until later.
    """
    columns = cases.c
    due = or_(columns.snoozed_until.is_(None), columns.snoozed_until <= now)
    with database.read() as connection:
        return {
            severity: connection.scalar(
                _firsts(severity).where(columns.waiting, columns.state == CaseState.OPEN, due)
            )
            for severity in Severity
        }


def _firsts(severity: Severity) -> Select[datetime]:
    """Return the query for the first case of a severity; the queue's index gives them in this order."""
    columns = cases.c
    return (
        select(columns.opened_at).where(columns.rank == RANKS[severity]).order_by(columns.opened_at).limit(1)
    )
