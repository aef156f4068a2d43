"""What a person who asks how things stand is told beside what is counted every minute.

Each answer may look through a whole table, once: for a command, not for a metric. Never changes anything.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select

from recon.doors.store.engines import Database
from recon.model.holds import SAME, guarded
from recon.model.records.words import UNSETTLED, IntentStatus
from recon.model.tables import intents, rejects


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reason that most of the rows have which cannot be judged.

    source: the table of the first of them. rows: how many have it.
    """

    reason: str
    source: str
    rows: int


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Side effects of one guarded tool that were sent, and nobody knows whether they are done.

    number: at least one. since: when the oldest of them was first sent.
    """

    tool: str
    number: int
    since: datetime


def unsettled(database: Database, *, now: datetime) -> tuple[Unsettled, ...]:
    """Return the tools with such effects, by name, refund tools among them."""
    query = (
        select(guarded.c.tool, func.count(), func.min(guarded.c.first_sent_at))
        .outerjoin(intents, SAME)
        .where(*nobody_knows(now))
        .group_by(guarded.c.tool)
        .order_by(guarded.c.tool)
    )
    with database.read() as connection:
        return tuple(Unsettled(row[0], int(row[1]), row[2]) for row in connection.execute(query))


def nobody_knows(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return what is true of a guarded row, beside its intent by SAME, of which nobody knows."""
    return (
        guarded.c.status.in_(UNSETTLED),
        guarded.c.first_sent_at.is_not(None),
        guarded.c.until <= now,  # Nobody is at it.
        or_(intents.c.status.is_(None), intents.c.status.in_(UNSETTLED)),  # Nor has settled it.
    )


def pending(database: Database) -> int:
    """Return how many intents are written down, perhaps sent, and without an answer."""
    mine = intents.c.status == IntentStatus.PENDING
    with database.read() as connection:
        return int(connection.scalar(select(func.count()).select_from(intents).where(mine)) or 0)


def most_rejected(database: Database) -> Rejected | None:
    """Return the most frequent reason, of several the first by its words; None where every row is judged."""
    columns, number = rejects.c, func.count()
    query = (
        select(columns.reason, func.min(columns.source), number)
        .group_by(columns.reason)
        .order_by(number.desc(), columns.reason)
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Rejected(row[0], row[1], int(row[2]))
