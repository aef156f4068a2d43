"""What a person does on the /slack page: the same as the control calls, then back to the page."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import Receive, Scope, Send

from recon.sandbox import clicks, delivering, modal
from recon.sandbox.interactivity import Envelope
from recon.sandbox.views import View
from recon.sandbox.wire import BODY_LIMIT_BYTES
from recon.sandbox.world import Room, World

# Longer than an app may take to say that it heard, and not as long as a person waits.
_PATIENCE_S = 4.0


class PageForms:
    """An ASGI application that takes the page's forms."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do what a form asks for and lead back to where it stood."""
        request = Request(scope, receive)
        form = dict(parse_qsl((await _body(request)).decode("utf-8", "replace"), keep_blank_values=True))
        back = form.get("back", "")
        # Only back to the page: a form may come from anywhere.
        back = back if back == "/slack" or back.startswith(("/slack/", "/slack?")) else "/slack"
        note = await _do(self._room.world, form)
        if note:
            back += f"{'&' if '?' in back else '?'}note={note}"
        await RedirectResponse(back, status_code=303)(scope, receive, send)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_LIMIT_BYTES:
            return b""
    return bytes(body)


async def _do(world: World, form: dict[str, str]) -> str:
    """Do it; the note for the page where it went wrong, else nothing."""
    view = world.interactivity.views.get(form.get("view_id", ""))
    refused = _refused(world, form)
    if refused:
        return refused
    try:
        if view is not None:
            envelope = _decide(world, view, form)
        elif form.get("act") == "click":
            envelope = _click(world, form)
        else:
            return "wrong"
    except ValueError as refusal:
        if view is None:
            return "wrong"
        view.errors = {"": str(refusal)}
        return ""
    if envelope is None or await clicks.heard(envelope, _PATIENCE_S) or view is not None:
        return ""  # A dialog says by itself what went wrong with it.
    return "unheard"


def _refused(world: World, form: dict[str, str]) -> str:
    if form.get("act") == "click" and not form.get("as"):
        return "who"
    if form.get("act") != "close" and not delivering.reachable(world.interactivity):
        return "nobody"
    return ""


def _decide(world: World, view: View, form: dict[str, str]) -> Envelope | None:
    if form.get("act") == "close":
        return clicks.put_away(world, view)
    return clicks.submit(world, view, modal.values(form, view))


def _click(world: World, form: dict[str, str]) -> Envelope:
    return clicks.click(
        world,
        channel=form.get("channel", ""),
        ts=form.get("ts", ""),
        user=form.get("as", ""),
        action_id=form.get("action_id", ""),
        value=form.get("value"),
    )
