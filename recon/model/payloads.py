"""The provider's own objects, one by one, as records.

Pure: a decoded answer in, a Refund or the Reject that says why not out. Unknown fields do not disturb it,
nor do missing ones that a refund can do without.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from recon.model import phrases
from recon.model.characters import keepable
from recon.model.money import EXPONENTS, LARGEST_MINOR
from recon.model.records.provider import Refund, RefundEvent
from recon.model.records.results import Reject
from recon.model.records.words import AccountId, IntentKey, RefundId

# Of what rows are looked up by: PostgreSQL's indexes hold 2,704 bytes, the provider's values 500 characters.
LONGEST_NAME = 500
# What can be asked for by its id: anything else is a path to somewhere, or a page about nothing.
_ID = re.compile(r"\w[\w-]{0,254}", re.ASCII)
LATEST_SECONDS = 253_402_300_799  # The end of the year 9999: what a datetime holds.
# Refunds that the provider makes by itself, by their reason or by what they are in its ledger: a partial
# capture's reversal has the type refund there, and this category. Since 2025-03-31 the provider makes neither
# any more, so that they are old, or of an account that captures with an older version of the API.
# Sources: https://docs.stripe.com/api/refunds/object, https://docs.stripe.com/reports/balance-transaction-types,
# https://docs.stripe.com/changelog/basil/2025-03-31/remove-refund-from-partial-capture-and-payment-cancellation-flow
_SYSTEM_REASONS = frozenset({"expired_uncaptured_charge"})
_SYSTEM_ENTRIES = frozenset({"partial_capture_reversal"})


def refund(row: object, *, account: AccountId, place: int, metadata_key: str) -> Refund | Reject:
    """Return one refund object as a record, or why it cannot be one.

    row: as JSON has it. place: its place on the page, from 1. metadata_key: the field with the intent's key.
    """
    found: Mapping[str, Any] = row if isinstance(row, dict) else {}
    metadata = found.get("metadata")
    named = _text(metadata.get(metadata_key)) if isinstance(metadata, dict) else None
    flaw = _flaw(found) or _long(found, named)
    if flaw is not None:
        return Reject(
            source=f"provider, refunds of {phrases.account(account)}",
            row=place,
            id=_name(found.get("id")),
            reason=flaw,
            account=account,
            names=(named,) if named and len(named) <= LONGEST_NAME else (),
        )
    return Refund(
        id=RefundId(keepable(found["id"])),
        account=account,
        amount_minor=found["amount"],
        currency=found["currency"].lower(),
        status=_text(found.get("status")) or "",
        created_at=datetime.fromtimestamp(found["created"], UTC),
        payment_intent=_id(found.get("payment_intent")),
        charge=_id(found.get("charge")),
        intent_key=IntentKey(named) if named else None,
        system=_is_system(found),
        reason=_text(found.get("reason")),
        failure_reason=_text(found.get("failure_reason")),
        pending_reason=_text(found.get("pending_reason")),
    )


def refund_event(row: object) -> RefundEvent | None:
    """Return one event object as a hint; None where it names nothing that is a refund's id, or no time."""
    found: Mapping[str, Any] = row if isinstance(row, dict) else {}
    data, request = found.get("data"), found.get("request")
    refund_id = _id(data.get("object")) if isinstance(data, dict) else None
    if refund_id is None or not _ID.fullmatch(refund_id) or not _is_time(found.get("created")):
        return None
    key = None
    if found.get("type") == "refund.created" and isinstance(request, dict):
        key = _name(request.get("idempotency_key"))
    return RefundEvent(RefundId(refund_id), key, datetime.fromtimestamp(found["created"], UTC))


def _flaw(found: Mapping[str, Any]) -> str | None:
    amount, currency = found.get("amount"), found.get("currency")
    if not _text(found.get("id")):
        return "It has no id."
    if not isinstance(amount, int) or isinstance(amount, bool) or not 0 <= amount <= LARGEST_MINOR:
        return "Its amount is not a whole number of minor units from 0."
    if not isinstance(currency, str) or currency.lower() not in EXPONENTS:
        return "Its currency is not one of the provider's."
    if not _is_time(found.get("created")):
        return "Its created is not a time in seconds."
    return None


def _long(found: Mapping[str, Any], named: str | None) -> str | None:
    """Return what is wrong where a name is longer than any of the provider's."""
    names = {
        "id": _text(found.get("id")),
        "payment_intent": _id(found.get("payment_intent")),
        "charge": _id(found.get("charge")),
        "intent key": named,
    }
    for what, name in names.items():
        if name is not None and len(name) > LONGEST_NAME:
            return f"Its {what} has {len(name)} characters, more than {LONGEST_NAME}."
    return None


def _is_system(found: Mapping[str, Any]) -> bool:
    entry = found.get("balance_transaction")
    told: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
    words = {_text(told.get("type")), _text(told.get("reporting_category"))}
    return _text(found.get("reason")) in _SYSTEM_REASONS or not words.isdisjoint(_SYSTEM_ENTRIES)


def _is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST_SECONDS


def _text(value: object) -> str | None:
    return keepable(value) if isinstance(value, str) and value else None


def _name(value: object) -> str | None:
    """Return a text that is short enough to be looked up by."""
    text = _text(value)
    return text if text is not None and len(text) <= LONGEST_NAME else None


def _id(value: object) -> str | None:
    return _text(value.get("id")) if isinstance(value, dict) else _text(value)
