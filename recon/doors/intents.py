"""Single intent rows, for the guarded tool and whoever writes intents one at a time.

Crowds are read by doors/store/reading.py. Takes a connection, so that the caller says what commits together.
Never loads a frame, and never takes back that a refund was done.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from recon.model.records.provider import Intent
from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId
from recon.model.tables import intents

COLUMNS = tuple(column.name for column in intents.c if column.name != "mapped")


def put(connection: Connection, intent: Intent) -> bool:
    """Write a new intent down; False when its key is known already, and nothing was written."""
    values = {name: getattr(intent, name) for name in COLUMNS}
    try:
        with connection.begin_nested():
            connection.execute(insert(intents).values(values))
    except IntegrityError:
        # The key is taken: another call of the same intent was first.
        return False
    return True


def get(connection: Connection, account: AccountId, key: IntentKey) -> Intent | None:
    """Return the intent of this key; None where there is none."""
    row = connection.execute(
        select(intents).where(intents.c.account == account, intents.c.key == key)
    ).one_or_none()
    return None if row is None else _intent(row)


def settle(
    connection: Connection,
    intent: Intent,
    *,
    expected: Iterable[IntentStatus],
) -> bool:
    """Write status, refund_id, first_sent_at and updated_at of an intent whose status is one of expected.

    Returns:
        False when it is another: somebody was faster, and nothing was written. A done intent stays done.
    """
    unsettled = [status for status in expected if status is not IntentStatus.DONE]
    found = connection.execute(
        update(intents)
        .where(intents.c.account == intent.account, intents.c.key == intent.key)
        .where(intents.c.status.in_(unsettled))
        .values(
            status=intent.status,
            refund_id=intent.refund_id,
            first_sent_at=intent.first_sent_at,
            updated_at=intent.updated_at,
        )
    )
    return found.rowcount == 1


def _intent(row: Row[tuple[str | int | datetime | bool | None, ...]]) -> Intent:
    return Intent(
        key=IntentKey(row.key),
        account=AccountId(row.account),
        amount_minor=row.amount_minor,
        currency=row.currency,
        status=IntentStatus(row.status),
        created_at=row.created_at,
        updated_at=row.updated_at,
        order_id=row.order_id,
        reference=row.reference,
        payment=row.payment,
        refund_id=None if row.refund_id is None else RefundId(row.refund_id),
        first_sent_at=row.first_sent_at,
        tool=row.tool,
        team=row.team,
        customer_id=row.customer_id,
    )
