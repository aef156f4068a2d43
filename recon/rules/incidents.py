"""Where an incident is, and how it reads: times in, a window out; an incident in, its timeline and words out.

Never names a customer or an order in the words: they are for a channel that many read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from recon.model import money, phrases, wording
from recon.model.records.incidents import Bar, Incident, Window
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseState, RefundId

DAY: Final = timedelta(days=1)
MINUTE: Final = timedelta(minutes=1)
GAP: Final = timedelta(minutes=15)  # A pause as long as this parts two bursts; shorter ones do not.
MARGIN: Final = timedelta(minutes=5)  # Around a burst: what led to its first case is seen. Less than the gap.
BARS: Final = 90  # More are too thin to be told apart, also on a wide screen.
# In minutes: up to three hours, half a day, a day, a week, a month, a year and ten, so that none is too long.
_MINUTES: Final = (1, 5, 15, 60, 180, 720, 1440, 10_080, 43_200, 525_600, 5_256_000)
STEPS: Final = tuple(each * MINUTE for each in _MINUTES)

Named = tuple[AccountId, RefundId]


def bursts(times: Iterable[datetime]) -> tuple[tuple[datetime, ...], ...]:
    """Return the times in order, parted wherever nothing happened for the gap."""
    found: list[list[datetime]] = []
    for at in sorted(times):
        if found and at - found[-1][-1] < GAP:
            found[-1].append(at)
        else:
            found.append([at])
    return tuple(map(tuple, found))


def densest(times: Iterable[datetime]) -> tuple[datetime, ...]:
    """Return the times of the densest burst of the latest day, in order; none where there are none.

    The latest day is the one that ends with the last of them. Densest is the burst with the most times, of
    several the shortest, then the latest.
    """
    every = sorted(times)
    recent = bursts(at for at in every if every[-1] - at < DAY)
    return max(recent, key=lambda each: (len(each), each[0] - each[-1], each[-1]), default=())


def around(first: datetime, last: datetime) -> Window:
    """Return the whole minutes from a margin before the first to a margin after the last."""
    begin, end = first - MARGIN, last + MARGIN
    return Window(_floor(begin, MINUTE), _floor(end, MINUTE) + MINUTE)


def step(window: Window) -> timedelta:
    """Return how long one bar of the window's timeline is: as short as leaves few enough of them."""
    length = window.to_at - window.from_at
    return next((each for each in STEPS if length <= each * (BARS - 1)), STEPS[-1])


def timeline(incident: Incident) -> tuple[Bar, ...]:
    """Return one bar for each step of the window, empty ones too; what lies outside it is left out."""
    window, length = incident.window, step(incident.window)
    extra = extras(incident)
    counted: dict[str, Counter[datetime]] = {
        "standing": Counter(),
        "extra": Counter(),
        "decided": Counter(),
        "sent": Counter(),
    }
    for refund in incident.refunds:
        side = "extra" if (refund.account, refund.id) in extra else "standing"
        counted[side][_floor(refund.created_at, length)] += 1
    for intent in incident.intents:
        counted["decided"][_floor(intent.created_at, length)] += 1
        if intent.first_sent_at is not None:
            counted["sent"][_floor(intent.first_sent_at, length)] += 1
    begin = _floor(window.from_at, length)
    number = min(-((begin - window.to_at) // length), BARS)
    moments = [begin + place * length for place in range(number)]
    return tuple(Bar(at, **{name: counts[at] for name, counts in counted.items()}) for at in moments)


def extras(incident: Incident) -> frozenset[Named]:
    """Return the refunds beyond what should stand, of the cases that are listed."""
    return frozenset(
        (case.account, refund_id) for case in incident.cases for refund_id in case.mismatch.extra_refund_ids
    )


def told(incident: Incident) -> str:
    """Return the incident for a channel: how many, how much, from when to when; nobody's name, no id."""
    totals = incident.totals
    if totals.first_at is None or totals.last_at is None:
        return f"{wording.named(incident.kind)}: no case between {_between(incident.window)}."
    people = phrases.several(totals.customers, "customer")
    if totals.without_customer:
        people += f" (and {phrases.several(totals.without_customer, 'case')} that name none)"
    cases, orders = phrases.several(totals.cases, "case"), phrases.several(totals.orders, "order")
    first, last = phrases.second(totals.first_at), phrases.second(totals.last_at)
    lines = [
        f"{wording.named(incident.kind)}: {cases}, {people}, {orders}.",
        f"At risk: {_amounts(incident)}.",
        f"First {first}, last {last}: {covered(incident)}.",
        f"Now: {', '.join(_states(incident))}.",
    ]
    if extra := len(extras(incident)):
        listed = "" if len(incident.cases) == totals.cases else f" of the first {len(incident.cases):,} cases"
        lines.insert(2, f"Refunds beyond what should stand: {extra:,}{listed}.")
    return "\n".join(lines)


def covered(incident: Incident) -> str:
    """Return how many minutes lie between the first and the last, a begun one counted; "—" without any."""
    first, last = incident.totals.first_at, incident.totals.last_at
    if first is None or last is None:
        return "—"
    minutes = max(-((first - last) // MINUTE), 1)
    return f"{minutes} min" if minutes < 100 else phrases.duration(minutes * MINUTE)  # noqa: PLR2004 -- two digits are read at once


def _amounts(incident: Incident) -> str:
    amounts = [Money(minor, currency) for currency, minor in sorted(incident.totals.at_risk.items())]
    return " and ".join(map(money.told, amounts)) or "nothing"


def _states(incident: Incident) -> Sequence[str]:
    counts = incident.totals.states
    return [f"{counts[state]:,} {wording.plain(state)}" for state in CaseState if counts[state]]


def _between(window: Window) -> str:
    return f"{phrases.minute(window.from_at)} and {phrases.minute(window.to_at)}"


def _floor(at: datetime, length: timedelta) -> datetime:
    """Return the beginning of the step that a time is in, steps counted from a Monday."""
    monday = datetime(2001, 1, 1, tzinfo=UTC)
    return monday + (at - monday) // length * length
