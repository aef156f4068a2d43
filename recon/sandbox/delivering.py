"""Carrying what people did to the app: through an open socket, or by HTTP with Slack's signature.

What nobody acknowledges in time is carried again through another connection, and in the end given up.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from recon.sandbox import views
from recon.sandbox.clock import iso
from recon.sandbox.interactivity import Envelope, Interactivity, Socket
from recon.sandbox.views import View
from recon.sandbox.world import World

# A dialog that an app may send back is no larger; the rest is not read.
_ANSWER_LIMIT_BYTES = 250_000
_UNHEARD = "We had some trouble connecting. Try again?"
_OK = range(200, 300)


def envelope(world: World, payload: dict[str, Any]) -> Envelope:
    """A new envelope around something that a person did."""
    found = Envelope(secrets.token_hex(16), payload, accepts_answer=payload["type"] == "view_submission")
    world.interactivity.envelopes[found.id] = found
    return found


def reachable(interactivity: Interactivity) -> bool:
    """Whether anybody could hear of it."""
    return bool(interactivity.sockets) or interactivity.url is not None


def start(world: World, item: Envelope) -> asyncio.Task[None]:
    """Begin to carry an envelope, once more where it was carried before."""
    item.heard.clear()
    task = asyncio.get_running_loop().create_task(_carry(world, item))
    _UNDERWAY.add(task)
    task.add_done_callback(_UNDERWAY.discard)
    return task


# The loop holds its tasks weakly: who starts one must keep it.
_UNDERWAY: set[asyncio.Task[None]] = set()


def acknowledge(interactivity: Interactivity, item: Envelope, answer: object, *, now: float) -> None:
    """The app heard, and perhaps said what is to become of the dialog; too late changes nothing."""
    first = not item.acknowledged
    item.acknowledged = True
    if first:
        item.answer = answer if isinstance(answer, dict) else None
        if item.accepts_answer and not item.lost:
            _answered(interactivity, item, now=now)
    item.heard.set()


async def _carry(world: World, item: Envelope) -> None:
    if world.interactivity.sockets or world.interactivity.url is None:
        await _by_socket(world, item)
    else:
        await _by_http(world, item)
    if not item.acknowledged:
        item.lost = True
        item.heard.set()
        view = _submitted(world.interactivity, item)
        if view is not None:
            view.errors = {"": _UNHEARD}


async def _by_socket(world: World, item: Envelope) -> None:
    interactivity = world.interactivity
    last: Socket | None = None
    for attempt in range(interactivity.attempts):
        socket = _next(interactivity, besides=last)
        last = socket
        if socket is not None:
            if not await socket.say(_wrapped(item, attempt)):
                continue
            socket.carried += 1
            item.tries.append({"at": iso(world.now()), "connection": socket.id})
        try:
            await asyncio.wait_for(item.heard.wait(), interactivity.heard_within_s)
        except TimeoutError:
            continue  # Nobody acknowledged it: once more.
        return


def _next(interactivity: Interactivity, *, besides: Socket | None) -> Socket | None:
    # Another connection than the last, and the one that carried least.
    open_now = sorted(interactivity.sockets, key=lambda socket: (socket is besides, socket.carried))
    return open_now[0] if open_now else None


def _wrapped(item: Envelope, attempt: int) -> dict[str, Any]:
    content: dict[str, Any] = {
        "envelope_id": item.id,
        "payload": item.payload,
        "type": "interactive",
        "accepts_response_payload": item.accepts_answer,
    }
    if attempt:
        content |= {"retry_attempt": attempt, "retry_reason": "timeout"}
    return content


async def _by_http(world: World, item: Envelope) -> None:
    interactivity = world.interactivity
    if item.sent is None:
        body = urlencode({"payload": json.dumps(item.payload)}).encode()
        item.sent = (body, signed(body, interactivity.signing_secret, int(world.now())))
    answer = await asyncio.to_thread(_post, str(interactivity.url), *item.sent, interactivity.heard_within_s)
    tried: dict[str, Any] = {"at": iso(world.now()), "url": interactivity.url, "status": answer[0]}
    item.tries.append(tried)
    if answer[0] in _OK:
        acknowledge(interactivity, item, answer[1], now=world.now())


def signed(body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """The headers with which Slack signs a request.

    Source: https://docs.slack.dev/authentication/verifying-requests-from-slack.
    """
    base = b"v0:" + str(timestamp).encode() + b":" + body
    return {
        "X-Slack-Request-Timestamp": str(timestamp),
        "X-Slack-Signature": "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest(),
        "Content-Type": "application/x-www-form-urlencoded",
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
    }


def _post(url: str, body: bytes, headers: dict[str, str], seconds: float) -> tuple[int, object]:
    address = urlsplit(url)
    path = f"{address.path or '/'}{'?' if address.query else ''}{address.query}"
    connection = HTTPConnection(str(address.hostname), address.port or 80, timeout=seconds)
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read(_ANSWER_LIMIT_BYTES)
    except (OSError, HTTPException):
        # The app is not there, hangs, or speaks something else: nobody heard.
        return 0, None
    finally:
        connection.close()
    try:
        return answer.status, json.loads(content)
    except ValueError:
        return answer.status, None


def _submitted(interactivity: Interactivity, item: Envelope) -> View | None:
    if item.payload["type"] != "view_submission":
        return None
    return interactivity.views.get(item.payload["view"]["id"])


def _answered(interactivity: Interactivity, item: Envelope, *, now: float) -> None:
    view = _submitted(interactivity, item)
    if view is None:
        return
    answer = item.answer or {}
    action, content = answer.get("response_action"), answer.get("view")
    errors = answer.get("errors")
    if action == "errors" and isinstance(errors, dict):
        view.errors = {str(block): str(words) for block, words in errors.items()}
    elif action in {"update", "push"} and (views.faults(content) or not isinstance(content, dict)):
        view.errors = {"": _UNHEARD}  # As Slack's client says of a dialog that Slack does not take.
    elif action == "update" and isinstance(content, dict):
        view.replace(content, now=now)
    elif action == "push" and isinstance(content, dict):
        interactivity.push_view(view, content, now=now)
    elif action == "clear":
        interactivity.close_views(view.user)
    else:
        interactivity.close_view(view)
