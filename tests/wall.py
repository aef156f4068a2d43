"""A Slack that is a list: it can be away, lose what it took, be archived, or see its caller die."""

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from recon.doors.slack.posts import Slack
from recon.model.records.deliveries import Absent, Delivered, Finding, NotSent, Unknown, Unreadable
from recon.model.records.notices import Message
from recon.model.settings import Secret, SlackSettings


class Death(BaseException):
    """A sender is killed here."""


@dataclass
class Post:
    """One message as it stands. number: its place among all that were ever posted."""

    number: int
    delivery_id: str
    channel: str
    ts: str
    thread_ts: str | None
    message: Message
    broadcast: bool


class Wall(Slack):
    """A Slack that is a list; the next calls meet its weather, one each."""

    def __init__(self) -> None:
        super().__init__(SlackSettings(bot_token=Secret("xoxb-wall")))
        self.posts: dict[tuple[str, str], Post] = {}
        self.said: list[Post] = []  # Deleted ones too.
        self.weather: list[str] = []
        self.archived: set[str] = set()
        self.numbers = count(1)

    def post(
        self,
        message: Message,
        *,
        delivery_id: str,
        channel: str,
        thread_ts: str | None = None,
        broadcast: bool = False,
    ) -> Delivered | NotSent | Unknown:
        place = _place(channel)
        kept = self._kept()
        if kept is not None:
            return kept
        if place in self.archived:
            return NotSent("is_archived", permanent=True, astray=True)
        if thread_ts is not None and (place, thread_ts) not in self.posts:
            return NotSent("thread_not_found", gone=True)
        number = next(self.numbers)
        made = Post(number, delivery_id, place, f"{number}.0", thread_ts, message, broadcast)
        self.posts[place, made.ts] = made
        self.said.append(made)
        return self._lost() or Delivered(place, made.ts)

    def edit(
        self, message: Message, *, delivery_id: str, channel: str, ts: str
    ) -> Delivered | NotSent | Unknown:
        kept = self._kept()
        if kept is not None:
            return replace(kept, repeatable=True) if isinstance(kept, Unknown) else kept
        if _place(channel) in self.archived:
            return NotSent("is_archived", permanent=True, astray=True)
        known = self.posts.get((_place(channel), ts))
        if known is None:
            return NotSent("message_not_found", gone=True)
        known.message = message
        lost = self._lost()
        return replace(lost, repeatable=True) if lost else Delivered(_place(channel), ts)

    def find(self, delivery_id: str, *, channel: str, thread_ts: str | None, oldest: datetime) -> Finding:
        if self.weather and self.weather[0] in {"away", "drop"}:
            self.weather.pop(0)
            return Unreadable("away", silent=True)
        place = _place(channel)
        found = [
            each
            for each in self.posts.values()
            if each.delivery_id == delivery_id and each.channel == place and each.thread_ts == thread_ts
        ]
        return Delivered(found[0].channel, found[0].ts) if found else Absent()

    def person(self, email: str) -> str | Unreadable | None:
        return None if email.endswith("invalid") else f"U{email.partition('@')[0].upper()}"

    def forget(self, place: int) -> None:
        """Let a person delete a message that is no reply, with its thread."""
        roots = [key for key, each in self.posts.items() if each.thread_ts is None]
        if place < len(roots):
            channel, ts = roots[place]
            gone = [key for key, each in self.posts.items() if key[0] == channel and each.thread_ts == ts]
            for key in [roots[place], *gone]:
                del self.posts[key]

    def roots(self, channel: str) -> list[Post]:
        """Return the messages of a channel that are no replies and that nobody deleted, oldest first."""
        return [each for each in self.posts.values() if each.channel == channel and each.thread_ts is None]

    def _kept(self) -> NotSent | Unknown | None:
        """Return what comes in the place of an effect, if something does."""
        if not self.weather or self.weather[0] in {"lose", "die"}:
            return None
        weather = self.weather.pop(0)
        if weather == "away":
            return NotSent("no way there", counted=False)
        if weather == "limit":
            return NotSent("rate_limited", retry_after_seconds=30, counted=False)
        if weather == "drop":
            return Unknown("dropped")
        if weather == "killed":
            raise Death
        return None

    def _lost(self) -> Unknown | None:
        """Return what comes after an effect, if something does."""
        if not self.weather:
            return None
        if self.weather.pop(0) == "die":
            raise Death
        return Unknown("lost")


def _place(channel: str) -> str:
    if channel.startswith("#"):
        return f"C{channel[1:].upper()}"
    return f"D{channel[1:]}" if channel.startswith("U") else channel
