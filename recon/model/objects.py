"""The provider's own objects, as its API, events and extract tools give them, opened into flat refund rows.

Never judges a value: what an object says is copied into our columns, and what is no refund is refused with
its reason.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from recon.model import envelopes, values
from recon.model.columns import METADATA_KEY
from recon.model.dtypes import REFUND_DTYPES
from recon.model.envelopes import Message, Record

# The events that tell which request made a refund. Source: https://docs.stripe.com/api/events/types
_CREATION_EVENTS = frozenset({"refund.created"})
# Only an expanded balance transaction tells, by its type or its category, that a partial capture made it.
# Source: https://docs.stripe.com/reports/balance-transaction-types
_SYSTEM_TRANSACTIONS = frozenset({"partial_capture_reversal"})

# Streams of extract tools that hold refunds, or what carries them.
_STREAMS = ("refund", "charge", "event", "payment_intent", "balance_transaction")
UNREFUNDED = "charge of which nothing was refunded"
# Objects of the provider's that are often taken for refunds, and what they are.
_OTHERS = {
    "payout": "which is money to your own bank",
    "transfer": "which is money to a connected account",
    "transfer_reversal": "which is money back from a connected account",
    "dispute": "which a customer began at their bank and which no refund answers",
    "invoice": "which asks for money",
    "credit_note": "which corrects an invoice and names its refund at most",
    "payment_intent": "which is money that came in",
    "checkout.session": "which is money that came in",
    "balance_transaction": "which is a line of the balance and names its refund at most",
    "topup": "which is money from your own bank",
}

_FAILURES = ("error", "errors", "message")  # What web services call why they answer nothing.
_DECIMALS = re.compile(r"\.[0-9]{2,3}\s*$")
# Money that came back. Source: https://docs.stripe.com/api/refunds/object
_DEAD = frozenset({"failed", "canceled"})
_OUR_WORDS = frozenset({"amount_minor", "created_at"})
ROW_WORDS = frozenset({"id", "key", "amount", "amount_minor"})
"""Fields of which a list page and a message have none."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object, or a line of a file, that is no row. reason: one sentence."""

    reason: str
    id: str | None = None


_TOO_DEEP = Refusal("expected an object, found wrappings in one another beyond reason")


@dataclass(slots=True)
class Opened:
    """Rows found in a file's objects. row numbers count every object and every refusal, from start on.

    rows: by number, with our columns where the source was the provider's object, else the source's own.
    sources: by number, the object that the row was made of. refusals: by number. foreign: rows that are not
    the provider's objects. left_out: records that are nobody's refunds, as their surroundings say, by what
    one of them is, noun first; they have no number. incomplete: a sentence when a list said that there is
    more. words: fields that a row has and its wrappings have not, those that a map names among them.
    """

    start: int = 1
    words: frozenset[str] = ROW_WORDS
    rows: dict[int, Mapping[str, object]] = field(default_factory=dict)
    sources: dict[int, Mapping[str, object]] = field(default_factory=dict)
    refusals: dict[int, Refusal] = field(default_factory=dict)
    foreign: set[int] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    incomplete: str | None = None

    @property
    def next(self) -> int:
        """Return the number that the next row or refusal gets."""
        return self.start + len(self.rows) + len(self.refusals)

    def add(self, row: Mapping[str, object], source: Mapping[str, object]) -> None:
        """Count a row."""
        number = self.next
        self.rows[number], self.sources[number] = row, source
        if row is source:
            self.foreign.add(number)

    def refuse(self, value: object) -> None:
        """Count what is no row: a refusal, or a value that is no object."""
        self.refusals[self.next] = value if isinstance(value, Refusal) else Refusal(_no_object(value))


@dataclass(frozen=True, slots=True)
class _Context:
    """What the things around an object tell about it."""

    account: object = None
    request_key: object = None
    charge: object = None
    payment_intent: object = None
    event: str | None = None


def open_refunds(item: object, opened: Opened) -> None:
    """Add the refunds in a JSON value: an object, list, list page, event, charge, record or flat row."""
    try:
        _open(item, _Context(), opened)
    except RecursionError:  # What it held until then is counted, and so is that there is more.
        opened.refuse(_TOO_DEEP)


def open_intents(item: object, opened: Opened) -> None:
    """Add the flat intent rows in a JSON value: an object, list, list page or record."""
    try:
        _open_intent(item, opened)
    except RecursionError:  # As for refunds.
        opened.refuse(_TOO_DEEP)


def _open_intent(item: object, opened: Opened) -> None:
    """Open one value into intent rows and refusals."""
    if isinstance(item, list):
        for inner in item:
            _open_intent(inner, opened)
    elif not isinstance(item, Mapping):
        opened.refuse(item)
    elif (envelope := envelopes.opened(item, opened.words)) is not None:
        if isinstance(envelope, Record):
            _open_intent(envelope.data, opened)
    elif isinstance(item.get("data"), list) and _is_page(item, opened.words):
        _note_page(item, opened)
        _open_intent(item["data"], opened)
    else:
        opened.add(item, item)


def _open(item: object, context: _Context, opened: Opened) -> None:
    """Open one value into refund rows and refusals."""
    if isinstance(item, list):
        for inner in item:
            _open(inner, context, opened)
        return
    if not isinstance(item, Mapping):
        opened.refuse(item)
        return
    envelope = envelopes.opened(item, opened.words)
    if envelope is not None:
        _open_envelope(envelope, context, opened)
    elif not _open_around(item, context, opened):
        _open_object(item, context, opened)


def _open_envelope(envelope: Record | Message, context: _Context, opened: Opened) -> None:
    """Open what an extract tool wrote, leaving out its messages and the records of other tables."""
    if isinstance(envelope, Message):
        return
    if envelope.stream and not any(word in envelope.stream.lower() for word in _STREAMS):
        opened.left_out[f"record of {envelope.stream[:40]!r}"] += 1
    else:
        _open(envelope.data, context, opened)


def _open_around(item: Mapping[str, object], context: _Context, opened: Opened) -> bool:
    """Open what stands inside an object that is only its wrapping; return whether it is."""
    sort, data = item.get("object"), item.get("data")
    if isinstance(sort, Mapping):
        _open(sort, context, opened)
    elif isinstance(data, Mapping) and isinstance(data.get("object"), Mapping):
        _open(data["object"], _event_context(item, context), opened)
    elif isinstance(data, list) and _is_page(item, opened.words):
        _note_page(item, opened)
        _open(data, context, opened)
    elif sort == "balance_transaction" and isinstance(item.get("source"), Mapping):
        _open(item["source"], context, opened)
    elif sort == "payment_intent" and (charges := _charges(item)):
        _open(charges, context, opened)
    elif sort == "charge" or (sort is None and _holds_refunds(item, opened)):
        _open_charge(item, context, opened)
    else:
        return False
    return True


def _open_object(item: Mapping[str, object], context: _Context, opened: Opened) -> None:
    """Take a refund or a flat row; refuse any other object of the provider's."""
    sort = item.get("object")
    if sort == "refund" or _looks_like_refund(item, context):
        opened.add(_row(item, context), item)
        _note_event(item, context, opened)
    elif isinstance(sort, str) and sort and "id" in item and "amount_minor" not in item:
        what = _OTHERS.get(sort)
        advice = f", {what}: export refunds, or refund.* events" if what else ""
        reason = f"expected a refund, found the provider's object {sort[:40]!r}{advice}"
        opened.refuse(Refusal(reason, _id_text(item)))
    else:
        opened.add(item, item)


def _charges(item: Mapping[str, object]) -> list[object]:
    """Return the charges that a PaymentIntent shows, of which some API versions list all."""
    listed, latest = item.get("charges"), item.get("latest_charge")
    if isinstance(listed, Mapping) and isinstance(listed.get("data"), list):
        return list(listed["data"])
    return [latest] if isinstance(latest, Mapping) else []


def _is_page(item: Mapping[str, object], row_words: Collection[str]) -> bool:
    """Return whether an object that holds a list of data is nothing but that list."""
    sort = item.get("object")
    if sort == "list":
        return True
    is_row = any(word in item for word in row_words)
    return not is_row and ("has_more" in item or sort is None)


def _note_page(page: Mapping[str, object], opened: Opened) -> None:
    """Note a list page that is not the last, and refuse one that is the answer to a failed request."""
    if _has_more(page):
        opened.incomplete = "a list page says has_more, so fetch the pages that follow it"
    failed = next((name for name in _FAILURES if page.get(name)), None)
    if failed is not None and not page["data"]:
        opened.refuse(Refusal(f"expected a list page, found an empty one with the field {failed!r}"))


def _has_more(page: Mapping[str, object]) -> bool:
    """Return whether a list says that there is more of it."""
    return page.get("has_more") is True or str(page.get("has_more")).lower() in {"true", "1"}


def _holds_refunds(item: Mapping[str, object], opened: Opened) -> bool:
    """Return whether an object that does not say what it is, is a charge with its refunds and no row."""
    told = opened.words - ROW_WORDS | _OUR_WORDS
    return isinstance(item.get("refunds"), Mapping | list) and not told & item.keys()


def _open_charge(charge: Mapping[str, object], context: _Context, opened: Opened) -> None:
    """Open the refunds inside a charge."""
    held = charge.get("refunds")
    page = held if isinstance(held, Mapping) else {}
    items = page.get("data") if page else held
    inside = replace(context, charge=_id(charge), payment_intent=_id(charge.get("payment_intent")))
    if isinstance(items, list) and items:
        if _has_more(page) or _is_part(charge, page, items):
            opened.incomplete = "a charge says that it has_more refunds than it holds, so list its refunds"
        _open(items, inside, opened)
    elif _is_unrefunded(charge, empty=isinstance(items, list) and not _has_more(page)):
        opened.left_out[UNREFUNDED] += 1
    else:
        opened.refuse(
            Refusal(
                "expected refunds, found a charge without its refunds, which may tell that money went back"
                " but not by which of them; export refunds or refund.* events, or expand the charge's"
                " refunds",
                _id_text(charge),
            )
        )


def _is_part(charge: Mapping[str, object], page: Mapping[str, object], items: list[object]) -> bool:
    """Return whether a charge tells of more refunds, or of more money, than its refunds are."""
    total, refunded = page.get("total_count"), charge.get("amount_refunded")
    if isinstance(total, int) and total > len(items):
        return True
    live = [item for item in items if isinstance(item, Mapping) and item.get("status") not in _DEAD]
    amounts = [amount for item in live if isinstance(amount := item.get("amount"), int)]
    return isinstance(refunded, int) and len(amounts) == len(live) and sum(amounts) < refunded


def _is_unrefunded(charge: Mapping[str, object], *, empty: bool) -> bool:
    """Return whether nothing of a charge was refunded, as its amount says, or else an empty list of them."""
    refunded = charge.get("amount_refunded")
    if charge.get("refunded") is True or (refunded is None and not empty):
        return False
    return refunded is None or refunded == 0


def _event_context(event: Mapping[str, object], context: _Context) -> _Context:
    """Return what an event tells about its object."""
    request, sort = event.get("request"), str(event.get("type"))
    key = (
        request.get("idempotency_key") if isinstance(request, Mapping) and sort in _CREATION_EVENTS else None
    )
    return replace(
        context,
        account=event.get("account", context.account),
        request_key=key,
        event=sort,
    )


def _note_event(item: Mapping[str, object], context: _Context, opened: Opened) -> None:
    """Note an event whose name says something else than its object does: the object is believed."""
    status = item.get("status")
    if context.event == "refund.failed" and status != "failed":
        opened.notes.append(
            f"An event refund.failed holds refund {_id_text(item)} as {status}: the object is believed."
        )


def _row(item: Mapping[str, object], context: _Context) -> dict[str, object]:
    """Return the provider's refund as a row of ours."""
    row = {name: item.get(name) for name in REFUND_DTYPES}
    row["account"] = item.get("account", context.account)
    charge = item.get("charge")
    shown = _id(charge.get("payment_intent")) if isinstance(charge, Mapping) else None
    row["payment_intent"] = _id(item.get("payment_intent")) or shown or context.payment_intent
    row["charge"] = _id(charge) or context.charge
    row["amount_minor"] = item["amount_minor"] if "amount_minor" in item else _minor(item.get("amount"))
    row["created_at"] = item.get("created_at", item.get("created"))
    row["intent_key"] = item.get("intent_key") or values.field(item.get("metadata"), METADATA_KEY)
    row["request_key"] = item.get("request_key") or context.request_key
    transaction = item.get("balance_transaction")
    if isinstance(transaction, Mapping) and any(
        str(transaction.get(name)) in _SYSTEM_TRANSACTIONS for name in ("type", "reporting_category")
    ):
        row["system"] = True
    return row


def _minor(amount: object) -> object:
    """Return an amount of the provider's, which is in minor units; one with a currency's decimals is not."""
    text = str(amount) if isinstance(amount, Decimal) else amount  # An exponent is left to who reads it.
    if isinstance(text, str) and _DECIMALS.search(text):
        return values.Unreadable("a number with decimals, as major units have, in the provider's object")
    return amount


def _looks_like_refund(item: Mapping[str, object], context: _Context) -> bool:
    """Return whether an object that does not say what it is has the provider's words for its fields."""
    counted = isinstance(item.get("amount"), int) and isinstance(item.get("created"), int)
    paid = context.charge is not None or bool({"charge", "payment_intent"} & item.keys())
    return counted and paid and not _OUR_WORDS & item.keys()


def _id(value: object) -> object:
    """Return an id, also of an expanded object."""
    return value.get("id") if isinstance(value, Mapping) else value


def _id_text(item: Mapping[str, object]) -> str | None:
    """Return an object's id for a message; None where it has no usable one."""
    value = item.get("id")
    return value if isinstance(value, str) and value and values.encodable(value) else None


def _no_object(value: object) -> str:
    """Return why a JSON value is no row."""
    names = {str: "a text", bool: "a truth value", int: "a number", Decimal: "a number", type(None): "null"}
    return f"expected an object, found {names.get(type(value), 'something else')}"
