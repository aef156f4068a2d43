"""The provider's objects as JSON, in the shape of its newest API version.

Source: https://docs.stripe.com/api/refunds/object and recorded answers; keys that have no value are null or
absent exactly where the provider's are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from recon.sandbox import errors

if TYPE_CHECKING:
    # provider builds its events from these objects, and they are made of its records.
    from recon.sandbox.provider import Event, Payment, Refund

API_VERSION = "2026-10-28.endive"
# The id of the account that is "" everywhere else here: the platform's own.
PLATFORM = "acct_1SandboxPlatform"
# What every charge has, and no payment of this sandbox a value for.
_CHARGE = """
    application application_fee application_fee_amount calculated_statement_descriptor description
    failure_balance_transaction failure_code failure_message on_behalf_of outcome payment_method_details
    receipt_email receipt_number receipt_url review shipping source source_transfer statement_descriptor
    statement_descriptor_suffix transfer_data transfer_group
"""
# The same of a PaymentIntent.
_PAYMENT_INTENT = """
    allowed_payment_method_types application application_fee_amount automatic_payment_methods canceled_at
    cancellation_reason client_secret customer_account description excluded_payment_method_types
    last_payment_error managed_payments next_action on_behalf_of payment_method_configuration_details
    payment_method_options payment_record processing receipt_email review setup_future_usage shipping source
    statement_descriptor statement_descriptor_suffix transfer_data transfer_group
"""
# A charge shows at most this many of its refunds.
_REFUNDS_SHOWN = 10


def refund(item: Refund) -> dict[str, Any]:
    """A refund; it has no `livemode` and no time of its last change, as the provider's has none."""
    tail = item.id.partition("_")[2]
    shown: dict[str, Any] = {
        "id": item.id,
        "object": "refund",
        "amount": item.amount_minor,
        "balance_transaction": f"txn_{tail}" if item.status == "succeeded" else None,
        "charge": item.payment.charge,
        "created": item.created,
        "currency": item.payment.currency,
        "customer": item.payment.customer,
        "customer_account": None,
        "destination_details": {
            "card": {
                "reference_status": "pending",
                "reference_type": "acquirer_reference_number",
                "type": "refund",
            },
            "type": "card",
        },
        "metadata": dict(item.metadata),
        "payment_intent": item.payment.intent,
        "payment_method": f"pm_{item.payment.charge.partition('_')[2]}",
        "reason": item.reason,
        "receipt_number": None,
        "source_transfer_reversal": None,
        "status": item.status,
        "transfer_reversal": None,
    }
    if item.status == "failed":
        shown["failure_balance_transaction"] = f"txn_{tail}f"
        shown["failure_reason"] = item.failure_reason
    if item.pending_reason is not None:
        shown["pending_reason"] = item.pending_reason
    if item.status == "requires_action":
        shown["next_action"] = {
            "type": "display_details",
            "display_details": {
                "email_sent": {"email_sent_at": item.created, "email_sent_to": "customer@example.com"},
                "expires_at": item.created + 45 * 86_400,
            },
        }
    return shown


def balance_transaction(item: Refund) -> dict[str, Any]:
    """What the ledger says of a refund: what made it is in `reporting_category` alone."""
    return {
        "id": f"txn_{item.id.partition('_')[2]}",
        "object": "balance_transaction",
        "amount": -item.amount_minor,
        "available_on": item.created,
        "balance_type": "payments",
        "created": item.created,
        "currency": item.payment.currency,
        "description": None,
        "exchange_rate": None,
        "fee": 0,
        "fee_details": [],
        "net": -item.amount_minor,
        "reporting_category": item.category,
        "source": item.id,
        "status": "available",
        "type": "refund",
    }


def charge(item: Payment, *, live: bool = False) -> dict[str, Any]:
    """A captured charge; its refunds come only when expanded."""
    return dict.fromkeys(_CHARGE.split()) | {
        "id": item.charge,
        "object": "charge",
        "amount": item.amount_minor,
        "amount_captured": item.amount_minor,
        "amount_refunded": item.refunded_minor,
        "balance_transaction": f"txn_{item.charge.partition('_')[2]}",
        "billing_details": {"address": None, "email": None, "name": None, "phone": None, "tax_id": None},
        "captured": True,
        "created": item.created,
        "currency": item.currency,
        "customer": item.customer,
        "dispute": f"du_{item.charge.partition('_')[2]}" if item.disputed else None,
        "disputed": item.disputed,
        "fraud_details": {},
        "livemode": live,
        "metadata": {},
        "paid": True,
        "payment_intent": item.intent,
        "payment_method": f"pm_{item.charge.partition('_')[2]}",
        "refunded": item.refunded_minor >= item.amount_minor,
        "status": "succeeded",
    }


def payment_intent(item: Payment, *, live: bool = False) -> dict[str, Any]:
    """A PaymentIntent whose money has been captured."""
    return dict.fromkeys(_PAYMENT_INTENT.split()) | {
        "id": item.intent,
        "object": "payment_intent",
        "amount": item.amount_minor,
        "amount_capturable": 0,
        "amount_received": item.amount_minor,
        "capture_method": "automatic_async",
        "confirmation_method": "automatic",
        "created": item.created,
        "currency": item.currency,
        "customer": item.customer,
        "latest_charge": item.charge,
        "livemode": live,
        "metadata": {},
        "payment_method": f"pm_{item.charge.partition('_')[2]}",
        "payment_method_types": ["card"],
        "status": "succeeded",
    }


def event(item: Event, *, live: bool) -> dict[str, Any]:
    """An event with the snapshot it carries."""
    return {
        "id": item.id,
        "object": "event",
        "api_version": API_VERSION,
        "created": item.place[0],
        "data": item.body["data"],
        "livemode": live,
        "pending_webhooks": 0,
        "request": item.body["request"],
        "type": item.type,
    }


def account(name: str) -> dict[str, Any]:
    """The account that the API key, or the account header, speaks for."""
    return {
        "id": name or PLATFORM,
        "object": "account",
        "business_type": None,
        "charges_enabled": True,
        "country": "US",
        "default_currency": "usd",
        "details_submitted": True,
        "email": "owner@example.com",
        "metadata": {},
        "payouts_enabled": True,
        "settings": {"dashboard": {"display_name": "Sandbox", "timezone": "Etc/UTC"}},
        "type": "standard",
    }


def listing(url: str, data: Iterable[dict[str, Any]], *, more: bool) -> dict[str, Any]:
    """One page of a list."""
    return {"object": "list", "data": list(data), "has_more": more, "url": url}


def expanded_refund(item: Refund, wanted: Iterable[str], *, live: bool) -> dict[str, Any]:
    """A refund with its charge, PaymentIntent or balance transaction in place of the id, where asked for."""
    shown = refund(item)
    for path in wanted:
        head, _, rest = path.partition(".")
        deeper = (rest,) if rest else ()
        if head == "charge":
            shown["charge"] = expanded_charge(item.payment, deeper, live=live)
        elif head == "payment_intent":
            if item.payment.intent is not None:
                shown["payment_intent"] = expanded_payment_intent(item.payment, deeper, live=live)
        elif path == "balance_transaction":
            if shown["balance_transaction"] is not None:
                shown["balance_transaction"] = balance_transaction(item)
        else:
            raise not_expandable(path)
    return shown


def expanded_charge(item: Payment, wanted: Iterable[str], *, live: bool) -> dict[str, Any]:
    """A charge with its refunds or PaymentIntent, where asked for."""
    shown = charge(item, live=live)
    for path in wanted:
        if path == "refunds":
            newest = sorted((r for r in item.refunds if r.appeared), key=lambda r: r.place, reverse=True)
            shown["refunds"] = listing(
                f"/v1/charges/{item.charge}/refunds",
                (refund(r) for r in newest[:_REFUNDS_SHOWN]),
                more=len(newest) > _REFUNDS_SHOWN,
            ) | {"total_count": len(newest)}
        elif path == "payment_intent":
            if item.intent is not None:
                shown["payment_intent"] = payment_intent(item, live=live)
        else:
            raise not_expandable(path)
    return shown


def expanded_payment_intent(item: Payment, wanted: Iterable[str], *, live: bool) -> dict[str, Any]:
    """A PaymentIntent with its charge in place of the id, where asked for."""
    shown = payment_intent(item, live=live)
    for path in wanted:
        head, _, rest = path.partition(".")
        if head != "latest_charge":
            raise not_expandable(path)
        shown["latest_charge"] = expanded_charge(item, (rest,) if rest else (), live=live)
    return shown


def not_expandable(path: str) -> errors.ProviderError:
    """The property does not exist, or is not an id."""
    return errors.ProviderError(f"This property cannot be expanded ({path}).", param="expand")
