"""Rules 1 to 9: what is wrong with each intent, given the refunds linked to it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import WEAK, Links
from recon.model.money import LARGEST_MINOR
from recon.model.records.results import Policy
from recon.model.records.words import ON_ITS_WAY, UNSETTLED, IntentStatus
from recon.rules.mismatches import repeats

# The rules by their number in the design; 0 is none.
NONE, DUPLICATE, CURRENCY, AMOUNT, REPEAT, STATUS, FAILED, MISSING, STUCK, OVERDUE = range(10)
NOT_DONE = (IntentStatus.FAILED, IntentStatus.CANCELLED)

_HALF = 32  # Bits of an amount that are added apart; two thousand million halves are still an int64.
_LOWER = 2**_HALF - 1


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """The refunds of each intent, as arrays.

    live_refunds, dead_refunds: positions of linked refunds, by intent and in time order within one. live,
    dead: how many each intent has; live_from, dead_from: where its own begin. first: its first live refund,
    -1 for none. excess: 1 where the live ones add up to more minor units than the intent, -1 to less, 0 to
    the same. at_home: whether all of them are in the intent's currency. weak: whether the link is inferred.
    """

    live_refunds: Ints
    dead_refunds: Ints
    live: Ints
    dead: Ints
    live_from: Ints
    dead_from: Ints
    first: Ints
    excess: npt.NDArray[np.int8]
    at_home: Bools
    weak: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What became of each intent: exactly one of a rule, young, healable, withheld, agreeing; but 4 may heal.

    rule: the number of the rule that fires, else 0. young: the rule (MISSING or STUCK) that is only too
    young, else 0. before: the intent before it in its group, for rule 4. covered: whether every refund since
    it was created was read. uncovered: of the withheld, those that coverage withholds; older: of those, the
    ones that are only older than what was read. stuck_since: when it was first sent, else created, in
    microseconds.
    """

    rule: npt.NDArray[np.int8]
    young: npt.NDArray[np.int8]
    healable: Bools
    withheld: Bools
    uncovered: Bools
    older: Bools
    before: Ints
    covered: Bools
    stuck_since: Ints
    declared_repeats: int

    @property
    def agreeing(self) -> Bools:
        """Return which intents have nothing wrong, nothing waiting and nothing withheld."""
        return np.asarray((self.rule == NONE) & (self.young == NONE) & ~self.healable & ~self.withheld)


def gather(intents: pd.DataFrame, refunds: pd.DataFrame, links: Links) -> Linked:
    """Return each intent's refunds."""
    linked = links.intent != ABSENT
    live = _by_intent(refunds, links, linked & links.live)
    dead = _by_intent(refunds, links, linked & ~links.live)
    number_live = np.bincount(links.intent[live], minlength=len(intents))
    number_dead = np.bincount(links.intent[dead], minlength=len(intents))
    live_from, dead_from = _starts(number_live), _starts(number_dead)
    first = np.full(len(intents), ABSENT, np.int64)
    having = number_live > 0
    first[having] = live[live_from[having]]

    paid, meant = refunds["amount_minor"].to_numpy()[live], intents["amount_minor"].to_numpy()
    excess = _excess(links.intent[live], paid, meant)
    (intent_currency, refund_currency), _ = arrays.encode(
        arrays.strings(intents["currency"]), arrays.strings(refunds["currency"])
    )
    abroad = live[refund_currency[live] != intent_currency[links.intent[live]]]
    at_home = np.ones(len(intents), bool)
    at_home[links.intent[abroad]] = False
    weak = np.zeros(len(intents), bool)
    weak[links.intent[links.basis == WEAK]] = True
    return Linked(live, dead, number_live, number_dead, live_from, dead_from, first, excess, at_home, weak)


def _excess(intent: Ints, paid: Ints, meant: Ints) -> npt.NDArray[np.int8]:
    """Return whether each intent's amounts add up to more than it, 1, to less, -1, or to the same, 0."""
    total = np.zeros(len(meant), np.int64)
    if float(paid.max(initial=0)) * len(paid) < LARGEST_MINOR:
        np.add.at(total, intent, paid)
        return _sign(total, meant)
    # Only here can a sum be beyond an int64: its halves are added apart, and what the lower carries then.
    upper, lower = total, total.copy()
    np.add.at(upper, intent, paid >> _HALF)
    np.add.at(lower, intent, paid & _LOWER)
    upper += lower >> _HALF
    by_upper, by_lower = _sign(upper, meant >> _HALF), _sign(lower & _LOWER, meant & _LOWER)
    return np.where(by_upper != 0, by_upper, by_lower)


def _sign(total: Ints, meant: Ints) -> npt.NDArray[np.int8]:
    return (total > meant).astype(np.int8) - (total < meant).astype(np.int8)


def _by_intent(refunds: pd.DataFrame, links: Links, wanted: Bools) -> Ints:
    """Return the wanted refunds by intent, in time order within one."""
    positions = np.flatnonzero(wanted)
    intent = links.intent[positions]
    numbers = np.bincount(intent, minlength=1)
    alone = numbers[intent] == 1
    # Most are alone with their intent, and so have their place without sorting.
    ordered = np.full(len(positions), ABSENT, np.int64)
    ordered[_starts(numbers)[intent[alone]]] = positions[alone]
    some = positions[~alone]
    if len(some):
        order = pd.DataFrame(
            {
                "intent": links.intent[some],
                "at": arrays.times(refunds["created_at"])[some],
                "id": refunds["id"].iloc[some].to_numpy(object),
            }
        ).sort_values(["intent", "at", "id"], kind="stable")
        # The places that are left are filled in the same order of intents, so each intent keeps its own.
        ordered[ordered == ABSENT] = some[order.index.to_numpy()]
    return ordered


def _starts(numbers: Ints) -> Ints:
    return np.cumsum(numbers) - numbers


def judge(
    intents: pd.DataFrame,
    refunds: pd.DataFrame,
    links: Links,
    linked: Linked,
    *,
    policy: Policy,
    covered: Bools,
    outside: Ints,
    untouchable: Bools,
    as_of: int,
) -> Judgement:
    """Return what is wrong with each intent.

    covered: per intent, whether every refund since its creation was read. outside: per intent, the time
    before which nobody asks, in microseconds. untouchable: per intent, whether a rejected row names it or is
    named by it. as_of: microseconds.
    """
    stand = _stand(intents, linked, policy=policy, untouchable=untouchable, as_of=as_of)
    repeat = repeats.find(intents, refunds, links, linked.first, policy)
    old = stand.stuck & stand.stuck_old & ~covered & (linked.live == 0) & (stand.stuck_since < outside)
    by_rule = (
        (DUPLICATE, stand.twice),
        (CURRENCY, stand.abroad),
        (AMOUNT, stand.over | (stand.under & covered)),
        (REPEAT, repeat.before != ABSENT),
        (STATUS, stand.denied),
        (FAILED, stand.came_back & covered),
        (MISSING, stand.missing & stand.missing_old & covered),
        (STUCK, stand.stuck & stand.stuck_old & ~old),
        (OVERDUE, _overdue(intents, refunds, links, linked, policy=policy, as_of=as_of)),
    )
    rule = _first(by_rule, untouchable=untouchable, healable=stand.healable)
    quiet = (rule == NONE) & ~stand.healable & ~untouchable
    young = _young(stand, quiet)
    hidden = stand.under | stand.came_back | (stand.missing & stand.missing_old) | old
    uncovered = quiet & (young == NONE) & ~covered & hidden
    return Judgement(
        rule=rule,
        young=young,
        healable=stand.healable,
        withheld=uncovered | untouchable,
        uncovered=uncovered,
        older=uncovered & (arrays.times(intents["created_at"]) < outside),
        before=repeat.before,
        covered=covered,
        stuck_since=stand.stuck_since,
        declared_repeats=repeat.declared,
    )


def _young(stand: "_Standing", quiet: Bools) -> npt.NDArray[np.int8]:
    """Return the rule that each intent about which no rule fires is only too young for."""
    young = np.zeros(len(quiet), np.int8)
    young[quiet & stand.missing & ~stand.missing_old] = MISSING
    young[quiet & stand.stuck & ~stand.stuck_old] = STUCK
    return young


def _first(
    by_rule: Iterable[tuple[int, Bools]], *, untouchable: Bools, healable: Bools
) -> npt.NDArray[np.int8]:
    """Return the first rule that applies to each intent; to a healable one only rule 4 does."""
    rule = np.zeros(len(untouchable), np.int8)
    for number, applies in by_rule:
        may = ~untouchable if number == REPEAT else ~untouchable & ~healable
        rule[(rule == NONE) & applies & may] = number
    return rule


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    """How each intent and its refunds compare, before any rule or grace says what that means.

    missing_old, stuck_old: whether the grace is over. stuck_since: when it was first sent, else created.
    """

    twice: Bools
    abroad: Bools
    over: Bools
    under: Bools
    denied: Bools
    healable: Bools
    came_back: Bools
    missing: Bools
    missing_old: Bools
    stuck: Bools
    stuck_old: Bools
    stuck_since: Ints


def _stand(
    intents: pd.DataFrame, linked: Linked, *, policy: Policy, untouchable: Bools, as_of: int
) -> _Standing:
    """Return how each intent and its refunds compare."""
    status = arrays.strings(intents["status"])
    done = arrays.isin(status, (IntentStatus.DONE,))
    waiting = arrays.isin(status, UNSETTLED)
    some, one = linked.live > 0, linked.live == 1
    more, less = linked.excess > 0, linked.excess < 0
    whole = linked.at_home & ~more & ~less
    healable = waiting & one & whole & ~linked.weak & ~untouchable & policy.healing
    sent = intents["first_sent_at"].notna().to_numpy()
    stuck_since = np.where(sent, arrays.times(intents["first_sent_at"]), arrays.times(intents["created_at"]))
    missing_age = as_of - arrays.times(intents["updated_at"])
    return _Standing(
        twice=(linked.live > 1) & (~linked.at_home | more),
        abroad=one & ~linked.at_home,
        over=some & linked.at_home & more,
        under=some & linked.at_home & less,
        denied=some & arrays.isin(status, NOT_DONE),
        healable=healable,
        came_back=done & ~some & (linked.dead > 0),
        missing=done & ~some & (linked.dead == 0),
        missing_old=missing_age >= arrays.microseconds(policy.missing_after),
        stuck=waiting & ~healable,
        stuck_old=as_of - stuck_since >= arrays.microseconds(policy.stuck_after),
        stuck_since=stuck_since,
    )


def pending(status: pa.Array, linked: Linked) -> Ints:
    """Return the linked live refunds that the provider has not finished; status is the refunds' column."""
    return linked.live_refunds[arrays.isin(status, ON_ITS_WAY)[linked.live_refunds]]


def _overdue(
    intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, linked: Linked, *, policy: Policy, as_of: int
) -> Bools:
    waiting = pending(arrays.strings(refunds["status"]), linked)
    age = as_of - arrays.times(refunds["created_at"])[waiting]
    overdue = np.zeros(len(intents), bool)
    overdue[links.intent[waiting[age >= arrays.microseconds(policy.provider_pending_after)]]] = True
    return overdue
