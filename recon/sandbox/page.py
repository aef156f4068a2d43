"""The /slack page: the channels as people see them in Slack, without a script or an outside request."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from recon.sandbox.world import Room


class SlackPage:
    """An ASGI application that draws the page."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Draw one channel."""
        request = Request(scope, receive)
        html = (
            f"<!doctype html><title>Slack</title>{len(self._room.world.slack.messages())} {request.url.path}"
        )
        await HTMLResponse(html)(scope, receive, send)
