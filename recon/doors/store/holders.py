"""One refund of the mirror, and the intent that it belongs to by our books. Never writes."""

from sqlalchemy import Connection, or_, select

from recon.doors.store.mirror import record
from recon.model.records.provider import Refund
from recon.model.records.words import AccountId, IntentKey, RefundId
from recon.model.tables import intents, refunds


def known(
    connection: Connection, account: AccountId, refund_id: RefundId, *, locked: bool = False
) -> Refund | None:
    """Return the refund as the mirror has it, None where it has none; locked until the transaction ends."""
    query = select(refunds).where(refunds.c.account == account, refunds.c.id == refund_id)
    row = connection.execute(query.with_for_update() if locked else query).one_or_none()
    return None if row is None else record(row)


def of(connection: Connection, refund: Refund) -> IntentKey | None:
    """Return the intent that a key of the refund names, or else the earliest one that recorded its id."""
    names = [key for key in (refund.operator_key, refund.intent_key, refund.request_key) if key]
    of_account = intents.c.account == refund.account
    found = connection.execute(
        select(intents.c.key)
        .where(of_account, or_(intents.c.key.in_(names), intents.c.refund_id == refund.id))
        .order_by(intents.c.created_at, intents.c.key)
    ).scalars()
    held = {IntentKey(key): None for key in found}
    return next((IntentKey(name) for name in names if name in held), next(iter(held), None))
