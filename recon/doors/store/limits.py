"""From which amount at risk on the database itself wants a second person.

The amounts are those of the settings of whoever opened the books last. Each change of them is an entry in a
chain of its currency, which a trigger asks for (four_eyes.py): an amount that no entry tells cannot be there.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, select, text

from recon.doors.store import chains, seals
from recon.doors.store.engines import Database
from recon.doors.store.statements import insert, upsert
from recon.model import money
from recon.model.records.cases import JOB
from recon.model.records.proposals import LIMIT
from recon.model.records.results import Money
from recon.model.rights import approval_limits
from recon.model.tables import entries

LIMITED: Final = "limited"  # The action of such an entry.
LOCK: Final = 7_214_663_502  # Any number that no other program locks: two that differ go one after the other.


def read(database: Database) -> Mapping[str, int]:
    """Return the amounts, in minor units by currency; a currency that is not named needs one person."""
    with database.read() as connection:
        return _read(connection)


def keep(database: Database, told: Mapping[str, int], *, now: datetime) -> tuple[str, ...]:
    """Put these amounts in the place of those that are there; return the currencies that changed, in order.

    Raises:
        DatabaseUnavailable: It cannot be written now. Nothing was written.
    """
    if read(database) == told:  # As nearly always: nobody waits for the write lock.
        return ()
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        before = _read(connection)
        changed = sorted(each for each in {*before, *told} if before.get(each) != told.get(each))
        for currency in changed:  # The entry first: a trigger asks for it.
            _tell(connection, currency, told.get(currency), now)
        columns = approval_limits.c
        connection.execute(delete(approval_limits).where(columns.currency.in_(before.keys() - told.keys())))
        rows = [{"currency": each, "minor": told[each]} for each in changed if each in told]
        upsert(connection, approval_limits, rows)
    return tuple(changed)


def state(minor: int | None) -> str:
    """Return how an entry tells from which amount on a currency takes two people; None is never."""
    return "none" if minor is None else str(minor)


def unexplained(connection: Connection) -> tuple[str, ...]:
    """Return a sentence for each currency whose amount is not as the last entry about it says."""
    told: dict[str, str] = {}
    query = select(entries.c.topic, entries.c.to_state).where(entries.c.topic.startswith(LIMIT))
    for row in connection.execute(query.order_by(entries.c.topic, entries.c.version)):
        told[row.topic] = row.to_state
    stands = {LIMIT + currency: minor for currency, minor in _read(connection).items()}
    return tuple(
        f"{topic}: the amount is not as its last entry says."
        for topic in sorted({*told, *stands})
        if told.get(topic, state(None)) != state(stands.get(topic))
    )


def _read(connection: Connection) -> dict[str, int]:
    rows = connection.execute(select(approval_limits.c.currency, approval_limits.c.minor))
    return {row.currency: row.minor for row in rows}


def _tell(connection: Connection, currency: str, minor: int | None, now: datetime) -> None:
    """Add the entry that says what holds for a currency from now on; None is no limit."""
    topic = LIMIT + currency
    latest = select(entries.c.version, entries.c.hash, entries.c.to_state).where(entries.c.topic == topic)
    before = connection.execute(latest.order_by(entries.c.version.desc()).limit(1)).one_or_none()
    version = 1 if before is None else before.version + 1
    row = {
        "topic": topic,
        "version": version,
        "action": LIMITED,
        "actor": JOB,
        "at": now,
        "reason": _sentence(currency, minor),
        "from_state": None if before is None else before.to_state,
        "to_state": state(minor),
        "action_id": f"{topic}:{version}",
        "run_id": None,
        "resolution": None,
    }
    link = chains.link(row, chains.FIRST if before is None else before.hash)
    connection.execute(insert(connection, entries), [link])
    seals.add(connection, [link])


def _sentence(currency: str, minor: int | None) -> str:
    if minor is None:
        return f"The settings name no amount in {currency.upper()}: one person is enough."
    return f"The settings say two people from {money.written(Money(minor, currency))} at risk on."
