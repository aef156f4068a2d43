"""Clicks over HTTP, where Slack calls us: signed, no older than five minutes, and taken once.

Never says in an answer anything about the request, and never does anything before it is known to be Slack's.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from jobs.reception import Reception
from recon.doors.slack import signed
from recon.doors.slack.socket import Turn
from recon.model.errors import ConfigurationError, ReconError
from recon.model.settings import Secret

log = structlog.get_logger("recon")

PATH: Final = "/slack/interactivity"
BODY_LIMIT: Final = 1_000_000  # Bytes. A click carries its whole message, percent-encoded: 100 kB at most.
HEAD_SECONDS: Final = 5.0  # For a head to arrive; by itself the server waits for ever.
BODY_SECONDS: Final = 5.0  # For a body to arrive; Slack itself waits three.
# For the database to say that a signature is new. Slack waits three seconds for its answer: whatever is not
# known by then is acknowledged, and nothing is done before it is known.
FRESH_SECONDS: Final = 1.5
CONNECTIONS: Final = 100  # At once; more are told to come back.
_START_SECONDS = 15.0
_STOP_SECONDS = 10.0

# Says whether a signature comes for the first time, and keeps it.
Fresh = Callable[[str], bool]


class Counter:
    """The endpoint: what Slack posts, judged and taken in."""

    def __init__(
        self,
        secret: Secret,
        reception: Reception,
        fresh: Fresh,
        clock: Callable[[], datetime],
    ) -> None:
        self._secret = secret
        self._reception = reception
        self._fresh = fresh
        self._clock = clock
        self._asking = ThreadPoolExecutor(4, thread_name_prefix="signature")

    def app(self) -> Starlette:
        """Return the application."""
        built = Starlette(
            routes=[
                Route(PATH, self.interactivity, methods=["POST"]),
                Route("/healthz", _healthy, methods=["GET"]),
            ]
        )
        built.router.redirect_slashes = False  # Another path is another path.
        return built

    async def interactivity(self, request: Request) -> Response:
        """Acknowledge a click of Slack's; refuse everything else."""
        body = await _body(request)
        if isinstance(body, int):
            return Response(status_code=body)
        signature = signed.genuine(body, request.headers, self._secret, now=self._clock())
        if signature is None:
            return _refused("signature")
        payload = _payload(body)
        if payload is None:
            return Response(status_code=400)
        asked = self._asking.submit(self._fresh, signature)
        known = await _within(asked, FRESH_SECONDS)
        if isinstance(known, ReconError):  # The database is away: Slack tells whoever clicked.
            log.warning("away", reason=str(known))
            return Response(status_code=503)
        if known is False:
            return _refused("replay")
        return self._taken(payload, first=None if known else lambda: _answered(asked))

    def _taken(self, payload: Mapping[str, Any], *, first: Callable[[], bool] | None) -> Response:
        received = self._reception.read(payload)
        if received.heard is not None and not self._reception.work(received.heard, first=first):
            return Response(status_code=503)  # Too many wait: Slack tells whoever clicked.
        return Response() if received.answer is None else JSONResponse(received.answer)

    def close(self) -> None:
        """Ask nothing more."""
        self._asking.shutdown(wait=True)


class Serving:
    """The endpoint on a thread of its own, from the moment it is made."""

    def __init__(self, counter: Counter, host: str, port: int) -> None:
        """Listen.

        Raises:
            ConfigurationError: the address cannot be listened on. Nothing was started.
        """
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._listener = socket.create_server((host, port), family=family)
        except (OSError, TypeError) as error:  # Taken, or not ours; or no name that a host can have.
            why = error.strerror if isinstance(error, OSError) else "that is no host"
            raise ConfigurationError(
                f"Expected to listen on {host}:{port}, found that it cannot be done: {why}."
            ) from None
        self._counter = counter
        self._told = False
        self.port: int = self._listener.getsockname()[1]
        configured = uvicorn.Config(
            counter.app(),
            http=_Impatient,
            # One request each: a connection that is kept could send its next head for ever.
            headers=[("connection", "close")],
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=int(_STOP_SECONDS),
        )
        self._server = uvicorn.Server(configured)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True
        )
        self._thread.start()
        until = time.monotonic() + _START_SECONDS
        while self._thread.is_alive() and not self._server.started and time.monotonic() < until:
            time.sleep(0.01)

    def turn(self) -> Turn:
        """Return whether it serves."""
        serves = self._thread.is_alive() and self._server.started
        assert serves or self._server.should_exit, "the server has ended by itself, or never began"
        changed, self._told = serves != self._told, serves
        return Turn(serves, changed=changed)

    def close(self) -> None:
        """Take nothing more in, and answer what has come."""
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS)
        self._listener.close()
        self._counter.close()


class _Impatient(H11Protocol):
    """A connection that is closed where nothing has been asked over it in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # its base's
        super().connection_made(transport)
        self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        asked: object = self.cycle  # Its base says that it is never None; it is, until a head was read.
        if asked is None:
            self.transport.close()


async def _body(request: Request) -> bytes | int:
    """Return a request's body, or the status of what is wrong with it."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > BODY_LIMIT:
        return 413 if length.isdecimal() else 400
    parts = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                parts += part
                if len(parts) > BODY_LIMIT:
                    return 413
    except TimeoutError:  # It drips.
        return 408
    except ClientDisconnect:  # Nobody hears the answer.
        return 400
    return bytes(parts)


def _payload(body: bytes) -> Mapping[str, Any] | None:
    """Return the payload of a form; None where there is none."""
    try:
        told = parse_qs(body.decode(), max_num_fields=10).get("payload", [""])[0]
        payload = json.loads(told)
    except (ValueError, RecursionError):  # Signed, and yet no form or no JSON: not a click.
        return None
    return payload if isinstance(payload, dict) else None


async def _within(asked: "Future[bool]", seconds: float) -> bool | ReconError | None:
    """Return what the database says in time, None where it does not; or why it cannot."""
    told = asyncio.wrap_future(asked)
    told.add_done_callback(lambda done: done.cancelled() or done.exception())  # It is asked for below.
    await asyncio.wait({told}, timeout=seconds)
    if not asked.done():
        return None
    try:
        return asked.result()
    except ReconError as away:
        return away


def _answered(asked: "Future[bool]") -> bool:
    """Return what the database said at last; False where it could not."""
    try:
        return asked.result()
    except ReconError as away:  # It was acknowledged, and is lost: the desk does all that a button does.
        log.warning("away", reason=str(away))
        return False


def _refused(why: str) -> Response:
    log.warning("refused", why=why)
    return Response(status_code=401)


async def _healthy(_request: Request) -> Response:
    return Response()
