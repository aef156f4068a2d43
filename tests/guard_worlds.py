"""Every interleaving of a few calls, a sweep, a run and the clock on one payment, explored in virtual time.

    python -m tests.guard_worlds [--deep] [--scene NAME] [--deviations N [--jumps N]]
    python -m tests.guard_worlds_left_out

Actors are the product's own code over real tables. From each state every actor takes its next step in every
way, time jumps, processes die, requests that nobody waits for arrive or do not; a state that was seen before
is not gone on from again. That is exhaustive up to a number of deviations: a death, a fault, a cancelled
call, the switch, a refund that fails. Who acts when, and up to so many jumps of the clock, is free. Fewer of
both come first, so that what breaks is shown with the fewest. Prints states, steps and schedules; exits with
1 where something must not be.
"""

import argparse
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tests import guard_worlds_books as books
from tests import guard_worlds_state as states
from tests.guard_worlds_provider import LOOKS, WAYS, Provider
from tests.guard_worlds_scenes import SCENES, Found, Scene
from tests.guard_worlds_stage import ENTERING, Local, Point, Stage
from tests.guard_worlds_state import Broken, World

# (deviations, jumps): all with one of either, or more of both.
USUAL = ((1, 0), (0, 1))
DEEP = ((1, 1), (0, 2), (2, 0))
ROUNDS = 8  # Of calm weather, in which all that can be proved is.
ROUND_SECONDS = 150.0
Node = tuple[int, tuple[int, ...]]
Choice = tuple[str, int, Callable[[], Node]]
_WRITES = ("", "down", "cut")  # The books are away, before anything is written or after everything is.


@dataclass(slots=True)
class _Known:
    """Values by number, each once."""

    values: list[object] = field(default_factory=list)
    numbers: dict[object, int] = field(default_factory=dict)

    def number(self, value: object, name: object = None) -> int:
        """Return the number of a value; name: what it is known by, if not by itself."""
        name = value if name is None else name
        found = self.numbers.get(name)
        if found is None:
            found = self.numbers[name] = len(self.values)
            self.values.append(value)
        return found


class Explorer:
    """One scene, and what was found of it so far."""

    def __init__(
        self, stage: Stage, scene: Scene, *, deviations: int, jumps: int, exact: bool = False
    ) -> None:
        """exact: an actor is known by all it saw, not by where it stands: the same worlds, more states."""
        self.stage = stage
        self.scene = scene
        self.deviations = deviations
        self.jumps = jumps
        self.found = Found()
        self._exact = exact
        self._provider = Provider(stage)
        self._works: list[tuple[str, Callable[[], object]]] = [
            (f"caller {place}", partial(stage.ask, order, f"reason {place}"))
            for place, order in enumerate(scene.orders)
        ]
        self._works += [("sweep", stage.sweep)] * scene.sweeps + [("run", stage.heal)] * scene.heals
        self._worlds, self._locals = _Known(), _Known()
        self._gone = self._locals.number(Local((), None, "ended"), "ended")
        self._made: dict[tuple[int, int, int, str], tuple[int, int]] = {}
        self._before: dict[Node, tuple[Node, str] | None] = {}
        self._after: dict[Node, list[tuple[Node, int]]] = {}
        self._calm: set[World] = set()

    def explore(self, *, count: bool = False) -> Found:
        """Return what there is; it ends at the first thing that must not be."""
        began = time.process_time()
        actors = [self._local(at, self.stage.begin(at, work)) for at, (_, work) in enumerate(self._works)]
        root = (self._worlds.number(World()), tuple(actors))
        self._before[root] = None
        root = self._told(root)
        layers = [deque([root]), *(deque[Node]() for _ in range(self.deviations + self.jumps))]
        try:
            for used, layer in enumerate(layers):
                while layer:
                    self._visit(layer.popleft(), used, layers)
            if count:
                self.found.schedules = self._schedules(root)
        except Broken as broken:
            self.found.broken = str(broken)
        self.found.states, self.found.played = len(self._before), self.stage.played
        self.found.seconds = round(time.process_time() - began, 1)
        return self.found

    def worlds(self) -> frozenset[World]:
        """Return the worlds that there were, wherever actors stood."""
        return frozenset(self._world(node) for node in self._before)

    def _told(self, node: Node) -> Node:
        """Return the state to which the scene's story leads, from where jumps of the clock count anew."""
        limit, self.jumps = self.jumps, len(self.scene.story)
        for each in self.scene.story:
            going = next(going for label, _, going in self._choices(node) if label == each)
            after = going()
            self._before[after] = (node, each)
            node = after
        self.jumps = limit
        anew = self._moved(node, replace(self._world(node), jumps=0))
        self._before.setdefault(anew, (node, "..."))
        return anew

    def _visit(self, node: Node, reached: int, layers: Sequence[deque[Node]]) -> None:
        """Go on from a state in every way that is not too much.

        reached: with how many deviations and jumps of the clock together.
        """
        last, after, used = True, [], reached - self._world(node).jumps
        for label, costs, going in self._choices(node, free=used < self.deviations):
            last = last and costs > 0
            if costs and not self._allowed(label):
                continue
            try:
                found = going()
            except Broken:
                self.found.schedule = (*self._way_to(node), label)
                raise
            self.found.steps += 1
            after.append((found, costs))
            if found not in self._before:
                self._before[found] = (node, label)
                layers[used + costs + self._world(found).jumps].append(found)
        self._after[node] = after
        if last:
            self._end(node)

    def _allowed(self, label: str) -> bool:
        return not self.scene.only or any(word in label for word in self.scene.only)

    def _choices(self, node: Node, *, free: bool = True) -> Iterator[Choice]:
        """Yield what may happen next: in words, how much of a deviation it is, and what does it.

        free: whether there may be a deviation.
        """
        world, locals_ = self._world(node), node[1]
        waits: list[float] = []
        for at, number in enumerate(locals_):
            local = self._locals.values[number]
            assert isinstance(local, Local), "locals are"
            if local.point is None:
                continue
            name, until = self._works[at][0], local.point.until
            if until is not None and until > world.time:
                waits.append(until)
            else:
                for place, way in enumerate(self._ways(local.point.kind, world)[: None if free else 1]):
                    words = f"{name}: {local.point.kind} {way}".rstrip()
                    yield words, int(place > 0), partial(self._stepped, node, at, way)
            if local.point.kind == ENTERING or not free:  # Who never came need not die.
                continue
            yield f"{name} dies", 1, partial(self._dead, node, at)
            if at < len(self.scene.orders) and at not in world.gone:
                yield f"{name} is cancelled", 1, partial(self._moved, node, self._cancelled(world, at))
        yield from self._time(node, world, waits)
        if free:
            yield from self._weather(node, world)

    def _time(self, node: Node, world: World, waits: Sequence[float]) -> Iterator[Choice]:
        if waits:
            yield "time passes", 0, partial(self._moved, node, replace(world, time=min(waits)))
        acting = any(point is not None for point in self._points(node))
        # Before anybody has begun, and after all have ended, one time is like another.
        may = acting and world.guarded and world.jumps < self.jumps
        for jump in self.scene.clock if may else ():
            if jump < states.SAFE_SECONDS or not world.flights:  # No request stays in the air for a day.
                later = replace(world, time=world.time + jump, jumps=world.jumps + 1)
                yield f"{jump:.0f} seconds pass", 0, partial(self._moved, node, later)
        for flight in world.flights:
            if flight.who is None:
                yield f"{flight.key} arrives", 0, partial(self._landed, node, flight)
                others = tuple(each for each in world.flights if each is not flight)
                yield f"{flight.key} is lost", 0, partial(self._moved, node, replace(world, flights=others))

    def _weather(self, node: Node, world: World) -> Iterator[Choice]:
        if not world.off:
            yield "the switch is thrown", 1, partial(self._moved, node, replace(world, off=True))
        for place, each in enumerate(world.made):
            if not each.dead and each.at <= world.time:
                dead = (*world.made[:place], replace(each, dead=True), *world.made[place + 1 :])
                failed = replace(world, made=dead, stale=frozenset(range(len(self._works))))
                yield f"the refund of {each.key} fails", 1, partial(self._moved, node, failed)

    def _ways(self, kind: str, world: World) -> tuple[str, ...]:
        if kind == "post":
            return tuple(WAYS)
        if kind == "look":
            young = any(world.time - states.SHOWN_SECONDS < each.at <= world.time for each in world.made)
            return tuple(each for each in LOOKS if each != "not shown" or young)
        return {"write": _WRITES, ENTERING: _WRITES, "read": ("", "down")}.get(kind, ("",))

    def _stepped(self, node: Node, at: int, way: str) -> Node:
        """Return the state after one step; what came of the same in the same world comes of it again."""
        asked = (at, node[1][at], node[0], way)
        made = self._made.get(asked)
        if made is None:
            local = self._locals.values[node[1][at]]
            assert isinstance(local, Local), "locals are"
            after, world = self.stage.step(at, self._works[at][1], local, self._world(node), way)
            made = self._made[asked] = (self._local(at, after), self._worlds.number(world))
        return made[1], (*node[1][:at], made[0], *node[1][at + 1 :])

    def _dead(self, node: Node, at: int) -> Node:
        """Return the state without an actor; its request stays in the air."""
        world = self._world(node)
        flights = tuple(replace(each, who=None) if each.who == at else each for each in world.flights)
        moved = self._moved(node, replace(world, flights=flights))
        return moved[0], (*node[1][:at], self._gone, *node[1][at + 1 :])

    def _landed(self, node: Node, flight: states.Flight) -> Node:
        return self._moved(node, self._provider.land(self._world(node), flight))

    def _moved(self, node: Node, world: World) -> Node:
        return self._worlds.number(world), node[1]

    def _cancelled(self, world: World, at: int) -> World:
        return replace(world, gone=world.gone | {at})

    def _end(self, node: Node) -> None:
        """Let the world calm down once all have ended, and everybody ask again: what they are told is so.

        Raises:
            Broken: it is not, or something does not come to an end.
        """
        if any(point is not None for point in self._points(node)):
            self.found.schedule = self._way_to(node)
            raise Broken("nobody can go on")
        self.found.ends += 1
        nobody = frozenset[int]()
        fresh = replace(self._world(node), gone=nobody, knows=nobody, stale=nobody, unchecked=nobody)
        world = books.shifted(fresh)
        if world in self._calm:
            return
        try:
            self._calm_down(world)
        except Broken:
            self.found.schedule = (*self._way_to(node), "calm weather")
            raise
        self._calm.add(world)

    def _calm_down(self, world: World) -> None:
        """Settle and ask until nothing is open.

        Raises:
            Broken: it does not come to its end.
        """
        orders = dict.fromkeys(self.scene.orders, "")
        for _ in range(ROUNDS):
            before = dict(orders)
            world = replace(world, time=world.time + ROUND_SECONDS)
            _, world = self.stage.play(len(self._works), self.stage.sweep, world)
            for place, order in enumerate(orders):
                outcome, world = self.stage.play(place, partial(self.stage.ask, order, "again"), world)
                assert outcome is not None, "nobody interrupts it"
                orders[order] = str(outcome.status)
            told = set(orders.values())
            if told <= {"done", "already_done"} or (before == orders and "pending_unknown" not in told):
                break
        for order, status in orders.items():
            sent_at = books.sent_at(world, f"k{order}")
            busy = any(orders[each] == "pending_unknown" for each in orders if each != order)
            states.ended(world, f"k{order}", status, self.scene.minor, sent_at, busy=busy)

    def _schedules(self, root: Node) -> int:
        """Return how many schedules there are from the beginning to an end, with all that is allowed."""
        counted: dict[tuple[Node, int], int] = {}
        waiting = [(root, self.deviations)]
        while waiting:
            node, left = waiting[-1]
            following = [(each, left - costs) for each, costs in self._after[node] if costs <= left]
            open_ones = [each for each in following if each not in counted]
            if open_ones:
                waiting += open_ones
                continue
            waiting.pop()
            ends = not any(costs == 0 for _, costs in self._after[node])
            counted[node, left] = sum(counted[each] for each in following) + int(ends)
        return counted[root, self.deviations]

    def _world(self, node: Node) -> World:
        world = self._worlds.values[node[0]]
        assert isinstance(world, World), "worlds are"
        return world

    def _points(self, node: Node) -> Iterator[Point | None]:
        for number in node[1]:
            local = self._locals.values[number]
            assert isinstance(local, Local), "locals are"
            yield local.point

    def _local(self, at: int, local: Local) -> int:
        if local.point is None:
            return self._gone
        return self._locals.number(local, (at, repr(local.log) if self._exact else local.signature))

    def _way_to(self, node: Node) -> tuple[str, ...]:
        way: list[str] = []
        while (before := self._before[node]) is not None:
            node, label = before
            way.append(label)
        return tuple(reversed(way))


def explore(scene: Scene, *, deviations: int = 1, jumps: int = 0, count: bool = False) -> Found:
    """Return what an exploration of a scene comes to."""
    with Stage(scene.orders, scene.minor) as stage:
        return Explorer(stage, scene, deviations=deviations, jumps=jumps).explore(count=count)


def main() -> int:
    """Explore, print, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scene", choices=SCENES)
    parser.add_argument("--deviations", type=int, help="and --jumps: in place of the usual limits")
    parser.add_argument("--jumps", type=int, default=0)
    parser.add_argument("--deep", action="store_true", help="more of both together: hours")
    asked = parser.parse_args()
    limits: Sequence[tuple[int, int]] = DEEP if asked.deep else USUAL
    if asked.deviations is not None:
        limits = ((asked.deviations, asked.jumps),)
    wrong = False
    say(f"{'scene':16} deviations jumps   states    steps   played     ends            schedules  seconds")
    for scene in SCENES.values() if asked.scene is None else [SCENES[asked.scene]]:
        for deviations, jumps in limits:
            found = explore(scene, deviations=deviations, jumps=jumps, count=True)
            wrong = wrong or bool(found.broken)
            say(
                f"{scene.name:16} {deviations:10} {jumps:5} {found.states:8} {found.steps:8} "
                f"{found.played:8} {found.ends:8} {found.schedules:20} {found.seconds:8}"
            )
            if found.broken:
                say("  " + "\n  ".join((*found.schedule, found.broken)))
    return int(wrong)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
