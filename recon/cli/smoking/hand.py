"""A test's hand on the sandbox: payments, faults and time in; requests and refunds out.

For the pytest plugin, which gives it to tests as `recon_sandbox`.
"""

from collections.abc import Iterator

from recon.cli.friday.street import Street
from recon.cli.smoking import scratch
from recon.cli.smoking.stages import REFUNDS, sendings
from recon.doors.stripe.provider import Provider
from recon.model.records.provider import Refund
from recon.model.records.sendings import Sent
from recon.model.records.words import DEAD, AccountId
from recon.rules import once

_LOOK_SECONDS = 90.0  # A third of it for one answer: on a busy machine too.


class SandboxHand:
    """A local provider that answers a test, and fails when it is told to.

    url: where the provider answers, for RECON_STRIPE_BASE_URL or the api address of its library.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._street = Street(url)
        self._orders: dict[str, str] = {}
        self._payments: set[str] = set()

    def payment(
        self,
        payment: str = "pi_1",
        amount_minor: int = 10_000,
        currency: str = "usd",
        *,
        order: str | None = None,
    ) -> str:
        """Make a captured payment to refund, and return its id. order: what assert_one_refund may call it.

        amount_minor: more than twice what is refunded, or a second refund is refused for want of money.

        Raises:
            ProviderUnavailable: there is such a payment already, or it cannot be.
        """
        self._street.tell("payments", id=payment, amount=amount_minor, currency=currency)
        self._payments.add(payment)
        if order is not None:
            self._orders[order] = payment
        return payment

    def fault(
        self, fault: str, *, on: str = f"POST {REFUNDS}", times: int = 1, after_s: float | None = None
    ) -> None:
        """Let the next requests meet a fault of recon/sandbox/faults.py, such as "drop_after".

        after_s: real seconds of a hang or a delay; None is the fault's own.

        Raises:
            ProviderUnavailable: there is no such fault; the message lists them.
        """
        more = {} if after_s is None else {"after_s": after_s}
        self._street.tell("faults", on=on, fault=fault, times=times, **more)

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self._street.take_back()

    def advance(self, seconds: float) -> None:
        """Let the provider's time pass, and no real time: it forgets idempotency keys after a day."""
        self._street.pass_time(seconds)

    def requests(self) -> tuple[Sent, ...]:
        """Return every request for a refund, in the order they came: key, answer and fault of each."""
        return sendings(self._street.ask("requests"))

    def refunds(self, payment: str | None = None) -> tuple[Refund, ...]:
        """Return the refunds of a payment, or of all: live ones and those that failed."""
        return tuple(self._refunds([payment] if payment else sorted(self._payments)))

    def wrong(self, named: str | None = None, *, amount_minor: int | None = None) -> str | None:
        """Return None where an order or payment has exactly one live refund; else what is so, line by line.

        named: None looks at all payments together. amount_minor: of the one refund; None is any.

        Raises:
            ValueError: no such order or payment was made here.
        """
        payment = None if named is None else self._orders.get(named, named)
        if payment is not None and payment not in self._payments:
            raise ValueError(
                f"Expected an order or payment that recon_sandbox.payment(..., order=...) made, found "
                f"{named!r}."
            )
        sent = tuple(each for each in self.requests() if payment in {None, each.payment})
        made = self.refunds(payment)
        why = once.judged(sent, made)
        found = next((each.amount_minor for each in made if each.status not in DEAD), None)
        if why is None and amount_minor not in {None, found}:
            why = f"Expected a refund of {amount_minor} minor units, found one of {found}."
        return None if why is None else "\n".join([why, *(f"  {line}" for line in once.story(sent))])

    def _refunds(self, payments: list[str]) -> Iterator[Refund]:
        seen: Provider = scratch.provider(self.url, scratch.KEY, patience_seconds=_LOOK_SECONDS)
        for payment in payments:
            yield from seen.find(payment, AccountId(""))
