"""The provider of a small world: it executes a request or not, and what comes back is its true answer or not.

Stands where recon.doors.stripe.provider.Provider does for the guard, so that what an answer means is decided
by the product. That its ways are those of the sandbox's faults is a test.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from recon.model import stored
from recon.model.errors import ProviderUnavailable
from recon.model.records.guarded import Heard
from recon.model.records.provider import Refund
from recon.model.records.words import AccountId, IntentKey, RefundId, RefundStatus
from recon.sandbox.faults import Kind
from tests.builders import NOON, PLATFORM, a_refund
from tests.guard_worlds_state import (
    HELD,
    KEPT_SECONDS,
    LATE_SECONDS,
    SETTINGS,
    SHOWN_SECONDS,
    Flight,
    Kept,
    Made,
    World,
    executed,
    missed,
    unsent,
)

if TYPE_CHECKING:
    from tests.guard_worlds_stage import Stage

PAYMENT = "pi_1"
_SILENCE = Heard(said="no answer")
# What may become of a request, by the fault that does it. The first is what does so when all is well.
WAYS: Mapping[str, tuple[Kind, ...]] = {
    "answered": (),
    "lost": (Kind.DROP_BEFORE, Kind.ERROR_BEFORE, Kind.LOCK, Kind.IN_USE),
    "lost late": (Kind.HANG_BEFORE,),
    "limited": (Kind.RATE_LIMIT,),
    "forbidden": (Kind.FORBIDDEN,),
    "unheard": (Kind.DROP_AFTER, Kind.CUT_BODY_AFTER, Kind.HTML_AFTER),
    "unheard late": (Kind.HANG_AFTER, Kind.DRIP),
    "answered late": (Kind.LATENCY,),
    "error kept": (Kind.ERROR_AFTER,),
    "error, then done": (Kind.ERROR_THEN_APPEARS,),
    "refused": (),  # The charge is disputed, say.
    "failed at once": (),
    "still under way": (),  # Its caller has given up; it comes to the provider later, or never.
    "interrupted": (),  # It was done, and the caller's process hears Ctrl-C in place of the answer.
}
LOOKS: Mapping[str, tuple[Kind, ...]] = {
    "whole": (),
    "broken": (
        Kind.DROP_BEFORE,
        Kind.ERROR_BEFORE,
        Kind.RATE_LIMIT,
        Kind.FORBIDDEN,
        Kind.DROP_AFTER,
        Kind.CUT_BODY_AFTER,
        Kind.HTML_AFTER,
        Kind.DROP_PAGE,
    ),
    "broken late": (Kind.HANG_BEFORE, Kind.HANG_AFTER, Kind.DRIP),
    "whole late": (Kind.LATENCY,),
    "not shown": (Kind.INVISIBLE,),
}
_LATE = {"lost late", "unheard late", "answered late", "still under way"}
_HEARD = {
    "limited": Heard(429, refused=True, said="too many requests"),
    "forbidden": Heard(403, refused=True, said="forbidden"),
}
_ANSWERS = {
    "error": Heard(500, refused=True, kind="api_error", said="an error"),
    "taken": Heard(400, refused=True, param="amount", kind="invalid_request_error", said="too much"),
    "refused": Heard(
        400, refused=True, code="charge_disputed", kind="invalid_request_error", said="disputed"
    ),
    "other body": Heard(400, refused=True, kind="idempotency_error", said="another body"),
}


class Provider:
    """One payment of 100.00, keys that are kept for a day, lists that show refunds late."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage

    def send(
        self, body: Mapping[str, object], key: str, account: AccountId, *, until: float | None = None
    ) -> Heard:
        """Send a body once."""
        stage = self._stage
        assert until is not None, "the guard's requests have a deadline"
        assert account == PLATFORM, "all orders are the platform's own"
        stage.point("leave")
        if self.is_late(until):
            return Heard(unsent=True, said="too late")
        amount = body["amount"]
        assert isinstance(amount, int), "money is whole"
        stage.observe(lambda: stage.leave(Flight(stage.me, key, amount, stored.canonical(body))))
        way = stage.point("post")
        heard = stage.observe(lambda: self._met(way, key))
        if way in _LATE:
            stage.sleep(SETTINGS.send_timeout_seconds)
        if way == "interrupted":
            raise KeyboardInterrupt
        return heard

    def is_late(self, until: float) -> bool:
        """Return whether nothing may leave any more."""
        return self._stage.timer() >= until

    def find(self, payment: str, account: AccountId, *, until: float | None = None) -> tuple[Refund, ...]:
        """List every refund of the payment."""
        del until
        assert (payment, account) == (PAYMENT, PLATFORM), "all orders are of one payment"
        return self._looked()

    def retrieve(
        self, refund_id: RefundId, account: AccountId, *, until: float | None = None
    ) -> Refund | None:
        """Return a refund as it stands; None where it is not shown."""
        del until, account
        return next((each for each in self._looked() if each.id == refund_id), None)

    def now(self) -> None:
        """Return None: its clock is the guard's."""
        return

    def land(self, world: World, flight: Flight) -> World:
        """Return the world in which a request that nobody waits for has come to the provider after all."""
        at = world.flights.index(flight)
        flown = replace(world, flights=(*world.flights[:at], *world.flights[at + 1 :]))
        return _execute(flown, flight, "answered")[0]

    def _met(self, way: str, key: str) -> Heard:
        """Return what comes back on the request that this actor has under way."""
        stage = self._stage
        flight = next(each for each in stage.world.flights if each.who == stage.me and each.key == key)
        stage.world, heard, answer = met(stage.world, flight, way)
        if answer:
            stage.seen(replayed=answer == "again done")
        return heard

    def _looked(self) -> tuple[Refund, ...]:
        """Return all refunds that are shown.

        Raises:
            ProviderUnavailable: something went wrong.
        """
        stage = self._stage
        way = stage.point("look")
        found = stage.observe(lambda: self._shown(way))
        if "late" in way:
            stage.sleep(SETTINGS.send_timeout_seconds)
        if way.startswith("broken"):
            raise ProviderUnavailable("it broke off")
        return found

    def _shown(self, way: str) -> tuple[Refund, ...]:
        stage = self._stage
        world = stage.world
        if way.startswith("broken"):
            return ()
        stage.seen()
        since = world.time - (SHOWN_SECONDS if way == "not shown" else 0.0)
        shown = tuple(each for each in world.made if each.at <= since)
        for trail in world.trails:
            if all(each.key != trail.key for each in shown):
                stage.world = missed(stage.world, trail.key)
        return tuple(map(_refund, shown))


def met(world: World, flight: Flight, way: str) -> tuple[World, Heard, str]:
    """Return the world after a request met its way, what comes back on it, and the true answer.

    The last is empty where nothing was executed.
    """
    others = tuple(each for each in world.flights if each is not flight)
    if way == "still under way":
        return replace(world, flights=(*others, replace(flight, who=None))), _SILENCE, ""
    flown = replace(world, flights=others)
    if way in _HEARD:
        return unsent(flown, flight), _HEARD[way], ""
    if way in {"lost", "lost late"}:
        return flown, _SILENCE, ""
    done, answer = _execute(flown, flight, way)
    heard = _SILENCE if way in {"unheard", "unheard late"} else _heard(answer, flight)
    return done, heard, answer


def _execute(world: World, flight: Flight, way: str) -> tuple[World, str]:
    """Return the world after a request was executed, and the answer that is kept of it."""
    kept = next((each for each in world.kept if each.key == flight.key), None)
    if kept is not None and world.time - kept.at < KEPT_SECONDS:
        return world, f"again {kept.answer}" if kept.body == flight.body else "other body"
    taken = sum(each.minor for each in world.made if not each.dead)
    answer = {"error kept": "error", "error, then done": "error", "refused": "refused"}.get(way, "done")
    if taken + flight.minor > HELD:
        answer = "taken"
    elif way == "failed at once":
        answer = "dead"
    if answer in {"done", "dead", "error"}:
        at = world.time + (LATE_SECONDS if way == "error, then done" else 0.0)
        world = executed(world, Made(flight.key, flight.minor, at, dead=answer == "dead"))
    others = tuple(each for each in world.kept if each.key != flight.key)
    return replace(world, kept=(*others, Kept(flight.key, world.time, flight.body, answer))), answer


def _heard(answer: str, flight: Flight) -> Heard:
    said = answer.removeprefix("again ")
    if said in {"done", "dead"}:
        refund = replace(_made(flight.key, dead=said == "dead"), amount_minor=flight.minor)
        return Heard(200, refund=refund, replayed=said != answer)
    return replace(_ANSWERS[said], replayed=said != answer)


def _refund(made: Made) -> Refund:
    return replace(
        _made(made.key, dead=made.dead),
        amount_minor=made.minor,
        created_at=NOON + timedelta(seconds=int(made.at)),
    )


@cache
def _made(key: str, *, dead: bool) -> Refund:
    status = RefundStatus.FAILED if dead else RefundStatus.SUCCEEDED
    named = {"payment_intent": PAYMENT, "charge": None, "intent_key": IntentKey(key), "request_key": None}
    return a_refund(id=RefundId(f"re_{key}"), account=PLATFORM, status=status, created_at=NOON, **named)
