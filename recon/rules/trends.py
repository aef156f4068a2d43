"""What waited when, told backwards from what waits now, and how soon people answered.

Never adds two currencies, and never says a mean: one case that waited for a month would hide all others.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date

from recon.model.records.trends import AGES, Answer, Day, Heap, Past, Speed, Took, between
from recon.model.records.words import Kind


def only(past: Past, *, kind: Kind | None = None, owner: str | None = None) -> Past:
    """Return the past of one kind, of one owner, or of both; what runs matched is nobody's in particular."""

    def fits(of_kind: Kind, of_owner: str) -> bool:
        return kind in {None, of_kind} and owner in {None, of_owner}

    return replace(
        past,
        heaps=tuple(each for each in past.heaps if fits(each.group.kind, each.group.owner)),
        steps=tuple(each for each in past.steps if fits(each.group.kind, each.group.owner)),
        took=tuple(each for each in past.took if fits(each.kind, each.owner)),
    )


def waited(past: Past) -> tuple[Day, ...]:
    """Return what waited at the end of each day, from the past's first to today.

    Nothing before the first day is read: a day ends with what the next one ends with, less the next one's
    steps.
    """
    cases = sum(heap.cases for heap in past.heaps)
    at_risk = Counter[str]()
    for heap in past.heaps:
        at_risk[heap.group.currency] += heap.at_risk_minor
    taken_back: dict[date, list[tuple[str, int, int]]] = defaultdict(list)
    for step in past.steps:
        taken_back[step.day].append((step.group.currency, step.cases, step.at_risk_minor))
    found = []
    for day in reversed(tuple(between(past.first, past.now.date()))):
        known = {currency: minor for currency, minor in sorted(at_risk.items()) if minor}
        found.append(Day(day, cases, known))
        for currency, number, minor in taken_back[day]:
            cases -= number
            at_risk[currency] -= minor
    return tuple(reversed(found))


def currencies(past: Past) -> tuple[str, ...]:
    """Return the currencies in which anything was at risk at the end of any of the days."""
    return tuple(sorted({currency for day in waited(past) for currency in day.at_risk}))


def ages(past: Past) -> tuple[Heap, ...]:
    """Return what waits now by age and currency, youngest first; kind and owner are those of any of them."""
    found: dict[tuple[int, str], Heap] = {}
    for heap in past.heaps:
        place = (heap.age, heap.group.currency)
        known = found.get(place)
        found[place] = (
            heap
            if known is None
            else replace(
                known,
                cases=known.cases + heap.cases,
                at_risk_minor=known.at_risk_minor + heap.at_risk_minor,
            )
        )
    return tuple(found[place] for place in sorted(found))


def aged(past: Past) -> tuple[int, ...]:
    """Return how many cases wait of each age, youngest first."""
    return tuple(sum(heap.cases for heap in past.heaps if heap.age == age) for age in range(len(AGES) + 1))


def by_kind(past: Past, answer: Answer) -> tuple[Speed, ...]:
    """Return how soon cases of each kind were answered, in the order of the kinds."""
    order = list(Kind)
    found = _speeds(past.took, answer, lambda took: took.kind)
    return tuple(sorted(found, key=lambda speed: order.index(Kind(speed.name))))


def by_owner(past: Past, answer: Answer) -> tuple[Speed, ...]:
    """Return how soon cases of each owner were answered, by name; "" is nobody."""
    return _speeds(past.took, answer, lambda took: took.owner)


def overall(past: Past, answer: Answer) -> Speed | None:
    """Return how soon all of them were answered; None where none was."""
    return next(iter(_speeds(past.took, answer, lambda _: "")), None)


def _speeds(took: Iterable[Took], answer: Answer, name: Callable[[Took], str]) -> tuple[Speed, ...]:
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for each in took:
        if each.answer is answer:
            counts[name(each)][each.minutes] += each.cases
    return tuple(
        Speed(named, each.total(), _ranked(each, 50), _ranked(each, 90))
        for named, each in sorted(counts.items())
    )


def _ranked(counts: Counter[int], percent: int) -> int:
    """Return the smallest number that at least so many percent do not exceed."""
    wanted = -(-counts.total() * percent // 100)
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted:
            return value
    raise AssertionError("a name without a case")
