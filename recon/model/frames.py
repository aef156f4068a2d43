"""The two frames that the diff takes: their columns and dtypes, and how raw rows become them.

Source: files, or the database's intents and mirror tables. Never judges a refund; never drops a row in silence.
"""

from dataclasses import dataclass

import pandas as pd

from recon.model.records.results import Reject

TEXT = "str"  # pandas 3's default: Arrow strings, missing is NaN.
TIME = "datetime64[us, UTC]"

INTENT_DTYPES = {
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

REFUND_DTYPES = {
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


@dataclass(frozen=True, slots=True)
class Intake:
    """One side of the diff, normalised.

    frame: one row per standing row, with exactly the columns and dtypes above, a RangeIndex, in source order.
    rejects: the rows that cannot be judged, by source and row. superseded: versions that another version replaced.
    incomplete: a sentence when the source itself says that it holds only a part, else None.
    """

    frame: pd.DataFrame
    rejects: tuple[Reject, ...] = ()
    superseded: int = 0
    incomplete: str | None = None
