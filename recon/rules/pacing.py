"""How often Slack may be asked for what: a channel, the workspace and edits each rest after use.

Every time is an argument. Never waits by itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

PACE = timedelta(seconds=1)  # Slack takes one message a second and channel: asking for more only costs time.
# Slack takes "50+ per minute" of chat.update, from one app in one workspace. Source:
# https://docs.slack.dev/apis/web-api/rate-limits, tier 3, and the page of chat.update.
EDIT_PACE = timedelta(seconds=1.2)
# What can rest beside the channels; no channel is called so.
WORKSPACE, EDITS = "*workspace", "*edits"


@dataclass(slots=True)
class Pace:
    """When what may be used again.

    free_at: by channel, or by what else has a limit. ids: what Slack calls a channel, by its other names.
    """

    free_at: dict[str, datetime] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def use(self, place: str, until: datetime) -> None:
        """Let a place rest until then."""
        self.free_at[self.ids.get(place, place)] = until

    def name(self, place: str, channel: str) -> None:
        """Keep what Slack calls a place."""
        rests = [
            self.free_at[each] for each in {place, channel, self.ids.get(place, place)} & set(self.free_at)
        ]
        if place != channel:
            self.ids[place] = channel
        if rests:
            self.free_at[channel] = max(rests)

    def rest(self, places: Iterable[str], now: datetime) -> timedelta:
        """Return how long until all of these may be used; zero is at once."""
        return max(
            max(self.free_at.get(self.ids.get(each, each), now) for each in places) - now, timedelta(0)
        )

    def resting(self, now: datetime) -> frozenset[str]:
        """Return what rests, the workspace as a whole aside, by every name it has."""
        return frozenset(
            name for name in {*self.ids, *self.free_at} if self.rest([name], now) and name != WORKSPACE
        )

    def names(self, place: str) -> frozenset[str]:
        """Return every name that a place has."""
        channel = self.ids.get(place, place)
        return frozenset({place, channel} | {name for name, found in self.ids.items() if found == channel})

    def wake(self, now: datetime) -> timedelta:
        """Return how long until the first that rests may be used, which counts as free from now on.

        Only where something rests.
        """
        until = min(self.free_at[self.ids.get(each, each)] for each in self.resting(now))
        self.free_at = {name: at for name, at in self.free_at.items() if at > until}
        return until - now
