"""The slow, obvious reading of single rows: an intent, a refund, or what is wrong with the row.

Written from the text of the contract and apart from the product: nothing here may import the product.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

Row = Mapping[str, object]

INTENT_STATUSES = ("pending", "done", "pending_unknown", "failed", "cancelled")
DEAD = ("failed", "canceled")
NO_DECIMALS = frozenset(
    ("bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf")
)
THREE_DECIMALS = frozenset(("bhd", "jod", "kwd", "omr", "tnd"))
# Not the provider's whole list: those with two decimals that the tests use.
TWO_DECIMALS = frozenset(
    ("usd", "eur", "gbp", "dkk", "inr", "cad", "aud", "chf", "sek", "nok", "nzd", "pln", "brl", "mxn")
)


class MalformedError(Exception):
    """A row says something that cannot be read; the text says what."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One row of the intent table; `row` is where it was read and no part of what it says."""

    row: int = field(compare=False)
    key: str
    account: str
    order_id: str | None
    reference: str | None
    payment: str | None
    amount: int
    currency: str
    status: str
    refund_id: str | None
    created_at: datetime
    updated_at: datetime
    first_sent_at: datetime | None
    tool: str | None
    team: str | None
    customer_id: str | None

    @property
    def me(self) -> tuple[str, str]:
        """What this intent is known by."""
        return (self.account, self.key)

    @property
    def asked_at(self) -> datetime:
        """When it was first sent; when it was made, if it never was."""
        return self.first_sent_at or self.created_at


@dataclass(frozen=True, slots=True)
class Refund:
    """One of the provider's refunds; `payment` is worked out from all rows, not what this one says."""

    row: int = field(compare=False)
    id: str
    account: str
    payment_intent: str | None
    charge: str | None
    amount: int
    currency: str
    status: str | None
    created_at: datetime
    intent_key: str | None
    request_key: str | None
    operator_key: str | None
    system: bool
    reason: str | None
    failure_reason: str | None
    pending_reason: str | None
    payment: str | None = field(default=None, compare=False)

    @property
    def me(self) -> tuple[str, str]:
        """What this refund is known by."""
        return (self.account, self.id)

    @property
    def own_payment(self) -> str | None:
        """The payment as this row alone names it."""
        return self.payment_intent or self.charge

    @property
    def live(self) -> bool:
        """Neither failed nor canceled: an unknown word is live too."""
        return self.status not in DEAD


def intent_of(number: int, row: Row) -> Intent:
    """The intent a row tells of.

    Raises:
        MalformedError: the row cannot be judged.
    """
    currency = currency_of(row)
    status = text(row, "status")
    if status not in INTENT_STATUSES:
        raise MalformedError(f"no status of an intent: {status}")
    created_at = needed_time(row, "created_at")
    return Intent(
        row=number,
        key=needed_text(row, "key"),
        account=text(row, "account") or "",
        order_id=text(row, "order_id"),
        reference=text(row, "reference"),
        payment=text(row, "payment"),
        amount=intent_amount(row, currency),
        currency=currency,
        status=status,
        refund_id=text(row, "refund_id"),
        created_at=created_at,
        updated_at=time(row, "updated_at") or created_at,
        first_sent_at=time(row, "first_sent_at"),
        tool=text(row, "tool"),
        team=text(row, "team"),
        customer_id=text(row, "customer_id"),
    )


def refund_of(number: int, row: Row) -> Refund:
    """The refund a flat row or the provider's own object tells of.

    Raises:
        MalformedError: the row cannot be judged.
    """
    reason = text(row, "reason")
    said = row.get("system")
    return Refund(
        row=number,
        id=needed_text(row, "id"),
        account=text(row, "account") or "",
        payment_intent=reference_to(row, "payment_intent"),
        charge=reference_to(row, "charge"),
        amount=whole(text(row, "amount_minor") or text(row, "amount")),
        currency=currency_of(row),
        status=text(row, "status"),
        created_at=refund_time(row),
        intent_key=names_of_refund(row)[0],
        request_key=text(row, "request_key"),
        operator_key=text(row, "operator_key"),
        system=said is True or str(said).lower() == "true" or reason == "expired_uncaptured_charge",
        reason=reason,
        failure_reason=text(row, "failure_reason"),
        pending_reason=text(row, "pending_reason"),
    )


def text(row: Row, name: str) -> str | None:
    """The field's words; nothing and an empty text are both absent."""
    value = row.get(name)
    return None if value is None or value == "" else str(value)


def needed_text(row: Row, name: str) -> str:
    """The field's words, which must be there."""
    value = text(row, name)
    if value is None:
        raise MalformedError(f"no {name}")
    return value


def reference_to(row: Row, name: str) -> str | None:
    """The id of another object, which the provider gives bare or expanded."""
    value = row.get(name)
    return text(value, "id") if isinstance(value, Mapping) else text(row, name)


def names_of_refund(row: Row) -> tuple[str | None, str | None, str | None]:
    """The keys a refund's row mentions, by metadata, by request, by a person."""
    metadata = row.get("metadata")
    inside = text(metadata, "intent_key") if isinstance(metadata, Mapping) else None
    return text(row, "intent_key") or inside, text(row, "request_key"), text(row, "operator_key")


def currency_of(row: Row) -> str:
    """The currency in small letters; it must be one of the provider's."""
    currency = (text(row, "currency") or "").lower()
    if currency not in NO_DECIMALS | TWO_DECIMALS | THREE_DECIMALS:
        raise MalformedError(f"no currency of the provider: {currency}")
    return currency


def decimals(currency: str) -> int:
    """How many decimals the provider gives a currency."""
    if currency in NO_DECIMALS:
        return 0
    return 3 if currency in THREE_DECIMALS else 2


def number_of(value: object) -> Decimal:
    """A number as it is written, never through a float's bits."""
    if value is None or isinstance(value, bool):
        raise MalformedError(f"no amount: {value}")
    try:
        number = Decimal(str(value))
    except InvalidOperation as error:
        raise MalformedError(f"no amount: {value}") from error
    if not number.is_finite():
        raise MalformedError(f"no amount: {value}")
    return number


def whole(value: object) -> int:
    """An amount of minor units: whole and not negative; 4900.0 is whole."""
    number = number_of(value)
    if number != int(number) or number < 0:
        raise MalformedError(f"not a whole amount: {value}")
    return int(number)


def intent_amount(row: Row, currency: str) -> int:
    """Minor units as given, or from `amount` in major units; where both are given they must agree."""
    minor, major = text(row, "amount_minor"), text(row, "amount")
    if major is None:
        return whole(minor)
    from_major = whole(number_of(major).scaleb(decimals(currency)))
    if minor is not None and whole(minor) != from_major:
        raise MalformedError(f"amount {major} is not amount_minor {minor}")
    return from_major


def time(row: Row, name: str) -> datetime | None:
    """A time with its zone, in UTC, or nothing when the field is absent."""
    value = text(row, name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise MalformedError(f"{name} is no time: {value}") from error
    if moment.tzinfo is None:
        raise MalformedError(f"{name} has no zone: {value}")
    return moment.astimezone(UTC)


def needed_time(row: Row, name: str) -> datetime:
    """A time that must be there."""
    moment = time(row, name)
    if moment is None:
        raise MalformedError(f"no {name}")
    return moment


def refund_time(row: Row) -> datetime:
    """When the refund was made: created_at, or the provider's Unix seconds."""
    seconds = row.get("created")
    if text(row, "created_at") is None and isinstance(seconds, int) and not isinstance(seconds, bool):
        return datetime.fromtimestamp(seconds, UTC)
    return needed_time(row, "created_at")
