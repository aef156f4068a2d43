"""The slow, obvious reading of the eleven rules, one small function each.

Written from the text of the contract and apart from the product: nothing here may import the product.
L is what an intent's live refunds are called, D its dead ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.reference_rows import Intent, Refund
from tests.reference_world import World, in_time

UNSETTLED = ("pending_unknown", "pending")
Found = dict[str, object]


@dataclass(frozen=True, slots=True)
class Young:
    """A rule that will fire if nothing changes."""

    becomes: str
    breaks_at: datetime


@dataclass(frozen=True, slots=True)
class Withheld:
    """A rule that cannot be asked, because not everything was read."""


Answer = Found | Young | Withheld | None


def ids(refunds: Iterable[Refund]) -> list[str]:
    """The refunds' ids in time order."""
    return [refund.id for refund in sorted(refunds, key=in_time)]


def about_intent(intent: Intent, kind: str, at_risk: int, currency: str, since: datetime) -> Found:
    """A mismatch about an intent, with nothing but what every mismatch says."""
    return {
        "kind": kind,
        "certainty": "confirmed",
        "finding": None,
        "subject": f"intent:{intent.key}",
        "account": intent.account,
        "intent_key": intent.key,
        "order_id": intent.order_id,
        "customer_id": intent.customer_id,
        "tool": intent.tool,
        "team": intent.team,
        "payment": intent.payment,
        "refund_ids": [],
        "extra_refund_ids": [],
        "amount_at_risk": at_risk,
        "currency": currency,
        "since": since,
        "direction": None,
        "diagnosis": None,
        "why": "",
    }


def about_refund(refund: Refund, kind: str) -> Found:
    """A mismatch about a refund: all of it is at risk since it was made."""
    return {
        "kind": kind,
        "certainty": "confirmed",
        "finding": None,
        "subject": f"refund:{refund.id}",
        "account": refund.account,
        "intent_key": refund.intent_key,
        "order_id": None,
        "customer_id": None,
        "tool": None,
        "team": None,
        "payment": refund.payment,
        "refund_ids": [refund.id],
        "extra_refund_ids": [],
        "amount_at_risk": refund.amount,
        "currency": refund.currency,
        "since": refund.created_at,
        "direction": None,
        "diagnosis": None,
        "why": "",
    }


def all_refunds_read(world: World, intent: Intent) -> bool:
    """Whether every refund since the intent was created was read."""
    if "refunds" in world.incomplete:
        return False
    return world.refunds_from is None or world.refunds_from <= intent.created_at


def all_intents_read(world: World, refund: Refund) -> bool:
    """Whether every intent until the refund was read."""
    if "intents" in world.incomplete:
        return False
    return world.intents_from is None or world.intents_from <= refund.created_at


def is_outside(world: World, moment: datetime, side: str) -> bool:
    """Whether something this old is nobody's question: before all that was read of that side."""
    began = world.refunds_from if side == "refunds" else world.intents_from
    return world.older_is_outside and side not in world.incomplete and began is not None and moment < began


def same_currency(refunds: Iterable[Refund], intent: Intent) -> bool:
    """Whether all of them are in the intent's currency."""
    return all(refund.currency == intent.currency for refund in refunds)


def total(refunds: Iterable[Refund]) -> int:
    """The sum of amounts, which must be of one currency."""
    listed = list(refunds)
    assert len({refund.currency for refund in listed}) <= 1
    return sum(refund.amount for refund in listed)


def strong(world: World, refunds: Iterable[Refund]) -> bool:
    """Whether every one of them is linked by more than likeness."""
    return all(world.basis[refund.me] != "inferred" for refund in refunds)


def healable(world: World, intent: Intent) -> bool:
    """Unsettled, with exactly one live refund that is surely its own and exactly what was asked for."""
    live = world.live[intent.me]
    if not world.policy["healing"] or intent.status not in UNSETTLED or len(live) != 1:
        return False
    same = (live[0].amount, live[0].currency) == (intent.amount, intent.currency)
    return same and strong(world, live)


def rule_1_paid_twice(world: World, intent: Intent) -> Answer:
    """Two or more in L, in a wrong currency or for more than was asked; one is kept, the rest are extra."""
    live = world.live[intent.me]
    one_currency = same_currency(live, intent)
    if len(live) < 2 or (one_currency and total(live) <= intent.amount):
        return None
    own = [r for r in live if r.id == intent.refund_id]
    exact = [r for r in live if (r.amount, r.currency) == (intent.amount, intent.currency)]
    kept = (own + exact + live)[0]
    extra = [r for r in live if r is not kept]
    if one_currency:
        at_risk, currency = total(live) - intent.amount, intent.currency
    else:
        currency = extra[0].currency
        at_risk = total(r for r in extra if r.currency == currency)
    found = about_intent(intent, "duplicate", at_risk, currency, extra[0].created_at)
    return {**found, "refund_ids": ids(live), "extra_refund_ids": ids(extra)}


def rule_2_other_currency(world: World, intent: Intent) -> Answer:
    """One in L, in another currency than asked for."""
    live = world.live[intent.me]
    if len(live) != 1 or same_currency(live, intent):
        return None
    only = live[0]
    found = about_intent(intent, "currency_mismatch", only.amount, only.currency, only.created_at)
    return {**found, "refund_ids": ids(live)}


def rule_3_other_amount(world: World, intent: Intent) -> Answer:
    """L adds up to more, or, where all was read, to less than was asked for."""
    live = world.live[intent.me]
    if not live or total(live) == intent.amount:
        return None
    given = total(live)
    if given < intent.amount and not all_refunds_read(world, intent):
        return Withheld()
    difference = abs(given - intent.amount)
    found = about_intent(intent, "amount_mismatch", difference, intent.currency, live[0].created_at)
    return {
        **found,
        "refund_ids": ids(live),
        "direction": "over" if given > intent.amount else "under",
        "diagnosis": likely_cause(given, intent.amount),
    }


def likely_cause(given: int, asked: int) -> str | None:
    """Mistaken minor units where one is exactly 100 or 1000 times the other; rounding where a unit lacks."""
    for times in (100, 1000):
        if given and asked and (given == asked * times or asked == given * times):
            return f"minor units: {times} times"
    return "rounding: one unit" if abs(given - asked) == 1 else None


def rule_4_asked_again(world: World, intent: Intent) -> Answer:
    """Its first refund came soon after the first refund of the one before it in its group."""
    live = world.live[intent.me]
    if intent.me not in world.before:
        return None
    earlier = world.before[intent.me]
    found = about_intent(intent, "duplicate", total(live), intent.currency, live[0].created_at)
    return {
        **found,
        "certainty": "probable",
        "refund_ids": [earlier.id, *ids(live)],
        "extra_refund_ids": ids(live),
    }


def rule_5_other_status(world: World, intent: Intent) -> Answer:
    """L is not empty and the intent says that nothing was paid."""
    live = world.live[intent.me]
    if not live or intent.status not in {"failed", "cancelled"}:
        return None
    found = about_intent(intent, "status_mismatch", total(live), intent.currency, live[0].created_at)
    return {**found, "refund_ids": ids(live)}


def rule_6_came_back(world: World, intent: Intent) -> Answer:
    """The intent says done, and all there is are dead refunds."""
    dead = world.dead[intent.me]
    if world.live[intent.me] or not dead or intent.status != "done":
        return None
    if not all_refunds_read(world, intent):
        return Withheld()
    found = about_intent(intent, "refund_failed", intent.amount, intent.currency, dead[-1].created_at)
    return {**found, "refund_ids": ids(dead)}


def rule_7_never_came(world: World, intent: Intent) -> Answer:
    """The intent says done for long enough, and there is nothing; perhaps what it claims is another's."""
    if world.live[intent.me] or world.dead[intent.me] or intent.status != "done":
        return None
    if not world.ripe(intent.updated_at, "missing_after"):
        return Young("missing", intent.updated_at + world.grace("missing_after"))
    if not all_refunds_read(world, intent):
        return Withheld()
    found = about_intent(intent, "missing", intent.amount, intent.currency, intent.updated_at)
    has_it = world.links.get((intent.account, intent.refund_id or ""))
    if has_it is None:
        return found
    return {**found, "amount_at_risk": 0, "diagnosis": f"claimed by {has_it[1]}"}


def rule_8_nobody_knows(world: World, intent: Intent) -> Answer:
    """Unsettled for too long, and nothing that a run could finish by itself."""
    if intent.status not in UNSETTLED or healable(world, intent):
        return None
    if not world.ripe(intent.asked_at, "stuck_after"):
        return Young("stuck", intent.asked_at + world.grace("stuck_after"))
    long_ago = is_outside(world, max(intent.created_at, intent.asked_at), "refunds")
    if long_ago and not world.live[intent.me]:
        return Withheld()
    finding = what_is_known(world, intent)
    found = about_intent(intent, "stuck", intent.amount, intent.currency, intent.asked_at)
    return {
        **found,
        "certainty": "probable" if finding == "probable" else "confirmed",
        "finding": finding,
        "refund_ids": ids(world.live[intent.me] or world.dead[intent.me]),
    }


def what_is_known(world: World, intent: Intent) -> str:
    """What was found at the provider for an unsettled intent."""
    live = world.live[intent.me]
    if live:
        return "landed" if strong(world, live) else "probable"
    if not all_refunds_read(world, intent):
        return "unknown"
    if world.dead[intent.me]:
        return "failed"
    on_it = [r for r in world.unlinked() if (r.account, r.payment) == (intent.account, intent.payment)]
    return "absent" if intent.payment is not None and not on_it else "unknown"


def rule_9_bank_is_late(world: World, intent: Intent) -> Answer:
    """Some of L has not been settled by the provider for too long."""
    late = [
        refund
        for refund in world.live[intent.me]
        if refund.status in {"pending", "requires_action"}
        and world.ripe(refund.created_at, "provider_pending_after")
    ]
    if not late or healable(world, intent):
        return None
    found = about_intent(intent, "overdue", total(late), intent.currency, late[0].created_at)
    return {**found, "refund_ids": ids(world.live[intent.me])}


def rules_10_and_11(world: World, refund: Refund) -> Answer:
    """A live refund of nobody's: probably paid twice if it has a twin, else an orphan."""
    twin = twin_of(world, refund)
    kind = "orphan" if twin is None else "duplicate"
    if not world.ripe(refund.created_at, "orphan_after"):
        return Young(kind, refund.created_at + world.grace("orphan_after"))
    if not all_intents_read(world, refund):
        return Withheld()
    found = about_refund(refund, kind)
    if twin is None:
        return found
    return {
        **found,
        "certainty": "probable",
        "refund_ids": ids([twin, refund]),
        "extra_refund_ids": [refund.id],
    }


def twin_of(world: World, refund: Refund) -> Refund | None:
    """Its equal nearby in time, linked, or unlinked and earlier: linked, then nearest, then earliest."""
    twins = [
        other
        for other in world.taking_part()
        if other is not refund
        and other.live
        and refund.payment is not None
        and (other.account, other.payment, other.amount, other.currency)
        == (refund.account, refund.payment, refund.amount, refund.currency)
        and abs(other.created_at - refund.created_at) <= world.grace("duplicate_window")
        and (other.me in world.links or in_time(other) < in_time(refund))
    ]

    def choice(other: Refund) -> tuple[bool, timedelta, tuple[datetime, str]]:
        apart = abs(other.created_at - refund.created_at)
        return (other.me not in world.links, apart, in_time(other))

    return min(twins, key=choice, default=None)


INTENT_RULES = (
    rule_1_paid_twice,
    rule_2_other_currency,
    rule_3_other_amount,
    rule_4_asked_again,
    rule_5_other_status,
    rule_6_came_back,
    rule_7_never_came,
    rule_8_nobody_knows,
    rule_9_bank_is_late,
)
