"""A shop whose agent refunds through the guarded tool: its books, the sandbox as its provider, a clock."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.guarded import calls, switches
from recon.model.records.guarded import Guarded, Outcome
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import DEAD, AccountId
from recon.model.settings import GuardSettings, ProviderSettings, Secret
from recon.rules import keys
from recon.rules.keys import Business
from tests.sandboxes import STRIPE_KEY, Street

# Just before midnight, where a key made of a date would change.
LATE = datetime(2026, 3, 6, 23, 59, 50, tzinfo=UTC)
PATIENT = GuardSettings()
# For what hangs: real seconds pass.
HASTY = replace(PATIENT, deadline_seconds=3.0, send_timeout_seconds=0.8)
ORDER, PAYMENT = "8812", "pi_1"
NOUN = "refund of 49.00 USD for order 8812"  # What messages call it.
MINUTE = timedelta(minutes=1)
REFUNDS = "POST /v1/refunds"
LISTS = "GET /v1/refunds"


@dataclass
class Shop:
    """Everything that a test of the tool touches. The provider's time is the shop's, to what a test takes."""

    database: Database
    street: Street
    settings: GuardSettings = PATIENT
    now: datetime = LATE
    tools: list[RefundTool] = field(default_factory=list)

    @property
    def tool(self) -> RefundTool:
        """Return the agent's tool."""
        return self.tools[0] if self.tools else self.another()

    def another(self, settings: GuardSettings | None = None, **reached: Any) -> RefundTool:  # noqa: ANN401  # of ProviderSettings
        """Return one more tool, as another process has it."""
        told = settings or self.settings
        tool = RefundTool(
            self.database, provider(self.street, told, **reached), lambda: self.now, settings=told
        )
        self.tools.append(tool)
        return tool

    def pass_time(self, **span: float) -> None:
        """Let time pass, here and at the provider."""
        self.now += timedelta(**span)
        self.street.set_time(self.now.isoformat())

    def refund(self, order_id: str = ORDER, amount: Any = "49.00", **more: Any) -> Outcome:  # noqa: ANN401  # of the tool
        """Let the agent ask."""
        return self.tool.refund_order(
            order_id, amount, more.pop("currency", "usd"), **({"payment": PAYMENT} | more)
        )

    def status(self, order_id: str = ORDER) -> str:
        """Return what the intent of an order says of itself."""
        return str(self.intent(order_id).status)

    def intent(self, order_id: str = ORDER) -> Intent:
        """Return the only intent of an order."""
        with self.database.read() as connection:
            (found,) = intents.of_order(connection, AccountId(""), order_id)
        return found

    def row(self, order_id: str = ORDER) -> Guarded:
        """Return what the guard knows of it."""
        intent = self.intent(order_id)
        with self.database.read() as connection:
            found = intents.read(connection, intent.account, intent.key)
        assert found is not None
        return found

    def refunds(self, payment: str = PAYMENT, account: str = "") -> tuple[Refund, ...]:
        """Return the live refunds of a payment."""
        found = provider(self.street, PATIENT).find(payment, AccountId(account))
        return tuple(each for each in found if each.status not in DEAD)

    def made(self) -> str:
        """Return the id of the refund that an event tells of, whether lists show it or not."""
        since = self.now - timedelta(days=1)
        (event,) = provider(self.street, PATIENT).refund_events(AccountId(""), since)
        return event.refund_id

    def posts(self) -> list[dict[str, Any]]:
        """Return every request that could have moved money."""
        return self.street.requests("POST", "/v1/refunds")

    def calls(self) -> list[Any]:
        """Return the recorded calls."""
        with self.database.read() as connection:
            return list(connection.execute(select(calls).order_by(calls.c.number)))

    def throw(self, *, thrown: bool = True) -> None:
        """Throw the tool's kill switch, or lift it."""
        values = {"thrown": thrown, "version": 1, "head": "", "moved_at": self.now, "moved_by": "a test"}
        with self.database.write() as connection:
            known = connection.execute(update(switches).values(values)).rowcount
            if not known:
                connection.execute(insert(switches).values(tool="refund_order", reason="so", **values))

    def close(self) -> None:
        """Let the tools go; the database is the test's."""
        for tool in self.tools:
            tool._threads.shutdown()  # noqa: SLF001 -- closing the tool would close the test's database


@contextmanager
def a_shop(database: Database, street: Street, **changes: Any) -> Iterator[Shop]:  # noqa: ANN401  # of Shop
    """Yield a shop with one payment of 100.00 USD."""
    shop = Shop(database, street, **changes)
    street.set_time(shop.now.isoformat())
    street.payment(PAYMENT, 10_000)
    try:
        yield shop
    finally:
        shop.close()


@pytest.fixture
def shop(database: Database, sandbox: Street) -> Iterator[Shop]:
    """A shop that has time."""
    with a_shop(database, sandbox) as opened:
        yield opened


@pytest.fixture
def hasty(database: Database, sandbox: Street) -> Iterator[Shop]:
    """A shop that waits for nothing long."""
    with a_shop(database, sandbox, settings=HASTY) as opened:
        yield opened


def told(outcome: Outcome) -> tuple[str, str]:
    """Return what a caller is told: status and message."""
    return str(outcome.status), outcome.message


def statuses(*outcomes: Outcome) -> list[str]:
    """Return the status of each."""
    return [str(each.status) for each in outcomes]


def lasting(shop: Shop, *, passes: int = 3) -> Outcome:
    """Ask again and again, two minutes apart, as an agent does that does not listen."""
    for _ in range(passes):
        shop.pass_time(minutes=2)
        last = shop.refund()
    return last


def provider(street: Street, settings: GuardSettings, **reached: Any) -> Provider:  # noqa: ANN401  # as above
    """Return the provider as the tool asks it."""
    told = {
        "api_key": Secret(STRIPE_KEY),
        "base_url": street.url,
        "read_timeout_seconds": settings.send_timeout_seconds,
        "retry_limit": 0,
        "requests_per_second": 1000.0,
    }
    return Provider(ProviderSettings(**(told | reached)))  # type: ignore[arg-type]  # as ProviderSettings has them


def key_of(order_id: str = ORDER, reference: str | None = None) -> str:
    """Return the key of an order's refund."""
    found = keys.refund(
        order_id=order_id, amount="1.00", currency="usd", payment=PAYMENT, reference=reference
    )
    assert isinstance(found, Business)
    return keys.make("refund_order", found.account, found.fields)


def eventually(holds: Callable[[], object], *, within: float = 60.0) -> None:
    """Return once something holds that another thread or process brings about."""
    until = time.monotonic() + within
    while not holds():
        assert time.monotonic() < until, "it never held"
        time.sleep(0.01)


def callers(url: str, street: Street, asked: Sequence[dict[str, Any]]) -> "list[subprocess.Popen[str]]":
    """Start a process for each of these, which asks and prints what it was told."""
    return [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.guard_caller",
                json.dumps({"url": url, "street": street.url, **each}),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for each in asked
    ]
