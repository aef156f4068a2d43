"""Our columns on either side of the diff and their dtypes.

Loads no pandas, so that settings can name columns.
"""

from collections.abc import Mapping

INTENTS = "intents"
REFUNDS = "refunds"

TEXT = "str"  # pandas 3's default: Arrow strings, missing is NaN.
TIME = "datetime64[us, UTC]"

INTENT_DTYPES: Mapping[str, str] = {
    "key": TEXT,  # Unique per account.
    "account": TEXT,  # "" is the platform's own; never missing.
    "order_id": TEXT,
    "reference": TEXT,  # What makes a legitimate repeat distinct; missing equals missing.
    "payment": TEXT,  # A PaymentIntent or charge id.
    "amount_minor": "int64",
    "currency": TEXT,  # Lower-case, one of the provider's.
    "status": TEXT,  # One of IntentStatus.
    "refund_id": TEXT,
    "created_at": TIME,
    "updated_at": TIME,  # Where the source has none: created_at.
    "first_sent_at": TIME,  # NaT where nothing was sent.
    "tool": TEXT,
    "team": TEXT,
    "customer_id": TEXT,
}

REFUND_DTYPES: Mapping[str, str] = {
    "id": TEXT,  # Unique per account.
    "account": TEXT,
    "payment_intent": TEXT,
    "charge": TEXT,
    "amount_minor": "int64",
    "currency": TEXT,
    "status": TEXT,  # One of RefundStatus, or a word we do not know; missing where the source has none.
    "created_at": TIME,
    "intent_key": TEXT,
    "request_key": TEXT,
    "operator_key": TEXT,
    "system": "bool",
    "reason": TEXT,
    "failure_reason": TEXT,
    "pending_reason": TEXT,
}

OURS: Mapping[str, Mapping[str, str]] = {
    INTENTS: {**INTENT_DTYPES, "amount": TEXT},
    REFUNDS: {**REFUND_DTYPES, "amount": TEXT},
}
"""Our headers by side with their dtypes; `amount` is in major units and may stand for `amount_minor`."""

KEYS: Mapping[str, str] = {INTENTS: "key", REFUNDS: "id"}
"""What tells the rows of a side apart, within an account."""
