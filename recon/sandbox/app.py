"""The street's map: which path leads to which counter."""

from __future__ import annotations

from email.utils import formatdate

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recon.sandbox import clicks, control
from recon.sandbox.answers_counter import AnswersCounter
from recon.sandbox.counter import ProviderCounter
from recon.sandbox.exchange import Exchange
from recon.sandbox.page import SlackPage
from recon.sandbox.page_forms import PageForms
from recon.sandbox.slack_counter import SlackCounter
from recon.sandbox.sockets import Link
from recon.sandbox.world import Room


def build(room: Room) -> Starlette:
    """The application over the world in that room."""
    provider = Exchange(room, ProviderCounter())
    slack = Exchange(room, SlackCounter())
    calls = [*control.routes(room), *clicks.routes(room)]
    return Starlette(
        routes=[
            Route("/v1/{path:path}", provider),
            Route("/api/{path:path}", slack),
            Route("/slack-actions/{path:path}", Exchange(room, AnswersCounter())),
            WebSocketRoute("/link/", Link(room)),
            *calls,
            control.unknown(calls),
            Route("/", _to_slack),
            Route("/slack", SlackPage(room)),
            Route("/slack/act", PageForms(room), methods=["POST"]),
            Route("/slack/{channel}", SlackPage(room)),
        ],
        middleware=[Middleware(Dated, room=room)],
    )


class Dated:
    """An ASGI application that dates every answer of another one in sandbox time."""

    def __init__(self, app: ASGIApp, room: Room) -> None:
        self._app = app
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = formatdate(self._room.world.clock.now(), usegmt=True).encode()
                message = {**message, "headers": [*message.get("headers", ()), (b"date", date)]}
            await send(message)

        await self._app(scope, receive, send_dated)


def _to_slack(_request: Request) -> RedirectResponse:
    return RedirectResponse("/slack")
