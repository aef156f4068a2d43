"""Rules 10 and 11: live refunds that belong to no intent, and the twin that makes one a duplicate."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import Links
from recon.model.records.results import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Strays:
    """The refunds that are linked to nothing, as positions and arrays beside them.

    refund: positions, live and not system. twin: the position of each one's twin, -1 for none. firing: old
    enough and judged. young: too young. withheld: not judged; uncovered: of those, because intents were not
    read; older: of those, the ones that are only older than the intents that were.
    """

    refund: Ints
    twin: Ints
    firing: Bools
    young: Bools
    withheld: Bools
    uncovered: Bools
    older: Bools


def judge(
    refunds: pd.DataFrame,
    links: Links,
    *,
    policy: Policy,
    covered: Bools,
    outside: Bools,
    untouchable: Bools,
    as_of: int,
) -> Strays:
    """Return the strays.

    covered: per refund, whether every intent until its creation was read. outside: per refund, whether it is
    older than anybody asks. untouchable: per refund, whether it names a rejected intent or is named by one.
    as_of: microseconds.
    """
    live = links.live & ~refunds["system"].to_numpy()
    stray = np.flatnonzero(live & (links.intent == ABSENT))
    age = as_of - arrays.times(refunds["created_at"])[stray]
    judged = ~untouchable[stray]
    old = age >= arrays.microseconds(policy.orphan_after)
    uncovered = judged & old & ~covered[stray]
    return Strays(
        refund=stray,
        twin=_twins(refunds, links, live, stray, arrays.microseconds(policy.duplicate_window)),
        firing=judged & old & covered[stray],
        young=judged & ~old,
        withheld=~judged | uncovered,
        uncovered=uncovered,
        older=uncovered & outside[stray],
    )


def _twins(refunds: pd.DataFrame, links: Links, live: Bools, stray: Ints, window: int) -> Ints:
    """Return each stray's twin."""
    twin = np.full(len(refunds), ABSENT, np.int64)
    on_payment = np.zeros(len(links.payments) + 1, bool)
    on_payment[links.refund_payment[stray]] = True
    on_payment[ABSENT] = False
    near = np.flatnonzero(live & on_payment[links.refund_payment])
    if len(near) == 0:
        return twin[stray]
    (currency,), _ = arrays.encode(arrays.strings(refunds["currency"].iloc[near]))
    groups = arrays.group(
        links.refund_account[near],
        links.refund_payment[near],
        refunds["amount_minor"].to_numpy()[near],
        currency,
    )
    crowded = np.bincount(groups)[groups] > 1
    near, groups = near[crowded], groups[crowded]
    table = pd.DataFrame(
        {
            "group": groups,
            "at": arrays.times(refunds["created_at"])[near],
            "id": refunds["id"].iloc[near].to_numpy(object),
            "refund": near,
            "linked": links.intent[near] != ABSENT,
        }
    ).sort_values(["group", "at", "id"], kind="stable")
    refund, at, linked = table["refund"].to_numpy(), table["at"].to_list(), table["linked"].to_numpy()
    starts = np.flatnonzero(np.diff(table["group"].to_numpy(), prepend=ABSENT)).tolist()
    for start, end in pairwise([*starts, len(table)]):
        for place, chosen in _group_twins(at[start:end], linked[start:end], window):
            twin[refund[start + place]] = refund[start + chosen]
    return twin[stray]


def _group_twins(at: Sequence[int], linked: Bools, window: int) -> list[tuple[int, int]]:
    """Return (place, place of its twin) for the strays of one group, whose places are in time order.

    A linked one, before or after it, comes first; else an unlinked one before it. Of several the nearest in
    time, then the earliest.
    """
    linked_places = np.flatnonzero(linked).tolist()
    linked_at = [at[place] for place in linked_places]
    pairs = []
    for place in np.flatnonzero(~linked).tolist():
        chosen = _nearest(linked_at, at[place], window)
        if chosen is not None:
            pairs.append((int(place), int(linked_places[chosen])))
            continue
        earlier = _previous(at, linked, int(place))
        if earlier is not None and at[place] - at[earlier] <= window:
            pairs.append((int(place), earlier))
    return pairs


def _nearest(ordered: Sequence[int], moment: int, window: int) -> int | None:
    """Return the place of the time nearest to the moment, at most the window away; of equals the earliest."""
    after = bisect_left(ordered, moment)
    candidates = [place for place in (after - 1, after) if 0 <= place < len(ordered)]
    nearest = min(candidates, key=lambda place: (abs(ordered[place] - moment), ordered[place]), default=None)
    if nearest is None or abs(ordered[nearest] - moment) > window:
        return None
    return bisect_left(ordered, ordered[nearest])


def _previous(at: Sequence[int], linked: Bools, place: int) -> int | None:
    """Return the unlinked place before this one that is nearest in time; of equals in time the earliest.

    No linked place lies within the window of this one, so a linked one between the two is out of reach as
    well.
    """
    before = place - 1
    while before >= 0 and linked[before]:
        before -= 1
    if before < 0:
        return None
    first = bisect_left(at, at[before])
    return next(earlier for earlier in range(first, before + 1) if not linked[earlier])
