"""The sandbox as a fixture: one server for the whole worker, emptied before each test that asks for it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from recon.sandbox.server import Sandbox

# Opens no door anywhere: the sandbox takes any key of this shape.
STRIPE_KEY = "sk_test_sandbox"
SLACK_TOKEN = "xoxb-sandbox"
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Street:
    """A running sandbox with its control calls, for tests."""

    running: Sandbox

    @property
    def url(self) -> str:
        """Where the provider answers: base address of a StripeClient."""
        return self.running.url

    @property
    def slack_url(self) -> str:
        """Where Slack answers: base_url of a WebClient."""
        return f"{self.running.url}/api/"

    def control(self, path: str, **sent: object) -> dict[str, Any]:
        """POST /_sandbox/<path> and its answer; a refusal is an AssertionError with its words."""
        answer: dict[str, Any] = self._ask(path, json.dumps(sent).encode())
        return answer

    def payment(self, found: str, amount: int, currency: str = "usd", **more: object) -> dict[str, Any]:
        """A captured payment to refund."""
        return self.control("payments", id=found, amount=amount, currency=currency, **more)

    def fault(self, on: str, fault: str, times: int = 1, **more: object) -> dict[str, Any]:
        """What the next matching requests will meet."""
        return self.control("faults", on=on, fault=fault, times=times, **more)

    def advance(self, seconds: float) -> dict[str, Any]:
        """Move sandbox time."""
        return self.control("clock", advance_s=seconds)

    def set_time(self, iso: str) -> dict[str, Any]:
        """Make sandbox time this moment."""
        return self.control("clock", now=iso)

    def requests(self, method: str | None = None, path: str | None = None) -> list[dict[str, Any]]:
        """Every request seen, of one method and path where asked for."""
        return [
            r
            for r in self._ask("requests")
            if (method is None or r["method"] == method) and (path is None or r["path"] == path)
        ]

    def messages(self) -> list[dict[str, Any]]:
        """Every Slack message as it stands."""
        found: list[dict[str, Any]] = self._ask("messages")
        return found

    def see(self, path: str) -> list[dict[str, Any]]:
        """GET /_sandbox/<path>: envelopes, views, ephemerals, sockets and the like."""
        found: list[dict[str, Any]] = self._ask(path)
        return found

    def _ask(self, path: str, body: bytes | None = None) -> Any:  # noqa: ANN401  a list or an object
        request = urllib.request.Request(f"{self.url}/_sandbox/{path}", data=body)  # noqa: S310  loopback
        try:
            with _OPENER.open(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            raise AssertionError(refusal.read().decode()) from None


@pytest.fixture(scope="session")
def street_server() -> Iterator[Sandbox]:
    """One running server for the whole worker."""
    with Sandbox.start() as running:
        yield running


@pytest.fixture
def sandbox(street_server: Sandbox) -> Street:
    """An empty sandbox at the real time."""
    street_server.reset()
    return Street(street_server)
