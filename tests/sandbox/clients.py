"""The official clients, told not to retry, so that a test sees what the wire did; and waiting for it."""

from __future__ import annotations

import threading

import stripe
from slack_sdk import WebClient

from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street


def provider(street: Street, *, key: str = STRIPE_KEY, timeout_s: float = 5.0) -> stripe.StripeClient:
    """The provider's own client."""
    return stripe.StripeClient(
        key,
        base_addresses={"api": street.url},
        max_network_retries=0,
        http_client=stripe.RequestsClient(timeout=timeout_s),
    )


def slack(street: Street, *, token: str = SLACK_TOKEN, timeout_s: int = 5) -> WebClient:
    """Slack's own client."""
    return WebClient(token, base_url=street.slack_url, timeout=timeout_s, retry_handlers=[])


def wait_for_requests(street: Street, count: int) -> None:
    """Wait until that many refunds have been asked for."""
    for _ in range(200):
        if len(street.requests("POST", "/v1/refunds")) >= count:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"fewer than {count} requests arrived within two seconds")
