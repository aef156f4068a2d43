"""A host of the refund tools: its orders, what it says of them, and the tool that it had before."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import stripe

from recon.model.records.payables import Payable
from tests.guards import ORDER, PAYMENT, Shop
from tests.sandboxes import STRIPE_KEY, Street

# Nothing of a test is told to anybody. Set before a framework is imported.
QUIET = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}
os.environ.update(QUIET)

ARGUMENTS = {"order_id": ORDER, "amount": "49.00", "reason": "It arrived broken."}


@dataclass
class Host:
    """A shop's own books, in which an order is found however it is written."""

    shop: Shop
    asked: list[str] = field(default_factory=list)

    def lookup(self, order_id: str) -> Payable | None:
        """Return what the books say of an order."""
        self.asked.append(order_id)
        if order_id.lstrip("#") != ORDER:
            return None
        return Payable(ORDER, PAYMENT, "usd")

    async def alookup(self, order_id: str) -> Payable | None:
        """Do the same as asynchronous books do."""
        return self.lookup(order_id)

    def said(self) -> list[tuple[str | None, str | None, str]]:
        """Return of each recorded call its id, who asked, and the reason."""
        return [(each.call_id, each.caller, each.asked.get("reason")) for each in self.shop.calls()]


def naive(street: Street) -> Callable[[str, str, str], dict[str, Any]]:
    """Return the refund tool as it is written everywhere: a key for each attempt, errors raised."""
    client = stripe.StripeClient(STRIPE_KEY, base_addresses={"api": street.url}, max_network_retries=0)

    def refund_order(order_id: str, amount: str, reason: str = "") -> dict[str, Any]:
        made = client.v1.refunds.create(
            params={"payment_intent": PAYMENT, "amount": int(float(amount) * 100)},
            # recon: allow[key-from-random] what goes wrong without the guard
            options={"idempotency_key": f"{order_id}-{uuid4()}"},
        )
        return {"status": made.status, "refund_id": made.id}

    return refund_order
