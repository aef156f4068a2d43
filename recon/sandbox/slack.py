"""A Slack workspace: channels, messages with their threads and edits, people and groups.

A state machine in memory that knows nothing of HTTP. Channels exist from their first use, so that nothing
need be set up; people do too, except in the domain `invalid`, where nobody ever is.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

TEAM = "T0SANDBOX"
BOT_USER = "U0RECONBOT"
BOT = "B0RECONBOT"
APP = "A0RECON"
BOT_NAME = "recon"

# One message a second and channel: https://docs.slack.dev/apis/web-api/rate-limits.
CHANNEL_PAUSE_S = 1.0
# "Several hundred a minute" for a workspace (same source): a number only where somebody sets one.
_MINUTE_S = 60.0
_POSTS_KEPT = 10_000

# What the bot's token may do until somebody says otherwise. chat:write.public, because here a channel comes
# to be on its first use, and nobody was invited to it.
SCOPES = (
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.public",
    "groups:history",
    "groups:read",
    "im:history",
    "usergroups:read",
    "users:read",
    "users:read.email",
)

_ID = re.compile(r"[CGDUW][A-Z0-9]+")
_NAME = re.compile(r"[^\s#@,]{1,80}")


class SlackError(Exception):
    """A refusal in Slack's words: its `error` code, and the messages that explain it."""

    def __init__(
        self, code: str, *, messages: tuple[str, ...] = (), retry_after_s: int | None = None, needed: str = ""
    ) -> None:
        super().__init__(code)
        self.code = code
        self.messages = messages
        self.retry_after_s = retry_after_s
        self.needed = needed


@dataclass(slots=True)
class Message:
    """One message as it stands; `edits` are its former versions, oldest first."""

    channel: str
    ts: str
    text: str
    blocks: list[dict[str, Any]]
    metadata: dict[str, Any] | None
    thread_ts: str | None
    username: str | None = None
    icon: str | None = None
    broadcast: bool = False  # A reply that the channel sees as well.
    edited_ts: str | None = None
    edits: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Channel:
    """One channel, or the direct messages with one person."""

    id: str
    name: str
    member: bool = True
    archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    posted_at: float | None = None

    def roots(self) -> list[Message]:
        """The messages that are no replies, oldest first."""
        return [m for m in self.messages.values() if m.thread_ts is None]

    def timeline(self) -> list[Message]:
        """What the channel itself shows, oldest first: roots, and the replies that were sent there too."""
        return [m for m in self.messages.values() if m.thread_ts is None or m.broadcast]

    def replies(self, root: str) -> list[Message]:
        """The replies in one thread, oldest first."""
        return [m for m in self.messages.values() if m.thread_ts == root]


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that is to be posted, or to stand in another's place."""

    text: str
    blocks: list[dict[str, Any]]
    metadata: dict[str, Any] | None = None
    thread_ts: str | None = None
    username: str | None = None
    icon: str | None = None
    broadcast: bool = False


class Workspace:
    """Everything in one workspace."""

    def __init__(self) -> None:
        self.rate_limited = True
        # How many messages a minute the whole workspace takes; None for as many as come.
        self.per_minute: int | None = None
        self._posted: deque[float] = deque(maxlen=_POSTS_KEPT)
        # Slack takes a channel's name for posting only; we forgive one elsewhere, unless told not to.
        self.names_anywhere = True
        # Whether an unknown channel comes to be on its first use.
        self.open = True
        self.scopes: tuple[str, ...] = SCOPES
        self.channels: dict[str, Channel] = {}
        self.users: dict[str, dict[str, Any]] = {}
        self.usergroups: list[dict[str, Any]] = []
        # Who was taken away: their addresses and ids, which do not come to be again by being asked for.
        self.gone: set[str] = set()
        self._last_ts = 0

    def declare(
        self, name: str, *, found: str | None = None, member: bool = True, archived: bool = False
    ) -> Channel:
        """A channel as somebody set it up, in place of one of that name."""
        known = self.find(found or name)
        channel = known or Channel(found or channel_id(name), name)
        channel.member, channel.archived, channel.name = member, archived, name
        self.channels[channel.id] = channel
        return channel

    def find(self, asked: str) -> Channel | None:
        """The known channel of that id or name, or None."""
        bare = asked.removeprefix("#")
        return self.channels.get(asked) or next((c for c in self.channels.values() if c.name == bare), None)

    def channel(self, asked: str, *, posting: bool = False) -> Channel:
        """The channel of that id or name.

        Raises:
            SlackError: there is none, or not for us. Nothing changed.
        """
        by_id = _ID.fullmatch(asked) is not None
        if not by_id and not posting and not self.names_anywhere:
            raise SlackError("channel_not_found")
        channel = self.find(asked)
        if channel is None and self._may_come_to_be(asked, by_id=by_id):
            channel = self._create(asked, by_id=by_id)
        if channel is None:
            raise SlackError("channel_not_found")
        if not channel.member:
            raise SlackError("not_in_channel")
        return channel

    def post(self, channel: Channel, draft: Draft, *, now: float) -> Message:
        """Post a message.

        Raises:
            SlackError: archived, too soon after the last, or a thread that is not there. Nothing was posted.
        """
        if channel.archived:
            raise SlackError("is_archived")
        if draft.thread_ts is not None and draft.thread_ts not in channel.messages:
            raise SlackError("thread_not_found")
        self._check_pace(channel, now)
        channel.posted_at = now
        self._posted.append(now)
        thread = None
        if draft.thread_ts is not None:
            thread = channel.messages[draft.thread_ts].thread_ts or draft.thread_ts
        message = Message(
            channel=channel.id,
            ts=self.stamp(now),
            text=draft.text,
            blocks=draft.blocks,
            metadata=draft.metadata,
            thread_ts=thread,
            username=draft.username,
            icon=draft.icon,
            broadcast=draft.broadcast and thread is not None,
        )
        channel.messages[message.ts] = message
        return message

    def _check_pace(self, channel: Channel, now: float) -> None:
        waited = CHANNEL_PAUSE_S if channel.posted_at is None else now - channel.posted_at
        if self.rate_limited and 0 <= waited < CHANNEL_PAUSE_S:
            raise SlackError("ratelimited", retry_after_s=1)
        if self.per_minute is None:
            return
        lately = [at for at in self._posted if 0 <= now - at < _MINUTE_S]
        if len(lately) >= self.per_minute:
            free_at = lately[-self.per_minute] + _MINUTE_S
            raise SlackError("ratelimited", retry_after_s=max(int(free_at - now + 0.999), 1))

    def update(self, channel: Channel, ts: str, draft: Draft, *, now: float) -> Message:
        """Put a draft in the place of a message; blocks that it lacks are gone, metadata that it lacks stays.

        Raises:
            SlackError: there is no such message. Nothing changed.
        """
        message = channel.messages.get(ts)
        if message is None:
            raise SlackError("message_not_found")
        message.edits.append(
            {
                "ts": message.edited_ts or message.ts,
                "text": message.text,
                "blocks": message.blocks,
                "metadata": message.metadata,
            }
        )
        message.text, message.blocks = draft.text, draft.blocks
        if draft.metadata is not None:
            message.metadata = draft.metadata or None
        message.broadcast = message.broadcast or (draft.broadcast and message.thread_ts is not None)
        message.edited_ts = self.stamp(now)
        return message

    def user_by_email(self, email: str) -> dict[str, Any]:
        """The person with that address.

        Raises:
            SlackError: nobody has it.
        """
        known = self.users.get(email.lower())
        if known is not None and not known["deleted"]:
            return known
        local, at, domain = email.partition("@")
        nobody = not at or not local or not domain or domain.lower().endswith("invalid")
        if nobody or known is not None or email.lower() in self.gone or not self.open:
            raise SlackError("users_not_found")
        return self.add_user(email)

    def user(self, found: str) -> dict[str, Any]:
        """The person with that id.

        Raises:
            SlackError: nobody has it.
        """
        known = next((user for user in self.users.values() if user["id"] == found), None)
        if known is None:
            raise SlackError("user_not_found")
        return known

    def people(self) -> list[dict[str, Any]]:
        """Everybody who is still there, by name."""
        found = [user for user in self.users.values() if not user["deleted"]]
        return sorted(found, key=lambda user: (user["real_name"], user["id"]))

    def may_see(self, found: str) -> bool:
        """Whether there is anybody of that id, as far as this workspace is to know."""
        known = any(user["id"] == found and not user["deleted"] for user in self.users.values())
        if known or found in self.gone or any(user["id"] == found for user in self.users.values()):
            return known
        return self.open and _ID.fullmatch(found) is not None and found[0] in "UW"

    def person(self, asked: str) -> dict[str, Any]:
        """The person of that id or address, who comes to be on the first use as everything here.

        Raises:
            SlackError: there is nobody.
        """
        if "@" in asked:
            return self.user_by_email(asked)
        if any(user["id"] == asked for user in self.users.values()) or not self.may_see(asked):
            return self.user(asked)
        return self.add_user(f"{asked.lower()}@example.com", found=asked, name=asked)

    def add_user(
        self, email: str, *, found: str | None = None, name: str | None = None, deleted: bool = False
    ) -> dict[str, Any]:
        """A person with an address; the name is made from it where none is given. deleted: has left."""
        handle = email.partition("@")[0].lower()
        shown = name or handle.replace(".", " ").title()
        user = {
            "id": found or _id("U", email.lower()),
            "team_id": TEAM,
            "name": handle,
            "real_name": shown,
            "deleted": deleted,
            "is_bot": False,
            "profile": {"email": email, "real_name": shown, "display_name": shown},
        }
        self.users[email.lower()] = user
        return user

    def remove_user(self, email: str) -> None:
        """Take a person away, for whoever asks by address or id."""
        user = self.users.pop(email.lower(), None)
        self.gone |= {email.lower()} | ({str(user["id"])} if user is not None else set())

    def add_group(self, group: dict[str, Any]) -> None:
        """A group of people, in place of one of that id."""
        self.remove_group(str(group["id"]))
        self.usergroups.append(group)

    def remove_group(self, found: str) -> None:
        """Take a group away."""
        self.usergroups = [group for group in self.usergroups if group["id"] != found]

    def remove_channel(self, asked: str) -> None:
        """Take a channel away with all that was said in it."""
        channel = self.find(asked)
        if channel is not None:
            del self.channels[channel.id]

    def name_of(self, found: str) -> str:
        """How people see a user or group id: its name, or the id where nobody told."""
        for user in self.users.values():
            if user["id"] == found:
                return str(user["real_name"])
        for group in self.usergroups:
            if group["id"] == found:
                return str(group["handle"])
        return found

    def messages(self) -> list[Message]:
        """Every message of every channel, in the order of time."""
        found = [m for c in self.channels.values() for m in c.messages.values()]
        return sorted(found, key=lambda m: float(m.ts))

    def stamp(self, now: float) -> str:
        """A ts that nothing else has."""
        self._last_ts = max(int(now * 1_000_000), self._last_ts + 1)
        seconds, micros = divmod(self._last_ts, 1_000_000)
        return f"{seconds}.{micros:06d}"

    def _may_come_to_be(self, asked: str, *, by_id: bool) -> bool:
        if by_id and asked[0] in "UW":
            return self.may_see(asked)
        return self.open and (by_id or _NAME.fullmatch(asked.removeprefix("#")) is not None)

    def _create(self, asked: str, *, by_id: bool) -> Channel:
        if not by_id:
            bare = asked.removeprefix("#")
            channel = Channel(channel_id(bare), bare)
        elif asked[0] in "UW":
            channel = Channel(_id("D", asked), asked)
        else:
            channel = Channel(asked, asked.lower())
        self.channels[channel.id] = channel
        return channel


def channel_id(name: str) -> str:
    """The id of a channel that came to be by its name."""
    return _id("C", name)


def _id(prefix: str, text: str) -> str:
    return f"{prefix}0{hashlib.sha256(text.encode()).hexdigest()[:9].upper()}"
