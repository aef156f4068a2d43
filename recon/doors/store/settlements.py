"""What became of an intent, as a person says it: read before the provider is asked, written after.

Written in the transaction that moves the case, and only where nothing that it rests on has changed. Never
decides whether it may be said; rules/settling.py does.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, func, or_, select, update

from recon.doors.store import holders, mirror
from recon.doors.store.engines import Database
from recon.doors.store.evidence import intent_record
from recon.model.holds import guarded
from recon.model.records.claims import Settlement
from recon.model.records.provider import Intent, Refund
from recon.model.records.settlements import Books, Sighting
from recon.model.records.words import DEAD, UNSETTLED, AccountId, IntentKey
from recon.model.tables import intents, refunds

NAMED_LIMIT: Final = 50  # Refunds of one intent: more than a few is a case of its own.


def read(database: Database, account: AccountId, key: IntentKey) -> Books | None:
    """Return what our books say of an intent; None where there is no such intent.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    with database.read() as connection:
        return _books(connection, account, key)


def sightings(database: Database, shown: Iterable[Refund]) -> tuple[Sighting, ...]:
    """Return whose each refund is that the provider shows, in their order; keys that only we know count.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    with database.read() as connection:
        return tuple(_sighting(connection, refund) for refund in shown)


def hold(connection: Connection, settlement: Settlement) -> None:
    """Lock the intent, first where the guarded tool locks it and then where runs do."""
    intent = settlement.books.intent
    for table in (guarded, intents):
        query = select(table.c.key).where(table.c.account == intent.account, table.c.key == intent.key)
        connection.execute(query.with_for_update())


def write(connection: Connection, settlement: Settlement) -> bool:
    """Settle the intent; False where something is no longer as it was read: leave the transaction."""
    read_before = settlement.books
    intent = read_before.intent
    now = _books(connection, intent.account, intent.key)
    if now is None or now.mapped or _busy(now, settlement):
        return False
    if replace(now, named=(), busy_until=None) != replace(read_before, named=(), busy_until=None):
        return False
    if settlement.refund is None:
        if now.named != read_before.named:
            return False
    elif not _free(connection, settlement.refund, intent):
        return False
    found = connection.execute(
        update(intents)
        .where(intents.c.account == intent.account, intents.c.key == intent.key)
        .where(intents.c.status.in_(UNSETTLED))
        .values(status=settlement.status, refund_id=settlement.refund_id, updated_at=settlement.at)
    )
    return found.rowcount == 1


def _busy(now: Books, settlement: Settlement) -> bool:
    """Return whether the guarded tool is at work on it, or was since the settlement was begun."""
    return now.busy_until is not None and now.busy_until > settlement.at


def _free(connection: Connection, refund: Refund, intent: Intent) -> bool:
    """Return whether the refund is still live, and the intent's or nobody's."""
    if connection.dialect.name == "postgresql":  # On SQLite the transaction has locked everything.
        # Two intents may be settled by one refund at once, and the mirror need not have it yet.
        name = f"recon refund {refund.account} {refund.id}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
    seen = _sighting(connection, refund, locked=True)
    return seen.holder in {None, intent.key} and seen.refund.status not in DEAD


def _books(connection: Connection, account: AccountId, key: IntentKey) -> Books | None:
    same = (guarded.c.account == intents.c.account) & (guarded.c.key == intents.c.key)
    beside = {
        name: guarded.c[name].label(f"guarded_{name}") for name in ("first_sent_at", "sent_at", "until")
    }
    query = select(intents, *beside.values()).outerjoin(guarded, same)
    row = (
        connection.execute(query.where(intents.c.account == account, intents.c.key == key))
        .mappings()
        .one_or_none()
    )
    if row is None:
        return None
    intent = intent_record(row)
    first = [at for at in (intent.first_sent_at, row["guarded_first_sent_at"]) if at is not None]
    sent = [at for at in (*first, row["guarded_sent_at"]) if at is not None]
    return Books(
        intent=intent,
        mapped=row["mapped"],
        guarded=row["guarded_until"] is not None,
        first_sent_at=min(first, default=None),
        sent_at=max(sent, default=None),
        busy_until=row["guarded_until"],
        named=_named(connection, intent),
    )


def _named(connection: Connection, intent: Intent) -> tuple[Refund, ...]:
    """Return the refunds of the mirror that are the intent's."""
    keys = (refunds.c.operator_key, refunds.c.intent_key, refunds.c.request_key)
    tied = or_(*(key == intent.key for key in keys), refunds.c.id == intent.refund_id)
    query = select(refunds).where(refunds.c.account == intent.account, tied)
    found = connection.execute(query.order_by(refunds.c.created_at, refunds.c.id).limit(NAMED_LIMIT)).all()
    return tuple(
        refund for refund in map(mirror.record, found) if holders.of(connection, refund) == intent.key
    )


def _sighting(connection: Connection, refund: Refund, *, locked: bool = False) -> Sighting:
    known = holders.known(connection, refund.account, refund.id, locked=locked)
    full = refund if known is None else mirror.merged(known, refund)
    return Sighting(full, holders.of(connection, full))
