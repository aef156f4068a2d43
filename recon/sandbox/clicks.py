"""The control calls about people in Slack: what they click and fill in, what they see, and how the app hears.

POST /_sandbox/clicks        {"channel", "ts", "user" id or e-mail, "action_id", "value"?, "wait_s"?}
                             or {"replay": envelope id, "wait_s"?}
POST /_sandbox/submissions   {"view_id", "user"?, "values"? {block_id: {action_id: value}}, "close"?,
                              "wait_s"?}
POST /_sandbox/interactivity {"url" on loopback or null, "signing_secret"?}: where there is no open socket
POST /_sandbox/sockets       {"heard_within_s"?, "attempts"?}
POST /_sandbox/disconnect    {"reason" one of Slack's, or null for without a word, "connection"?, "after_s"?}
GET  /_sandbox/envelopes, views, ephemerals, sockets

With wait_s the answer comes when the app has acknowledged, or that much later. A value that only a former
version of the message had can be clicked too: somebody still looks at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recon.sandbox import delivering, payloads, sockets, told, views
from recon.sandbox.interactivity import Envelope, Interactivity
from recon.sandbox.payloads import Seen
from recon.sandbox.slack import SlackError
from recon.sandbox.told import WrongInputError
from recon.sandbox.views import View
from recon.sandbox.world import Room, World

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# What Slack may say before it closes a connection (source: sockets.py).
_REASONS = frozenset({"warning", "refresh_requested", "link_disabled", "too_many_websockets"})
_CLOSES_AFTER_S = 0.5
_ATTEMPTS_LIMIT = 10

Act = Callable[[World, Mapping[str, Any]], Awaitable[object]]


def routes(room: Room) -> list[Route]:
    """The control paths over the world in that room."""

    def route(path: str, method: str, act: Act, takes: str = "") -> Route:
        return Route(f"/_sandbox/{path}", _endpoint(room, act, takes), methods=[method])

    return [
        route("clicks", "POST", _click, "channel ts user action_id value replay wait_s"),
        route("submissions", "POST", _submit, "view_id user values close wait_s"),
        route("interactivity", "POST", _set_up, "url signing_secret"),
        route("sockets", "POST", _pace, "heard_within_s attempts"),
        route("disconnect", "POST", _disconnect, "reason connection after_s"),
        route("envelopes", "GET", _envelopes),
        route("views", "GET", _views),
        route("ephemerals", "GET", _ephemerals),
        route("sockets", "GET", _sockets),
    ]


def click(
    world: World, *, channel: str, ts: str, user: str, action_id: str, value: str | None = None
) -> Envelope:
    """Let a person click something in a message or in a private word; the app is on its way to hear of it.

    Raises:
        WrongInputError: there is no such thing to click, or nobody who could hear. Nothing was sent.
    """
    seen = _seen(world, channel, ts)
    version, action = payloads.find(seen, action_id, value)
    person = _person(world, user)
    _check_reachable(world.interactivity)
    now = world.now()
    path = world.interactivity.address(version.channel.id, ts, version.thread_ts, person["id"], now=now)
    payload = payloads.block_actions(
        version,
        action,
        person,
        trigger_id=world.interactivity.trigger(person["id"], now=now),
        response_url=f"{world.url}{path}",
        at=f"{now:.6f}",
    )
    return _sent(world, payload)


def submit(world: World, view: View, values: Mapping[str, Any]) -> Envelope:
    """Let a person send a dialog as filled in.

    Raises:
        WrongInputError: the dialog does not let it go so, or nobody could hear. Nothing was sent.
    """
    if view.content.get("submit") is None:
        raise WrongInputError(f"the view {view.id} has nothing to submit")
    state = views.filled(view, values)
    person = _person(world, view.user)
    _check_reachable(world.interactivity)
    view.errors, view.state = {}, state
    trigger = world.interactivity.trigger(view.user, now=world.now())
    return _sent(world, payloads.view_submission(view, state, person, trigger))


def put_away(world: World, view: View) -> Envelope | None:
    """Let a person close a dialog; None where its app did not ask to hear of that."""
    world.interactivity.close_view(view)
    if not view.content.get("notify_on_close") or not delivering.reachable(world.interactivity):
        return None
    return _sent(world, payloads.view_closed(view, _person(world, view.user)))


def _sent(world: World, payload: dict[str, Any]) -> Envelope:
    envelope = delivering.envelope(world, payload)
    delivering.start(world, envelope)
    return envelope


def _endpoint(room: Room, act: Act, takes: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            sent = await told.sent(request, takes)
            return told.Answer(await act(room.world, sent))
        except ValueError as refusal:
            return told.Answer({"error": str(refusal)}, status_code=400)

    return endpoint


async def _click(world: World, sent: Mapping[str, Any]) -> object:
    replayed = told.optional(sent, "replay")
    if replayed is not None:
        envelope = world.interactivity.envelopes.get(replayed)
        if envelope is None:
            raise WrongInputError(f"expected the id of an envelope, found {replayed!r}")
        _check_reachable(world.interactivity)
        delivering.start(world, envelope)
    else:
        envelope = click(
            world,
            channel=told.text(sent, "channel"),
            ts=told.text(sent, "ts"),
            user=told.text(sent, "user"),
            action_id=told.text(sent, "action_id"),
            value=told.optional(sent, "value"),
        )
    return await _outcome(envelope, sent)


async def _submit(world: World, sent: Mapping[str, Any]) -> object:
    found = told.text(sent, "view_id")
    view = world.interactivity.views.get(found)
    if view is None:
        raise WrongInputError(f"expected an open view, found {found!r}")
    user = told.optional(sent, "user")
    if user is not None and _person(world, user)["id"] != view.user:
        raise WrongInputError(f"expected {view.user}, who sees the view {found}, found {user!r}")
    if told.flag(sent, "close", default=False):
        envelope = put_away(world, view)
        return {"closed": True} if envelope is None else await _outcome(envelope, sent)
    values = sent.get("values", {})
    if not isinstance(values, dict):
        raise WrongInputError(f'expected "values" as {{block_id: {{action_id: value}}}}, found {values!r}')
    return await _outcome(submit(world, view, values), sent)


async def _outcome(envelope: Envelope, sent: Mapping[str, Any]) -> object:
    seconds = told.seconds(sent, "wait_s", 0.0)
    if seconds:
        await heard(envelope, seconds)
    content: dict[str, Any] = {"envelope_id": envelope.id, "acknowledged": envelope.acknowledged}
    for name in ("trigger_id", "response_url"):
        if envelope.payload.get(name):
            content[name] = envelope.payload[name]
    return content | {"answer": envelope.answer}


async def heard(envelope: Envelope, seconds: float) -> bool:
    """Wait until the app has acknowledged or Slack has given up; whether the app has."""
    with suppress(TimeoutError):
        await asyncio.wait_for(envelope.heard.wait(), seconds)
    return envelope.acknowledged


async def _set_up(world: World, sent: Mapping[str, Any]) -> object:
    url = told.optional(sent, "url")
    address = urlsplit(url or "")
    if url is not None and (address.scheme != "http" or address.hostname not in _LOOPBACK):
        raise WrongInputError(f'expected "url" like http://127.0.0.1:3000/slack, found {url!r}')
    world.interactivity.url = url
    world.interactivity.signing_secret = told.text(sent, "signing_secret", world.interactivity.signing_secret)
    return {"url": url}


async def _pace(world: World, sent: Mapping[str, Any]) -> object:
    interactivity = world.interactivity
    attempts = sent.get("attempts", interactivity.attempts)
    if not isinstance(attempts, int) or isinstance(attempts, bool) or not 1 <= attempts <= _ATTEMPTS_LIMIT:
        raise WrongInputError(f'expected "attempts" from 1 to {_ATTEMPTS_LIMIT}, found {attempts!r}')
    interactivity.heard_within_s = told.seconds(sent, "heard_within_s", interactivity.heard_within_s)
    interactivity.attempts = attempts
    return {"heard_within_s": interactivity.heard_within_s, "attempts": interactivity.attempts}


async def _disconnect(world: World, sent: Mapping[str, Any]) -> object:
    reason = told.optional(sent, "reason")
    if reason is not None and reason not in _REASONS:
        raise WrongInputError(f'expected "reason" to be one of {sorted(_REASONS)}, found {reason!r}')
    chosen = told.optional(sent, "connection")
    found = [s for s in world.interactivity.sockets if chosen in {None, s.id}]
    after_s = told.seconds(sent, "after_s", _CLOSES_AFTER_S if reason else 0.0)
    for socket in found:
        if reason is not None:
            await socket.say(sockets.goodbye(reason))
        if reason != "warning":
            asyncio.get_running_loop().call_later(after_s, socket.leave)
    return {"connections": [socket.id for socket in found]}


async def _envelopes(world: World, _sent: Mapping[str, Any]) -> object:
    return [envelope.shown() for envelope in world.interactivity.envelopes.values()]


async def _views(world: World, _sent: Mapping[str, Any]) -> object:
    found = world.interactivity.views.values()
    return [{**view.shown(), "user": view.user, "errors": view.errors} for view in found]


async def _ephemerals(world: World, _sent: Mapping[str, Any]) -> object:
    return [
        {
            "channel": word.channel,
            "channel_name": world.slack.channels[word.channel].name,
            "user": word.user,
            "ts": word.ts,
            "thread_ts": word.thread_ts,
            "text": word.text,
            "blocks": word.blocks,
        }
        for word in world.interactivity.ephemerals
    ]


async def _sockets(world: World, _sent: Mapping[str, Any]) -> object:
    return [{"id": socket.id, "carried": socket.carried} for socket in world.interactivity.sockets]


def _seen(world: World, asked: str, ts: str) -> list[Seen]:
    channel = world.slack.find(asked)
    if channel is not None and ts in channel.messages:
        return Seen.of(channel.messages[ts], world.slack)
    words = [w for w in world.interactivity.ephemerals if channel and (w.channel, w.ts) == (channel.id, ts)]
    if not words:
        raise WrongInputError(f"expected a message {ts!r} in {asked!r}, found none")
    return [Seen.private(words[0], world.slack)]


def _person(world: World, asked: str) -> dict[str, Any]:
    try:
        return world.slack.person(asked)
    except SlackError as refusal:
        raise WrongInputError(f"expected a person's id or e-mail, found {asked!r}: {refusal.code}") from None


def _check_reachable(interactivity: Interactivity) -> None:
    if not delivering.reachable(interactivity):
        raise WrongInputError("no socket is open and no interactivity URL is set: nobody would hear of it")
