"""What people can do to an app's messages, and what the app may do about it: triggers, addresses, dialogs.

A state machine in memory that knows nothing of HTTP or sockets.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Any, Protocol

from recon.sandbox import slack, views
from recon.sandbox.slack import SlackError
from recon.sandbox.views import View

# How long a click may open a dialog: https://docs.slack.dev/interactivity/handling-user-interaction.
TRIGGER_S = 3.0
# How long and how often an app may answer at the address that came with a click (same source).
ADDRESS_S = 1800.0
ADDRESS_USES = 5
# How long an app may take to say that it heard, and how often it is told before it is given up.
HEARD_WITHIN_S = 3.0
ATTEMPTS = 3
# Dialogs on top of each other: https://docs.slack.dev/surfaces/modals.
STACK_LIMIT = 3


@dataclass(slots=True)
class Trigger:
    """The right to open one dialog for one person."""

    user: str
    at: float
    spent: bool = False


@dataclass(slots=True)
class Address:
    """Where an app may answer one click; thread_ts: the thread in which the person clicked."""

    channel: str
    message_ts: str
    thread_ts: str | None
    user: str
    at: float
    uses: int = 0


@dataclass(slots=True)
class Ephemeral:
    """What one person was told privately; it is in no history."""

    channel: str
    ts: str
    user: str
    text: str
    blocks: list[dict[str, Any]]
    thread_ts: str | None = None


@dataclass(slots=True)
class Envelope:
    """One thing that a person did, on its way to the app.

    tries: how it was carried, in order. lost: the app never said that it heard, and Slack has given up.
    answer: what the app said with its acknowledgement. sent: the body and headers, where it went by HTTP.
    heard: set once the app acknowledged it or it was given up.
    """

    id: str
    payload: dict[str, Any]
    accepts_answer: bool
    tries: list[dict[str, Any]] = field(default_factory=list)
    acknowledged: bool = False
    lost: bool = False
    answer: dict[str, Any] | None = None
    sent: tuple[bytes, dict[str, str]] | None = None
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def shown(self) -> dict[str, Any]:
        """The envelope as control shows it."""
        return {
            "id": self.id,
            "payload": self.payload,
            "tries": self.tries,
            "acknowledged": self.acknowledged,
            "lost": self.lost,
            "answer": self.answer,
        }


class Socket(Protocol):
    """One open connection of the app."""

    id: str
    carried: int

    async def say(self, content: dict[str, Any]) -> bool:
        """Send one message; False where the connection is gone."""

    def leave(self) -> None:
        """Close the connection, from any thread."""


class Interactivity:
    """Every trigger, address, dialog, private word and envelope of one workspace."""

    def __init__(self) -> None:
        self.heard_within_s = HEARD_WITHIN_S
        self.attempts = ATTEMPTS
        self.url: str | None = None
        self.signing_secret = ""
        self.tickets: set[str] = set()
        self.sockets: list[Socket] = []
        self.triggers: dict[str, Trigger] = {}
        self.addresses: dict[str, Address] = {}
        self.ephemerals: list[Ephemeral] = []
        self.views: dict[str, View] = {}
        self.envelopes: dict[str, Envelope] = {}

    def trigger(self, user: str, *, now: float) -> str:
        """A new trigger for something that a person just did."""
        found = f"{int(now * 1000)}.{secrets.randbelow(10**12):012d}.{secrets.token_hex(16)}"
        self.triggers[found] = Trigger(user, now)
        return found

    def ticket(self) -> str:
        """What lets one connection in."""
        found = secrets.token_hex(16)
        self.tickets.add(found)
        return found

    def open_view(self, trigger_id: str, content: dict[str, Any], *, now: float, push: bool = False) -> View:
        """Show a person a dialog; push: on top of the one that is open.

        Raises:
            SlackError: the trigger is unknown, too old or spent, or there is no room. Nothing was shown.
        """
        trigger = self.triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.spent:
            raise SlackError("exchanged_trigger_id")
        if not 0 <= now - trigger.at <= TRIGGER_S:
            raise SlackError("expired_trigger_id")
        self._check_external(content)
        under = self.top(trigger.user) if push else None
        if push and under is None:
            raise SlackError("not_found")
        if push and self._depth(trigger.user) >= STACK_LIMIT:
            raise SlackError("push_limit_reached")
        trigger.spent = True
        if not push:
            self.close_views(trigger.user)
        view = views.opened(trigger.user, content, under=under, now=now)
        self.views[view.id] = view
        return view

    def update_view(self, found: str, content: dict[str, Any], *, expected: str, now: float) -> View:
        """Let another content stand in an open dialog, named by its id or its external id.

        Raises:
            SlackError: it is not open, or not as expected any more. Nothing changed.
        """
        view = self.views.get(found) or self._external(found)
        if view is None:
            raise SlackError("not_found")
        if expected and expected != view.hash:
            raise SlackError("hash_conflict")
        view.replace(content, now=now)
        return view

    def push_view(self, under: View, content: dict[str, Any], *, now: float) -> View:
        """Show a dialog on top of another one."""
        view = views.opened(under.user, content, under=under, now=now)
        self.views[view.id] = view
        return view

    def close_view(self, view: View) -> None:
        """Take away one dialog, and what lies on top of it."""
        for other in [v for v in self.views.values() if v.previous == view.id]:
            self.close_view(other)
        self.views.pop(view.id, None)

    def close_views(self, user: str) -> None:
        """Take away every dialog of a person."""
        self.views = {k: v for k, v in self.views.items() if v.user != user}

    def top(self, user: str) -> View | None:
        """The dialog that a person sees; None where there is none."""
        mine = [view for view in self.views.values() if view.user == user]
        under = {view.previous for view in mine}
        return next((view for view in reversed(mine) if view.id not in under), None)

    def address(self, channel: str, message_ts: str, thread_ts: str | None, user: str, *, now: float) -> str:
        """The path at which an app may answer a click."""
        secret = f"{secrets.randbelow(10**13):013d}/{secrets.token_urlsafe(18)}"
        path = f"/slack-actions/{slack.TEAM}/{secret}"
        self.addresses[path] = Address(channel, message_ts, thread_ts, user, now)
        return path

    def use_address(self, path: str, *, now: float) -> Address:
        """The click that an app answers, one use less.

        Raises:
            SlackError: the address is unknown, too old or used up.
        """
        found = self.addresses.get(path)
        if found is None or not 0 <= now - found.at <= ADDRESS_S:
            raise SlackError("expired_url")
        if found.uses >= ADDRESS_USES:
            raise SlackError("used_url")
        found.uses += 1
        return found

    def leave(self) -> None:
        """Close every connection, from any thread."""
        for socket in list(self.sockets):
            socket.leave()

    def _check_external(self, content: dict[str, Any]) -> None:
        if content.get("external_id") and self._external(content["external_id"]) is not None:
            raise SlackError("duplicate_external_id")

    def _external(self, found: str) -> View | None:
        return next((v for v in self.views.values() if found and v.content.get("external_id") == found), None)

    def _depth(self, user: str) -> int:
        return sum(1 for view in self.views.values() if view.user == user)
