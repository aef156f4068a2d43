"""The demo's hand on the sandbox: its control calls over HTTP, and its clock.

Never looks into the sandbox's memory: what the demo knows of it, any client could know.
"""

import json
import urllib.request
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.error import HTTPError, URLError

from recon.model.errors import ProviderUnavailable

# The environment's proxies are for the world outside.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_TIMEOUT_SECONDS = 30  # The sandbox answers in milliseconds, on a machine that is busy in seconds.


@dataclass(frozen=True, slots=True)
class Street:
    """A running sandbox by its address."""

    url: str

    def tell(self, path: str, **sent: object) -> Any:  # noqa: ANN401 -- each call answers as it does
        """Return the answer to a control call.

        Raises:
            ProviderUnavailable: the sandbox is gone, or refused.
        """
        return self._answer(f"_sandbox/{path}", json.dumps(sent).encode())

    def ask(self, path: str) -> Any:  # noqa: ANN401 -- a list or an object
        """Return what the sandbox says of itself.

        Raises:
            ProviderUnavailable: the sandbox is gone.
        """
        return self._answer(f"_sandbox/{path}")

    def take_back(self) -> None:
        """Let nothing go wrong any more that was told to.

        Raises:
            ProviderUnavailable: the sandbox is gone.
        """
        self._answer("_sandbox/faults", method="DELETE")

    def now(self) -> datetime:
        """Return sandbox time."""
        return datetime.fromisoformat(self.ask("clock")["now"])

    def set_time(self, moment: datetime) -> None:
        """Make sandbox time this moment, from which it runs on."""
        self.tell("clock", now=moment.isoformat())

    def pass_time(self, seconds: float) -> None:
        """Let sandbox time pass, and no real time: what the demo does instead of sleeping."""
        self.tell("clock", advance_s=seconds)

    def _answer(self, path: str, body: bytes | None = None, method: str | None = None) -> Any:  # noqa: ANN401 -- as above
        request = urllib.request.Request(f"{self.url}/{path}", data=body, method=method)  # noqa: S310 -- our own address
        try:
            with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except (URLError, OSError) as error:  # It was stopped, or refused what it was told.
            said = _refusal(error) or getattr(error, "reason", None) or error
            raise ProviderUnavailable(f"Expected the sandbox to answer {path}, found: {said}.") from None


def _refusal(error: OSError) -> str | None:
    """Return why the sandbox refused, in its words; None where it did not answer."""
    if not isinstance(error, HTTPError):
        return None
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):  # Another server is at that address.
        return None
