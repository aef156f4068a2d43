"""Slack's counter: tokens, scopes, and refusals as Slack words them; the methods are next door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recon.sandbox import interactive_methods
from recon.sandbox.asked import Asked, arguments
from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.interactive_methods import APP_METHODS, APP_SCOPES
from recon.sandbox.slack import SlackError, Workspace
from recon.sandbox.slack_methods import METHODS, NEEDED, page_of
from recon.sandbox.wire import Answer, Call
from recon.sandbox.world import Seen, World


class SlackCounter:
    """Serves Slack's Web API methods."""

    def subject(self, world: World, call: Call) -> Subject:
        """What the request is about: its channel, under its id and its name."""
        channels = names_of(world, str(arguments(call).get("channel", "")))
        return Subject(call.method, call.path, channels=channels, page=page_of(arguments(call)))

    def seen(self, world: World, call: Call, fault: Fault | None) -> Seen:
        """The request as the log shows it; its token is left out."""
        form = arguments(call)
        token = str(form.pop("token", ""))
        body = call.text().replace(token, "***") if token else call.text()
        return Seen(call, world.now(), None, "", form, body, fault)

    def hold(self, _world: World, _call: Call, /) -> Callable[[], None]:
        """Slack knows no keys: nothing is held."""
        return nothing

    def refuse(self, _call: Call, fault: Fault, /) -> Answer:
        """What Slack says when it did nothing."""
        if fault.kind is Kind.RATE_LIMIT:
            return refusal(SlackError("ratelimited", retry_after_s=max(int(fault.after_s), 1)))
        if fault.kind is Kind.FATAL_BEFORE:
            return refusal(SlackError("fatal_error"))
        return broken()

    def perform(self, world: World, call: Call, fault: Fault | None) -> tuple[Answer, Callable[[], None]]:
        """Serve the method."""
        sent, name = arguments(call), call.path.removeprefix("/api/")
        try:
            _check_token(call, sent, for_app=name in APP_METHODS)
            _check_scope(world.slack, name)
            method = (METHODS | interactive_methods.METHODS).get(name, _unknown)
            hidden_s = fault.after_s if fault is not None and fault.kind is Kind.INVISIBLE else 0.0
            content = method(Asked(world, sent, world.now(), hidden_s))
        except SlackError as met:
            return refusal(met, world.slack.scopes), nothing
        if fault is not None and fault.kind is Kind.FATAL_AFTER:
            return refusal(SlackError("fatal_error")), nothing
        if fault is not None and fault.kind is Kind.ERROR_AFTER:
            return broken(), nothing
        scopes = APP_SCOPES if name in APP_METHODS else world.slack.scopes
        return Answer.of(200, {"ok": True, **content}, _scopes(scopes)), nothing


def _unknown(_asked: Asked) -> dict[str, Any]:
    raise SlackError("unknown_method")


def _check_token(call: Call, sent: Mapping[str, Any], *, for_app: bool) -> None:
    token = call.headers.get("authorization", "").removeprefix("Bearer ").strip() or str(
        sent.get("token", "")
    )
    if not token:
        raise SlackError("not_authed")
    if not token.startswith(("xoxb-", "xoxp-", "xapp-")):
        raise SlackError("invalid_auth")
    # An app's own token opens connections and does nothing else; a bot's does all but that.
    if token.startswith("xapp-") is not for_app:
        raise SlackError("not_allowed_token_type")


def _check_scope(workspace: Workspace, method: str) -> None:
    needed = NEEDED.get(method, ())
    if needed and not set(needed) & set(workspace.scopes):
        raise SlackError("missing_scope", needed=",".join(needed))


def _scopes(scopes: tuple[str, ...]) -> dict[str, str]:
    return {"x-oauth-scopes": ",".join(scopes)}


def names_of(world: World, asked: str) -> frozenset[str]:
    """The id and the name of the channel that was asked for under either."""
    channel = world.slack.find(asked)
    known = set() if channel is None else {channel.id, channel.name}
    return frozenset({asked.removeprefix("#")} | known)


def refusal(met: SlackError, scopes: tuple[str, ...] = ()) -> Answer:
    """A refusal as Slack words it."""
    content: dict[str, Any] = {"ok": False, "error": met.code}
    if met.needed:
        content |= {"needed": met.needed, "provided": ",".join(scopes)}
    if met.messages:
        content["errors"] = list(met.messages)
        content["response_metadata"] = {"messages": list(met.messages)}
    if met.retry_after_s is not None:
        return Answer.of(429, content, {"retry-after": str(met.retry_after_s)})
    return Answer.of(200, content, _scopes(scopes) if scopes else None)


def broken() -> Answer:
    """What Slack's front says when Slack is down."""
    return Answer(500, b"Internal Server Error", {"content-type": "text/plain; charset=utf-8"})


def nothing() -> None:
    """End nothing: Slack holds no keys."""
