"""One HTTP exchange on the wire: the call that came in, the answer that goes out, and ways to spoil it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send

# A request body beyond this is nobody's refund and nobody's message.
BODY_LIMIT_BYTES = 1_000_000
TRANSPORT = "recon.transport"


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it arrived; header names are lower-case."""

    id: str
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 become replacement characters."""
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer before anything spoils it."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False

    @classmethod
    def of(
        cls,
        status: int,
        content: object,
        headers: Mapping[str, str] | None = None,
        *,
        indent: int | None = None,
    ) -> Answer:
        """An answer whose body is JSON."""
        body = json.dumps(content, ensure_ascii=False, indent=indent).encode()
        return cls(status, body, {"content-type": "application/json; charset=utf-8", **(headers or {})})


class Line:
    """The connection of one request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send

    async def read(self, call_id: str) -> Call | None:
        """The whole request, or None when the client left or sent too much."""
        body = bytearray()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > BODY_LIMIT_BYTES:
                return None
            if not message.get("more_body", False):
                break
        return Call(
            id=call_id,
            method=self._scope["method"],
            path=self._scope["path"],
            query=self._scope["query_string"].decode("latin-1"),
            headers={n.decode("latin-1").lower(): v.decode("latin-1") for n, v in self._scope["headers"]},
            body=bytes(body),
        )

    async def answer(self, answer: Answer) -> None:
        """Send the whole answer."""
        await self._start(answer)
        await self._send({"type": "http.response.body", "body": answer.body, "more_body": False})

    async def cut(self, answer: Answer) -> None:
        """Announce the whole answer, send half of its body, and close."""
        await self._start(answer)
        half = answer.body[: len(answer.body) // 2]
        await self._send({"type": "http.response.body", "body": half, "more_body": True})
        await self.drop()

    async def drip(self, answer: Answer, every_s: float) -> None:
        """Send the body a byte at a time, until it is whole or the client leaves."""
        await self._start(answer)
        for at in range(len(answer.body)):
            byte = answer.body[at : at + 1]
            await self._send({"type": "http.response.body", "body": byte, "more_body": True})
            if await self.left_within(every_s):
                return
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def drop(self) -> None:
        """Close the connection; whatever was not sent yet never will be."""
        self.close()
        # The server takes a return without an answer for a bug until it has seen the connection go.
        await self.left_within(1.0)

    def close(self) -> None:
        """Close the connection without waiting for it to be gone."""
        transport: asyncio.Transport = self._scope[TRANSPORT]
        transport.close()

    async def left_within(self, seconds: float) -> bool:
        """Wait in real time; True as soon as the client has gone."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(self._receive(), remaining)
            except TimeoutError:
                return False
            if message["type"] == "http.disconnect":
                return True
        return False

    async def _start(self, answer: Answer) -> None:
        headers = {**answer.headers, "content-length": str(len(answer.body))}
        pairs = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": pairs})


def content(body: bytes) -> Any:  # noqa: ANN401  a JSON document may be anything
    """The JSON document in a body, or its text."""
    text = body.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text
