"""Who acts in a small world of the guard, and what an exploration of it comes to."""

from dataclasses import dataclass

JUMPS = (21.0, 46.0, 61.0, 25 * 3600.0)  # A deadline, a lease, a proof, a key.


@dataclass(frozen=True, slots=True)
class Scene:
    """Who acts: an order for each caller, and what runs beside them.

    minor: of each refund; the payment holds 100.00. clock: how far it may jump. only: the deviations that
    there are, by a word of theirs; empty is all. story: what has happened already, in a schedule's words.
    """

    name: str
    orders: tuple[str, ...]
    minor: int = 6000
    sweeps: int = 1
    heals: int = 0
    clock: tuple[float, ...] = JUMPS
    only: tuple[str, ...] = ()
    story: tuple[str, ...] = ()


SCENES = {
    each.name: each
    for each in (
        Scene("one", ("1", "1")),
        Scene("too much", ("1", "2")),
        Scene("both fit", ("1", "2"), minor=4000),
        Scene("one and a run", ("1",), heals=1),
        Scene("one, later", ("1",)),
        Scene("two and a run", ("1", "1"), sweeps=0, heals=1),
        Scene("three", ("1", "1", "1"), sweeps=0),
    )
}


@dataclass(slots=True)
class Found:
    """What an exploration came to.

    steps: from state to state; played: those that the product took, each once. ends: of all schedules, as
    states. broken: what must not be; schedule: what leads there. seconds: of the processor.
    """

    states: int = 0
    steps: int = 0
    played: int = 0
    ends: int = 0
    schedules: int = 0
    broken: str = ""
    schedule: tuple[str, ...] = ()
    seconds: float = 0.0
