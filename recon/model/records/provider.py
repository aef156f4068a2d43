"""One intent and one refund as individuals: what the guard writes and what the provider answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId


@dataclass(frozen=True, slots=True)
class Intent:
    """One business decision to refund. Source: the intents table, or the caller.

    amount_minor: minor units of currency. payment: a PaymentIntent or charge id. reference: what makes a
    legitimate repeat distinct. first_sent_at: None while nothing was sent.
    """

    key: IntentKey
    account: AccountId
    amount_minor: int
    currency: str
    status: IntentStatus
    created_at: datetime
    updated_at: datetime
    order_id: str | None = None
    reference: str | None = None
    payment: str | None = None
    refund_id: RefundId | None = None
    first_sent_at: datetime | None = None
    tool: str | None = None
    team: str | None = None
    customer_id: str | None = None


@dataclass(frozen=True, slots=True)
class Refund:
    """The provider's record of money going back. Source: Stripe /v1/refunds.

    status: the provider's word, which may be one we do not know. intent_key: from metadata. request_key: the
    idempotency key of the request that made it, when the creation event told. operator_key: a person's
    decision. system: the provider made it by itself.
    """

    id: RefundId
    account: AccountId
    amount_minor: int
    currency: str
    status: str
    created_at: datetime
    payment_intent: str | None = None
    charge: str | None = None
    intent_key: IntentKey | None = None
    request_key: str | None = None
    operator_key: IntentKey | None = None
    system: bool = False
    reason: str | None = None
    failure_reason: str | None = None
    pending_reason: str | None = None


class RefundEvent(NamedTuple):
    """A hint that something happened to a refund: retrieve it to know what. Source: Stripe /v1/events.

    request_key: the idempotency key of the request that made the refund; None in all events but its creation.
    """

    refund_id: RefundId
    request_key: str | None
    created_at: datetime
