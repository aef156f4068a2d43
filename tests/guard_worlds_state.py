"""One state of a small world of the guard, and what may never be so in it.

Everything is frozen and compares by value, so that a state that was seen is known again. Times are seconds
since the world began.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recon.model.records.guarded import Outcome
from recon.model.records.words import UNSETTLED, IntentStatus
from recon.model.settings import GuardSettings

SETTINGS = GuardSettings()
KEPT_SECONDS = 24 * 3600.0  # How long the provider keeps a key.
SAFE_SECONDS = 23 * 3600.0
SHOWN_SECONDS = 60.0  # After which lists show a refund.
LATE_SECONDS = 90.0  # After which a refund appears whose making was answered by an error.
_PROOF = 2  # Complete look-ups that found nothing.
HELD = 10_000  # What the payment holds.
Row = tuple[object, ...]


class Broken(BaseException):
    """Something that must never happen did; no exception, which the guard would take for a sender's bug."""


@dataclass(frozen=True, slots=True)
class Made:
    """A refund at the provider. at: when it was made, or will be."""

    key: str
    minor: int
    at: float
    dead: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """What the provider remembers of a key: the body it came with, and its first answer."""

    key: str
    at: float
    body: str
    answer: str


@dataclass(frozen=True, slots=True)
class Flight:
    """A request under way.

    who: the actor that sent it; None where nobody waits for it any more. before: what was sent of its key
    until then, which stands where the provider says that it did nothing.
    """

    who: int | None
    key: str
    minor: int
    body: str
    before: "Trail | None" = None


@dataclass(frozen=True, slots=True)
class Trail:
    """What was sent of a key, and the complete look-ups since that found nothing: their first and last."""

    key: str
    first_at: float
    last_at: float
    body: str
    looks: int = 0
    look_at: float = 0.0
    looked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class World:
    """One state, but for where each actor stands.

    intents, guarded: the books' rows, by key. off: the kill switch is thrown; knows: who has written since.
    gone: callers for whom nobody waits. stale: who has not asked the provider since a refund failed. denied:
    keys of which a caller was told that nothing was done while a request was in the air. unchecked: who heard
    an old answer and has not looked since. jumps: of the clock.
    """

    time: float = 0.0
    intents: tuple[Row, ...] = ()
    guarded: tuple[Row, ...] = ()
    off: bool = False
    knows: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    stale: frozenset[int] = frozenset()
    denied: frozenset[str] = frozenset()
    unchecked: frozenset[int] = frozenset()
    made: tuple[Made, ...] = ()
    kept: tuple[Kept, ...] = ()
    flights: tuple[Flight, ...] = ()
    trails: tuple[Trail, ...] = ()
    jumps: int = 0

    def trail(self, key: str) -> Trail | None:
        """Return what was sent of a key."""
        return next((each for each in self.trails if each.key == key), None)

    def live(self, key: str) -> tuple[Made, ...]:
        """Return the live refunds of a key, shown or not."""
        return tuple(each for each in self.made if each.key == key and not each.dead)


def shifted(world: World) -> World:
    """Return the world as it is when its clock began now, but for the books; what has long been is alike."""
    back = world.time
    made = tuple(replace(each, at=max(each.at - back, -SHOWN_SECONDS)) for each in world.made)
    kept = tuple(replace(each, at=each.at - back) for each in world.kept)
    trails = tuple(
        replace(
            each,
            first_at=each.first_at - back,
            last_at=each.last_at - back,
            look_at=each.look_at - back,
            looked_at=each.looked_at - back,
        )
        for each in world.trails
    )
    return replace(world, time=0.0, made=made, kept=kept, trails=trails, jumps=0)


def with_trail(world: World, trail: Trail) -> World:
    """Return the world with that in the place of what was known of its key."""
    others = tuple(each for each in world.trails if each.key != trail.key)
    return replace(world, trails=tuple(sorted((*others, trail), key=lambda each: each.key)))


def left(world: World, flight: Flight, row: Row | None, others: Iterable[Row], places: "Places") -> World:
    """Return the world with a request on its way.

    row: of its key among the guarded ones; others: the rows of the other intents of the payment.

    Raises:
        Broken: it should not have left.
    """
    who, key = flight.who, flight.key
    assert who is not None, "somebody sends it"
    if row is None or row[places.sent] is None:
        raise Broken(f"{key} is sent, and the books do not say so")
    if row[places.holder] != f"actor {who}" or not row[places.until]:
        raise Broken(f"{key} is sent by one who does not hold its lease")
    if who in world.knows:
        raise Broken(f"{key} is sent, and the switch was thrown before the last look at it")
    for each in others:
        if each[places.intent_sent] is not None and each[places.intent_status] in UNSETTLED:
            raise Broken(f"{key} is sent while another refund of its payment is unsettled")
    trail = world.trail(key)
    if trail is not None:
        _again(world, flight, trail)
    first = world.time if trail is None else trail.first_at
    sent = with_trail(world, Trail(key, first, world.time, flight.body))
    return replace(sent, flights=(*world.flights, replace(flight, before=trail)))


def unsent(world: World, flight: Flight) -> World:
    """Return the world in which a request that was on its way is one that never left."""
    others = tuple(each for each in world.trails if each.key != flight.key)
    trails = others if flight.before is None else (*others, flight.before)
    return replace(world, trails=tuple(sorted(trails, key=lambda each: each.key)))


def missed(world: World, key: str) -> World:
    """Return the world after a complete look-up of a key that found nothing."""
    trail = world.trail(key)
    if trail is None or world.time < trail.last_at + SETTINGS.deadline_seconds:
        return world
    first = trail.look_at if trail.looks else world.time
    return with_trail(
        world, replace(trail, looks=min(2, trail.looks + 1), look_at=first, looked_at=world.time)
    )


def told(world: World, who: int, key: str, outcome: Outcome) -> World:
    """Return the world after a caller was told that.

    Raises:
        Broken: it is not so.
    """
    status = str(outcome.status)
    if status in {"done", "already_done"} and not world.live(key) and who in world.stale:
        return world  # It failed since this caller looked.
    if status in {"done", "already_done"} and not world.live(key):
        raise Broken(f"{key} is told {status}, and nothing is there")
    if status in {"done", "already_done"} and who in world.unchecked:
        raise Broken(f"{key} is told {status} by an answer of long ago")
    if status in {"rejected", "disabled"} and "sent by this call" not in outcome.message:
        if world.live(key):
            raise Broken(f"{key} is told {status}, and a refund is there")
        if any(each.key == key for each in world.flights):
            return replace(world, denied=world.denied | {key})
    return world


def executed(world: World, made: Made) -> World:
    """Return the world with a refund more.

    Raises:
        Broken: its intent has one, or somebody was told that there is none.
    """
    if world.live(made.key) and not made.dead:
        raise Broken(f"{made.key} is refunded twice")
    if made.key in world.denied:
        raise Broken(f"{made.key} was told rejected, and is refunded by a request that had left before")
    return replace(world, made=(*world.made, made))


@dataclass(frozen=True, slots=True)
class Places:
    """Where in the books' rows some columns stand."""

    key: int
    sent: int
    holder: int
    until: int
    next_at: int
    status: int
    intent_key: int
    intent_status: int
    intent_sent: int


def written(before: World, after: World, places: Places) -> None:
    """Return where what a transaction made of the books may be.

    Raises:
        Broken: done is taken back, or said of what never was.
    """
    was = {row[places.intent_key]: row[places.intent_status] for row in before.intents}
    for row in after.intents:
        key, status = str(row[places.intent_key]), row[places.intent_status]
        if was.get(key) == IntentStatus.DONE != status:
            raise Broken(f"{key} was done and became {status}")
        if status == IntentStatus.DONE and not any(each.key == key for each in after.made):
            raise Broken(f"{key} became done, and was never refunded")


def ended(world: World, key: str, status: str, minor: int, sent_at: float | None, *, busy: bool) -> None:
    """Return where a caller in calm weather may be told that for the last time.

    sent_at: when the books say that the first request left. busy: another intent of the payment ends
    pending_unknown, and waits for a person.

    Raises:
        Broken: it does not come to the end that the provider's books prove.
    """
    if world.live(key):
        fits = status in {"done", "already_done"}
    elif any(each.key == key for each in world.made):
        fits = status == "rejected"
    else:
        taken = sum(each.minor for each in world.made if not each.dead)
        old = sent_at is not None and world.time >= sent_at + SAFE_SECONDS
        refused = any(each.key == key and each.answer in {"refused", "taken"} for each in world.kept)
        waits = busy and status == "rejected" and sent_at is None
        fits = world.off or old or refused or waits or taken + minor > HELD
    if not fits:
        raise Broken(f"{key} ends {status} in calm weather")


def _again(world: World, flight: Flight, trail: Trail) -> None:
    """Return where a request may leave after another of its key.

    Raises:
        Broken: it may not.
    """
    key, apart = flight.key, SETTINGS.absent_after.total_seconds()
    busy = any(each.who is not None and each.key == key for each in world.flights)
    # A process that stands still for longer does not end its request in time; its key is the same.
    if busy and world.time < trail.last_at + SETTINGS.deadline_seconds:
        raise Broken(f"{key} is sent twice at once")
    if trail.looks < _PROOF or trail.looked_at - trail.look_at < apart:
        raise Broken(f"{key} is sent again without a proof")
    if world.time - trail.first_at >= SAFE_SECONDS:
        raise Broken(f"{key} is sent again when its key may be pruned")
    if trail.body != flight.body:
        raise Broken(f"{key} is sent again with another body")
