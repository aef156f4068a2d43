"""The stage of a small world: real calls, sweeps and heals over real books, one step of one actor at a time.

What an actor saw is written down, so that it can be brought to any point again without the world as it was
then; where it stands is known by its own variables. Between two points nothing else happens: what a point is
comes before each transaction and each request, and while something is waited for.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from types import FrameType, ModuleType
from typing import Any, NamedTuple, Self, TypeVar, cast

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]  # ships no types
from sqlalchemy import Connection

from recon import guarding, lookups
from recon.doors import intents
from recon.doors.store import calls
from recon.guarding import Gate
from recon.handling import Refunds
from recon.model.errors import DatabaseUnavailable
from recon.model.records.guarded import Asked, Guarded, Outcome
from recon.model.records.words import UNSETTLED, IntentKey, IntentStatus, RefundId
from tests import guard_worlds_state as states
from tests.builders import NOON, PLATFORM
from tests.guard_worlds_books import PLACES, TOOL, Books, wanted
from tests.guard_worlds_provider import Provider
from tests.guard_worlds_state import SETTINGS, Broken, Flight, World

T = TypeVar("T")
_LEFT = Broken("it is thrown away")  # What ends an actor that will be made again from what it saw.
ENTERING = "enter"
PAUSE_SECONDS = 10.0  # Between two looks of one who waits: coarser than the real ones, with fewer states.
# What says nothing about what an actor does next: words, times that nothing is decided by, others' names.
_IDLE = {"wanted", "asked", "give_up", "holder", "created_at", "updated_at", "said", "others"}
_SKIPPED = {"self", "stage", "connection", "error"}
_OURS = {"heal", "_heal"}  # What of this module is an actor's own.
_PATCHED = (guarding, lookups)


class Point(NamedTuple):
    """Where an actor stands. until: before that it does nothing; None where it only waits for its turn."""

    kind: str
    until: float | None = None


class Local(NamedTuple):
    """What an actor is: what it saw, where it stands, and all of it that says what it does next.

    point: None where it has ended, or died.
    """

    log: tuple[object, ...]
    point: Point | None
    signature: object


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


class Stage:
    """Where one actor at a time takes one step; as a context it takes the place of the guard's doors."""

    def __init__(self, orders: Sequence[str], minor: int) -> None:
        self.orders = orders
        self.minor = minor
        self.world = World()
        self.me = 0
        self.calm = False
        self.played = 0
        self._log: list[object] = []
        self._place = 0
        self._at = Point(ENTERING)
        self._broken: Broken | None = None
        self._begun: str | None = None
        self._books = Books()
        self._main = getcurrent()
        self._kept: list[tuple[Any, str, object]] = []

    def __enter__(self) -> Self:
        logging.getLogger("recon.guard").disabled = True
        named: dict[str, object] = {"holder": lambda: f"actor {self.me}"}
        named |= {"_FIRST_POLL_SECONDS": PAUSE_SECONDS, "_LONGEST_POLL_SECONDS": PAUSE_SECONDS}
        named |= {"_LIMIT_PAUSE_SECONDS": PAUSE_SECONDS}
        for module in _PATCHED:
            for name, was in list(vars(module).items()):
                stand_in = named.get(name)
                if isinstance(was, ModuleType) and was.__name__.startswith("recon.doors."):
                    stand_in = _Uncounted() if was is calls else _Recorded(self, was)
                if stand_in is not None:
                    self._kept.append((module, name, was))
                    setattr(module, name, stand_in)
        return self

    def __exit__(self, *_: object) -> None:
        for module, name, was in self._kept:
            setattr(module, name, was)
        logging.getLogger("recon.guard").disabled = False
        self._books.close()

    def begin(self, actor: int, work: Callable[[], object]) -> Local:
        """Return an actor that has not begun."""
        return self._step(actor, work, Local((), Point(ENTERING), None), None)[0]

    def step(
        self, actor: int, work: Callable[[], object], local: Local, world: World, way: str
    ) -> tuple[Local, World]:
        """Return actor and world after the actor's next step, in that way.

        Raises:
            Broken: something that must never happen did.
        """
        self.world = world
        return self._step(actor, work, local, way)

    def play(self, actor: int, work: Callable[[], T], world: World) -> tuple[T, World]:
        """Return what comes of an actor that nobody disturbs, and the world afterwards."""
        self.world, self.me, self.calm = world, actor, True
        self._log, self._place = [], 0
        self._books.load(world)
        try:
            return work(), self.world
        finally:
            self.calm = False

    def ask(self, order: str, reason: str) -> Outcome | None:
        """Ask for an order's refund and check what is told; None where the caller was interrupted."""
        self._enter()
        asked = wanted(order, self.minor, reason)
        try:
            outcome = self._gate().call(asked, Asked(), give_up=self._given_up)
        except KeyboardInterrupt:
            return None
        self.observe(lambda: self._told(asked.key, outcome))
        return outcome

    def sweep(self) -> None:
        """Settle what can be."""
        self._enter()
        with suppress(DatabaseUnavailable):
            self._gate().sweep()

    def heal(self) -> None:
        """Do as a run does: read the provider's books and ours, then finish what the first prove."""
        self._enter()
        made = self.observe(lambda: tuple(each.key for each in self.world.made if each.at <= self.world.time))
        with suppress(DatabaseUnavailable):
            self._heal(made)

    def _heal(self, made: Sequence[str]) -> None:
        with self._transaction(writing=True) as reading:  # As a run takes its lease first.
            found = tuple(
                self.observe(partial(intents.get, reading, PLATFORM, IntentKey(f"k{order}")))
                for order in dict.fromkeys(self.orders)
            )
        with self._transaction(writing=True) as writing:
            for each in found:
                if each is not None and each.status in UNSETTLED and each.key in made:
                    healed = replace(each, status=IntentStatus.DONE, refund_id=RefundId(f"re_{each.key}"))
                    self.observe(partial(intents.settle, writing, healed, expected=[each.status]))
            self.observe(lambda: None)

    def _enter(self) -> None:
        """Begin; nothing happens between an actor's beginning and its first transaction."""
        self._begun = self.point(ENTERING)

    def point(self, kind: str, until: float | None = None) -> str:
        """Hand over, and return in which way to go on when it is this actor's turn again."""
        if self._broken is not None:
            raise self._broken
        if self.calm:
            return ""
        if self._place == len(self._log):
            self._at = Point(kind, until)
            way = self._main.switch()
            self._log.append(way)
        self._place += 1
        return cast("str", self._log[self._place - 1])

    def observe(self, seen: Callable[[], T]) -> T:
        """Return what an actor sees, or saw when it was here before."""
        if self.calm:
            return seen()
        if self._place == len(self._log):
            try:
                self._log.append(seen())
            except Broken as broken:  # No handler on the way may make something of it.
                self._broken = broken
                raise
            except Exception as error:  # noqa: BLE001 -- raised again, now and each time
                self._log.append(_Raised(error))
        self._place += 1
        found = self._log[self._place - 1]
        if isinstance(found, _Raised):
            raise found.error
        return cast("T", found)

    def timer(self) -> float:
        """Return the time."""
        return self.observe(lambda: self.world.time)

    def sleep(self, seconds: float) -> None:
        """Wait while others act."""
        if self.calm:
            self.world = replace(self.world, time=self.world.time + seconds)
        self.point("rest", self.timer() + seconds)

    def leave(self, flight: Flight) -> None:
        """Let a request leave.

        Raises:
            Broken: it should not have.
        """
        world, places = self.world, PLACES
        row = next((each for each in world.guarded if each[places.key] == flight.key), None)
        others = [each for each in world.intents if each[places.intent_key] != flight.key]
        self.world = states.left(world, flight, row, others, places)

    def seen(self, *, replayed: bool = False) -> None:
        """Note that this actor knows how the provider's books stand, or stood when the key was first used."""
        world, me = self.world, frozenset({self.me})
        unchecked = world.unchecked | me if replayed else world.unchecked - me
        self.world = replace(world, stale=world.stale - me, unchecked=unchecked)

    def _step(
        self, actor: int, work: Callable[[], object], local: Local, way: str | None
    ) -> tuple[Local, World]:
        self.me, self._log, self._place, self._broken = actor, list(local.log), 0, None
        self._begun = None
        self._books.load(self.world)
        self._main = getcurrent()
        running = greenlet(partial(self._perform, work))
        outcome = running.switch()
        if way is not None:
            self.played += 1
            outcome = running.switch(way)
        log = tuple(self._log)
        if running.dead:
            del outcome
            return Local((), None, "ended"), self.world
        signature = (self._at.kind, self._at.until, _standing(running.gr_frame))
        self._broken = _LEFT
        del running
        self._broken = None
        return Local(log, self._at, signature), self.world

    def _perform(self, work: Callable[[], object]) -> object:
        try:
            return work()
        except Broken as broken:
            if broken is _LEFT:
                return None
            raise

    def _gate(self) -> Gate:
        hands = Refunds(cast("Any", Provider(self)))
        books = cast("Any", _Doors(self))
        return Gate(
            books, {TOOL: hands}, settings=SETTINGS, clock=self._now, timer=self.timer, sleep=self.sleep
        )

    def _now(self) -> datetime:
        return NOON + timedelta(seconds=self.timer())

    def _given_up(self) -> bool:
        return self.observe(lambda: self.me in self.world.gone)

    def _told(self, key: str, outcome: Outcome) -> None:
        self.world = states.told(self.world, self.me, key, outcome)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        way = self._begun if self._begun is not None else self.point("write" if writing else "read")
        self._begun = None
        if way == "down":
            raise DatabaseUnavailable("The books are away.")
        if self._place < len(self._log):  # It was here before.
            yield cast("Connection", None)
        else:
            with self._books.begin() as connection:
                yield connection
            self._kept_up(writing=writing)
        if way == "cut":
            raise DatabaseUnavailable("The books went away while they were written.")

    def _kept_up(self, *, writing: bool) -> None:
        before = self.world
        after = self._books.read(before)
        if writing and before.off:
            after = replace(after, knows=after.knows | {self.me})
        try:
            states.written(before, after, PLACES)
        except Broken as broken:
            self._broken = broken
            raise
        self.world = after


class _Doors:
    """What a gate uses of a database."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def write(self, **_: float) -> AbstractContextManager[Connection]:
        return self._stage._transaction(writing=True)  # noqa: SLF001 -- a part of it

    def read(self, **_: float) -> AbstractContextManager[Connection]:
        return self._stage._transaction(writing=False)  # noqa: SLF001 -- as above


class _Recorded:
    """A door whose answers are written down."""

    def __init__(self, stage: Stage, door: object) -> None:
        self._stage = stage
        self._door = door

    def __getattr__(self, name: str) -> object:
        found = getattr(self._door, name)

        def asked(*positional: object, **named: object) -> object:
            return self._stage.observe(lambda: found(*positional, **named))

        return asked


class _Uncounted:
    """The record of calls, which nothing here is decided by."""

    def note(self, *_: object) -> int:
        return 1

    def note_answer(self, *_: object) -> None:
        return


def _standing(frame: FrameType | None) -> object:
    """Return where an actor stands in the product's code, and with which values."""
    found: list[object] = []
    while frame is not None:
        code, module = frame.f_code, str(frame.f_globals.get("__name__"))
        if module.startswith("recon.") or module == Provider.__module__ or code.co_name in _OURS:
            values = [
                (name, _canonical(value)) for name, value in frame.f_locals.items() if name not in _SKIPPED
            ]
            found.append((code.co_name, frame.f_lasti, tuple(values)))
        frame = frame.f_back
    return tuple(found)


def _canonical(value: object) -> object:
    """Return a value as one that compares and hashes by what an actor may decide by."""
    if value is None or isinstance(value, str | int | float | StrEnum | datetime):
        return value
    if isinstance(value, Outcome):
        return value.status, "sent by this call" in value.message
    if is_dataclass(value):
        skipped = _IDLE | ({"until"} if isinstance(value, Guarded) else set())
        return type(value).__name__, tuple(
            _canonical(getattr(value, each.name)) for each in fields(value) if each.name not in skipped
        )
    if isinstance(value, dict):
        return tuple(sorted((str(name), _canonical(each)) for name, each in value.items()))
    if isinstance(value, tuple | list | frozenset | set):
        return tuple(map(_canonical, value))
    return type(value).__name__
