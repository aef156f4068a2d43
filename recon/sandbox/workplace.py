"""The control call that sets up a Slack workspace: its channels, people and groups, and what the bot may do.

POST /_sandbox/slack {"rate_limit"? per channel, "per_minute"? messages that the workspace takes, or null,
    "names_anywhere"?, "open"?, "scopes"? of the bot's token, as texts,
    "channels"?   [{"name", "id"?, "member"?, "archived"?, "removed"?}]
    "users"?      [{"email", "id"?, "name"?, "deleted"? has left the company, "removed"?}]
    "usergroups"? [{"id", "handle", "name"?, "users"? ids, "disabled"?, "removed"?}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recon.sandbox import told
from recon.sandbox.slack import TEAM, Workspace
from recon.sandbox.world import World

TAKES = "rate_limit per_minute names_anywhere open scopes channels users usergroups"


def set_up(world: World, sent: Mapping[str, Any]) -> object:
    """Make the workspace so; what is not named stays as it is."""
    slack = world.slack
    slack.rate_limited = told.flag(sent, "rate_limit", default=slack.rate_limited)
    slack.per_minute = _per_minute(sent, slack.per_minute)
    slack.names_anywhere = told.flag(sent, "names_anywhere", default=slack.names_anywhere)
    slack.open = told.flag(sent, "open", default=slack.open)
    slack.scopes = told.texts(sent, "scopes", slack.scopes)
    for channel in told.records(sent, "channels", "name id member archived removed"):
        _channel(slack, channel)
    for user in told.records(sent, "users", "email id name deleted removed"):
        _user(slack, user)
    for group in told.records(sent, "usergroups", "id handle name users disabled removed"):
        _group(slack, group, world.now())
    return {"rate_limit": slack.rate_limited, "names_anywhere": slack.names_anywhere, "open": slack.open}


def _per_minute(sent: Mapping[str, Any], default: int | None) -> int | None:
    found = sent.get("per_minute", default)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool) or found < 1):
        raise told.WrongInputError(f'expected "per_minute" to be a whole number from 1, found {found!r}')
    return found


def _channel(slack: Workspace, sent: Mapping[str, Any]) -> None:
    name = told.text(sent, "name").removeprefix("#")
    if told.flag(sent, "removed", default=False):
        slack.remove_channel(name)
        return
    slack.declare(
        name,
        found=told.optional(sent, "id"),
        member=told.flag(sent, "member", default=True),
        archived=told.flag(sent, "archived", default=False),
    )


def _user(slack: Workspace, sent: Mapping[str, Any]) -> None:
    email = told.text(sent, "email")
    if told.flag(sent, "removed", default=False):
        slack.remove_user(email)
        return
    deleted = told.flag(sent, "deleted", default=False)
    slack.add_user(email, found=told.optional(sent, "id"), name=told.optional(sent, "name"), deleted=deleted)


def _group(slack: Workspace, sent: Mapping[str, Any], now: float) -> None:
    found = told.text(sent, "id")
    if told.flag(sent, "removed", default=False):
        slack.remove_group(found)
        return
    handle, users = told.text(sent, "handle"), list(told.texts(sent, "users", ()))
    slack.add_group(
        {
            "id": found,
            "team_id": TEAM,
            "is_usergroup": True,
            "handle": handle,
            "name": told.text(sent, "name", handle),
            "date_delete": int(now) if told.flag(sent, "disabled", default=False) else 0,
            "users": users,
            "user_count": len(users),
        }
    )
