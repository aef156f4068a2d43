"""The rows behind one case: the intents and the refunds that its mismatch speaks of, as they are now.

Individuals for a page; crowds for the diff are read by reading.py, which alone builds frames.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, and_, false, or_, select

from recon.doors.store.engines import Database
from recon.doors.store.mirror import record
from recon.model import subjects, tables
from recon.model.records.cases import Case
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import AccountId, Certainty, IntentKey, IntentStatus, Kind

ROW_LIMIT: Final = 50  # Of each side: a page shows a few next to each other, and says how many there are.


def rows(database: Database, case: Case) -> tuple[tuple[Intent, ...], tuple[Refund, ...]]:
    """Return the case's intents and refunds, each in time order, at most ROW_LIMIT of a side.

    Intents: its subject, the one its refund names, and those that recorded or are named by the refunds that
    take part; of a probable duplicate also those of the same payment and amount, because a refund may be
    theirs by inference alone. Refunds: those that take part, its subject, those that name its own intent, the
    one it has.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    mismatch = case.mismatch
    side, name = subjects.parted(case.subject)
    keys = {key for key in (mismatch.intent_key, name if side == subjects.INTENT else None) if key}
    ids = {*mismatch.refund_ids, *([name] if side == subjects.REFUND else [])}
    table, mirror = tables.intents.c, tables.refunds.c
    with database.read() as connection:
        first = connection.execute(
            select(table.refund_id).where(table.account == case.account, table.key.in_(keys))
        ).scalars()
        ids |= {found for found in first if found}
        named = or_(
            *(column.in_(keys) for column in (mirror.intent_key, mirror.request_key, mirror.operator_key))
        )
        refunds = connection.execute(
            select(tables.refunds)
            .where(and_(mirror.account == case.account, or_(mirror.id.in_(ids), named)))
            .order_by(mirror.created_at, mirror.id)
            .limit(ROW_LIMIT)
        )
        right = tuple(map(record, refunds))
        for refund in right:
            keys |= {key for key in (refund.operator_key, refund.intent_key, refund.request_key) if key}
        alike: ColumnElement[bool] = false()
        if mismatch.kind is Kind.DUPLICATE and mismatch.certainty is Certainty.PROBABLE:
            amounts = {refund.amount_minor for refund in right}
            alike = and_(table.payment == mismatch.payment, table.amount_minor.in_(amounts))
        tied = or_(table.key.in_(keys), table.refund_id.in_(ids), alike)
        intents = connection.execute(
            select(tables.intents)
            .where(and_(table.account == case.account, tied))
            .order_by(table.created_at, table.key)
            .limit(ROW_LIMIT)
        ).mappings()
        left = tuple(map(intent_record, intents))
    return left, right


def intent_record(row: Mapping[Any, Any]) -> Intent:
    """Return a row of the intents as a record."""
    return Intent(
        key=IntentKey(row["key"]),
        account=AccountId(row["account"]),
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        status=_status(row["status"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        order_id=row["order_id"],
        reference=row["reference"],
        payment=row["payment"],
        refund_id=row["refund_id"],
        first_sent_at=row["first_sent_at"],
        tool=row["tool"],
        team=row["team"],
        customer_id=row["customer_id"],
    )


def _status(word: str) -> IntentStatus:
    """Return our word; one we do not know stays as it is, because a page must show what stands there."""
    try:
        return IntentStatus(word)
    except ValueError:  # Written by somebody else's code; the diff rejects the row.
        return cast("IntentStatus", word)
