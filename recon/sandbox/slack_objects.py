"""Messages, channels and people as Slack's methods give them."""

from __future__ import annotations

from typing import Any

from recon.sandbox import blocks, slack
from recon.sandbox.slack import Message, Workspace


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
        content["blocks"] = blocks.named(message.blocks, seed=message.ts)
    if message.thread_ts is not None:
        content["thread_ts"] = message.thread_ts
        content["parent_user_id"] = slack.BOT_USER
        if message.broadcast:
            root = workspace.channels[message.channel].messages[message.thread_ts]
            drawn = shown(root, workspace=workspace, metadata=metadata)
            content |= {"subtype": "thread_broadcast", "root": drawn}
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


def conversation(channel: slack.Channel) -> dict[str, Any]:
    """A channel as Slack's methods give it."""
    direct = channel.id.startswith("D")
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not direct,
        "is_im": direct,
        "is_archived": channel.archived,
        "is_member": channel.member,
    }
