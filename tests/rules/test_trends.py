from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.trends import Answer, Day, Group, Heap, Past, Speed, Step, Took
from recon.model.records.words import Kind
from recon.rules import trends
from tests.builders import NOON

TODAY = NOON.date()
USD = Group(Kind.DUPLICATE, "Ada", "usd")
EUR = Group(Kind.MISSING, "", "eur")
NOTHING = Past(NOON, TODAY - timedelta(days=2), (), (), (), ())

# A case: whose it is, its money, and the days ago on which it began and ceased to wait in turn.
LIVES = st.lists(
    st.tuples(
        st.builds(
            Group, st.sampled_from(Kind), st.sampled_from(["", "Ada", "Bo"]), st.sampled_from(["usd", "eur"])
        ),
        st.integers(0, 2**53),
        st.lists(st.integers(0, 9), max_size=6).map(lambda days: sorted(days, reverse=True)),
    ),
    max_size=8,
)


def replayed(lives: Sequence[tuple[Group, int, list[int]]], day: date) -> Day:
    """Slowly, and forwards: each case's whole story until the end of that day."""
    cases, at_risk = 0, Counter[str]()
    for group, minor, turns in lives:
        waits = False
        for ago in turns:
            if TODAY - timedelta(days=ago) <= day:
                waits = not waits
        if waits:
            cases += 1
            at_risk[group.currency] += minor
    return Day(day, cases, {currency: minor for currency, minor in sorted(at_risk.items()) if minor})


@given(LIVES, st.integers(1, 12))
def test_what_waited_told_backwards_is_what_every_story_told_forwards_says(
    lives: list[tuple[Group, int, list[int]]], days: int
) -> None:
    first = TODAY - timedelta(days=days - 1)
    heaps = [Heap(group, 0, 1, minor) for group, minor, turns in lives if len(turns) % 2]
    steps = [
        Step(TODAY - timedelta(days=ago), group, sign, sign * minor)
        for group, minor, turns in lives
        for ago, sign in zip(turns, (1, -1) * 3, strict=False)
        if TODAY - timedelta(days=ago) >= first
    ]

    found = trends.waited(replace(NOTHING, first=first, heaps=tuple(heaps), steps=tuple(steps)))

    assert found == tuple(replayed(lives, first + timedelta(days=place)) for place in range(days))


@given(LIVES)
def test_the_last_day_is_the_present(lives: list[tuple[Group, int, list[int]]]) -> None:
    heaps = tuple(Heap(group, 1, 1, minor) for group, minor, _ in lives)

    found = trends.waited(replace(NOTHING, heaps=heaps))[-1]

    assert (found.day, found.cases) == (TODAY, len(lives))


def test_currencies_are_never_added_and_each_that_was_at_risk_is_named() -> None:
    steps = (Step(TODAY, EUR, -1, -700),)
    past = replace(NOTHING, heaps=(Heap(USD, 0, 2, 9800),), steps=steps)

    assert trends.waited(past) == (
        Day(TODAY - timedelta(days=2), 3, {"eur": 700, "usd": 9800}),
        Day(TODAY - timedelta(days=1), 3, {"eur": 700, "usd": 9800}),
        Day(TODAY, 2, {"usd": 9800}),
    )
    assert trends.currencies(past) == ("eur", "usd")


def test_ages_are_counted_by_currency_and_cases_by_age() -> None:
    other = replace(USD, kind=Kind.STUCK)
    heaps = (Heap(USD, 2, 1, 10), Heap(other, 2, 3, 5), Heap(EUR, 2, 1, 7), Heap(EUR, 0, 1, 1))
    past = replace(NOTHING, heaps=heaps)

    assert [
        (heap.age, heap.group.currency, heap.cases, heap.at_risk_minor) for heap in trends.ages(past)
    ] == [
        (0, "eur", 1, 1),
        (2, "eur", 1, 7),
        (2, "usd", 4, 15),
    ]
    assert trends.aged(past) == (1, 0, 5, 0, 0)


@pytest.mark.parametrize(
    "minutes, median, ninetieth",
    [
        ([7], 7, 7),
        ([1, 2], 1, 2),
        ([1, 2, 3], 2, 3),
        ([1] * 9 + [100], 1, 1),
        ([1] * 8 + [50, 100], 1, 50),
        ([3, 1, 2, 1000], 2, 1000),
        (list(range(1, 101)), 50, 90),
    ],
)
def test_half_and_nine_in_ten_are_real_answers(minutes: list[int], median: int, ninetieth: int) -> None:
    past = replace(NOTHING, took=tuple(took(each) for each in minutes))

    assert trends.overall(past, Answer.SETTLED) == Speed("", len(minutes), median, ninetieth)


@given(st.lists(st.integers(0, 500), min_size=1))
def test_at_least_so_many_were_as_soon_and_fewer_were_sooner(minutes: list[int]) -> None:
    past = replace(NOTHING, took=tuple(took(each) for each in minutes))

    found = trends.overall(past, Answer.SETTLED)

    assert found is not None
    for percent, value in ((50, found.median_minutes), (90, found.ninetieth_minutes)):
        assert sum(each <= value for each in minutes) * 100 >= percent * len(minutes)
        assert sum(each < value for each in minutes) * 100 < percent * len(minutes)


def test_answers_are_told_by_kind_in_its_order_and_by_owner() -> None:
    rows = (
        took(9, kind=Kind.ORPHAN, owner=""),
        took(5, kind=Kind.STUCK, owner="Ada", cases=2),
        took(1, kind=Kind.STUCK, owner="", cases=1),
        took(3, answer=Answer.ACKNOWLEDGED),
    )
    past = replace(NOTHING, took=rows)

    assert trends.by_kind(past, Answer.SETTLED) == (Speed("stuck", 3, 5, 5), Speed("orphan", 1, 9, 9))
    assert trends.by_owner(past, Answer.SETTLED) == (Speed("", 2, 1, 9), Speed("Ada", 2, 5, 5))
    assert trends.overall(past, Answer.ACKNOWLEDGED) == Speed("", 1, 3, 3)
    assert trends.overall(NOTHING, Answer.SETTLED) is None


@pytest.mark.parametrize(
    "kind, owner, expected",
    [
        (None, None, {USD, EUR}),
        (Kind.MISSING, None, {EUR}),
        (None, "", {EUR}),
        (None, "Ada", {USD}),
        (Kind.MISSING, "Ada", set()),
    ],
)
def test_one_kind_and_one_owner_can_be_looked_at(
    kind: Kind | None, owner: str | None, expected: set[Group]
) -> None:
    past = replace(
        NOTHING,
        heaps=(Heap(USD, 0, 1, 1), Heap(EUR, 0, 1, 1)),
        steps=(Step(TODAY, USD, 1, 1), Step(TODAY, EUR, 1, 1)),
        took=(took(1, kind=USD.kind, owner=USD.owner), took(1, kind=EUR.kind, owner=EUR.owner)),
    )

    found = trends.only(past, kind=kind, owner=owner)

    assert {heap.group for heap in found.heaps} == expected
    assert {step.group for step in found.steps} == expected
    assert {(each.kind, each.owner) for each in found.took} == {(each.kind, each.owner) for each in expected}


def took(
    minutes: int,
    *,
    answer: Answer = Answer.SETTLED,
    kind: Kind = Kind.DUPLICATE,
    owner: str = "Ada",
    cases: int = 1,
) -> Took:
    return Took(answer, kind, owner, minutes, cases)
