"""Refund tools as people write them, for `recon smoke` and the pytest plugin to try."""

import os
from uuid import uuid4

import stripe

from recon.guard import RefundTool


def client() -> stripe.StripeClient:
    """Return the provider's own client, at the address that the environment names."""
    return stripe.StripeClient(
        os.environ["STRIPE_API_KEY"], base_addresses={"api": os.environ["RECON_STRIPE_BASE_URL"]}
    )


def payment_of(order_id: str) -> str:
    """Return what was paid for an order."""
    return os.environ.get("RECON_SMOKE_PAYMENT", f"pi_{order_id}")


def minor(amount: str) -> int:
    """Return cents."""
    return int(amount.replace(".", ""))


def naive(order_id: str, amount: str) -> str:
    """Refund, with the key that the library makes up for each request."""
    params: stripe.params.RefundCreateParams = {
        "payment_intent": payment_of(order_id),
        "amount": minor(amount),
    }
    # recon: allow[missing-key] what smoke must find
    return client().v1.refunds.create(params).id


async def by_attempt(order_id: str, amount: str) -> str:
    """Refund with a key of each attempt."""
    return (
        await client().v1.refunds.create_async(
            {"payment_intent": payment_of(order_id), "amount": minor(amount)},
            # recon: allow[key-from-random] what smoke must find
            {"idempotency_key": f"{order_id}-{uuid4()}"},
        )
    ).id


def by_order(order_id: str, amount: str) -> str:
    """Refund with one key for the order, which is right for a day."""
    return (
        client()
        .v1.refunds.create(
            {"payment_intent": payment_of(order_id), "amount": minor(amount)},
            {"idempotency_key": f"refund-{order_id}"},
        )
        .id
    )


def generous(order_id: str, amount: str) -> str:
    """Refund once, and a cent more than was asked for."""
    params: stripe.params.RefundCreateParams = {
        "payment_intent": payment_of(order_id),
        "amount": minor(amount) + 1,
    }
    return client().v1.refunds.create(params, {"idempotency_key": f"refund-{order_id}"}).id


def guarded(order_id: str, amount: str) -> dict[str, object]:
    """Refund through the guard, as configuration and environment say."""
    tool = RefundTool.from_settings()
    try:
        currency = os.environ.get("RECON_SMOKE_CURRENCY", "usd")
        return tool.refund_order(order_id, amount, currency, payment_of(order_id)).to_model()
    finally:
        tool.close()


def status(order_id: str) -> dict[str, object]:
    """Say how it stands."""
    tool = RefundTool.from_settings()
    try:
        return tool.check_refund_status(order_id).to_model()
    finally:
        tool.close()


def nothing(order_id: str, amount: str) -> str:
    """Say that it is done, and do nothing."""
    return "done"
