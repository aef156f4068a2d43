"""The counter where an app answers one click: at the address that came with it, without a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recon.sandbox import asked as asking
from recon.sandbox.asked import Asked, arguments
from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.interactivity import Address, Ephemeral
from recon.sandbox.slack import Channel, Draft, SlackError
from recon.sandbox.slack_counter import SlackCounter, broken, names_of, nothing
from recon.sandbox.wire import Answer, Call
from recon.sandbox.world import World

_GONE = frozenset({"expired_url", "used_url"})


class AnswersCounter(SlackCounter):
    """Serves the addresses under /slack-actions/."""

    def subject(self, world: World, call: Call) -> Subject:
        """What the answer is about: the channel of the click."""
        clicked = world.interactivity.addresses.get(call.path)
        channels = frozenset[str]() if clicked is None else names_of(world, clicked.channel)
        return Subject(call.method, call.path, channels=channels)

    def perform(self, world: World, call: Call, fault: Fault | None) -> tuple[Answer, Callable[[], None]]:
        """Serve one answer."""
        asked = Asked(world, arguments(call), world.now())
        try:
            _answer(asked, world.interactivity.use_address(call.path, now=asked.now))
        except SlackError as met:
            status = 404 if met.code in _GONE else 400
            content: dict[str, Any] = {"ok": False, "error": met.code}
            return Answer.of(
                status, content | ({"errors": list(met.messages)} if met.messages else {})
            ), nothing
        if fault is not None and fault.kind is Kind.ERROR_AFTER:
            return broken(), nothing
        return Answer.of(200, {"ok": True}), nothing


def _answer(asked: Asked, clicked: Address) -> None:
    if asked.flag("delete_original"):
        _delete(asked.world, clicked)
        return
    draft = asking.draft(asked)
    if asked.flag("replace_original"):
        _replace(asked, clicked, draft)
    elif asked.text("response_type") == "in_channel":
        channel = asked.workspace.channels[clicked.channel]
        asked.workspace.post(channel, draft, now=asked.now)
    else:
        stamp = asked.workspace.stamp(asked.now)
        word = Ephemeral(clicked.channel, stamp, clicked.user, draft.text, draft.blocks, draft.thread_ts)
        asked.world.interactivity.ephemerals.append(word)


def _replace(asked: Asked, clicked: Address, draft: Draft) -> None:
    word = _word(asked.world, clicked)
    if word is None:
        channel = asked.workspace.channels[clicked.channel]
        asked.workspace.update(channel, clicked.message_ts, draft, now=asked.now)
    else:
        word.text, word.blocks = draft.text, draft.blocks


def _delete(world: World, clicked: Address) -> None:
    word = _word(world, clicked)
    if word is None:
        _take_away(world.slack.channels[clicked.channel], clicked.message_ts)
    else:
        world.interactivity.ephemerals.remove(word)


def _take_away(channel: Channel, ts: str) -> None:
    if channel.replies(ts):
        # As Slack: what was answered leaves a stone in its place.
        root = channel.messages[ts]
        root.text, root.blocks, root.metadata = "This message was deleted.", [], None
    else:
        channel.messages.pop(ts, None)


def _word(world: World, clicked: Address) -> Ephemeral | None:
    words = world.interactivity.ephemerals
    return next((w for w in words if (w.channel, w.ts) == (clicked.channel, clicked.message_ts)), None)
