"""One mismatch of one intent: what is at risk, who takes part, since when, and why in one sentence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recon.model import money, phrases
from recon.model.records.results import Money, Policy, Reject
from recon.model.records.words import Certainty, Direction, Finding, Kind, RefundId
from recon.rules.mismatches import intents as nine

MINOR_UNIT_RATIOS = (100, 1000)  # Between currencies of two, of none and of three decimals.
NAMED = 3  # Ids that a sentence carries; more would not be read.


@dataclass(frozen=True, slots=True)
class Paid:
    """One refund that takes part in a mismatch. reason: the provider's; None where it has none."""

    id: RefundId
    money: Money
    at: datetime
    waiting: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules need to know of one intent.

    beside, dead_beside: of a missing one, the refunds on its payment that are nobody's, live and dead.
    unjudged: the rejected rows of refunds on its payment.
    """

    key: str
    reference: str | None
    meant: Money
    status: str
    recorded: str | None
    live: tuple[Paid, ...]
    dead: tuple[Paid, ...]
    weak: bool
    covered: bool
    payment: str | None
    stray_on_payment: bool
    updated_at: datetime
    stuck_since: datetime
    as_of: datetime
    before: tuple[str, Paid] | None
    claimed_by: str | None
    beside: tuple[Paid, ...]
    dead_beside: tuple[Paid, ...]
    unjudged: tuple[Reject, ...]
    policy: Policy

    @property
    def total(self) -> Money:
        """Return the sum of the live refunds; only asked where all are in one currency."""
        return Money(sum(paid.money.amount_minor for paid in self.live), self.live[0].money.currency)


def told(rule: int, facts: Facts) -> dict[str, Any]:
    """Return the facts of a mismatch by the rule that fires."""
    found = RULES[rule](facts)
    if _rests_on_absence(found):
        found["why"] = beside_unjudged(found["why"], facts.unjudged, "before anything is paid")
    return found


def _rests_on_absence(found: Mapping[str, Any]) -> bool:
    """Return whether one more refund might explain it all."""
    if found["kind"] is Kind.STUCK:
        return found["finding"] not in {Finding.LANDED, Finding.PROBABLE}
    return found["kind"] in {Kind.MISSING, Kind.REFUND_FAILED} or found.get("direction") is Direction.UNDER


def beside_unjudged(why: str, rejects: Sequence[Reject], when: str) -> str:
    """Return a sentence that also names the rejected rows on the payment, and when to mend them."""
    if not rejects:
        return why
    rows = [
        f"row {each.row} of {each.source}{f' ({each.id})' if each.id is not None else ''}" for each in rejects
    ]
    one = len(rows) == 1
    return (
        f"{why.removesuffix('.')}; {phrases.few(rows, NAMED)}, which could not be judged,"
        f" {'is' if one else 'are'} on the same payment: mend {'it' if one else 'them'} {when}."
    )


def reason(found: Mapping[str, Any], refunds: Iterable[Paid]) -> str | None:
    """Return the provider's reason of the refund that it is about: the first extra one, else the first."""
    about = next(iter((*found.get("extra_refund_ids", ()), *found.get("refund_ids", ()))), None)
    return next((paid.reason for paid in refunds if paid.id == about), None)


def _ids(refunds: Sequence[Paid]) -> tuple[RefundId, ...]:
    return tuple(paid.id for paid in refunds)


def _duplicate(facts: Facts) -> dict[str, Any]:
    kept = next((paid for paid in facts.live if paid.id == facts.recorded), None)
    kept = kept or next((paid for paid in facts.live if paid.money == facts.meant), facts.live[0])
    extra = tuple(paid for paid in facts.live if paid is not kept)
    if all(paid.money.currency == facts.meant.currency for paid in facts.live):
        at_risk = Money(facts.total.amount_minor - facts.meant.amount_minor, facts.meant.currency)
    else:
        currency = extra[0].money.currency
        same = (paid.money.amount_minor for paid in extra if paid.money.currency == currency)
        at_risk = Money(sum(same), currency)
    return {
        "kind": Kind.DUPLICATE,
        "certainty": Certainty.CONFIRMED,
        "at_risk": at_risk,
        "since": extra[0].at,
        "refund_ids": _ids(facts.live),
        "extra_refund_ids": _ids(extra),
        "why": f"{len(facts.live)} refunds carry this one intent of {money.written(facts.meant)}: "
        f"{names(extra)} should not be there.",
    }


def _currency(facts: Facts) -> dict[str, Any]:
    (paid,) = facts.live
    return {
        "kind": Kind.CURRENCY_MISMATCH,
        "certainty": Certainty.CONFIRMED,
        "at_risk": paid.money,
        "since": paid.at,
        "refund_ids": _ids(facts.live),
        "why": f"{money.written(facts.meant)} was meant, {paid.id} sent {money.written(paid.money)}.",
    }


def _amount(facts: Facts) -> dict[str, Any]:
    sent, meant = facts.total.amount_minor, facts.meant.amount_minor
    direction = Direction.OVER if sent > meant else Direction.UNDER
    off = Money(abs(sent - meant), facts.meant.currency)
    diagnosis = _diagnose(sent, meant)
    return {
        "kind": Kind.AMOUNT_MISMATCH,
        "certainty": Certainty.CONFIRMED,
        "at_risk": off,
        "since": facts.live[0].at,
        "refund_ids": _ids(facts.live),
        "direction": direction,
        "diagnosis": diagnosis,
        "why": f"{money.written(facts.meant)} was meant, {money.written(facts.total)} went back in "
        f"{names(facts.live)}: {money.written(off)} too {'much' if direction is Direction.OVER else 'little'}"
        f"{f', {diagnosis}' if diagnosis else ''}.",
    }


def _diagnose(sent: int, meant: int) -> str | None:
    for ratio in MINOR_UNIT_RATIOS:
        if meant and sent == meant * ratio:
            return f"likely a minor-unit error: exactly {ratio} times"
        if sent and meant == sent * ratio:
            return f"likely a minor-unit error: exactly 1/{ratio}"
    return "likely rounding: one unit off" if abs(sent - meant) == 1 else None


def _repeat(facts: Facts) -> dict[str, Any]:
    assert facts.before is not None
    key, first = facts.before
    return {
        "kind": Kind.DUPLICATE,
        "certainty": Certainty.PROBABLE,
        "at_risk": facts.total,
        "since": facts.live[0].at,
        "refund_ids": (first.id, *_ids(facts.live)),
        "extra_refund_ids": _ids(facts.live),
        "why": f"{money.written(facts.meant)} went back in {names(facts.live)}, "
        f"{apart(facts.live[0].at, first.at)} {first.id} of intent {key}; "
        f"{_undeclared(key, facts)}: if these are two items, give each a `reference`, such as its "
        "order line.",
    }


def _undeclared(before: str, facts: Facts) -> str:
    """Return what does not say that a second refund was meant."""
    if facts.reference is None:
        return f"intents {before} and {facts.key} ask for the same, and neither has a reference"
    return f"intents {before} and {facts.key} ask for the same under one reference, {facts.reference}"


def _status(facts: Facts) -> dict[str, Any]:
    return {
        "kind": Kind.STATUS_MISMATCH,
        "certainty": Certainty.CONFIRMED,
        "at_risk": facts.total,
        "since": facts.live[0].at,
        "refund_ids": _ids(facts.live),
        "why": f"The intent says {facts.status}, but {money.written(facts.total)} "
        f"went back in {names(facts.live)}.",
    }


def _failed(facts: Facts) -> dict[str, Any]:
    return {
        "kind": Kind.REFUND_FAILED,
        "certainty": Certainty.CONFIRMED,
        "at_risk": facts.meant,
        "since": facts.dead[-1].at,
        "refund_ids": _ids(facts.dead),
        "why": f"The intent says done, but {names(facts.dead)} did not go through: "
        f"the customer still waits for {money.written(facts.meant)}.",
    }


def _missing(facts: Facts) -> dict[str, Any]:
    if facts.claimed_by is None:
        at_risk, diagnosis = facts.meant, None
        why = (
            f"The intent says done, but the provider has no refund of {money.written(facts.meant)} for it"
            f"{_beside(facts)}."
        )
    else:
        at_risk, diagnosis = Money(0, facts.meant.currency), f"claimed by {facts.claimed_by}"
        why = f"The intent says done with {facts.recorded}, but that belongs to intent {facts.claimed_by}."
    return {
        "kind": Kind.MISSING,
        "certainty": Certainty.CONFIRMED,
        "at_risk": at_risk,
        "since": facts.updated_at,
        "diagnosis": diagnosis,
        "why": why,
    }


def _beside(facts: Facts) -> str:
    """Return what is on the payment instead, which may be what was meant."""
    if facts.beside:
        one = len(facts.beside) == 1
        return (
            f"; {_sums(facts.beside)} on the same payment {'is' if one else 'are'} nobody's:"
            f" find out whether {'it is this one' if one else 'one of them is this one'}"
            " before anything is sent"
        )
    if facts.dead_beside:
        return f"; {_sums(facts.dead_beside)} on the same payment did not go through"
    return ""


def _sums(refunds: Sequence[Paid]) -> str:
    """Return refunds with their money; the first few of many."""
    return phrases.few([f"{paid.id} of {money.written(paid.money)}" for paid in refunds], NAMED)


def _stuck(facts: Facts) -> dict[str, Any]:
    finding = _finding(facts)
    takes_part = {Finding.LANDED: facts.live, Finding.PROBABLE: facts.live, Finding.ABSENT: ()}
    refunds = takes_part.get(finding, facts.dead)
    return {
        "kind": Kind.STUCK,
        "certainty": Certainty.PROBABLE if finding is Finding.PROBABLE else Certainty.CONFIRMED,
        "finding": finding,
        "at_risk": facts.meant,
        "since": facts.stuck_since,
        "refund_ids": _ids(refunds),
        "why": f"Nobody knows whether {money.written(facts.meant)} went back: {_found(finding, facts)}.",
    }


def _finding(facts: Facts) -> Finding:
    if facts.live:
        return Finding.PROBABLE if facts.weak else Finding.LANDED
    if not facts.covered:
        return Finding.UNKNOWN
    if facts.dead:
        return Finding.FAILED
    return Finding.UNKNOWN if facts.payment is None or facts.stray_on_payment else Finding.ABSENT


def _found(finding: Finding, facts: Facts) -> str:
    sentences = {
        Finding.LANDED: f"{names(facts.live)} did, but a run may not finish the intent by itself",
        Finding.PROBABLE: _fitting(facts),
        Finding.FAILED: f"the provider has only {names(facts.dead)}, which did not go through",
        Finding.ABSENT: "the provider has no refund of it",
        Finding.UNKNOWN: "what was read cannot tell",
    }
    return sentences[finding]


def _fitting(facts: Facts) -> str:
    """Return what fits, but proves nothing; asked where anything is linked."""
    if not facts.live:
        return ""
    first = facts.live[0]
    return (
        f"{names(facts.live)} is on the same payment and of the same amount,"
        f" {apart(first.at, facts.stuck_since)} the intent, but carries no key of it:"
        " look at it, and write its id to the intent if it is the one"
    )


def _overdue(facts: Facts) -> dict[str, Any]:
    grace = facts.policy.provider_pending_after
    late = tuple(paid for paid in facts.live if paid.waiting and facts.as_of - paid.at >= grace)
    at_risk = Money(sum(paid.money.amount_minor for paid in late), late[0].money.currency)
    return {
        "kind": Kind.OVERDUE,
        "certainty": Certainty.CONFIRMED,
        "at_risk": at_risk,
        "since": late[0].at,
        "refund_ids": _ids(facts.live),
        "why": f"The provider has had {names(late)} pending for {(facts.as_of - late[0].at).days} days: "
        f"{money.written(at_risk)} has not reached the customer.",
    }


RULES = {
    nine.DUPLICATE: _duplicate,
    nine.CURRENCY: _currency,
    nine.AMOUNT: _amount,
    nine.REPEAT: _repeat,
    nine.STATUS: _status,
    nine.FAILED: _failed,
    nine.MISSING: _missing,
    nine.STUCK: _stuck,
    nine.OVERDUE: _overdue,
}


def names(refunds: Sequence[Paid]) -> str:
    """Return the ids as a sentence has them; the first few of many."""
    return phrases.few([paid.id for paid in refunds], NAMED)


def apart(later: datetime, earlier: datetime) -> str:
    """Return how far one time is from another, as a person says it before naming the other."""
    seconds = int((later - earlier).total_seconds())
    if seconds == 0:
        return "in the same second as"
    lengths = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
    unit = next(unit for unit, length in lengths.items() if abs(seconds) >= length)
    number = abs(seconds) // lengths[unit]
    return f"{number} {unit}{'' if number == 1 else 's'} {'after' if seconds >= 0 else 'before'}"
