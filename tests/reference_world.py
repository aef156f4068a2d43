"""The slow, obvious reading of which refund belongs to which intent, and the world the rules look at.

Written from the text of the contract and apart from the product: nothing here may import the product.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from tests.reference_books import Books
from tests.reference_rows import Intent, Refund

DEFAULTS: Mapping[str, timedelta | bool] = {
    "stuck_after": timedelta(minutes=60),
    "missing_after": timedelta(minutes=15),
    "orphan_after": timedelta(minutes=15),
    "duplicate_window": timedelta(hours=24),
    "repeat_window": timedelta(days=30),
    "inferred_window": timedelta(hours=24),
    "clock_skew": timedelta(seconds=5),
    "provider_pending_after": timedelta(days=7),
    "healing": True,
}

Name = tuple[str, str]


@dataclass(slots=True)
class World:
    """All that a rule may look at."""

    books: Books
    as_of: datetime
    policy: Mapping[str, timedelta | bool]
    incomplete: frozenset[str]
    refunds_from: datetime | None
    intents_from: datetime | None
    older_is_outside: bool
    basis: dict[Name, str] = field(default_factory=dict)
    links: dict[Name, Name] = field(default_factory=dict)
    live: dict[Name, list[Refund]] = field(default_factory=lambda: defaultdict(list))
    dead: dict[Name, list[Refund]] = field(default_factory=lambda: defaultdict(list))
    before: dict[Name, Refund] = field(default_factory=dict)
    before_without_references: dict[Name, Refund] = field(default_factory=dict)

    def grace(self, name: str) -> timedelta:
        """One of the policy's times."""
        value = self.policy[name]
        assert isinstance(value, timedelta)
        return value

    def ripe(self, since: datetime, name: str) -> bool:
        """Whether the grace of that name has passed since then."""
        return self.as_of - since >= self.grace(name)

    def taking_part(self) -> list[Refund]:
        """All refunds but the provider's own, in time order."""
        return sorted((r for r in self.books.refunds if not r.system), key=in_time)

    def unlinked(self) -> list[Refund]:
        """The live refunds that belong to no intent, in time order."""
        return [r for r in self.taking_part() if r.live and r.me not in self.links]


def in_time(refund: Refund) -> tuple[datetime, str]:
    """A refund's place in time order."""
    return (refund.created_at, refund.id)


def by_age(intent: Intent) -> tuple[datetime, str]:
    """An intent's place in time order."""
    return (intent.created_at, intent.key)


def settle(world: World) -> None:
    """Link every refund to at most one intent of its account, then see which intents repeat another."""
    link_by_key(world, "operator")
    link_by_key(world, "intent_key")
    link_by_claim(world)
    link_by_key(world, "request_key")
    link_by_likeness(world)
    for refund in world.taking_part():
        if refund.me in world.links:
            side = world.live if refund.live else world.dead
            side[world.links[refund.me]].append(refund)
    world.before = ones_before(world, references=True)
    world.before_without_references = ones_before(world, references=False)


def put(world: World, refund: Name, intent: Name, basis: str) -> None:
    """Say that a refund belongs to an intent, and why."""
    assert refund not in world.links
    world.links[refund] = intent
    world.basis[refund] = basis


def link_by_key(world: World, basis: str) -> None:
    """A refund that names a standing intent's key, in the way of that basis, belongs to it."""
    intents = {intent.me for intent in world.books.intents}
    for refund in world.taking_part():
        key = {
            "operator": refund.operator_key,
            "intent_key": refund.intent_key,
            "request_key": refund.request_key,
        }[basis]
        if key is not None and (refund.account, key) in intents and refund.me not in world.links:
            put(world, refund.me, (refund.account, key), basis)


def link_by_claim(world: World) -> None:
    """A refund whose id an intent recorded belongs to it; of several such intents to the earliest."""
    refunds = {refund.me for refund in world.taking_part()}
    for intent in sorted(world.books.intents, key=by_age):
        if intent.refund_id is not None:
            claimed = (intent.account, intent.refund_id)
            if claimed in refunds and claimed not in world.links:
                put(world, claimed, intent.me, "refund_id")


def link_by_likeness(world: World) -> None:
    """A live refund that names no intent_key belongs to an intent without refunds that looks just like it."""
    rank = {"done": 0, "pending_unknown": 1, "pending": 2}
    taken = set(world.links.values())
    free = [i for i in world.books.intents if i.me not in taken and i.status in rank]
    free.sort(key=lambda i: (rank[i.status], by_age(i)))
    for refund in world.unlinked():
        if refund.intent_key is not None or refund.payment is None:
            continue
        fitting = [intent for intent in free if alike(world, refund, intent)]
        if fitting:
            put(world, refund.me, fitting[0].me, "inferred")
            free.remove(fitting[0])


def alike(world: World, refund: Refund, intent: Intent) -> bool:
    """Same account, payment, amount and currency, and made at about the time the intent was sent."""
    earliest = intent.asked_at - world.grace("clock_skew")
    latest = intent.asked_at + world.grace("inferred_window")
    return (
        (refund.account, refund.payment, refund.amount, refund.currency)
        == (intent.account, intent.payment, intent.amount, intent.currency)
    ) and earliest <= refund.created_at <= latest


def ones_before(world: World, *, references: bool) -> dict[Name, Refund]:
    """For each intent that repeats one before it in its group in time, the first refund of that one."""
    groups: dict[object, list[tuple[Refund, Intent]]] = defaultdict(list)
    for intent in world.books.intents:
        if not world.live[intent.me]:
            continue
        first = world.live[intent.me][0]
        if first.payment is not None:
            about = ("payment", first.payment)
        elif intent.order_id is not None:
            about = ("order", intent.order_id)
        else:
            continue
        reference = intent.reference if references else None
        groups[(intent.account, about, intent.amount, intent.currency, reference)].append((first, intent))
    found: dict[Name, Refund] = {}
    for group in groups.values():
        group.sort(key=lambda pair: in_time(pair[0]))
        for (earlier, _), (first, intent) in pairwise(group):
            if first.created_at - earlier.created_at <= world.grace("repeat_window"):
                found[intent.me] = earlier
    return found
