"""The sandbox as a month needs it: time stands still unless it is moved, and chance is the seed's.

Only what the product asks goes over HTTP. What the world does is done in the server's own memory, between
requests: a month has thousands of such things.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random

from recon.sandbox import provider
from recon.sandbox.clock import Clock
from recon.sandbox.faults import Fault, Faults, Kind
from recon.sandbox.server import Sandbox
from recon.sandbox.slack import Message
from recon.sandbox.world import World

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
ALWAYS = 1_000_000  # Requests that meet a fault: more than there are before the weather changes.


class Still(Clock):
    """A clock that stands where it was put."""

    def __init__(self, moment: datetime) -> None:
        super().__init__()
        self._seconds = moment.timestamp()

    def now(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds

    def set(self, moment: datetime) -> None:
        self._seconds = moment.timestamp()


class Street:
    """A running sandbox, and one month's world in it."""

    def __init__(self, running: Sandbox) -> None:
        self.url = running.url
        self.slack_url = f"{running.url}/api/"
        self._running = running
        self._heard: dict[str, int] = {}

    @property
    def world(self) -> World:
        """Return the present world, to act in while no request is under way."""
        return self._running.state

    def begin(self, moment: datetime) -> None:
        """Begin anew at this moment."""
        self._running.reset()
        self.world.clock = Still(moment)
        self._heard = {}

    @property
    def now(self) -> datetime:
        """Return the provider's and Slack's time."""
        return datetime.fromtimestamp(self.world.clock.now(), UTC)

    def go_to(self, moment: datetime) -> None:
        """Make it this moment; time never goes back."""
        self.world.clock.set(max(moment, self.now))
        self.world.now()

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass."""
        self.world.clock.advance(seconds)

    def blow(self, on: str, kind: Kind, *, times: int = ALWAYS, after_s: float = 0.0, page: int = 2) -> None:
        """Let requests to a place meet a fault."""
        self.world.faults.arm(Fault(on, kind, times, after_s, page=page))

    def calm(self) -> None:
        """Take every fault away."""
        self.world.faults = Faults()

    def heard(self) -> list[Message]:
        """Return the messages that were posted since they were last asked for; edits are no messages."""
        fresh: list[Message] = []
        for channel in self.world.slack.channels.values():
            messages = list(channel.messages.values())
            fresh += messages[self._heard.get(channel.id, 0) :]
            self._heard[channel.id] = len(messages)
        return fresh

    def forget_requests(self) -> None:
        """Let go of the log of requests, which nobody reads here."""
        self.world.requests.clear()


@contextmanager
def seeded_ids(chance: Random) -> Iterator[None]:
    """Let the provider's ids come from a seed, so that a month can be lived again."""
    real = provider.new_id

    def new_id(prefix: str) -> str:
        return f"{prefix}_" + "".join(chance.choices(LETTERS, k=12))

    provider.new_id = new_id
    try:
        yield
    finally:
        provider.new_id = real
