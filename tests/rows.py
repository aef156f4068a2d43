"""Ordinary rows for tests of the diff, and what the slow reading finds in them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests import reference
from tests.drawer import AS_OF, Row

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
T0 = datetime(2026, 3, 6, 15, tzinfo=UTC)
REFUNDS_CUT = frozenset({"refunds"})
INTENTS_CUT = frozenset({"intents"})


def an_intent(key: str = "k1", at: datetime = T0, **fields: object) -> Row:
    """An intent that is done; its times are when it was asked."""
    ordinary: Row = {"key": key, "account": "", "payment": "pi_1", "amount_minor": 100, "currency": "usd"}
    times = {"created_at": at.isoformat(), "updated_at": at.isoformat(), "first_sent_at": at.isoformat()}
    return {**ordinary, "status": "done", **times, **fields}


def a_refund(name: str = "re_1", at: datetime = T0, **fields: object) -> Row:
    """A refund that succeeded and names nobody."""
    ordinary: Row = {
        "id": name,
        "account": "",
        "payment_intent": "pi_1",
        "amount_minor": 100,
        "currency": "usd",
    }
    return {**ordinary, "status": "succeeded", "created_at": at.isoformat(), **fields}


def found(
    intents: list[Row], refunds: list[Row], settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of the slow reading."""
    return reference.diff(intents, refunds, **{"as_of": AS_OF, **(settings or {})})


def kinds(document: dict[str, Any]) -> dict[str, str]:
    """The kind of each subject's mismatch."""
    return {m["subject"]: m["kind"] for m in document["mismatches"]}
