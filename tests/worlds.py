"""Random small worlds for the diff, drawn so that collisions of every kind are frequent.

A world is rows as a file would give them, and what else the diff takes. Times stand exactly on, a
microsecond and a second before and after every grace, counted from as_of and from each other. The same seed
draws the same world.

Left out on purpose, because the contract does not decide them: one charge shown with two PaymentIntents,
versions of a refund that differ in created_at or from an unknown to a known status, equal intents that name
their payment once by charge and once by PaymentIntent, flat refund rows with `amount`, columns that have no
name in the contract.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from hypothesis import strategies as st

from tests.drawer import AS_OF, GRACES, IDS, KEYS, SIZES, Drawer, Row
from tests.motifs import motif


@dataclass(frozen=True, slots=True)
class World:
    """Everything the diff takes."""

    intents: tuple[Row, ...]
    refunds: tuple[Row, ...]
    policy: Mapping[str, timedelta | bool] = field(default_factory=dict)
    incomplete: frozenset[str] = frozenset()
    refunds_from: datetime | None = None
    intents_from: datetime | None = None
    older_is_outside: bool = False
    as_of: datetime = AS_OF

    @property
    def paged(self) -> bool:
        """Whether the refunds are the provider's objects and not flat rows."""
        return any("object" in row for row in self.refunds)

    def text(self) -> str:
        """The world as JSON, for people."""
        document = {
            "as_of": self.as_of,
            "policy": {
                name: value if isinstance(value, bool) else value.total_seconds()
                for name, value in self.policy.items()
            },
            "incomplete": sorted(self.incomplete),
            "refunds_from": self.refunds_from,
            "intents_from": self.intents_from,
            "older_is_outside": self.older_is_outside,
            "intents": self.intents,
            "refunds": self.refunds,
        }
        return json.dumps(document, indent=1, default=str)


def worlds() -> st.SearchStrategy[World]:
    """Worlds for a property; a failing one is made smaller by tests.agreement, not by hypothesis."""
    return st.integers(min_value=0, max_value=2**48).map(lambda seed: draw(Random(seed)))


def draw(random: Random) -> World:
    """One world."""
    policy = a_policy(random)
    paged = random.random() < 0.15
    times = {name: value for name, value in policy.items() if not isinstance(value, bool)}
    drawer = Drawer(random, {**GRACES, **times}, whole_seconds=paged)
    keys = random.sample(KEYS, random.choice(SIZES))
    ids = random.sample(IDS, random.choice(SIZES))
    intents = [drawer.intent(key) for key in keys]
    refunds = []
    for place, name in enumerate(ids):
        intent = partner(drawer, intents, place)
        refunds.append(drawer.refund(name, intent))
        if intent is not None and drawer.chance(0.2):
            intent["refund_id"] = name
    if drawer.chance(0.35):
        more_intents, more_refunds = motif(drawer)
        intents, refunds = intents[:4] + more_intents, refunds[:4] + more_refunds
    intents = [r for i in intents for r in drawer.spoil(i, drawer.intent_version, drawer.bad_intent)]
    refunds = [r for f in refunds for r in drawer.spoil(f, drawer.refund_version, drawer.bad_refund)]
    random.shuffle(intents)
    random.shuffle(refunds)
    return World(
        intents=tuple(intents),
        refunds=tuple(drawer.pages([drawer.as_object(row) for row in refunds]) if paged else refunds),
        policy=policy,
        incomplete=frozenset(side for side in ("intents", "refunds") if random.random() < 0.06),
        refunds_from=drawer.limit() if random.random() < 0.12 else None,
        intents_from=drawer.limit() if random.random() < 0.12 else None,
        older_is_outside=random.random() < 0.5,
    )


def partner(drawer: Drawer, intents: list[Row], place: int) -> Row | None:
    """The intent that a refund is drawn after: in a calm world one each, as long as there are any."""
    if drawer.calm and place < len(intents):
        return intents[place]
    return drawer.random.choice(intents) if intents else None


def a_policy(random: Random) -> dict[str, timedelta | bool]:
    """Mostly the defaults; sometimes healing is off or some of the times are others."""
    policy: dict[str, timedelta | bool] = {}
    if random.random() < 0.2:
        policy["healing"] = False
    if random.random() < 0.15:
        others = (timedelta(0), timedelta(seconds=1), timedelta(minutes=15), timedelta(hours=24))
        for name in random.sample(sorted(GRACES), 3):
            policy[name] = random.choice(others)
    return policy
