"""The mirror of the provider's refunds, and how far each account was read; written under a run's fence.

What one page says never takes back what is known: a status only moves forward, a key once known is kept,
because lists and events arrive late and out of order.
"""

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.doors.store.statements import chunks, insert, upsert
from recon.model.records.provider import Refund, RefundEvent
from recon.model.records.runs import Account, Cursors, Lease
from recon.model.records.words import NO_PROGRESS, PROGRESS, AccountId, IntentKey, RefundId
from recon.model.tables import accounts as accounts_table
from recon.model.tables import hints as hints_table
from recon.model.tables import refunds as refunds_table

COLUMNS = tuple(column.name for column in refunds_table.c)


def accounts(database: Database) -> tuple[Account, ...]:
    """Return what the mirror knows of each account, by account."""
    columns = accounts_table.c
    with database.read() as connection:
        rows = connection.execute(select(accounts_table).order_by(columns.account)).all()
    return tuple(
        Account(AccountId(row.account), row.livemode, row.covered_from, row.watermark_at) for row in rows
    )


def livemode(database: Database) -> bool:
    """Return whether the refunds in the mirror are of real money; False before there are any."""
    return any(account.livemode for account in accounts(database))


def save_account(database: Database, lease: Lease, account: Account) -> None:
    """Write down what is known of an account now.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    row = {
        "account": account.account,
        "livemode": account.livemode,
        "covered_from": account.covered_from,
        "watermark_at": account.watermark_at,
    }
    with database.write() as connection:
        leases.check(connection, lease)
        upsert(connection, accounts_table, [row])


def cursors(database: Database, account: AccountId) -> Cursors:
    """Return how far the account's re-list and events were read."""
    columns = accounts_table.c
    with database.read() as connection:
        row = connection.execute(
            select(columns.relist_at, columns.events_at).where(columns.account == account)
        ).one_or_none()
    return Cursors() if row is None else Cursors(row.relist_at, row.events_at)


def save_cursors(database: Database, lease: Lease, account: AccountId, read: Cursors) -> None:
    """Write down how far the account's re-list and events were read.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    row = {"account": account, "relist_at": read.relist_at, "events_at": read.events_at}
    with database.write() as connection:
        leases.check(connection, lease)
        upsert(connection, accounts_table, [row])


def hints(database: Database, account: AccountId) -> tuple[RefundEvent, ...]:
    """Return the events whose refunds must still be retrieved, oldest first."""
    columns = hints_table.c
    with database.read() as connection:
        rows = connection.execute(
            select(hints_table)
            .where(columns.account == account)
            .order_by(columns.created_at, columns.refund_id)
        ).all()
    return tuple(RefundEvent(RefundId(row.refund_id), row.request_key, row.created_at) for row in rows)


def save_hints(
    database: Database,
    lease: Lease,
    account: AccountId,
    *,
    waiting: Iterable[RefundEvent],
    retrieved: Iterable[RefundId],
) -> None:
    """Keep the events whose refunds could not be retrieved yet, and forget those that were.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    rows = [{"account": account, **event._asdict()} for event in waiting]
    columns = hints_table.c
    with database.write() as connection:
        leases.check(connection, lease)
        for chunk in chunks(retrieved):
            connection.execute(
                delete(hints_table).where(columns.account == account, columns.refund_id.in_(chunk))
            )
        if rows:
            new = insert(connection, hints_table)
            # Only the event of its creation knows the request's key.
            key = func.coalesce(new.excluded.request_key, columns.request_key)
            connection.execute(
                new.on_conflict_do_update(
                    index_elements=[columns.account, columns.refund_id], set_={"request_key": key}
                ),
                rows,
            )


def save_page(database: Database, lease: Lease, refunds: Iterable[Refund]) -> int:
    """Save what a page says; return how many refunds were new or really different.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    page = tuple(refunds)
    with database.write() as connection:
        leases.check(connection, lease)
        known = _known(connection, page)
        after = dict(known)
        for refund in page:
            name = refund.account, refund.id
            after[name] = refund if name not in after else merged(after[name], refund)
        fresh = [_row(refund) for name, refund in after.items() if name not in known]
        moved = [_row(refund) for name, refund in after.items() if name in known and refund != known[name]]
        if fresh:
            connection.execute(insert(connection, refunds_table), fresh)
        if moved:
            _update(connection, moved)
    return len(fresh) + len(moved)


def merged(known: Refund, told: Refund) -> Refund:
    """Return what is known of a refund after it was told of again."""
    forward = PROGRESS.get(told.status, NO_PROGRESS) >= PROGRESS.get(known.status, NO_PROGRESS)
    furthest = told if forward else known
    return replace(
        told,
        status=furthest.status,
        reason=furthest.reason or known.reason or told.reason,
        failure_reason=furthest.failure_reason,
        pending_reason=furthest.pending_reason,
        payment_intent=told.payment_intent or known.payment_intent,
        charge=told.charge or known.charge,
        intent_key=told.intent_key or known.intent_key,
        request_key=known.request_key or told.request_key,
        operator_key=told.operator_key or known.operator_key,
        system=told.system or known.system,
    )


def _known(connection: Connection, page: tuple[Refund, ...]) -> dict[tuple[AccountId, RefundId], Refund]:
    columns = refunds_table.c
    known = {}
    for account in {refund.account for refund in page}:
        for chunk in chunks(refund.id for refund in page if refund.account == account):
            query = select(refunds_table).where(columns.account == account, columns.id.in_(chunk))
            # Locked: a link that a person writes meanwhile must not be overwritten by what we read before.
            query = query.order_by(columns.id).with_for_update()
            known.update({(account, RefundId(row.id)): record(row) for row in connection.execute(query)})
    return known


def _update(connection: Connection, rows: list[dict[str, object]]) -> None:
    columns = refunds_table.c
    connection.execute(
        update(refunds_table)
        .where(columns.account == bindparam("of_account"), columns.id == bindparam("of_id"))
        .values({name: bindparam(f"to_{name}") for name in COLUMNS if name not in {"account", "id"}}),
        [
            {"of_account": row["account"], "of_id": row["id"]}
            | {f"to_{name}": value for name, value in row.items() if name not in {"account", "id"}}
            for row in rows
        ],
    )


def _row(refund: Refund) -> dict[str, object]:
    return {name: getattr(refund, name) for name in COLUMNS}


def record(row: Row[tuple[object, ...]]) -> Refund:
    """Return a row of the mirror as a record."""
    return Refund(
        id=RefundId(row.id),
        account=AccountId(row.account),
        amount_minor=row.amount_minor,
        currency=row.currency,
        status=row.status,
        created_at=row.created_at,
        payment_intent=row.payment_intent,
        charge=row.charge,
        intent_key=None if row.intent_key is None else IntentKey(row.intent_key),
        request_key=row.request_key,
        operator_key=None if row.operator_key is None else IntentKey(row.operator_key),
        system=row.system,
        reason=row.reason,
        failure_reason=row.failure_reason,
        pending_reason=row.pending_reason,
    )
