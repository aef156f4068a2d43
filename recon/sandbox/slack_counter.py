"""Slack's counter: tokens, bodies as form or JSON, and which method does what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recon.sandbox import blocks, forms, slack
from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.slack import Draft, Message, SlackError, Workspace
from recon.sandbox.wire import Answer, Call
from recon.sandbox.world import Seen, World

TEXT_LIMIT = 40_000
METADATA_LIMIT_BYTES = 8_000
_PAGE_DEFAULT = 100
_PAGE_LIMIT = 999


@dataclass(frozen=True, slots=True)
class Asked:
    """One method call with its arguments."""

    workspace: Workspace
    arguments: Mapping[str, Any]
    now: float

    def text(self, name: str) -> str:
        """An argument as text; "" when absent."""
        found = self.arguments.get(name)
        return "" if found is None else str(found)

    def flag(self, name: str) -> bool:
        """An argument as yes or no."""
        return self.text(name).lower() in {"true", "1"}

    def structure(self, name: str) -> object:
        """An argument that is JSON inside a form, or plain in a JSON body; None when absent."""
        found = self.arguments.get(name)
        if not isinstance(found, str):
            return found
        if found == "":
            return None
        try:
            return json.loads(found)
        except ValueError:
            raise SlackError(f"invalid_{name}_format") from None


class SlackCounter:
    """Serves Slack's Web API methods."""

    def subject(self, world: World, call: Call) -> Subject:
        """What the request is about: its channel, under its id and its name."""
        asked = str(_arguments(call).get("channel", ""))
        channel = world.slack.find(asked)
        names = {asked.removeprefix("#")} | ({channel.id, channel.name} if channel is not None else set())
        return Subject(call.method, call.path, channels=frozenset(names))

    def seen(self, world: World, call: Call, fault: Fault | None) -> Seen:
        """The request as the log shows it; its token is left out."""
        form = _arguments(call)
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
        arguments, name = _arguments(call), call.path.removeprefix("/api/")
        try:
            _check_token(call, arguments)
            _check_scope(world.slack, name)
            method = _METHODS.get(name, _unknown)
            content = method(Asked(world.slack, arguments, world.now()))
        except SlackError as refusal:
            return _refusal(refusal, world.slack.scopes), _nothing
        if fault is not None and fault.kind is Kind.FATAL_AFTER:
            return _refusal(SlackError("fatal_error")), _nothing
        if fault is not None and fault.kind is Kind.ERROR_AFTER:
            return _broken(), _nothing
        return Answer.of(200, {"ok": True, **content}, _scopes(world.slack.scopes)), _nothing


def _unknown(_asked: Asked) -> dict[str, Any]:
    raise SlackError("unknown_method")


def _auth_test(_asked: Asked) -> dict[str, Any]:
    return {
        "url": "https://sandbox.slack.com/",
        "team": "Sandbox",
        "user": slack.BOT_NAME,
        "team_id": slack.TEAM,
        "user_id": slack.BOT_USER,
        "bot_id": slack.BOT,
        "is_enterprise_install": False,
    }


def _post_message(asked: Asked) -> dict[str, Any]:
    draft = _draft(asked)
    channel = asked.workspace.channel(_channel(asked), posting=True)
    message = asked.workspace.post(channel, draft, now=asked.now)
    return {"channel": channel.id, "ts": message.ts, "message": shown(message, workspace=asked.workspace)}


def _update(asked: Asked) -> dict[str, Any]:
    draft = _draft(asked)
    channel = asked.workspace.channel(_channel(asked))
    message = asked.workspace.update(channel, asked.text("ts"), draft, now=asked.now)
    content = {"channel": channel.id, "ts": message.ts, "text": message.text}
    return {**content, "message": shown(message, workspace=asked.workspace)}


def _history(asked: Asked) -> dict[str, Any]:
    channel = asked.workspace.channel(_channel(asked))
    found = [m for m in reversed(channel.roots()) if _within(asked, m)]
    return _page(asked, found)


def _replies(asked: Asked) -> dict[str, Any]:
    channel = asked.workspace.channel(_channel(asked))
    root = channel.messages.get(asked.text("ts"))
    if root is None:
        raise SlackError("thread_not_found")
    if root.thread_ts is not None:
        root = channel.messages[root.thread_ts]
    return _page(asked, [root, *(m for m in channel.replies(root.ts) if _within(asked, m))])


def _lookup_by_email(asked: Asked) -> dict[str, Any]:
    return {"user": asked.workspace.user_by_email(asked.text("email"))}


def _usergroups(asked: Asked) -> dict[str, Any]:
    return {"usergroups": asked.workspace.usergroups}


def _conversations(asked: Asked) -> dict[str, Any]:
    found = [_conversation(c) for c in asked.workspace.channels.values()]
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


def _memberships(asked: Asked) -> dict[str, Any]:
    found = [c for c in asked.workspace.channels.values() if c.member and not c.id.startswith("D")]
    if asked.flag("exclude_archived"):
        found = [c for c in found if not c.archived]
    # As Slack: who lists only what it is a member of is not told that it is one.
    shown = [{k: v for k, v in _conversation(c).items() if k != "is_member"} for c in found]
    return {"channels": shown, "response_metadata": {"next_cursor": ""}}


def _user(asked: Asked) -> dict[str, Any]:
    return {"user": asked.workspace.user(asked.text("user"))}


def _conversation_info(asked: Asked) -> dict[str, Any]:
    return {"channel": _conversation(asked.workspace.channel(_channel(asked)))}


_METHODS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "auth.test": _auth_test,
    "chat.postMessage": _post_message,
    "chat.update": _update,
    "conversations.history": _history,
    "conversations.info": _conversation_info,
    "conversations.list": _conversations,
    "conversations.replies": _replies,
    "usergroups.list": _usergroups,
    "users.conversations": _memberships,
    "users.info": _user,
    "users.lookupByEmail": _lookup_by_email,
}

# Of each method the scopes of which one is enough. Source: the methods' pages under https://docs.slack.dev.
_NEEDED: dict[str, tuple[str, ...]] = {
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "conversations.info": ("channels:read", "groups:read", "im:read", "mpim:read"),
    "conversations.list": ("channels:read", "groups:read", "im:read", "mpim:read"),
    "conversations.replies": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "usergroups.list": ("usergroups:read",),
    "users.conversations": ("channels:read", "groups:read", "im:read", "mpim:read"),
    "users.info": ("users:read",),
    "users.lookupByEmail": ("users:read.email",),
}


def shown(message: Message, *, workspace: Workspace, metadata: bool = True) -> dict[str, Any]:
    """A message as Slack's methods give it."""
    replies = workspace.channels[message.channel].replies(message.ts)
    content: dict[str, Any] = {
        "type": "message",
        "user": slack.BOT_USER,
        "bot_id": slack.BOT,
        "app_id": slack.APP,
        "team": slack.TEAM,
        "bot_profile": {
            "id": slack.BOT,
            "app_id": slack.APP,
            "name": message.username or slack.BOT_NAME,
            "team_id": slack.TEAM,
            "deleted": False,
        },
        "text": message.text,
        "ts": message.ts,
    }
    if message.blocks:
        content["blocks"] = message.blocks
    if message.thread_ts is not None:
        content["thread_ts"] = message.thread_ts
        content["parent_user_id"] = slack.BOT_USER
    elif replies:
        content |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": 1,
            "reply_users": [slack.BOT_USER],
            "latest_reply": replies[-1].ts,
        }
    if message.edited_ts is not None:
        content["edited"] = {"user": slack.BOT_USER, "ts": message.edited_ts}
    if metadata and message.metadata is not None:
        content["metadata"] = message.metadata
    return content


def _draft(asked: Asked) -> Draft:
    text = asked.text("text")
    found = asked.structure("blocks")
    refused = [] if found is None else blocks.faults(found)
    if refused:
        raise SlackError("invalid_blocks", messages=tuple(refused))
    drawn = found if isinstance(found, list) else []
    if not text and not drawn and asked.structure("attachments") is None:
        raise SlackError("no_text")
    if len(text) > TEXT_LIMIT:
        raise SlackError("msg_too_long")
    if blocks.total(drawn) > blocks.TOTAL_LIMIT:
        raise SlackError("msg_blocks_too_long")
    return Draft(
        text=text,
        blocks=drawn,
        metadata=_metadata(asked),
        thread_ts=asked.text("thread_ts") or None,
        username=asked.text("username") or None,
        icon=asked.text("icon_emoji") or None,
    )


def _metadata(asked: Asked) -> dict[str, Any] | None:
    found = asked.structure("metadata")
    if found is None:
        return None
    if not isinstance(found, dict):
        raise SlackError("invalid_metadata_format")
    if found and (
        not isinstance(found.get("event_type"), str) or not isinstance(found.get("event_payload"), dict)
    ):
        raise SlackError("invalid_metadata_schema")
    if len(json.dumps(found)) > METADATA_LIMIT_BYTES:
        raise SlackError("metadata_too_large")
    return found


def _channel(asked: Asked) -> str:
    channel = asked.text("channel")
    if not channel:
        raise SlackError("channel_not_found")
    return channel


def _within(asked: Asked, message: Message) -> bool:
    ts = _micros(message.ts)
    oldest, latest = asked.text("oldest"), asked.text("latest")
    inclusive = asked.flag("inclusive")
    if oldest and (ts < _micros(oldest) or (ts == _micros(oldest) and not inclusive)):
        return False
    return not latest or ts < _micros(latest) or (ts == _micros(latest) and inclusive)


def _micros(ts: str) -> int:
    seconds, _, fraction = ts.partition(".")
    try:
        return int(seconds) * 1_000_000 + int(fraction[:6].ljust(6, "0"))
    except ValueError:
        raise SlackError("invalid_ts_oldest") from None


def _page(asked: Asked, found: list[Message]) -> dict[str, Any]:
    try:
        limit = int(asked.text("limit") or _PAGE_DEFAULT)
        start = int(asked.text("cursor").removeprefix("next:") or 0)
    except ValueError:
        raise SlackError("invalid_cursor") from None
    if not 1 <= limit <= _PAGE_LIMIT:
        raise SlackError("invalid_limit")
    metadata = asked.flag("include_all_metadata")
    content: dict[str, Any] = {
        "messages": [
            shown(m, workspace=asked.workspace, metadata=metadata) for m in found[start : start + limit]
        ],
        "has_more": len(found) > start + limit,
    }
    if content["has_more"]:
        content["response_metadata"] = {"next_cursor": f"next:{start + limit}"}
    return content


def _conversation(channel: slack.Channel) -> dict[str, Any]:
    direct = channel.id.startswith("D")
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not direct,
        "is_im": direct,
        "is_archived": channel.archived,
        "is_member": channel.member,
    }


def _arguments(call: Call) -> dict[str, Any]:
    arguments: dict[str, Any] = dict(forms.pairs(call.query))
    if "json" in call.headers.get("content-type", ""):
        try:
            sent = json.loads(call.text() or "{}")
        except ValueError:
            sent = {}
        return arguments | (sent if isinstance(sent, dict) else {})
    return arguments | dict(forms.pairs(call.text()))


def _check_token(call: Call, arguments: Mapping[str, Any]) -> None:
    token = call.headers.get("authorization", "").removeprefix("Bearer ").strip() or str(
        arguments.get("token", "")
    )
    if not token:
        raise SlackError("not_authed")
    if not token.startswith(("xoxb-", "xoxp-")):
        raise SlackError("invalid_auth")


def _check_scope(workspace: Workspace, method: str) -> None:
    needed = _NEEDED.get(method, ())
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
