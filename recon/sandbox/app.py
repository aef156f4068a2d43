"""The street's map: which path leads to which counter."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from recon.sandbox import control
from recon.sandbox.counter import ProviderCounter
from recon.sandbox.exchange import Exchange
from recon.sandbox.page import SlackPage
from recon.sandbox.slack_counter import SlackCounter
from recon.sandbox.world import Room


def build(room: Room) -> Starlette:
    """The application over the world in that room."""
    provider = Exchange(room, ProviderCounter())
    slack = Exchange(room, SlackCounter())
    return Starlette(
        routes=[
            Route("/v1/{path:path}", provider),
            Route("/api/{path:path}", slack),
            *control.routes(room),
            Route("/", _to_slack),
            Route("/slack", SlackPage(room)),
            Route("/slack/{channel}", SlackPage(room)),
        ]
    )


def _to_slack(_request: Request) -> RedirectResponse:
    return RedirectResponse("/slack")
