"""How far a reading of an account came before it ended, so that the next one goes on there.

Kept under a run's fence, until the account's watermark has passed. Never says what may still be relied on.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, or_, select

from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.doors.store.statements import chunks, upsert
from recon.model.records.runs import Lease, Slice
from recon.model.records.words import AccountId, RefundId
from recon.model.tables import refunds as refunds_table
from recon.model.tables import slices as slices_table


def read(database: Database, account: AccountId) -> tuple[Slice, ...]:
    """Return the slices of an account that were read to their end, oldest first."""
    columns = slices_table.c
    with database.read() as connection:
        rows = connection.execute(
            select(columns.from_at, columns.to_at, columns.read_at)
            .where(columns.account == account)
            .order_by(columns.from_at, columns.to_at)
        ).all()
    return tuple(Slice(row.from_at, row.to_at, row.read_at) for row in rows)


def save(database: Database, lease: Lease, account: AccountId, done: Iterable[Slice]) -> None:
    """Write down that slices were read to their end; their refunds must have been saved before.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    rows = [{"account": account, **each._asdict()} for each in done]
    with database.write() as connection:
        leases.check(connection, lease)
        upsert(connection, slices_table, rows)


def forget(
    database: Database,
    lease: Lease,
    account: AccountId,
    *,
    within: tuple[datetime, datetime] | None,
    read_before: datetime,
) -> None:
    """Forget the slices that end within a window that was read whole, if it was, and those read too long ago.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    columns = slices_table.c
    over = [columns.read_at < read_before]
    if within is not None:
        over.append(columns.to_at.between(*within))
    with database.write() as connection:
        leases.check(connection, lease)
        connection.execute(delete(slices_table).where(columns.account == account, or_(*over)))


def mirrored(
    database: Database, account: AccountId, ids: Iterable[RefundId]
) -> dict[RefundId, tuple[datetime, str | None]]:
    """Return creation time and request key of those refunds that the mirror holds."""
    columns = refunds_table.c
    found = {}
    with database.read() as connection:
        for chunk in chunks(ids):
            query = select(columns.id, columns.created_at, columns.request_key).where(
                columns.account == account, columns.id.in_(chunk)
            )
            found.update({row.id: (row.created_at, row.request_key) for row in connection.execute(query)})
    return found
