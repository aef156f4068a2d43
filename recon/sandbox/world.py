"""Everything the sandbox knows at one time; a reset puts a new world in the old one's place."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from recon.sandbox.clock import Clock, iso
from recon.sandbox.faults import Fault, Faults
from recon.sandbox.idempotency import Keys
from recon.sandbox.interactivity import Interactivity
from recon.sandbox.provider import Provider
from recon.sandbox.slack import Workspace
from recon.sandbox.wire import Answer, Call, content

# A list page of full size is not kept in the log of requests: a hundred thousand refunds would be kept twice.
_SHOWN_BYTES = 16_000
# A drill left running over a weekend, asked three times a second, ends here.
_REQUESTS_KEPT = 500_000


@dataclass(slots=True)
class Seen:
    """One request as the log shows it; `answer` is None while nothing was answered."""

    call: Call
    at: float
    key: str | None
    account: str
    form: dict[str, Any]
    body: str
    fault: Fault | None
    answer: dict[str, Any] | None = None

    def answered(self, answer: Answer) -> None:
        """Note the true answer, whether or not it will reach the client."""
        small = len(answer.body) <= _SHOWN_BYTES
        self.answer = {
            "status": answer.status,
            "replayed": answer.replayed,
            "bytes": len(answer.body),
            "body": content(answer.body) if small else None,
        }

    def shown(self) -> dict[str, Any]:
        """The request as control shows it."""
        return {
            "id": self.call.id,
            "at": iso(self.at),
            "method": self.call.method,
            "path": self.call.path,
            "query": self.call.query,
            "key": self.key,
            "account": self.account,
            "form": self.form,
            "body": self.body,
            "answer": self.answer,
            "fault": None if self.fault is None else self.fault.kind.value,
        }


@dataclass(slots=True)
class World:
    """The provider, Slack, the faults, the keys, the clock, and what was asked so far."""

    clock: Clock = field(default_factory=Clock)
    provider: Provider = field(default_factory=Provider)
    keys: Keys = field(default_factory=Keys)
    faults: Faults = field(default_factory=Faults)
    slack: Workspace = field(default_factory=Workspace)
    interactivity: Interactivity = field(default_factory=Interactivity)
    url: str = ""  # Where the street is found, for the addresses that Slack gives out.
    requests: deque[Seen] = field(default_factory=lambda: deque(maxlen=_REQUESTS_KEPT))
    # The page that each (account, cursor) leads to, so that a fault can break a list off on its third page.
    pages: dict[tuple[str, str], int] = field(default_factory=dict)

    def now(self) -> float:
        """Sandbox time, with everything that was due by then done."""
        now = self.clock.now()
        self.provider.settle(now)
        return now


@dataclass(slots=True)
class Room:
    """Where the present world is found."""

    url: str = ""
    world: World = field(init=False)

    def __post_init__(self) -> None:
        self.world = World(url=self.url)

    def reset(self) -> None:
        """Begin anew, empty and at the real time; open connections are closed."""
        before = self.world
        self.world = World(url=self.url)
        before.interactivity.leave()
