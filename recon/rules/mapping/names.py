"""What tables call our columns, likeliest first, and how a header is compared with that.

Never says that a name is enough: cells have to agree.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from recon.model.dtypes import INTENTS, REFUNDS

_PAYMENT = (
    "payment_intent",
    "payment_intent_id",
    "stripe_payment_intent",
    "stripe_payment_intent_id",
    "provider_payment_id",
    "charge",
    "charge_id",
    "stripe_charge_id",
    "payment",
    "payment_id",
    "transaction_id",
    "payment_reference",
)
_AMOUNT = (
    "refund_amount",
    "amount",
    "amount_cents",
    "refund_amount_cents",
    "amount_minor",
    "amount_refunded",
    "refunded_amount",
    "amount_value",
    "refund_total",
    "total",
    "total_amount",
    "value",
    "sum",
    "gross",
    "price",
    "erstattungsbetrag",
    "ruckerstattungsbetrag",
    "rueckerstattungsbetrag",
    "ruckerstattung",
    "rueckerstattung",
    "erstattung",
    "betrag",
    "montant",
    "importe",
    "importo",
)
_CURRENCY = (
    "currency",
    "currency_code",
    "amount_currency",
    "refund_currency",
    "currency_iso",
    "iso_currency",
    "ccy",
    "curr",
    "wahrung",
    "waehrung",
    "devise",
    "moneda",
    "valuta",
)
_STATUS = (
    "status",
    "refund_status",
    "state",
    "refund_state",
    "result",
    "outcome",
    "statut",
    "estado",
    "stato",
    "zustand",
    "bearbeitungsstatus",
    "bearbeitungsstand",
    "erstattungsstatus",
    "ruckerstattungsstatus",
    "rueckerstattungsstatus",
    "vorgangsstatus",
    "ergebnis",
    "stand",
    "etat",
    "resultado",
    "esito",
)
_CREATED = (
    "created_at",
    "created",
    "date_created_gmt",
    "created_at_utc",
    "created_utc",
    "created_date_utc",
    "refunded_at",
    "refund_created_at",
    "refund_datetime",
    "refund_date",
    "inserted_at",
    "requested_at",
    "date_created",
    "creation_date",
    "created_date",
    "created_on",
    "timestamp",
    "datetime",
    "date",
    "time",
    "datum",
    "fecha",
    "data",
)
_ORDER = (
    "order_id",
    "order",
    "order_number",
    "order_no",
    "order_code",
    "order_ref",
    "bestellung",
    "bestellnummer",
    "bestellnr",
    "bestell_nr",
    "auftrag",
    "auftragsnummer",
    "auftragsnr",
    "auftrags_nr",
    "ticket_id",
    "parent_id",
)

NAMES: Mapping[str, Mapping[str, Sequence[str]]] = {
    INTENTS: {
        "key": (
            "key",
            "intent_key",
            "idempotency_key",
            "idempotence_key",
            "request_key",
            "refund_key",
            "intent_id",
            "id",
            "refund_id",
            "refund_number",
            "refund_no",
            "refund_ref",
            "uuid",
            "reference",
            "number",
            "nr",
            "no",
            "numero",
            "vorgangsnummer",
            "vorgangs_nr",
            "vorgangsnr",
            "erstattungsnummer",
            "erstattungs_nr",
        ),
        "account": ("account", "stripe_account", "connected_account", "connected_account_id"),
        "order_id": _ORDER,
        "reference": (
            "reference",
            "return_id",
            "rma",
            "order_line_id",
            "line_item_id",
            "order_item_id",
            "reimbursement_id",
            "credit_note_id",
        ),
        "payment": _PAYMENT,
        "amount": _AMOUNT,
        "currency": _CURRENCY,
        "status": _STATUS,
        "refund_id": (
            "refund_id",
            "stripe_refund_id",
            "provider_refund_id",
            "psp_refund_id",
            "psp_reference",
            "external_refund_id",
            "processor_refund_id",
            "processor_id",
            "stripe_id",
            "external_id",
            "gateway_refund_id",
        ),
        "created_at": _CREATED,
        "updated_at": (
            "updated_at",
            "updated",
            "modified_at",
            "date_modified_gmt",
            "updated_on",
            "modified",
            "last_modified",
            "completed_at",
        ),
        "first_sent_at": ("first_sent_at", "sent_at", "submitted_at"),
        "tool": ("tool", "tool_name"),
        "team": ("team", "department", "agent_team"),
        "customer_id": ("customer_id", "customer", "user_id", "buyer_id"),
    },
    REFUNDS: {
        "id": (
            "id",
            "refund_id",
            "stripe_refund_id",
            "source_id",
            "refund_no",
            "refund_number",
            "refund_ref",
        ),
        "account": ("account", "stripe_account", "connected_account_id", "connected_account"),
        "payment_intent": _PAYMENT[:5],
        "charge": ("charge", "charge_id", "stripe_charge_id"),
        "amount": _AMOUNT,
        "currency": _CURRENCY,
        "status": _STATUS,
        "created_at": _CREATED,
        "intent_key": (
            "intent_key",
            "refund_key",
            "idempotency_key",
            "intent_id",
            "request_id",
            "merchant_reference",
            "client_reference",
        ),
        "request_key": ("request_key", "request_idempotency_key", "idempotency_key"),
        "reason": ("reason", "refund_reason"),
        "failure_reason": ("failure_reason", "failure_code", "error"),
    },
}
"""By side and column; `amount` stands for either unit."""

BEGINNINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    INTENTS: {
        "refund_id": ("re_", "pyr_"),
        "payment": ("pi_", "ch_", "py_"),
        "account": ("acct_",),
        "customer_id": ("cus_",),
    },
    REFUNDS: {
        "id": ("re_", "pyr_"),
        "payment_intent": ("pi_",),
        "charge": ("ch_", "py_"),
        "account": ("acct_",),
    },
}
"""How the provider's ids begin, by which a column is known whatever its name.

Source: https://docs.stripe.com/api, each object's page.
"""

MINOR = ("cents", "minor", "pence", "subunits", "paise", "minor_units", "in_cents")
MAJOR = ("major", "decimal", "major_units")
"""How the names of amounts say their unit."""

UTC_NAMES = ("utc", "gmt")
"""How the names of times say their zone."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER = re.compile(r"[^a-z0-9]+")


def normal(header: str) -> str:
    """Return a header in small plain letters with underscores: createdAt and "Created at" are created_at."""
    plain = unicodedata.normalize("NFKD", header).encode("ascii", "ignore").decode()
    return _OTHER.sub("_", _CAMEL.sub("_", plain).lower()).strip("_")


def last(path: str) -> str:
    """Return the last name of a path, normal: metadata.orderId is order_id."""
    inner = re.sub(r"\[(?:key=)?([^\]]*)\]", r".\1", path).removesuffix(".value")
    return normal(inner.rpartition(".")[2])


def words(header: str) -> frozenset[str]:
    """Return the words of a header."""
    return frozenset(normal(header).split("_"))


def closeness(header: str, known: Sequence[str]) -> int:
    """Return how well a header fits one of some names, the likeliest first; 0 is not at all."""
    name, inner = normal(header), last(header)
    for place, each in enumerate(known):
        if name == each:
            return 200 - place
    for place, each in enumerate(known):
        if inner == each:
            return 150 - place
    for place, each in enumerate(known):
        if len(each) > len("id") and (name.endswith(f"_{each}") or name.startswith(f"{each}_")):
            return 100 - place
    return 0
