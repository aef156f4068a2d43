"""What every request and every WebSocket passes before Streamlit sees it: who may ask at all.

It runs beside the pages, in their process, and lets them know that it does. It signs nobody in and reads no
database: whom the proxy vouches for is written into the request, under a header that nobody else can set.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recon.admission import Admission
from recon.model.addresses import loopback
from recon.model.records.people import Arrival, Refused
from recon.model.records.words import Actor

# What a proxy adds: in local mode nobody may reach the desk through one.
FORWARDED: Final = (
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Real-Ip",
    "Via",
)
ARRIVAL: Final = "X-Recon-Arrival"  # Ours alone: what the proxy vouched for, as we understood it.
# Asked by whoever watches the server, who is nobody and learns nothing but that it runs.
HEALTH: Final = "/_stcore/health"
# Streamlit's counts, and its interface for programs: nobody signs in there, whatever stands before the desk.
CLOSED: Final = ("/_stcore/metrics/", "/_stcore/agent/")
POLICY: Final = 1008  # A WebSocket that is refused; before the handshake's end the client sees a 403.


@dataclass(slots=True)
class Standing:
    """Whether requests of this process pass a doorway, and whose."""

    admission: Admission | None = None


STANDING: Final = Standing()


class Doorway:
    """ASGI middleware that lets a request on, or answers it."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request on whose way in is in order; refuse any other."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        arrived = self._arrived(scope)
        if isinstance(arrived, Turned):
            await arrived.answer(scope, receive, send)
            return
        await self._app({**scope, "headers": carrying(scope["headers"], arrived)}, receive, send)

    def _arrived(self, scope: Scope) -> "Arrival | Turned | None":
        """Return whom the proxy vouches for, None where that is nobody's to say, or the refusal."""
        headers, mode = Headers(raw=scope["headers"]), self._admission.mode
        if abroad(headers, None if mode == "local" else self._admission.settings.dashboard.url):
            return Turned(403, "The desk answers to its own pages only, and this one is of another site.")
        if mode == "local":
            refused = away(_host(scope.get("server")), headers, peer=_host(scope.get("client")))
            return Turned(403, refused) if refused else None
        if scope["type"] == "http" and scope["path"] == HEALTH:
            return None
        if f"/{scope['path'].strip('/')}/".startswith(CLOSED):
            return Turned(404, "Nobody is answered there.")
        found = self._admission.by_headers(_texts(scope["headers"])) if mode == "proxy" else None
        if isinstance(found, Refused):
            return Turned(403, found.sentence)
        url = self._admission.settings.dashboard.url
        # By another name the sign-in's cookies would not come back, and nothing would say why.
        named = headers.get("host", "").lower() == urlsplit(url).netloc.lower()
        return found if named else Turned(421, f"This desk is at {url}, and answers to no other name.")


@dataclass(frozen=True, slots=True)
class Turned:
    """A request that goes no further. status: of the answer to HTTP."""

    status: int
    sentence: str

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or close the WebSocket before its handshake ends."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": POLICY, "reason": ""})
            return
        await PlainTextResponse(f"{self.sentence}\n", self.status)(scope, receive, send)


class Hardened:
    """ASGI middleware for what a browser is told of every answer, whatever stands before the desk."""

    HEADERS: Final = (
        # Nobody lays the desk under a page of theirs, to have its buttons clicked. A second policy, such as
        # a proxy's, only narrows this.
        (b"content-security-policy", b"frame-ancestors 'none'"),
        (b"x-content-type-options", b"nosniff"),
        # A case's address is nobody else's business; the sign-in needs it to come back.
        (b"referrer-policy", b"same-origin"),
    )

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add to the answer's headers."""

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, self._kept(name, value)) for name, value in message.get("headers", [])]
                message = {**message, "headers": [*kept, *self.HEADERS]}
            await send(message)

        await self._app(scope, receive, hardened if scope["type"] == "http" else send)

    def _kept(self, name: bytes, value: bytes) -> bytes:
        """Return a header; a cookie goes over TLS only, where the desk is reached so."""
        plain = name.lower() != b"set-cookie" or b"secure" in value.lower().split(b"; ")
        return value if plain or not self._secure else value + b"; Secure"


def away(server: object, headers: Mapping[str, str], *, peer: object = "localhost") -> str | None:
    """Return why local mode does not answer a request, None when it is from this machine.

    server: where it came in; peer: from where, if that is known. It holds also for a server that was started
    without the launcher: bound to every interface, reached by another name, or through a proxy.
    """
    if not loopback(server):
        return (
            "The desk in local mode listens on 127.0.0.1 only, and this server listens on "
            f"{server or 'every interface'}: start it with recon dashboard."
        )
    host = headers.get("Host")
    if host is not None and not loopback(_hostname(host)):
        return "The desk in local mode answers to the names of this machine's loopback only."
    if not loopback(peer) or any(header in headers for header in FORWARDED):
        return "The desk in local mode is not to be reached through a proxy."
    return None


def abroad(headers: Headers, url: str | None) -> bool:
    """Return whether a page of another site, or of another port, asks; no page at all is none.

    url: where the desk is; None is wherever it was asked, in local mode. Streamlit looks at this too, but it
    takes other ports of the host for its own, and before it refuses a page it asks outside for this machine's
    address, while nobody else is served.
    """
    host = headers.get("host", "").lower()
    ours = {f"http://{host}", f"https://{host}"} if url is None else {url.lower()}
    return any(origin.lower() not in ours for origin in headers.getlist("origin"))


def carrying(headers: Iterable[tuple[bytes, bytes]], arrived: Arrival | None) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request with ours in place of whatever was sent by its name."""
    name = ARRIVAL.lower().encode()
    kept = [(each, value) for each, value in headers if each.lower().replace(b"_", b"-") != name]
    if arrived is None:
        return kept
    told = json.dumps([arrived.name, arrived.groups, arrived.at.timestamp()])
    return [*kept, (name, base64.b64encode(told.encode()))]


def vouched() -> Arrival | None:
    """Return whom the proxy vouched for in this tab's connection; None where there is no such thing."""
    told = st.context.headers.get(ARRIVAL)
    if told is None:
        return None
    name, groups, at = json.loads(base64.b64decode(told))
    return Arrival(Actor(name), tuple(groups), datetime.fromtimestamp(at, UTC))


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), _text(value)) for name, value in headers]


def _text(value: bytes) -> str:
    """Return a header's value; "" where it is not UTF-8, and so says nothing."""
    try:
        return value.decode()
    except UnicodeDecodeError:  # A proxy of another century, or somebody who tries.
        return ""


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # A bracket that nothing closes: no name of anybody's.
        return None


def _host(address: object) -> object:
    return address[0] if isinstance(address, list | tuple) and address else None
