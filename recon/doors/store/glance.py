"""What a person who asks how things stand is told beside what is counted every minute.

Each answer may look through a whole table, once: for a command, not for a metric. Never changes anything.
"""

from dataclasses import dataclass

from sqlalchemy import func, select

from recon.doors.store.engines import Database
from recon.model.records.words import IntentStatus
from recon.model.tables import intents, rejects


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reason that most of the rows have which cannot be judged.

    source: the table of the first of them. rows: how many have it.
    """

    reason: str
    source: str
    rows: int


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
