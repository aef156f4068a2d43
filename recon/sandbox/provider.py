"""The provider's books: captured payments, their refunds, and the events that tell of them.

A state machine in memory. It knows nothing of HTTP, faults or idempotency keys; every method takes the time.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recon.sandbox import errors, objects
from recon.sandbox.shelf import Shelf

LIVE = frozenset({"pending", "requires_action", "succeeded"})
STATUSES = LIVE | {"failed", "canceled"}

_ALPHABET = string.ascii_letters + string.digits


@dataclass(slots=True)
class Payment:
    """A captured payment; `intent` is None where only a charge exists.

    `refund_status` is what its new refunds begin as: a card answers succeeded, a bank transfer pending.
    """

    intent: str | None
    charge: str
    account: str
    amount_minor: int
    currency: str
    created: int
    customer: str | None = None
    refund_status: str = "succeeded"
    disputed: bool = False
    refunds: list[Refund] = field(default_factory=list)

    @property
    def refunded_minor(self) -> int:
        """What went back, pending included; a refund that failed gave its amount back."""
        return sum(r.amount_minor for r in self.refunds if r.status in LIVE and r.appeared)

    @property
    def left_minor(self) -> int:
        """What may still be refunded; a refund that has yet to appear holds its amount already."""
        return self.amount_minor - sum(r.amount_minor for r in self.refunds if r.status in LIVE)


@dataclass(slots=True)
class Refund:
    """Money going back; `appeared` is False while a late one does not exist for anybody yet.

    `category` is the ledger's word for it.
    """

    id: str
    payment: Payment
    amount_minor: int
    status: str
    place: tuple[int, int]
    metadata: dict[str, str]
    reason: str | None
    failure_reason: str | None = None
    pending_reason: str | None = None
    appeared: bool = True
    category: str = "refund"

    @property
    def created(self) -> int:
        """The second in which it was made."""
        return self.place[0]


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `body` is the snapshot it carries, without the mode."""

    id: str
    type: str
    place: tuple[int, int]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The request that caused a change; both None when no API request did."""

    request: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """A refund that somebody wants; no amount means all that is left."""

    amount_minor: int | None = None
    reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    status: str | None = None
    appears_after_s: float = 0.0
    category: str = "refund"


@dataclass(slots=True)
class Account:
    """Everything of one account."""

    charges: dict[str, Payment] = field(default_factory=dict)
    intents: dict[str, Payment] = field(default_factory=dict)
    refunds: Shelf[Refund] = field(default_factory=Shelf)
    events: Shelf[Event] = field(default_factory=Shelf)


class Provider:
    """All accounts; "" is the platform's own."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}
        self._arrivals = 0
        self._late: list[tuple[float, Refund, Origin]] = []

    def account(self, name: str) -> Account:
        """The books of an account, which exists from its first use."""
        return self._accounts.setdefault(name, Account())

    def payments(self) -> Iterator[Payment]:
        """Every payment, by account and in the order in which they were booked."""
        for account in self._accounts.values():
            yield from account.charges.values()

    def add_payment(self, payment: Payment) -> None:
        """Book a captured payment.

        Raises:
            ValueError: the account already has one of that id. Nothing was booked.
        """
        account = self.account(payment.account)
        if payment.charge in account.charges or payment.intent in account.intents:
            raise ValueError(f"the account already has a payment {payment.intent or payment.charge}")
        account.charges[payment.charge] = payment
        if payment.intent is not None:
            account.intents[payment.intent] = payment

    def payment(self, account: str, found: str) -> Payment | None:
        """The payment of that PaymentIntent or charge id, or None."""
        books = self.account(account)
        return books.intents.get(found) or books.charges.get(found)

    def find_payments(self, found: str) -> list[Payment]:
        """The payments of that id in any account."""
        return [p for name in self._accounts if (p := self.payment(name, found)) is not None]

    def find_refunds(self, found: str) -> list[Refund]:
        """The refunds of that id in any account."""
        return [r for a in self._accounts.values() if (r := a.refunds.get(found)) is not None]

    def refund(self, payment: Payment, wish: Wish, *, origin: Origin, now: float) -> Refund:
        """Make a refund, now or late.

        Raises:
            ProviderError: disputed, already refunded, or more than is left. Nothing was booked.
        """
        if payment.disputed:
            raise errors.disputed(payment.charge)
        if payment.left_minor <= 0:
            raise errors.already_refunded(payment.charge)
        amount_minor = payment.left_minor if wish.amount_minor is None else wish.amount_minor
        if amount_minor > payment.left_minor:
            raise errors.too_much(amount_minor, payment.left_minor, payment.currency)
        status = wish.status or payment.refund_status
        refund = Refund(
            id=new_id("pyr" if payment.charge.startswith("py_") else "re"),
            payment=payment,
            amount_minor=amount_minor,
            status=status,
            place=(int(now + wish.appears_after_s), self._arrive()),
            metadata=dict(wish.metadata),
            reason=wish.reason,
            pending_reason="processing" if status == "pending" else None,
            appeared=wish.appears_after_s <= 0,
            category=wish.category,
        )
        payment.refunds.append(refund)
        if refund.appeared:
            self._appear(refund, origin, now)
        else:
            self._late.append((now + wish.appears_after_s, refund, origin))
        return refund

    def settle(self, now: float) -> None:
        """Let the late refunds whose time has come exist."""
        due = [late for late in self._late if late[0] <= now]
        self._late = [late for late in self._late if late[0] > now]
        for moment, refund, origin in sorted(due, key=lambda late: late[0]):
            refund.appeared = True
            self._appear(refund, origin, moment)

    def update(self, refund: Refund, metadata: dict[str, str] | None, *, origin: Origin, now: float) -> None:
        """Merge metadata: an empty value removes its name, an empty dict everything, None changes nothing.

        Raises:
            ProviderError: it would hold more names than metadata may. Nothing changed.
        """
        if metadata is None:
            return
        before = dict(refund.metadata)
        merged = {**before, **metadata} if metadata else {}
        kept = {name: text for name, text in merged.items() if text}
        if len(kept) > errors.METADATA_KEYS_LIMIT:
            raise errors.too_much_metadata()
        refund.metadata = kept
        if refund.metadata != before:
            self._tell("refund.updated", refund, origin, now, previous={"metadata": before})

    def cancel(self, refund: Refund, *, origin: Origin, now: float) -> None:
        """Cancel a refund that waits for the customer.

        Raises:
            ProviderError: it does not wait for the customer. Nothing changed.
        """
        if refund.status != "requires_action":
            raise errors.ProviderError("Canceling this refund is unsupported.", executed=True)
        self.change(refund, "canceled", None, origin=origin, now=now)

    def change(
        self, refund: Refund, status: str, failure_reason: str | None, *, origin: Origin, now: float
    ) -> None:
        """Give a refund another status, as a bank does; the event follows.

        Raises:
            ValueError: its amount has meanwhile been refunded otherwise. Nothing changed.
        """
        if status in LIVE and refund.status not in LIVE and refund.amount_minor > refund.payment.left_minor:
            raise ValueError(f"only {refund.payment.left_minor} of the payment is left")
        before = refund.status
        refund.status = status
        refund.failure_reason = (failure_reason or "unknown") if status == "failed" else None
        refund.pending_reason = "processing" if status == "pending" else None
        if status == before:
            return
        self._tell("refund.updated", refund, origin, now, previous={"status": before})
        if status == "failed":
            self._tell("refund.failed", refund, origin, now, previous=None)

    def _appear(self, refund: Refund, origin: Origin, now: float) -> None:
        self.account(refund.payment.account).refunds.add(refund)
        self._tell("refund.created", refund, origin, now, previous=None)
        self._announce(
            "charge.refunded",
            refund.payment,
            objects.charge(refund.payment),
            origin,
            now,
            previous={"amount_refunded": refund.payment.refunded_minor - refund.amount_minor},
        )

    def _tell(
        self, kind: str, refund: Refund, origin: Origin, now: float, *, previous: dict[str, Any] | None
    ) -> None:
        self._announce(kind, refund.payment, objects.refund(refund), origin, now, previous=previous)

    def _announce(
        self,
        kind: str,
        payment: Payment,
        snapshot: dict[str, Any],
        origin: Origin,
        now: float,
        *,
        previous: dict[str, Any] | None,
    ) -> None:
        data: dict[str, Any] = {"object": snapshot}
        if previous is not None:
            data["previous_attributes"] = previous
        place = (int(now), self._arrive())
        body = {"data": data, "request": {"id": origin.request, "idempotency_key": origin.key}}
        self.account(payment.account).events.add(Event(new_id("evt"), kind, place, body))

    def _arrive(self) -> int:
        self._arrivals += 1
        return self._arrivals


def new_id(prefix: str) -> str:
    """A new id that looks like the provider's."""
    return f"{prefix}_3" + "".join(secrets.choice(_ALPHABET) for _ in range(23))


def charge_for(intent: str) -> str:
    """The charge id of a payment that was given without one: the PaymentIntent's with another prefix."""
    return f"ch_{intent.removeprefix('pi_')}"
