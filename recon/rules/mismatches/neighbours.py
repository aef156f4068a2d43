"""What else is on the payment of a mismatch, and linked to nothing: it may be what somebody looks for.

Only for sentences: no rule rests on it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import Links
from recon.rules.mismatches import intents as nine
from recon.rules.mismatches.intents import Judgement, Linked
from recon.rules.mismatches.strays import Strays


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Positions beside positions; who has no neighbour is not named.

    live: per missing intent, the live refunds on its payment that are nobody's. dead: per missing intent, the
    failed or canceled ones. declined: per stray refund, the intents on its payment that say failed or
    cancelled and to which no live refund is linked. missing: per stray refund, the missing intents on its
    payment that no other's claim explains. In no particular order.
    """

    live: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    dead: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    declined: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    missing: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def find(
    links: Links, *, judged: Judgement, stray: Strays, linked: Linked, declined: Bools, system: Bools
) -> Neighbours:
    """Return what is beside the missing intents and the stray refunds that are mismatches.

    declined: per intent, whether it says failed or cancelled. system: per refund, whether the provider made
    it by itself.
    """
    missing = np.flatnonzero(judged.rule == nine.MISSING)
    firing = stray.refund[stray.firing]
    free = stray.refund[~stray.withheld]
    dead = np.flatnonzero(~links.live & ~system & (links.intent == ABSENT)) if len(missing) else missing
    refused = np.flatnonzero(declined & (linked.live == 0)) if len(firing) else firing
    places, strays = places_of_intents(links, missing), places_of_refunds(links, firing)
    unexplained = links.claimed_by[missing] == ABSENT
    return Neighbours(
        live=_beside(missing, places, free, places_of_refunds(links, free)),
        dead=_beside(missing, places, dead, places_of_refunds(links, dead)),
        declined=_beside(firing, strays, refused, places_of_intents(links, refused)),
        missing=_beside(firing, strays, missing[unexplained], places[unexplained]),
    )


def places_of_intents(links: Links, positions: Ints) -> Ints:
    """Return a number per account and payment, -1 for an intent on whose payment no refund is."""
    payment = arrays.find(links.intent_payment.take(positions), links.payments)
    return _places(links, links.intent_account[positions], payment)


def places_of_refunds(links: Links, positions: Ints) -> Ints:
    """Return the same numbers for refunds."""
    return _places(links, links.refund_account[positions], links.refund_payment[positions])


def _places(links: Links, account: Ints, payment: Ints) -> Ints:
    return np.where(payment == ABSENT, ABSENT, account * (len(links.payments) + 1) + payment)


def _beside(asked: Ints, at: Ints, others: Ints, there: Ints) -> dict[int, tuple[int, ...]]:
    """Return for each of the asked that has any the others at its place."""
    near = np.isin(there, at) & (there != ABSENT)
    found: defaultdict[int, list[int]] = defaultdict(list)
    pairs: Iterable[tuple[int, int]] = zip(there[near].tolist(), others[near].tolist(), strict=True)
    for place, other in pairs:
        found[place].append(other)
    return {
        one: tuple(found[place])
        for one, place in zip(asked.tolist(), at.tolist(), strict=True)
        if place in found
    }
