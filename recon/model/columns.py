"""What other people's files call our columns.

Never guesses: a header counts only if it is ours, or that of an extract tool which the headers give away.
"""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from recon.model import dtypes

METADATA_KEY = "intent_key"  # The metadata field that carries the intent's key, unless a map says otherwise.
INTENTS = dtypes.INTENTS
REFUNDS = dtypes.REFUNDS
OURS: Mapping[str, tuple[str, ...]] = {side: tuple(names) for side, names in dtypes.OURS.items()}

NEEDED: Mapping[str, tuple[str, ...]] = {
    INTENTS: ("key", "amount_minor", "amount", "currency", "status", "created_at"),
    REFUNDS: ("id", "amount_minor", "amount", "currency", "created_at"),
}
"""A file with none of these is not what it is said to be; one that lacks some has its rows rejected."""

# The provider's own words for the columns of a refund. Source: https://docs.stripe.com/api/refunds/object,
# and the names that extract tools make of ids: `charge_id` is Fivetran's `charge`.
_PROVIDER: Mapping[str, tuple[str, ...]] = {
    "payment_intent": ("payment_intent", "payment_intent_id"),
    "charge": ("charge", "charge_id"),
    "amount_minor": ("amount_minor", "amount"),
    "created_at": ("created_at", "created"),
    "intent_key": ("intent_key", f"metadata.{METADATA_KEY}", f"metadata_{METADATA_KEY}"),
    "account": ("account", "connected_account_id"),
}

LIKELY: Mapping[str, tuple[str, ...]] = {
    INTENTS: (),
    REFUNDS: (*(word for words in _PROVIDER.values() for word in words), "metadata", "object"),
}
"""Headers beside our own that a table of a side often has."""


@dataclass(frozen=True, slots=True)
class Extract:
    """A tool that copies the provider's refunds into tables.

    marks: headers that only its tables have, one of which gives it away. zoneless_utc: its times carry no
    zone and are UTC, which the tool's own documentation says.
    """

    name: str
    marks: frozenset[str]
    zoneless_utc: bool


# The provider's objects written out as a table: no flat file of ours has an `object` or a balance
# transaction.
_OBJECTS = Extract(
    "the provider's objects",
    frozenset({"object", "balance_transaction", "balance_transaction_id"}),
    zoneless_utc=False,
)
# Beside `amount` and `created`, the provider's words for what and when, these leave no doubt either.
_PAYMENTS = frozenset({"charge", "charge_id", "payment_intent", "payment_intent_id"})

EXTRACTS = (
    # https://fivetran.com/docs/connectors/applications/stripe: TIMESTAMP columns without zone, in UTC.
    Extract("Fivetran", frozenset({"_fivetran_synced", "_fivetran_id"}), zoneless_utc=True),
    # https://www.stitchdata.com/docs/integrations/saas/stripe: times with their zone.
    Extract(
        "Stitch", frozenset({"_sdc_batched_at", "_sdc_received_at", "_sdc_sequence"}), zoneless_utc=False
    ),
    # https://docs.stripe.com/data/schema and /data/data-freshness: ids are named so, times are UTC.
    Extract("Sigma", frozenset({"failure_balance_transaction_id"}), zoneless_utc=True),
    # https://docs.airbyte.com/integrations/sources/stripe: the provider's own Unix seconds.
    Extract("Airbyte", frozenset({"_airbyte_raw_id", "_airbyte_ab_id"}), zoneless_utc=False),
    _OBJECTS,
)

_EXPORT = "export refunds, or refund.* events, instead"
_BALANCE = (
    "this is a report of the balance; a map for --columns reads the refunds in it:"
    ' where = [{ column = "%s", is = "refund" }], id = "%s" and an amount with sign = "negative"'
)

# Headers, lower-case, of files that are often taken for a list of refunds, what they are, and what to do.
_MISTAKEN = (
    (
        frozenset({"amount refunded", "paymentintent id"}),
        f"this is the provider's export of payments, in which refunds have no ids: {_EXPORT}",
    ),
    (
        frozenset({"amount refunded", "created (utc)"}),
        f"this is the provider's export of payments, in which refunds have no ids: {_EXPORT}",
    ),
    (
        frozenset({"amount_refunded", "captured"}),
        f"this is a table of charges, which tells that money went back but not by which refunds: {_EXPORT}",
    ),
    (frozenset({"amount_received", "capture_method"}), f"this is a table of PaymentIntents: {_EXPORT}"),
    (
        frozenset({"reporting_category", "gross", "net", "source_id"}),
        _BALANCE % ("reporting_category", "source_id"),
    ),
    (
        frozenset({"reporting_category", "gross", "net"}),
        f"this is a report of the balance without the ids of refunds: {_EXPORT}",
    ),
    (
        frozenset({"type", "source", "fee", "net"}),
        _BALANCE % ("Type", "Source"),
    ),
    (frozenset({"arrival date (utc)"}), f"this is an export of payouts, money to your own bank: {_EXPORT}"),
    (frozenset({"arrival_date"}), f"this is a table of payouts, money to your own bank: {_EXPORT}"),
    (
        frozenset({"dispute amount", "dispute created (utc)"}),
        f"this is an export of disputes, which no refund answers: {_EXPORT}",
    ),
    (frozenset({"is_charge_refundable"}), f"this is a table of disputes, which no refund answers: {_EXPORT}"),
    (
        frozenset({"amount due", "amount paid"}),
        f"this is an export of invoices, which ask for money: {_EXPORT}",
    ),
    (
        frozenset({"amount_due", "amount_paid"}),
        f"this is a table of invoices, which ask for money: {_EXPORT}",
    ),
)

# How the ids of the provider's other objects begin. Source: https://docs.stripe.com/api, each object's page.
OTHER_IDS: Mapping[str, str] = {
    "ch_": "charges",
    "py_": "payments",
    "pi_": "PaymentIntents",
    "po_": "payouts",
    "txn_": "lines of the balance",
    "dp_": "disputes",
    "du_": "disputes",
    "evt_": "events",
    "cus_": "customers",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read.

    columns: our name to the table's header or dotted path. zoneless_utc: times without a zone are UTC. tool:
    the extract tool that was recognised; None means that the headers are our own or were mapped.
    """

    columns: Mapping[str, str]
    zoneless_utc: bool = False
    tool: str | None = None


def recognise(headers: Iterable[str], side: str) -> Reading:
    """Return which header holds which of our columns; columns that the table lacks are left out."""
    headers = tuple(headers)
    found = {header.lower(): header for header in reversed(headers)}
    found |= {header: header for header in headers if header in found}  # Ours to the letter comes first.
    columns = {name: found[name] for name in OURS[side] if name in found}
    if side == INTENTS:
        return Reading(columns)
    key = next((found[word] for word in _PROVIDER["intent_key"] if word in found), None)
    if key is None and "metadata" in found:
        key = f"{found['metadata']}.{METADATA_KEY}"
    if key is not None:
        columns["intent_key"] = key
    if "payment" in found and not _PAYMENTS & found.keys():  # As intents call it.
        columns["payment_intent"] = found["payment"]
    tool = _tool(found.keys())
    if tool is None or {"amount_minor", "created_at"} <= columns.keys():
        return Reading(columns)
    for name, theirs in _PROVIDER.items():
        header = next((found[word] for word in theirs if word in found), None)
        if header is not None:
            columns[name] = header
    if columns.get("amount") == columns.get("amount_minor"):
        columns.pop("amount", None)
    return Reading(columns, zoneless_utc=tool.zoneless_utc, tool=tool.name)


def _tool(found: AbstractSet[str]) -> Extract | None:
    """Return the tool that made a table; None where its headers do not say."""
    marked = next((extract for extract in EXTRACTS if extract.marks & found), None)
    if marked is None and found >= {"amount", "created"} and found & _PAYMENTS:
        return _OBJECTS
    return marked


def unmapped(known: Mapping[str, str], mapped: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return what was recognised of a table and a map says nothing else about.

    mapped: by our name, the headers that the map gives it. A column that the map calls an amount in minor
    units is not read as one in major units too, nor the other way round.
    """
    amounts = ("amount", "amount_minor")
    claimed = {header for name in amounts for header in mapped.get(name, ())}
    free = {ours: theirs for ours, theirs in known.items() if ours not in amounts or theirs not in claimed}
    return {ours: theirs for ours, theirs in free.items() if ours not in mapped}


def mistaken(headers: Iterable[str], side: str) -> str | None:
    """Return what a well-known file really is and what to do instead; None if it is not one of those."""
    found = {header.lower() for header in headers}
    if found >= {"amount_minor", "created_at"} or (side == INTENTS and "key" in found):
        return None  # Our own headers.
    return next((advice for marks, advice in _MISTAKEN if marks <= found), None)
