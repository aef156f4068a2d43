"""Slack's counter: tokens, scopes, and refusals as Slack words them; the methods are next door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recon.sandbox.asked import Asked, arguments
from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.slack import SlackError, Workspace
from recon.sandbox.slack_methods import METHODS, NEEDED
from recon.sandbox.wire import Answer, Call
from recon.sandbox.world import Seen, World


class SlackCounter:
    """Serves Slack's Web API methods."""

    def subject(self, world: World, call: Call) -> Subject:
        """What the request is about: its channel, under its id and its name."""
        asked = str(arguments(call).get("channel", ""))
        channel = world.slack.find(asked)
        names = {asked.removeprefix("#")} | ({channel.id, channel.name} if channel is not None else set())
        return Subject(call.method, call.path, channels=frozenset(names))

    def seen(self, world: World, call: Call, fault: Fault | None) -> Seen:
        """The request as the log shows it; its token is left out."""
        form = arguments(call)
        token = str(form.pop("token", ""))
        body = call.text().replace(token, "***") if token else call.text()
        return Seen(call, world.now(), None, "", form, body, fault)

    def hold(self, _world: World, _call: Call, /) -> Callable[[], None]:
        """Slack knows no keys: nothing is held."""
        return _nothing

    def refuse(self, _call: Call, fault: Fault, /) -> Answer:
        """What Slack says when it did nothing."""
        if fault.kind is Kind.RATE_LIMIT:
            return _refusal(SlackError("ratelimited", retry_after_s=max(int(fault.after_s), 1)))
        if fault.kind is Kind.FATAL_BEFORE:
            return _refusal(SlackError("fatal_error"))
        return _broken()

    def perform(self, world: World, call: Call, fault: Fault | None) -> tuple[Answer, Callable[[], None]]:
        """Serve the method."""
        sent, name = arguments(call), call.path.removeprefix("/api/")
        try:
            _check_token(call, sent)
            _check_scope(world.slack, name)
            method = METHODS.get(name, _unknown)
            content = method(Asked(world.slack, sent, world.now()))
        except SlackError as refusal:
            return _refusal(refusal, world.slack.scopes), _nothing
        if fault is not None and fault.kind is Kind.FATAL_AFTER:
            return _refusal(SlackError("fatal_error")), _nothing
        if fault is not None and fault.kind is Kind.ERROR_AFTER:
            return _broken(), _nothing
        return Answer.of(200, {"ok": True, **content}, _scopes(world.slack.scopes)), _nothing


def _unknown(_asked: Asked) -> dict[str, Any]:
    raise SlackError("unknown_method")


def _check_token(call: Call, sent: Mapping[str, Any]) -> None:
    token = call.headers.get("authorization", "").removeprefix("Bearer ").strip() or str(
        sent.get("token", "")
    )
    if not token:
        raise SlackError("not_authed")
    if not token.startswith(("xoxb-", "xoxp-")):
        raise SlackError("invalid_auth")


def _check_scope(workspace: Workspace, method: str) -> None:
    needed = NEEDED.get(method, ())
    if needed and not set(needed) & set(workspace.scopes):
        raise SlackError("missing_scope", needed=",".join(needed))


def _scopes(scopes: tuple[str, ...]) -> dict[str, str]:
    return {"x-oauth-scopes": ",".join(scopes)}


def _refusal(refusal: SlackError, scopes: tuple[str, ...] = ()) -> Answer:
    content: dict[str, Any] = {"ok": False, "error": refusal.code}
    if refusal.needed:
        content |= {"needed": refusal.needed, "provided": ",".join(scopes)}
    if refusal.messages:
        content["errors"] = list(refusal.messages)
        content["response_metadata"] = {"messages": list(refusal.messages)}
    if refusal.retry_after_s is not None:
        return Answer.of(429, content, {"retry-after": str(refusal.retry_after_s)})
    return Answer.of(200, content, _scopes(scopes) if scopes else None)


def _broken() -> Answer:
    return Answer(500, b"Internal Server Error", {"content-type": "text/plain; charset=utf-8"})


def _nothing() -> None:
    """End nothing: Slack holds no keys."""
