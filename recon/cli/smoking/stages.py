"""Where a refund tool is tried: a payment for each order, a line that can fail, and what came of it.

The line is the sandbox, which fails by itself, or a relay before a provider that does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recon.cli.friday.street import Street
from recon.doors.stripe.provider import Provider
from recon.model import money
from recon.model.errors import ConfigurationError
from recon.model.records.provider import Refund
from recon.model.records.results import Money
from recon.model.records.sendings import Sent
from recon.model.records.words import DEAD, AccountId

REFUNDS = "/v1/refunds"
_SMALLEST_MINOR = 100
_TIMES = 4  # What a tool may do wrong must find the money to do it with: two at once, and again.
_PAID_MINOR = 10_000


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be refunded once. Amounts differ, so that no order looks like a repeat of another."""

    id: str
    payment: str
    amount_minor: int
    currency: str

    @property
    def amount(self) -> str:
        """Return the amount in major units, as a tool is asked for it."""
        return money.major(self.amount_minor, self.currency)


@dataclass(frozen=True, slots=True)
class Paid:
    """A captured payment, some of which may be refunded already."""

    payment: str
    amount_minor: int
    currency: str


class Line(Protocol):
    """The way to a provider, which can be told to fail."""

    @property
    def url(self) -> str:
        """Where a tool finds the provider."""

    def payment(self, order_id: str) -> Paid:
        """Return a captured payment for an order."""

    def arm(self, fault: str, *, times: int, after_s: float) -> None:
        """Let the next requests for a refund meet a fault, by the sandbox's name for it."""

    def calm(self) -> None:
        """Let no further request meet one."""

    def sent(self) -> tuple[Sent, ...]:
        """Return every request for a refund so far, in the order they came."""


class Stage:
    """A line, and the provider as somebody sees it who looks at the books behind the line."""

    def __init__(self, line: Line, provider: Provider, *, mark: str = "smoke") -> None:
        """mark: what the orders' names begin with."""
        self.line = line
        self._provider = provider
        self._mark = mark
        self._begun = 0
        self._known: frozenset[str] = frozenset()

    def order(self, number: int) -> Order:
        """Return a new order; what is sent and made from now on is its.

        Raises:
            ConfigurationError: too little is left of the payment: what cannot be refunded twice proves
                nothing.
            ReconError: the provider cannot be asked, or has no such payment.
        """
        name = f"{self._mark}_{number}"
        paid = self.line.payment(name)
        order = Order(name, paid.payment, _amount(number, paid.currency), paid.currency)
        self._begun = len(self.line.sent())
        found = self._found(paid.payment)
        self._known = frozenset(each.id for each in found)
        left = paid.amount_minor - sum(each.amount_minor for each in found if each.status not in DEAD)
        if left < _TIMES * order.amount_minor:
            told = money.written(Money(left, paid.currency))
            raise ConfigurationError(
                f"Expected {paid.payment} to have {_TIMES} times {order.amount} left to refund, so that a "
                f"tool can refund too often; found {told}: name another payment."
            )
        return order

    def sent(self) -> tuple[Sent, ...]:
        """Return the requests for a refund since the latest order began."""
        return self.line.sent()[self._begun :]

    def refunds(self, order: Order) -> tuple[Refund, ...]:
        """Return the refunds of an order, as the provider lists them.

        Raises:
            ReconError: the provider cannot be asked.
        """
        return tuple(each for each in self._found(order.payment) if each.id not in self._known)

    def _found(self, payment: str) -> tuple[Refund, ...]:
        return self._provider.find(payment, AccountId(""))


class SandboxLine:
    """The sandbox at an address."""

    def __init__(self, street: Street) -> None:
        self._street = street

    @property
    def url(self) -> str:
        """Return where the provider answers."""
        return self._street.url

    def payment(self, order_id: str) -> Paid:
        """Make a payment for this order, named after it."""
        paid = Paid(f"pi_{order_id}", _PAID_MINOR, "usd")
        self._street.tell("payments", id=paid.payment, amount=paid.amount_minor, currency=paid.currency)
        return paid

    def arm(self, fault: str, *, times: int, after_s: float) -> None:
        """Let the next requests for a refund meet a fault."""
        self._street.tell("faults", on=f"POST {REFUNDS}", fault=fault, times=times, after_s=after_s)

    def calm(self) -> None:
        """Let no further request meet one."""
        self._street.take_back()

    def sent(self) -> tuple[Sent, ...]:
        """Return every request for a refund so far."""
        return sendings(self._street.ask("requests"))


def sendings(requests: Sequence[Mapping[str, Any]]) -> tuple[Sent, ...]:
    """Return the requests for a refund among those of the sandbox's log, in their order."""
    return tuple(_sent(each) for each in requests if (each["method"], each["path"]) == ("POST", REFUNDS))


def _sent(seen: Mapping[str, Any]) -> Sent:
    form, answer = seen["form"], seen["answer"] or {}
    payment = str(form.get("payment_intent") or form.get("charge") or "")
    return answered(
        Sent(seen["key"], payment, fault=seen["fault"]),
        answer.get("status"),
        answer.get("body"),
        replayed=bool(answer.get("replayed")),
    )


def answered(sent: Sent, status: int | None, body: object, *, replayed: bool) -> Sent:
    """Return a request with what the provider answered. body: as JSON was read; None where none came."""
    told = body if isinstance(body, Mapping) else {}
    error = told.get("error")
    return Sent(
        sent.key,
        sent.payment,
        status=status,
        refund_id=str(told["id"]) if told.get("object") == "refund" else None,
        said=str(error.get("message", "")) if isinstance(error, Mapping) else "",
        fault=sent.fault,
        replayed=replayed,
    )


def _amount(number: int, currency: str) -> int:
    """Return an amount of its own for each order: the last digit of three decimals must be 0."""
    step = 10 if money.EXPONENTS[currency] == 3 else 1  # noqa: PLR2004 - of decimals
    return (_SMALLEST_MINOR + number) * step
