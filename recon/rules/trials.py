"""Backtests: what hourly runs with other graces would have reported, and what of it settled by itself.

The diff is the caller's; here is what it is given and what its results come to. The files hold each row as it
stands in the end: an intent that was updated later is taken for pending until then, and a refund's status is
taken to have been what it is.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import pandas as pd

from recon.model import policies
from recon.model.frames import Intake
from recon.model.records.results import Money, Policy, Result
from recon.model.records.trials import Outcome, Rung
from recon.model.records.words import AccountId, IntentStatus, Kind, Subject

HOUR: Final = timedelta(hours=1)
# Around each default, from too eager to too patient; the policy's own value stands among them.
LADDERS: Final[Mapping[str, tuple[float, ...]]] = {
    "stuck_after_minutes": (15, 30, 60, 120, 240),
    "missing_after_minutes": (5, 15, 30, 60, 240),
    "orphan_after_minutes": (5, 15, 30, 60, 240),
    "duplicate_window_hours": (1, 6, 24, 72, 168),
    "repeat_window_days": (1, 7, 30, 90),
    "inferred_window_hours": (1, 6, 24, 72),
    "clock_skew_seconds": (0, 5, 60),
    "provider_pending_after_days": (3, 7, 14, 30),
}

Reported = dict[tuple[AccountId, Subject], tuple[Kind, Money]]


def rungs(policy: Policy, asked: Mapping[str, Sequence[timedelta]]) -> tuple[Rung, ...]:
    """Return the values to try, grace by grace in recon.toml's order, each ladder from low to high.

    asked: the graces to try, by name, with values of their own; one that has none, and each where nothing is
    asked, has those of LADDERS. The policy's own value is among them.
    """
    return tuple(
        rung
        for name in LADDERS
        if name in (asked or LADDERS)
        for rung in _ladder(policy, name, asked.get(name) or _values(name))
    )


def hours(first: datetime | None, last: datetime, number: int) -> tuple[datetime, ...]:
    """Return the hours of `number` runs, the last of them at `last`, none before there is anything."""
    every = [last - HOUR * back for back in range(number - 1, -1, -1)]
    return tuple(at for at in every if at == last or first is None or at >= first)


def as_known(intents: Intake, refunds: Intake, at: datetime) -> tuple[Intake, Intake]:
    """Return both sides as they stood at a time, as far as their rows tell."""
    time = pd.Timestamp(at)
    ours = intents.frame[intents.frame["created_at"] <= time].reset_index(drop=True)
    theirs = refunds.frame[refunds.frame["created_at"] <= time].reset_index(drop=True)
    later = ours["updated_at"] > time
    ours["status"] = ours["status"].mask(later, IntentStatus.PENDING.value)
    ours["refund_id"] = ours["refund_id"].mask(later)
    ours["updated_at"] = ours["updated_at"].mask(later, ours["created_at"])
    ours["first_sent_at"] = ours["first_sent_at"].mask(ours["first_sent_at"] > time)
    return replace(intents, frame=ours), replace(refunds, frame=theirs)


def heard(reported: Reported, result: Result) -> None:
    """Add what one run reports to what the runs before it did; the latest word on a subject stands."""
    for each in result.mismatches:
        reported[each.account, each.subject] = each.kind, each.at_risk


def subjects(result: Result) -> frozenset[tuple[AccountId, Subject]]:
    """Return what the mismatches of a result are about: of a crowd of results no more is kept."""
    return frozenset((each.account, each.subject) for each in result.mismatches)


def outcome(
    rung: Rung, reported: Reported, *, left: Collection[tuple[AccountId, Subject]], in_flight: int
) -> Outcome:
    """Return what a rung comes to.

    left: mismatches by the same policy in everything there is. in_flight: how many at the last of the runs.
    """
    settled = {pair: seen for pair, seen in reported.items() if pair not in left}
    return Outcome(
        rung=rung,
        reported=_by_kind(reported),
        settled=_by_kind(settled),
        at_risk=_money(reported),
        settled_at_risk=_money(settled),
        in_flight=in_flight,
    )


def _values(name: str) -> tuple[timedelta, ...]:
    """Return the values of a ladder."""
    return tuple(policies.UNITS[name.rpartition("_")[2]] * value for value in LADDERS[name])


def _ladder(policy: Policy, name: str, values: Sequence[timedelta]) -> Iterable[Rung]:
    """Yield the rungs of one grace, with the policy's own among them."""
    field, _ = policies.KEYS[name]
    own: timedelta = getattr(policy, field)
    for value in sorted({*values, own}):
        tried: dict[str, Any] = {field: value}
        yield Rung(name, policies.written(name, value), replace(policy, **tried), usual=value == own)


def _by_kind(reported: Reported) -> dict[Kind, int]:
    counted = Counter(kind for kind, _ in reported.values())
    return {kind: counted[kind] for kind in Kind if counted[kind]}


def _money(reported: Reported) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for _, money in reported.values():
        sums[money.currency] += money.amount_minor
    return {currency: amount for currency, amount in sorted(sums.items()) if amount}
