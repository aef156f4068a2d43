"""Who looks at the /slack page, at what, and how: what every drawing needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from recon.sandbox.interactivity import Ephemeral
from recon.sandbox.slack import Channel, Message, Workspace
from recon.sandbox.world import World


@dataclass(frozen=True, slots=True)
class Viewing:
    """One look at the page. channel: None where there is none. person: who looks; None for nobody we know.

    spoken: only what a screen reader reads. still: nothing can be clicked, as in a former version. versions:
    the ts of the message whose former versions are shown; "" for none.
    """

    world: World
    channel: Channel | None
    person: dict[str, Any] | None
    spoken: bool = False
    still: bool = False
    versions: str = ""

    @property
    def workspace(self) -> Workspace:
        """The workspace that is looked at."""
        return self.world.slack

    def address(
        self, channel: str | None = None, *, spoken: bool | None = None, versions: str | None = None
    ) -> str:
        """The address of a channel as this person sees it; of the present one where none is named."""
        here = "" if self.channel is None else self.channel.id
        path = f"/slack/{quote(channel or here)}".rstrip("/")
        query = {} if self.person is None else {"as": self.person["id"]}
        if self.spoken if spoken is None else spoken:
            query["view"] = "text"
        shown = self.versions if versions is None else versions
        if shown and channel is None:
            query["versions"] = shown
        return f"{path}?{urlencode(query)}" if query else path

    def words(self) -> list[Ephemeral]:
        """The private words of this channel that this person sees; everybody's where nobody looks."""
        found = self.world.interactivity.ephemerals
        here = [word for word in found if self.channel is not None and word.channel == self.channel.id]
        return here if self.person is None else [word for word in here if word.user == self.person["id"]]

    def hidden(self, **fields: str) -> str:
        """Fields of a form that nobody sees, with who acts and where to come back to."""
        about = {
            "as": "" if self.person is None else str(self.person["id"]),
            "back": self.address(),
            **fields,
        }
        return "".join(f'<input type="hidden" name="{k}" value="{escape(v)}">' for k, v in about.items())


def replies(viewing: Viewing) -> dict[str, list[Message | Ephemeral]]:
    """What stands in each thread of the channel, by root, in the order of time."""
    found: dict[str, list[Message | Ephemeral]] = {}
    channel = viewing.channel
    items: list[Message | Ephemeral] = [] if channel is None else [*channel.messages.values()]
    for item in sorted([*items, *viewing.words()], key=lambda item: float(item.ts)):
        if item.thread_ts is not None:
            found.setdefault(item.thread_ts, []).append(item)
    return found


def timeline(viewing: Viewing) -> list[Message | Ephemeral]:
    """What the channel itself shows, in the order of time."""
    items: list[Message | Ephemeral] = [] if viewing.channel is None else [*viewing.channel.timeline()]
    words = [word for word in viewing.words() if word.thread_ts is None]
    return sorted([*items, *words], key=lambda item: float(item.ts))
