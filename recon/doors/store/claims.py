"""What a person says of a case's rows: whose a refund is, by an adopted intent or a link in the mirror.

What became of an intent is in settlements.py. Written in the transaction that moves the case and only onto
rows that are as they were read. Never decides whether it may be said; rules/moves.py does.
"""

from dataclasses import replace

from sqlalchemy import Connection, select, update

from recon.doors.store import holders, settlements
from recon.doors.store.engines import Database
from recon.doors.store.evidence import intent_record
from recon.doors.store.statements import insert
from recon.model import tables
from recon.model.records.claims import Adoption, Claim, Known, Settlement
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import DEAD, AccountId, IntentKey, RefundId
from recon.model.tables import intents, refunds

# What a person looked at when they said whose it is. A refund may arrive meanwhile; it may not fail. Of one
# that had failed before, a link can be taken back.
RESTS_ON = ("amount_minor", "currency", "payment_intent", "charge", "intent_key", "operator_key", "system")


def read(
    database: Database, account: AccountId, refund_id: RefundId, intent_key: IntentKey | None = None
) -> Known:
    """Return what the rows say now of a refund, and of an intent where one is named.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    with database.read() as connection:
        refund = holders.known(connection, account, refund_id)
        intent = None if intent_key is None else _intent(connection, account, intent_key)
        return Known(
            refund=refund,
            intent=intent,
            holder=None if refund is None else holders.of(connection, refund),
            elsewhere=() if intent_key is None else _elsewhere(connection, account, intent_key),
            kept_by=None if refund is None else _kept_by(connection, refund),
        )


def hold(connection: Connection, claim: Claim | None) -> None:
    """Lock what a run locks before any case, so that the two never wait for each other."""
    if isinstance(claim, Settlement):
        settlements.hold(connection, claim)


def write(connection: Connection, claim: Claim) -> bool:
    """Write what a person said; False where a row is no longer as it was read: leave the transaction."""
    if isinstance(claim, Settlement):
        return settlements.write(connection, claim)
    refund = claim.refund
    now = holders.known(connection, refund.account, refund.id, locked=True)
    if now is None or (now.status in DEAD and refund.status not in DEAD):
        return False
    if any(getattr(now, name) != getattr(refund, name) for name in RESTS_ON):
        return False
    if isinstance(claim, Adoption):
        return holders.of(connection, now) is None and _put(connection, claim.intent)
    if claim.intent_key is not None and _intent(connection, refund.account, claim.intent_key) is None:
        return False
    same = (refunds.c.account == refund.account) & (refunds.c.id == refund.id)
    connection.execute(update(refunds).where(same).values(operator_key=claim.intent_key))
    return True


def _kept_by(connection: Connection, refund: Refund) -> IntentKey | None:
    linked = refund.operator_key is not None
    return holders.of(connection, replace(refund, operator_key=None)) if linked else None


def _put(connection: Connection, intent: Intent) -> bool:
    """Write an adopted intent down; False where its key is taken."""
    columns = [column.name for column in intents.c if column.name != "mapped"]
    row = {name: getattr(intent, name) for name in columns}
    adding = insert(connection, tables.intents).values(row).on_conflict_do_nothing()
    return connection.scalar(adding.returning(intents.c.key)) is not None


def _intent(connection: Connection, account: AccountId, key: IntentKey) -> Intent | None:
    query = select(intents).where(intents.c.account == account, intents.c.key == key)
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else intent_record(row)


def _elsewhere(connection: Connection, account: AccountId, key: IntentKey) -> tuple[AccountId, ...]:
    """Return which of the other accounts that we know have an intent of this key."""
    known = select(tables.accounts.c.account).where(tables.accounts.c.account != account)
    query = select(intents.c.account).where(intents.c.account.in_(known), intents.c.key == key)
    return tuple(map(AccountId, connection.scalars(query.order_by(intents.c.account))))
