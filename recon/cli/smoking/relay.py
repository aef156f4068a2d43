"""A relay on loopback before a provider: passes everything on, and loses the answers that it is told to lose.

So that a tool can be tried against a provider's own test account, which answers as it should. Keeps no key
and shows none.
"""

import json
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests

from recon.cli.smoking.stages import REFUNDS, Paid, answered
from recon.model.addresses import loopback
from recon.model.errors import ConfigurationError, ProviderUnavailable
from recon.model.records.sendings import Sent

_PATIENCE_SECONDS = 60.0  # Of the provider's own answers: longer than any of its requests takes.
# What is between two machines, and not between the tool and the provider.
_OURS = {"accept-encoding", "connection", "content-length", "host", "transfer-encoding"}
_THEIRS = {"connection", "content-encoding", "content-length", "transfer-encoding"}
_LIMITED = {"type": "invalid_request_error", "code": "rate_limit", "message": "Request rate limit exceeded."}
_BROKEN = {"type": "api_error", "message": "An unknown error occurred."}
_STRANGE = {"type": "invalid_request_error", "message": "This is not the key that recon smoke was given."}
_NUMBERED = {"request-id": "req_relay"}  # Without a number it is not the provider's word.


@dataclass(slots=True)
class _Fault:
    kind: str
    times: int
    after_s: float


class Relay:
    """A relay that serves until it is closed. Its faults are those of the sandbox, by the same names."""

    def __init__(self, upstream: str, key: str, payment: str) -> None:
        """upstream: the provider's address. payment: what is refunded, part by part."""
        self._upstream = upstream.rstrip("/")
        self._key = key
        self._payment = payment
        self._faults: list[_Fault] = []
        self._sent: list[Sent] = []
        self._lock = threading.Lock()
        self._session = requests.Session()
        self._session.auth = lambda request: request  # Not a ~/.netrc's: the tool's own, or that below.
        self._session.trust_env = not loopback(urlsplit(upstream).hostname)
        relay = self

        class Handler(_Handler):
            """Serves this relay."""

            def serve(self) -> None:
                relay.pass_on(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="relay", daemon=True).start()

    @property
    def url(self) -> str:
        """Return where a tool finds the provider."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._session.close()

    def payment(self, order_id: str) -> Paid:  # noqa: ARG002 - as Line has it
        """Return the payment that was named.

        Raises:
            ConfigurationError: there is no such payment, it is not captured, or it is of live money.
            ProviderUnavailable: the provider does not answer.
        """
        kind = "charges" if self._payment.startswith(("ch_", "py_")) else "payment_intents"
        try:
            answer = self._session.get(
                f"{self._upstream}/v1/{kind}/{self._payment}",
                auth=(self._key, ""),
                timeout=_PATIENCE_SECONDS,
                allow_redirects=False,
            )
            found: Mapping[str, Any] = answer.json()
        except (requests.RequestException, ValueError) as error:  # It is away, or somebody else answers.
            raise ProviderUnavailable(
                f"Expected the provider to show {self._payment}, found no answer ({type(error).__name__})."
            ) from None
        if found.get("livemode") is not False or found.get("status") != "succeeded":
            why = found.get("error", {}).get("message") or f"status {found.get('status')}"
            raise ConfigurationError(
                f"--payment must name a captured payment of the test account; found {self._payment}: {why}."
            )
        paid = found["amount_captured" if kind == "charges" else "amount_received"]
        return Paid(self._payment, int(paid), str(found["currency"]))

    def arm(self, fault: str, *, times: int, after_s: float) -> None:
        """Let the next requests for a refund meet a fault."""
        with self._lock:
            self._faults.append(_Fault(fault, times, after_s))

    def calm(self) -> None:
        """Let no further request meet one."""
        with self._lock:
            self._faults.clear()

    def sent(self) -> tuple[Sent, ...]:
        """Return every request for a refund so far."""
        with self._lock:
            return tuple(self._sent)

    def pass_on(self, line: "_Handler") -> None:
        """Serve one request."""
        body = line.rfile.read(int(line.headers.get("content-length") or 0))
        if not self._is_ours(line.headers.get("authorization", "")):
            # Nobody has looked at whether another key moves real money.
            line.answer(401, _NUMBERED, json.dumps({"error": _STRANGE}).encode())
            return
        making = (line.command, urlsplit(line.path).path) == ("POST", REFUNDS)
        place, fault = self._seen(line, body) if making else (None, None)
        kind = fault.kind if fault else ""
        if kind == "429":
            line.answer(429, _NUMBERED, json.dumps({"error": _LIMITED}).encode())
            return
        if fault is not None and kind == "latency":
            time.sleep(fault.after_s)
        status, headers, content = self._asked(line, body)
        if place is not None:
            self._heard(place, status, headers, content)
        if kind == "drop_after":
            line.drop()
        elif kind == "500_after":
            line.answer(500, _NUMBERED, json.dumps({"error": _BROKEN}).encode())
        else:
            if fault is not None and kind == "hang_after":
                time.sleep(fault.after_s)
            line.answer(status, headers, content)

    def _is_ours(self, authorization: str) -> bool:
        """Return whether a request comes with the key that was given, in either form that there is."""
        basic = b64encode(f"{self._key}:".encode()).decode()
        return authorization in {f"Bearer {self._key}", f"Basic {basic}"}

    def _asked(self, line: "_Handler", body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Return what the provider answers; a 502 of ours where it does not."""
        try:
            answer = self._session.request(
                line.command,
                f"{self._upstream}{line.path}",
                headers={name: value for name, value in line.headers.items() if name.lower() not in _OURS},
                data=body,
                timeout=_PATIENCE_SECONDS,
                allow_redirects=False,
            )
        except requests.RequestException:  # It is away: the tool sees what any proxy would say.
            return 502, {}, b""
        return answer.status_code, answer.headers, answer.content

    def _seen(self, line: "_Handler", body: bytes) -> tuple[int, _Fault | None]:
        form = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        payment = form.get("payment_intent") or form.get("charge") or ""
        with self._lock:
            fault = self._faults[0] if self._faults else None
            if fault is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.pop(0)
            named = fault.kind if fault else None
            self._sent.append(Sent(line.headers.get("idempotency-key"), payment, fault=named))
            return len(self._sent) - 1, fault

    def _heard(self, place: int, status: int, headers: Mapping[str, str], content: bytes) -> None:
        body: object = None
        with suppress(ValueError):  # A page of some proxy's.
            body = json.loads(content)
        replayed = headers.get("idempotent-replayed") == "true"
        with self._lock:
            self._sent[place] = answered(self._sent[place], status, body, replayed=replayed)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self) -> None:
        """Serve one request."""
        raise NotImplementedError

    do_GET = do_POST = do_DELETE = lambda self: self.serve()  # noqa: N815 - the base class looks for them

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
        """Say nothing."""

    def answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """Send a whole answer; whoever has left does not hear it."""
        with suppress(OSError):
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in _THEIRS:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def drop(self) -> None:
        """Close the connection without a word."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
