"""Every order of a few calls, a sweep, the clock, deaths and faults: a small world of the guard, by steps.

Callers run in threads, one at a time; between two steps a list of choices says who goes on and what the
world does. Choice 0 is the calm one, so that all schedules with few deviations can be listed. The books are
real, the provider is this file's: it keeps keys for 24 hours, as the real one does.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations

from sqlalchemy import Connection, delete

from recon.doors.store.engines import Database
from recon.guarding import Gate
from recon.model import tables
from recon.model.guarded import calls, switches
from recon.model.holds import guarded
from recon.model.records.guarded import (
    Answer,
    AnswerKind,
    Asked,
    Finding,
    FindingKind,
    Guarded,
    Outcome,
    Wanted,
)
from recon.model.records.words import IntentKey, IntentStatus
from recon.model.settings import GuardSettings
from tests.builders import NOON, PLATFORM, an_intent

SETTINGS = GuardSettings()
JUMPS = (21.0, 46.0, 61.0, 25 * 3600.0)  # A deadline, a lease, a proof, a key.
KEPT_SECONDS = 24 * 3600.0
SAFE_SECONDS = 23 * 3600.0
LATE_SECONDS = 90.0
TURNS = 16  # By then each caller has sent, or waits.
# What may come of a request: done and answered; lost; done, the answer lost; done later, an error kept.
SENDS = ("answered", "lost", "unanswered", "late")
FINDS = ("whole", "broken")


class Died(BaseException):
    """The process of an actor is gone: nothing more of it happens."""


class Broken(BaseException):
    """Something that must never happen did; no exception, which the guard would take for a sender's bug."""


@dataclass
class Choices:
    """What is decided, in order: the given, then 0. told: how many there were to choose from each time."""

    given: Sequence[int]
    told: list[int] = field(default_factory=list)

    def next(self, options: int) -> int:
        """Return the next decision, among so many."""
        place = len(self.told)
        self.told.append(options)
        return min(self.given[place], options - 1) if place < len(self.given) else 0


@dataclass
class Actor:
    """One process: runs until it has an outcome, or dies. made: refunds of its order when it was told."""

    name: str
    order: str
    work: Callable[[], object]
    go: threading.Event = field(default_factory=threading.Event)
    dead: bool = False
    ended: bool = False
    resting: bool = False
    outcome: object = None
    made: int = 0
    bug: BaseException | None = None


class World:
    """The stage, the provider and the clock."""

    def __init__(self, database: Database, choices: Choices) -> None:
        self.database = database
        self.choices = choices
        self.seconds = 0.0
        self.actors: list[Actor] = []
        self.turn = threading.Event()
        self.current: Actor | None = None
        self.kept: dict[str, tuple[float, Answer]] = {}
        self.refunds: dict[str, list[float]] = {}  # By key: from when on each is shown.
        self.sent_at: dict[str, list[float]] = {}  # By key: when each request left.
        self.flying: dict[str, str] = {}  # By actor: the key under way.
        self.proof: dict[str, list[float]] = {}

    def now(self) -> datetime:
        """Return the time, the same everywhere."""
        return NOON + timedelta(seconds=self.seconds)

    def gate(self) -> Gate:
        """Return a gate as each process has one."""
        return Gate(
            _Stepped(self),  # type: ignore[arg-type]  # all that a gate uses of a database
            {"refund_order": Hands(self)},
            settings=SETTINGS,
            clock=self.now,
            timer=lambda: self.seconds,
            sleep=self.rest,
        )

    def act(self, name: str, order: str, work: Callable[[], object]) -> Actor:
        """Let an actor wait in the wings."""
        actor = Actor(name, order, work)
        self.actors.append(actor)
        threading.Thread(target=self._perform, args=(actor,), daemon=True).start()
        return actor

    def play(self) -> None:
        """Let everybody act until all have ended, as the choices say."""
        while waiting := [each for each in self.actors if not each.ended]:
            self.current = self._chosen(waiting)
            self.current.resting = False
            self.turn.clear()
            self.current.go.set()
            assert self.turn.wait(60), "an actor is stuck"
        for actor in self.actors:
            if actor.bug is not None:
                raise actor.bug

    def step(self) -> None:
        """Hand over, and go on when it is this actor's turn again; whoever died meanwhile never does."""
        actor = self.current
        assert actor is not None
        self.turn.set()
        actor.go.wait()
        actor.go.clear()
        if actor.dead:
            raise Died

    def rest(self, seconds: float) -> None:
        """Let time pass for everybody, and others first."""
        self.seconds += seconds
        assert self.current is not None
        self.current.resting = True
        self.step()

    def _perform(self, actor: Actor) -> None:
        actor.go.wait()
        actor.go.clear()
        try:
            if not actor.dead:
                actor.outcome = actor.work()
                actor.made = len(self.refunds.get(f"k{actor.order}", []))
        except Died:
            pass
        except BaseException as bug:  # noqa: BLE001 -- shown where the play ends
            actor.bug = bug
        actor.ended = True
        self.flying.pop(actor.name, None)
        self.turn.set()

    def _chosen(self, waiting: list[Actor]) -> Actor:
        """Return who goes on, after what the world does: time jumps, or a process dies."""
        here = self.current if self.current in waiting else None
        others = [each for each in waiting if each is not here]
        order = [*others, here] if here is not None and (here.resting and others) else [here, *others]
        people = [each for each in order if each is not None]
        choice = self.choices.next(len(people) + len(JUMPS) + 1)
        if choice < len(people):
            return people[choice]
        if choice < len(people) + len(JUMPS):
            self.seconds += JUMPS[choice - len(people)]
        else:
            people[0].dead = True
        return people[0]


class _Stepped:
    """The real books, a step before each transaction."""

    def __init__(self, world: World) -> None:
        self._world = world

    def write(self, **_: float) -> AbstractContextManager[Connection]:
        return self._stepped(self._world.database.write)

    def read(self, **_: float) -> AbstractContextManager[Connection]:
        return self._stepped(self._world.database.read)

    @contextmanager
    def _stepped(self, opened: Callable[[], AbstractContextManager[Connection]]) -> Iterator[Connection]:
        self._world.step()
        with opened() as connection:
            yield connection


class Hands:
    """The provider: one payment of 100.00, keys that are kept for a day."""

    def __init__(self, world: World) -> None:
        self._world = world

    def send(self, row: Guarded, *, until: float) -> Answer:
        world, actor = self._world, self._world.current
        assert actor is not None
        world.step()
        if world.seconds >= until:
            return Answer(AnswerKind.NOT_SENT, "too late")
        self._check(row)
        world.sent_at.setdefault(row.key, []).append(world.seconds)
        world.proof[row.key] = []
        world.flying[actor.name] = row.key
        way = SENDS[world.choices.next(len(SENDS))]
        answer = Answer(AnswerKind.UNKNOWN) if way == "lost" else self._executed(row, late=way == "late")
        world.step()
        world.flying.pop(actor.name)
        return answer if way == "answered" else Answer(AnswerKind.UNKNOWN)

    def find(self, row: Guarded, *, until: float) -> Finding:
        world = self._world
        world.step()
        if world.seconds >= until or FINDS[world.choices.next(len(FINDS))] == "broken":
            return Finding(FindingKind.UNREADABLE)
        shown = [at for at in world.refunds.get(row.key, []) if at <= world.seconds]
        if shown:
            return Finding(FindingKind.LIVE, f"re_{row.key}", "succeeded")
        sent_at = max(world.sent_at.get(row.key, [-SAFE_SECONDS]))  # Who died before that sent nothing.
        if world.seconds >= sent_at + SETTINGS.deadline_seconds:
            world.proof.setdefault(row.key, []).append(world.seconds)
        return Finding(FindingKind.ABSENT)

    def check(self, row: Guarded, *, until: float) -> Finding:
        return self.find(row, until=until)

    def now(self) -> datetime:
        return self._world.now()

    def _executed(self, row: Guarded, *, late: bool) -> Answer:
        world = self._world
        kept = world.kept.get(row.key)
        if kept is not None and world.seconds - kept[0] < KEPT_SECONDS:
            return replace(kept[1], replayed=True)
        answer = (
            Answer(AnswerKind.UNKNOWN) if late else Answer(AnswerKind.DONE, "", f"re_{row.key}", "succeeded")
        )
        world.refunds.setdefault(row.key, []).append(world.seconds + (LATE_SECONDS if late else 0.0))
        world.kept[row.key] = (world.seconds, answer)
        return answer

    def _check(self, row: Guarded) -> None:
        """Nothing else is under way; a second request comes after its proof, while the key is kept."""
        world = self._world
        alive = {each.name for each in world.actors if not each.dead}
        if any(name in alive for name in world.flying):
            raise Broken(f"two requests at once: {world.flying}, {row.key}")
        seen = world.proof.get(row.key, [])
        if row.key in world.sent_at and (len(seen) < 2 or seen[-1] - seen[0] < 60):
            raise Broken(f"sent again without a proof: {row.key}")
        if row.key in world.sent_at and world.seconds - world.sent_at[row.key][0] >= SAFE_SECONDS:
            raise Broken(f"sent again when the key may be pruned: {row.key}")


def wanted(name: str) -> Wanted:
    """Return what one caller wants: an order's refund of 60.00, of one payment for all orders."""
    key = IntentKey(f"k{name}")
    intent = an_intent(
        key=key,
        order_id=name,
        payment="pi_1",
        amount_minor=6000,
        status=IntentStatus.PENDING,
        refund_id=None,
        first_sent_at=None,
    )
    prints = {"amount_minor": "6000", "currency": "usd", "payment": "pi_1"}
    return Wanted("refund_order", f"refund of order {name}", PLATFORM, key, prints, {}, intent)


def run(database: Database, orders: Sequence[str], given: Sequence[int], *, sweeps: bool = True) -> Choices:
    """Play one schedule, then let the world calm down, and return what there was to choose from.

    Raises:
        Broken: something that must never happen did.
    """
    _empty(database)
    choices = Choices(given)
    world = World(database, choices)
    for place, name in enumerate(orders):
        world.act(f"caller {place}", name, partial(_ask, world, name))
    if sweeps:
        world.act("sweep", "", lambda: world.gate().sweep())
    world.play()
    _judge(world)
    _calm(world, orders)
    return choices


def _ask(world: World, name: str) -> Outcome:
    return world.gate().call(wanted(name), Asked())


def _calm(world: World, orders: Sequence[str]) -> None:
    """Let the weather clear and everybody ask again: what they are told is what is so."""
    world.choices = Choices(())
    for _ in range(8):
        world.seconds += 150
        world.actors.clear()
        for name in dict.fromkeys(orders):
            world.act(f"again {name}", name, partial(_ask, world, name))
        world.play()
        _judge(world)
    for actor in world.actors:
        assert isinstance(actor.outcome, Outcome)
        status = str(actor.outcome.status)
        if status not in {"done", "already_done"} and world.seconds < KEPT_SECONDS:
            raise Broken(f"{actor.order} ends {status}")


def _judge(world: World) -> None:
    for key, made in world.refunds.items():
        if len(made) > 1:
            raise Broken(f"{key} was refunded {len(made)} times")
    for actor in world.actors:
        if isinstance(actor.outcome, Outcome):
            status = str(actor.outcome.status)
            if status in {"done", "already_done"} and not actor.made:
                raise Broken(f"{actor.order} was told {status}, and nothing was made")
            if status in {"rejected", "disabled"} and actor.made:
                raise Broken(f"{actor.order} was told {status}, and it was made")


def losses(told: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the schedules in which the first request comes to anything but an answer."""
    place = told.index(len(SENDS))
    yield from ((*[0] * place, way) for way in range(1, len(SENDS)))


def switches_of(told: Sequence[int], turn: int = 1) -> Iterator[tuple[int, ...]]:
    """Yield the schedules in which somebody else goes on at two of the first places.

    turn: who, of those that wait.
    """
    for first, second in combinations(range(min(len(told), TURNS)), 2):
        yield (*[0] * first, turn, *[0] * (second - first - 1), turn)


def deviations(told: Sequence[int], given: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every schedule with one more deviation, later than those that there are."""
    for place in range(len(given), len(told)):
        for choice in range(1, told[place]):
            yield (*given, *([0] * (place - len(given))), choice)


def _empty(database: Database) -> None:
    with database.write() as connection:
        for table in (calls, guarded, switches, tables.intents, tables.touches):
            connection.execute(delete(table))
