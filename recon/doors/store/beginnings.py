"""From when the intents of each account count, and what that rests on. Never decides it: rules/beginnings.py.

Never reads a crowd: two numbers and a time of each account.
"""

from datetime import datetime

from sqlalchemy import Select, func, select, update

from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.records.runs import Beginning, Lease
from recon.model.records.words import DEAD, AccountId
from recon.model.tables import accounts, intents, refunds


def decided(database: Database) -> dict[AccountId, datetime]:
    """Return from when the intents of an account count, of each account where that was decided."""
    columns = accounts.c
    query = select(columns.account, columns.intents_from).where(columns.intents_from.is_not(None))
    with database.read() as connection:
        return {AccountId(row.account): row.intents_from for row in connection.execute(query)}


def look(database: Database, name: AccountId) -> Beginning:
    """Return where an account's intents begin, and how many refunds there were before."""
    with database.read() as connection:
        earliest = connection.scalar(_earliest(name))
        of = refunds.c
        counted = (
            select(func.count())
            .select_from(refunds)
            .where(of.account == name, of.status.not_in(DEAD), of.system.is_(False))
        )
        if earliest is not None:
            counted = counted.where(of.created_at < earliest)
        return Beginning(name, earliest, int(connection.scalar(counted) or 0))


def earliest(database: Database, name: AccountId) -> datetime | None:
    """Return when the account's first intent was created; None where there is none."""
    with database.read() as connection:
        return connection.scalar(_earliest(name))


def save(database: Database, lease: Lease, name: AccountId, intents_from: datetime) -> None:
    """Write down from when an account's intents count; nothing where nobody knows the account.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    with database.write() as connection:
        leases.check(connection, lease)
        connection.execute(
            update(accounts).where(accounts.c.account == name).values(intents_from=intents_from)
        )


def _earliest(name: AccountId) -> Select[datetime | None]:
    return select(func.min(intents.c.created_at)).where(intents.c.account == name)
