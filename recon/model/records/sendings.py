"""One request for a refund as it reached the provider, for telling how an order came to its refunds.

Never holds what anybody meant by it: only what was sent, what was answered and what was done to the answer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    """One request for a refund. Source: the sandbox's log of requests, or a relay's before a provider.

    key: the idempotency key; None where none was sent. payment: the PaymentIntent or charge. status: of the
    provider's answer; None where it gave none. refund_id: the refund that the answer names. said: the
    provider's words where it names none. fault: what the answer, or the request, met on its way; None for
    nothing. replayed: the answer is a kept one, of an earlier request with the same key.
    """

    key: str | None
    payment: str
    status: int | None = None
    refund_id: str | None = None
    said: str = ""
    fault: str | None = None
    replayed: bool = False
