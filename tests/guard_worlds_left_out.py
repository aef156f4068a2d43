"""The guard without one of its safeguards at a time, and the scene in which that shows.

    python -m tests.guard_worlds_left_out

prints for each what breaks and the schedule with the fewest deviations; exits with 1 where nothing does.
Each takes the place of a piece of the product for a while; none of them is ever written to disk.
"""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import true

from recon.doors import intents
from recon.guarding import Gate
from recon.model.records.guarded import Answer, Guarded, Outcome, Wanted
from recon.rules import guarding
from tests import guard_worlds_stage
from tests.guard_worlds import Explorer, say
from tests.guard_worlds_provider import Provider
from tests.guard_worlds_scenes import Found, Scene
from tests.guard_worlds_stage import Stage
from tests.guard_worlds_state import SETTINGS

_DAY = 25 * 3600.0
_BOTH, _ALONE = ("1", "1"), ("1",)


@contextmanager
def swapped(owner: object, name: str, value: object) -> Iterator[None]:
    """Put something in the place of an attribute for a while."""
    was = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, was)


@contextmanager
def lease() -> Iterator[None]:
    """Whoever asks may act, whoever else is at it."""
    take = intents.take

    def taken(connection: Any, row: Guarded, holder: str, **when: Any) -> Guarded | None:  # noqa: ANN401  # of take
        return take(connection, row, holder, **{**when, "now": max(row.until, when["now"])})

    with swapped(intents, "take", taken):
        yield


@contextmanager
def fence() -> Iterator[None]:
    """Whoever once held a lease may write."""
    write = intents.write

    def written(connection: Any, row: Guarded, **more: Any) -> None:  # noqa: ANN401  # of write
        now = intents.read(connection, row.account, row.key)
        assert now is not None, f"{row.key} is written down before it is written to"
        write(connection, replace(row, fence=now.fence), **more)

    with swapped(intents, "write", written):
        yield


@contextmanager
def commit_before_sending() -> Iterator[None]:
    """Nothing says that a request was sent before it is answered."""
    write = intents.write

    def written(connection: Any, row: Guarded, **more: Any) -> None:  # noqa: ANN401  # of write
        if more.get("release") is None:
            row = replace(row, first_sent_at=None, sent_at=None, sends=0)
        write(connection, row, **more)

    with swapped(intents, "write", written):
        yield


@contextmanager
def stored_body() -> Iterator[None]:
    """Each call sends what it was asked for."""
    enter = intents.enter

    def entered(connection: Any, wanted: Wanted, holder: str, **when: Any) -> tuple[Guarded, bool]:  # noqa: ANN401  # of enter
        row, mine = enter(connection, wanted, holder, **when)
        return replace(row, body=wanted.body), mine

    with swapped(intents, "enter", entered):
        yield


@contextmanager
def look_before_sending_again() -> Iterator[None]:
    """What is unknown is sent once more."""

    def settled(gate: Any, row: Guarded, call: Any) -> Outcome:  # noqa: ANN401  # of Gate
        outcome: Outcome = gate._send(row, call, gate._begin(row, call))  # noqa: SLF001 -- in its place
        return outcome

    with swapped(Gate, "_settle", settled):
        yield


@contextmanager
def two_lookups() -> Iterator[None]:
    """One look-up that finds nothing is a proof."""
    with swapped(guarding, "PROOF", 1):
        yield


@contextmanager
def a_minute_apart() -> Iterator[None]:
    """Look-ups count however soon they follow."""
    with swapped(guarding, "_counts", lambda *_: True):
        yield


@contextmanager
def twenty_three_hours() -> Iterator[None]:
    """A key protects for ever."""
    for_ever = replace(SETTINGS, resend_within=timedelta(days=999))
    with swapped(guard_worlds_stage, "SETTINGS", for_ever):
        yield


@contextmanager
def one_of_a_payment() -> Iterator[None]:
    """Another intent of the payment under way bars nothing."""
    with swapped(intents, "blocked", lambda *_: None):
        yield


@contextmanager
def switch_just_before_sending() -> Iterator[None]:
    """The kill switch is looked at as a call enters, and not when it has waited since."""
    begin = Gate._begin  # noqa: SLF001 -- in its place

    def begun(gate: Any, row: Guarded, call: Any) -> object:  # noqa: ANN401  # of Gate
        with swapped(intents, "switched_off", lambda *_: False):
            return begin(gate, row, call)

    with swapped(Gate, "_begin", begun):
        yield


@contextmanager
def deadline_before_sending() -> Iterator[None]:
    """Nobody looks at the time before a request leaves."""
    send = Gate._send  # noqa: SLF001 -- in its place

    def sent(gate: Any, row: Guarded, call: Any, begun: Any) -> Outcome:  # noqa: ANN401  # of Gate
        return send(gate, row, replace(call, until=math.inf), begun)

    with swapped(Gate, "_send", sent), swapped(Provider, "is_late", lambda *_: False):
        yield


@contextmanager
def done_stays_done() -> Iterator[None]:
    """A write of the guard's goes over what a run has finished."""
    with swapped(intents, "_unsettled", lambda _: true()):
        became = intents._becoming(("status", "first_sent_at"))  # noqa: SLF001 -- made anew
        something = intents._becoming(("status", "first_sent_at", "refund_id"))  # noqa: SLF001 -- as above
    with swapped(intents, "_BECAME", became), swapped(intents, "_BECAME_SOMETHING", something):
        yield


@contextmanager
def retrieve_what_is_replayed() -> Iterator[None]:
    """What the provider answered long ago is how things stand."""
    conclude = Gate._conclude  # noqa: SLF001 -- in its place

    def concluded(gate: Any, begun: Guarded, answer: Answer, call: Any) -> Outcome:  # noqa: ANN401  # of Gate
        return conclude(gate, begun, replace(answer, replayed=False), call)

    with swapped(Gate, "_conclude", concluded):
        yield


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A safeguard, and where it is missed: within so many deviations and jumps of the clock."""

    leave: Callable[[], Any]
    scene: Scene
    deviations: int = 0
    jumps: int = 0

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.leave.__name__.replace("_", " ")


def _scene(orders: tuple[str, ...], **more: Any) -> Scene:  # noqa: ANN401  # of Scene
    return Scene("left out", orders, **({"sweeps": 0} | more))


# A minute passes, and a sweep finds nothing: the first half of a proof.
_LOOKED = ("sweep: enter", "sweep: read", "sweep: write", "sweep: look whole", "sweep: write")
# Who would send it stands still all that time; or the request is in the air, and nobody waits for it.
_STANDS = ("caller 0: enter", "61 seconds pass", *_LOOKED)
_FLIES = ("caller 0: enter", "caller 0: leave", "61 seconds pass", "caller 0 dies", *_LOOKED)

ALL = (
    LeftOut(lease, _scene(_BOTH)),
    LeftOut(fence, _scene(_BOTH, sweeps=1, clock=(61.0,), story=_STANDS), jumps=1),
    LeftOut(commit_before_sending, _scene(_ALONE)),
    LeftOut(stored_body, _scene(_ALONE), deviations=1),
    LeftOut(look_before_sending_again, _scene(_ALONE), deviations=1),
    LeftOut(two_lookups, _scene(_ALONE), deviations=1),
    LeftOut(a_minute_apart, _scene(_ALONE), deviations=1),
    LeftOut(twenty_three_hours, _scene(_ALONE, clock=(_DAY,)), deviations=1, jumps=1),
    LeftOut(one_of_a_payment, _scene(("1", "2"))),
    LeftOut(switch_just_before_sending, _scene(("1", "2"), only=("switch",)), deviations=1),
    LeftOut(deadline_before_sending, _scene(_BOTH, clock=(46.0,)), jumps=1),
    LeftOut(done_stays_done, _scene(_ALONE, heals=1), deviations=1),
    LeftOut(retrieve_what_is_replayed, _scene(_BOTH, sweeps=1, clock=(61.0,), story=_FLIES), jumps=1),
)


def explore(safeguard: LeftOut, *, without: bool = True) -> Found:
    """Return what an exploration of the safeguard's scene comes to, without it or with it."""
    scene = safeguard.scene
    with ExitStack() as stack:
        stage = stack.enter_context(Stage(scene.orders, scene.minor))
        if without:
            stack.enter_context(safeguard.leave())
        explorer = Explorer(stage, scene, deviations=safeguard.deviations, jumps=safeguard.jumps)
        return explorer.explore()


def main() -> int:
    """Leave out one after the other, print what breaks, and return the exit code."""
    wrong = False
    for each in ALL:
        found = explore(each)
        wrong = wrong or not found.broken
        say(f"{each.name}: {found.broken or 'nothing shows'} ({found.states} states, {found.seconds} s)")
        say("  " + ", ".join(found.schedule))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
