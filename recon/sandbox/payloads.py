"""What Slack tells an app about something that a person did: the interaction payloads.

Source: https://docs.slack.dev/reference/interaction-payloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recon.sandbox import blocks, slack
from recon.sandbox.interactivity import Ephemeral
from recon.sandbox.slack import Channel, Message, Workspace
from recon.sandbox.slack_objects import shown
from recon.sandbox.told import WrongInputError
from recon.sandbox.views import View

# The deprecated verification token: no secret, and nobody should check it.
_TOKEN = "sandbox-verification"  # noqa: S105  Slack still sends one; it opens nothing
_TEAM = {"id": slack.TEAM, "domain": "sandbox"}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person had before their eyes: a message, or one of its former versions, or a private word."""

    channel: Channel
    ts: str
    thread_ts: str | None
    blocks: list[dict[str, Any]]
    message: dict[str, Any] | None  # As Slack gives it; None for a private word.

    @classmethod
    def of(cls, message: Message, workspace: Workspace) -> list[Seen]:
        """The message as it stands, then its former versions, newest first."""
        channel = workspace.channels[message.channel]
        content = shown(message, workspace=workspace)
        now = cls(channel, message.ts, message.thread_ts, content.get("blocks", []), content)
        return [now, *(now._before(version) for version in reversed(message.edits))]

    @classmethod
    def private(cls, word: Ephemeral, workspace: Workspace) -> Seen:
        """A private word."""
        named = blocks.named(word.blocks, seed=word.ts)
        return cls(workspace.channels[word.channel], word.ts, word.thread_ts, named, None)

    def _before(self, version: Mapping[str, Any]) -> Seen:
        named = blocks.named(version["blocks"], seed=self.ts)
        content = {**(self.message or {}), "text": version["text"], "blocks": named}
        return Seen(self.channel, self.ts, self.thread_ts, named, content)


def find(seen: list[Seen], action_id: str, value: str | None) -> tuple[Seen, dict[str, Any]]:
    """The first version with that to click, and the action as Slack gives it.

    Raises:
        WrongInputError: none has it; the words say what can be clicked.
    """
    known: list[str] = []
    for version in seen:
        for block in version.blocks:
            for element in blocks.clickable(block):
                action = _action(element, block["block_id"], value)
                if element.get("action_id") == action_id and action is not None:
                    return version, action
                known += [f"{element.get('action_id')} {v}" for v in values(element)]
    raise WrongInputError(
        f"expected something to click like {sorted(set(known))}, found {action_id!r} {value!r}"
    )


def values(element: Mapping[str, Any]) -> list[str]:
    """What a click on that element may carry."""
    if element["type"] == "button":
        return [str(element.get("value", ""))]
    return [str(option["value"]) for option in element.get("options", ())]


def block_actions(
    seen: Seen, action: dict[str, Any], user: dict[str, Any], *, trigger_id: str, response_url: str, at: str
) -> dict[str, Any]:
    """What an app hears of a click."""
    container: dict[str, Any] = {
        "type": "message",
        "message_ts": seen.ts,
        "channel_id": seen.channel.id,
        "is_ephemeral": seen.message is None,
    }
    if seen.thread_ts is not None:
        container["thread_ts"] = seen.thread_ts
    payload: dict[str, Any] = {
        "type": "block_actions",
        "user": _person(user),
        "api_app_id": slack.APP,
        "token": _TOKEN,
        "container": container,
        "trigger_id": trigger_id,
        "team": _TEAM,
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": seen.channel.id, "name": _channel_name(seen.channel)},
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [{**action, "action_ts": at}],
    }
    if seen.message is not None:
        payload["message"] = seen.message
    return payload


def view_submission(
    view: View, state: dict[str, Any], user: dict[str, Any], trigger_id: str
) -> dict[str, Any]:
    """What an app hears of a dialog that was sent."""
    return {
        **_about(view, state, user, "view_submission"),
        "trigger_id": trigger_id,
        "response_urls": [],
    }


def view_closed(view: View, user: dict[str, Any]) -> dict[str, Any]:
    """What an app hears of a dialog that was put away, if it asked to."""
    return {**_about(view, {}, user, "view_closed"), "is_cleared": False}


def _about(view: View, state: dict[str, Any], user: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "team": _TEAM,
        "user": _person(user),
        "api_app_id": slack.APP,
        "token": _TOKEN,
        "view": view.shown(state),
        "is_enterprise_install": False,
        "enterprise": None,
    }


def _action(element: Mapping[str, Any], block_id: str, value: str | None) -> dict[str, Any] | None:
    if value is not None and value not in values(element):
        return None
    about: dict[str, Any] = {
        "type": element["type"],
        "action_id": element.get("action_id"),
        "block_id": block_id,
    }
    if element["type"] == "button":
        kept = {name: element[name] for name in ("text", "value", "style", "url") if name in element}
        return {**about, **kept}
    chosen = [o for o in element.get("options", ()) if value is None or o["value"] == value]
    if not chosen:
        return None
    kept = {"placeholder": element["placeholder"]} if "placeholder" in element else {}
    return {**about, **kept, "selected_option": chosen[0]}


def _person(user: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": user["id"], "username": user["name"], "name": user["name"], "team_id": slack.TEAM}


def _channel_name(channel: Channel) -> str:
    return "directmessage" if channel.id.startswith("D") else channel.name
