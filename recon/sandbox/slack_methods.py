"""What each of Slack's Web API methods does, and the scopes that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recon.sandbox import asked as asking
from recon.sandbox import slack
from recon.sandbox.asked import Asked
from recon.sandbox.slack import Message, SlackError
from recon.sandbox.slack_objects import conversation, shown

_PAGE_DEFAULT = 100
_PAGE_LIMIT = 999


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
    draft = asking.draft(asked)
    channel = asked.workspace.channel(asking.channel(asked), posting=True)
    message = asked.workspace.post(channel, draft, now=asked.now)
    return {"channel": channel.id, "ts": message.ts, "message": shown(message, workspace=asked.workspace)}


def _update(asked: Asked) -> dict[str, Any]:
    draft = asking.draft(asked)
    channel = asked.workspace.channel(asking.channel(asked))
    message = asked.workspace.update(channel, asked.text("ts"), draft, now=asked.now)
    content = {"channel": channel.id, "ts": message.ts, "text": message.text}
    return {**content, "message": shown(message, workspace=asked.workspace)}


def _history(asked: Asked) -> dict[str, Any]:
    channel = asked.workspace.channel(asking.channel(asked))
    found = [m for m in reversed(channel.timeline()) if _within(asked, m)]
    return _page(asked, found)


def _replies(asked: Asked) -> dict[str, Any]:
    channel = asked.workspace.channel(asking.channel(asked))
    root = channel.messages.get(asked.text("ts"))
    if root is None or (asked.hidden_s and float(root.ts) > asked.now - asked.hidden_s):
        raise SlackError("thread_not_found")
    if root.thread_ts is not None:
        root = channel.messages[root.thread_ts]
    return _page(asked, [root, *(m for m in channel.replies(root.ts) if _within(asked, m))])


def _lookup_by_email(asked: Asked) -> dict[str, Any]:
    return {"user": asked.workspace.user_by_email(asked.text("email"))}


def _usergroups(asked: Asked) -> dict[str, Any]:
    found = asked.workspace.usergroups
    if not asked.flag("include_disabled"):
        found = [group for group in found if not group.get("date_delete")]
    if not asked.flag("include_users"):
        found = [{k: v for k, v in group.items() if k != "users"} for group in found]
    return {"usergroups": found}


def _conversations(asked: Asked) -> dict[str, Any]:
    found = [conversation(c) for c in asked.workspace.channels.values()]
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


def _memberships(asked: Asked) -> dict[str, Any]:
    found = [c for c in asked.workspace.channels.values() if c.member and not c.id.startswith("D")]
    if asked.flag("exclude_archived"):
        found = [c for c in found if not c.archived]
    # As Slack: who lists only what it is a member of is not told that it is one.
    shown = [{k: v for k, v in conversation(c).items() if k != "is_member"} for c in found]
    return {"channels": shown, "response_metadata": {"next_cursor": ""}}


def _user(asked: Asked) -> dict[str, Any]:
    return {"user": asked.workspace.user(asked.text("user"))}


def _conversation_info(asked: Asked) -> dict[str, Any]:
    return {"channel": conversation(asked.workspace.channel(asking.channel(asked)))}


METHODS: dict[str, Callable[[Asked], dict[str, Any]]] = {
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
NEEDED: dict[str, tuple[str, ...]] = {
    "chat.postEphemeral": ("chat:write",),
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


def _within(asked: Asked, message: Message) -> bool:
    ts = _micros(message.ts)
    if asked.hidden_s and ts > (asked.now - asked.hidden_s) * 1_000_000:
        return False
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


def page_of(arguments: Mapping[str, Any]) -> int:
    """Which page a call asks for, the first being 1."""
    cursor, limit = str(arguments.get("cursor", "")), str(arguments.get("limit") or _PAGE_DEFAULT)
    start = cursor.removeprefix("next:")
    if not start.isdigit() or not limit.isdigit() or int(limit) < 1:
        return 1
    return int(start) // int(limit) + 1


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
