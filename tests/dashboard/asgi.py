"""A request as a server hands it on, and what an application behind middleware saw and answered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.loops import alone

Sent = list[tuple[str, str | bytes]]


@dataclass
class Seen:
    """What came out. passed: the headers that the application saw; None where it was not asked."""

    status: int = 0
    headers: Headers = field(default_factory=lambda: Headers(raw=[]))
    body: bytes = b""
    passed: Headers | None = None


def asked(
    wrap: Callable[[ASGIApp], ASGIApp],
    headers: Sent,
    *,
    path: str = "/",
    kind: str = "http",
    peer: str = "127.0.0.1",
    server: str = "127.0.0.1",
    answer: Sent | None = None,
    status: int = 200,
    body: bytes = b"the desk",
) -> Seen:
    """Send a request through middleware to an application that answers with these headers."""
    seen = Seen()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.passed = Headers(raw=scope["headers"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": status, "headers": _raw(answer or [])})
        await send({"type": "http.response.body", "body": body})

    async def receive() -> Message:
        return {"type": "websocket.connect" if kind == "websocket" else "http.request"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen.status, seen.headers = message["status"], Headers(raw=message["headers"])
        elif message["type"] == "http.response.body":
            seen.body += message["body"]
        else:
            seen.status = {"websocket.accept": 101, "websocket.close": 403}[message["type"]]

    scope: dict[str, Any] = {"type": kind, "path": path, "query_string": b"", "method": "GET"}
    scope |= {"headers": _raw(headers), "server": (server, 8501), "client": (peer, 40000)}
    alone(wrap(application)(scope, receive, send))  # type: ignore[arg-type]  # an ASGI application is one
    return seen


def _raw(headers: Sent) -> list[tuple[bytes, bytes]]:
    """Return headers as a server hands them on: names in lower case."""
    return [
        (name.lower().encode(), value if isinstance(value, bytes) else value.encode())
        for name, value in headers
    ]
