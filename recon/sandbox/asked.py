"""One call of a Slack method with its arguments, and the message that they describe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recon.sandbox import blocks, forms
from recon.sandbox.slack import Draft, SlackError, Workspace
from recon.sandbox.wire import Call
from recon.sandbox.world import World

TEXT_LIMIT = 40_000
METADATA_LIMIT_BYTES = 8_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One method call with its arguments."""

    world: World
    arguments: Mapping[str, Any]
    now: float
    hidden_s: float = 0.0  # What is younger is in no history yet.

    @property
    def workspace(self) -> Workspace:
        """The workspace it is asked of."""
        return self.world.slack

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


def arguments(call: Call) -> dict[str, Any]:
    """The arguments of a call, from its query and its body, form or JSON."""
    found: dict[str, Any] = dict(forms.pairs(call.query))
    if "json" in call.headers.get("content-type", ""):
        try:
            sent = json.loads(call.text() or "{}")
        except ValueError:
            sent = {}
        return found | (sent if isinstance(sent, dict) else {})
    return found | dict(forms.pairs(call.text()))


def draft(asked: Asked) -> Draft:
    """The message that is to be posted, or to stand in another's place.

    Raises:
        SlackError: it is too much, nothing, or not as Slack takes it.
    """
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
        broadcast=asked.flag("reply_broadcast"),
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


def channel(asked: Asked) -> str:
    """The channel that was asked for.

    Raises:
        SlackError: none was.
    """
    found = asked.text("channel")
    if not found:
        raise SlackError("channel_not_found")
    return found
