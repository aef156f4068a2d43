"""Refunds that no intent of ours asked for. Never says whose they are."""

from collections.abc import Iterable

from sqlalchemy import Connection, or_, select

from recon.model.records.provider import Refund
from recon.model.tables import intents


def among(connection: Connection, refunds: Iterable[Refund]) -> tuple[Refund, ...]:
    """Return those of an account's refunds that no intent of ours asked for, by key or by id."""
    listed = tuple(refunds)
    names = {each.intent_key for each in listed} | {each.request_key for each in listed}
    found = connection.execute(
        select(intents.c.key, intents.c.refund_id)
        .where(intents.c.account.in_({each.account for each in listed}))
        .where(or_(intents.c.key.in_(names - {None}), intents.c.refund_id.in_({each.id for each in listed})))
    ).all()
    keys, ids = {key for key, _ in found}, {refund_id for _, refund_id in found}
    return tuple(
        each
        for each in listed
        if each.id not in ids and each.intent_key not in keys and each.request_key not in keys
    )
