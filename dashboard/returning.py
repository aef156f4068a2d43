"""How a link into the desk survives the sign-in: Streamlit itself comes back to the first page.

The page that asked to sign in is kept in a signed cookie, for as long as a person may take at the provider,
and the answer to the provider's redirect then leads there: also when the provider refused.
"""

from functools import partial
from http.cookies import SimpleCookie
from typing import Final
from urllib.parse import urlsplit

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recon.model.settings import Secret
from recon.rules.entrances import CALLBACK

LOGIN: Final = "/auth/login"  # Where Streamlit sends whoever wants to sign in.
COOKIE: Final = "recon_return"
SECONDS: Final = 600  # At the provider, with a second factor to look for.
LONGEST: Final = 1500  # Characters: a page with all its filters, and well within a cookie's 4 KB.


class Returning:
    """ASGI middleware that brings people back to the page that they asked for."""

    def __init__(self, app: ASGIApp, *, url: str, secret: Secret) -> None:
        self._app = app
        self._url = url
        self._signer = URLSafeTimedSerializer(secret.reveal(), salt=COOKIE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; keep where it came from, or go back there."""
        if scope["type"] == "http" and scope["path"] == LOGIN:
            send = partial(self._keep, place=self._place(Headers(raw=scope["headers"])), send=send)
        elif scope["type"] == "http" and scope["path"] == CALLBACK:
            send = partial(self._go, place=self._kept(Headers(raw=scope["headers"])), send=send)
        await self._app(scope, receive, send)

    async def _keep(self, message: Message, *, place: str | None, send: Send) -> None:
        if message["type"] == "http.response.start" and place is not None:
            self._set(message, self._signer.dumps(place), SECONDS)
        await send(message)

    async def _go(self, message: Message, *, place: str | None, send: Send) -> None:
        headers = MutableHeaders(raw=message.get("headers", []))
        # Only Streamlit's own way to its first page is changed.
        if message["type"] == "http.response.start" and place is not None and headers.get("location") == "/":
            message = {**message, "headers": headers.raw}
            headers["location"] = place
            self._set(message, "", 0)
        await send(message)

    def _set(self, message: Message, value: str, seconds: int) -> None:
        cookie = SimpleCookie({COOKIE: value})
        for name, told in (("path", "/"), ("max-age", seconds), ("httponly", True), ("samesite", "lax")):
            cookie[COOKIE][name] = told
        message["headers"] = [*message["headers"], (b"set-cookie", cookie[COOKIE].OutputString().encode())]

    def _place(self, headers: Headers) -> str | None:
        """Return the path and query of the page of ours that led here; None where it was none."""
        try:
            came, ours = urlsplit(headers.get("referer", "")), urlsplit(self._url)
        except ValueError:  # A bracket that nothing closes: no page of anybody's.
            return None
        if (came.scheme, came.netloc) != (ours.scheme, ours.netloc):
            return None
        return _sound(came.path + (f"?{came.query}" if came.query else ""))

    def _kept(self, headers: Headers) -> str | None:
        told = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        try:
            return _sound(self._signer.loads(told, max_age=SECONDS))
        except BadData:  # Not ours, too old, or none.
            return None


def _sound(place: object) -> str | None:
    """Return a path of this server, None for anything that a browser might take for another's."""
    if not isinstance(place, str) or not place.startswith("/") or place.startswith("//"):
        return None
    plain = place.isascii() and place.isprintable() and "\\" not in place and " " not in place
    return place if plain and len(place) <= LONGEST else None
