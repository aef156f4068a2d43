import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.incidents import Bar, Incident, Totals, Window
from recon.model.records.results import Money
from recon.model.records.words import CaseState, IntentKey, Kind, RefundId, Subject
from recon.rules import incidents
from tests.builders import NOON, a_case, a_mismatch, a_refund, an_intent

MINUTE = timedelta(minutes=1)
HOUR = Window(NOON, NOON + timedelta(hours=1))
MOMENTS = st.lists(st.integers(0, 3 * 24 * 60).map(lambda minutes: NOON + minutes * MINUTE))


def at(*minutes: float) -> list[datetime]:
    return [NOON + each * MINUTE for each in minutes]


def window(first: float, last: float) -> Window:
    return Window(NOON + first * MINUTE, NOON + last * MINUTE)


@pytest.mark.parametrize(
    "times, expected",
    [
        (at(), None),
        (at(0), window(-5, 6)),
        (at(0.5), window(-5, 6)),
        (at(0, 14.9), window(-5, 20)),  # A pause just shorter than the gap parts nothing.
        (at(0, 15), window(10, 21)),  # Exactly the gap does: of two bursts of one, the latest.
        (at(0, 1, 40), window(-5, 7)),  # The densest, though another is later.
        (at(0, 9, 40, 44), window(35, 50)),  # As many in less time.
        (at(0, 4, 40, 49), window(-5, 10)),  # Though it is earlier.
        (at(0, 1, 1, 24 * 60 + 1), window(24 * 60 - 4, 24 * 60 + 7)),  # What is a day older is not looked at.
        (at(0, 1, 2, 24 * 60 + 0.5), window(-4, 8)),  # Just younger than a day is.
    ],
)
def test_the_densest_burst_of_the_latest_day_is_found(times: Sequence[datetime], expected: Window) -> None:
    found = incidents.densest(reversed(times))

    assert (incidents.around(found[0], found[-1]) if found else None) == expected


@given(MOMENTS)
def test_bursts_part_the_times_and_lose_none(times: list[datetime]) -> None:
    found = incidents.bursts(times)

    assert [each for burst in found for each in burst] == sorted(times)
    assert all(after[0] - before[-1] >= incidents.GAP for before, after in itertools.pairwise(found))
    assert all(
        later - earlier < incidents.GAP for burst in found for earlier, later in itertools.pairwise(burst)
    )


@given(MOMENTS.filter(bool))
def test_no_other_burst_of_the_latest_day_is_denser_and_the_window_holds_none_of_them(
    times: list[datetime],
) -> None:
    found = incidents.densest(times)
    window = incidents.around(found[0], found[-1])
    recent = [each for each in times if max(times) - each < timedelta(days=1)]
    held = [each for each in recent if window.from_at <= each < window.to_at]

    assert tuple(sorted(held)) == found
    assert len(found) == max(map(len, incidents.bursts(recent)))


@pytest.mark.parametrize(
    "length, expected",
    [
        (MINUTE, MINUTE),
        (89 * MINUTE, MINUTE),
        (90 * MINUTE, 5 * MINUTE),
        (timedelta(hours=24), timedelta(hours=1)),
        (timedelta(days=30), timedelta(hours=12)),
        (timedelta(days=200 * 365), timedelta(days=3650)),
    ],
)
def test_a_bar_is_as_short_as_leaves_few_enough(length: timedelta, expected: timedelta) -> None:
    assert incidents.step(Window(NOON, NOON + length)) == expected


@given(st.integers(0, 10_000), st.integers(1, 60 * 24 * 365 * 200))
def test_a_timeline_covers_its_window_with_few_bars(offset: int, minutes: int) -> None:
    begin = NOON + offset * timedelta(seconds=7)
    asked = Window(begin, begin + minutes * MINUTE)

    bars = incidents.timeline(an_incident(window=asked))

    assert len(bars) <= incidents.BARS
    assert bars[0].at <= begin < bars[0].at + incidents.step(asked)
    assert bars[-1].at < asked.to_at <= bars[-1].at + incidents.step(asked)


def test_refunds_and_calls_are_counted_in_their_minute_and_outside_the_window_nowhere() -> None:
    case = a_case(a_mismatch(refund_ids=(RefundId("re_1"), RefundId("re_2")), extra_refund_ids=("re_2",)))
    refunds = [
        a_refund(id=RefundId("re_1"), created_at=NOON + timedelta(seconds=59)),
        a_refund(id=RefundId("re_2"), created_at=NOON + timedelta(seconds=60)),
        a_refund(id=RefundId("re_0"), created_at=NOON - timedelta(seconds=1)),
        a_refund(id=RefundId("re_9"), created_at=NOON + 2 * MINUTE),
    ]
    calls = [
        an_intent(created_at=NOON, first_sent_at=NOON + MINUTE),
        an_intent(key=IntentKey("never sent"), created_at=NOON, first_sent_at=None),
    ]
    found = an_incident(window=window(0, 2), cases=(case,), refunds=tuple(refunds), intents=tuple(calls))

    assert incidents.timeline(found) == (
        Bar(NOON, standing=1, decided=2),
        Bar(NOON + MINUTE, extra=1, sent=1),
    )


def test_what_is_extra_is_named_with_its_account() -> None:
    found = an_incident(cases=(a_case(),))

    assert incidents.extras(found) == {("", "re_8812_2")}


def test_a_channel_is_told_counts_and_money_and_nobodys_name() -> None:
    case = a_case()
    second = a_case(a_mismatch(subject=Subject("intent:2"), at_risk=Money(500, "jpy")))
    totals = a_total(
        cases=2,
        customers=1,
        orders=2,
        without_customer=1,
        states={**dict.fromkeys(CaseState, 0), CaseState.OPEN: 1, CaseState.CLEARED: 1},
        at_risk={"jpy": 500, "usd": 123_456},
        last_at=NOON + timedelta(minutes=12, seconds=54),
    )

    said = incidents.told(an_incident(totals=totals, cases=(case, second)))

    assert said == (
        "Refunded twice (duplicate): 2 cases, 1 customer (and 1 case that name none), 2 orders.\n"
        "At risk: 500 JPY and 1,234.56 USD.\n"
        "Refunds beyond what should stand: 1.\n"
        "First 2026-03-06 12:00:00 UTC, last 2026-03-06 12:12:54 UTC: 13 min.\n"
        "Now: 1 open, 1 cleared."
    )
    named = (case.mismatch.order_id, case.mismatch.customer_id, case.id, case.mismatch.payment)
    assert not any(str(each) in said for each in named)


def test_a_channel_is_told_when_there_is_nothing() -> None:
    found = an_incident(totals=a_total(cases=0, first_at=None, last_at=None))

    assert incidents.told(found) == (
        "Refunded twice (duplicate): no case between 2026-03-06 12:00 UTC and 2026-03-06 13:00 UTC."
    )


@pytest.mark.parametrize(
    "length, expected",
    [
        (timedelta(0), "1 min"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(seconds=61), "2 min"),
        (99 * MINUTE, "99 min"),
        (100 * MINUTE, "1 h 40 min"),
    ],
)
def test_the_minutes_covered_count_a_begun_one(length: timedelta, expected: str) -> None:
    assert incidents.covered(an_incident(totals=a_total(last_at=NOON + length))) == expected


def a_total(**changes: object) -> Totals:
    total = Totals(
        cases=1,
        customers=1,
        orders=1,
        without_customer=0,
        states=dict.fromkeys(CaseState, 0) | {CaseState.OPEN: 1},
        at_risk={"usd": 4900},
        first_at=NOON,
        last_at=NOON,
    )
    return replace(total, **changes)  # type: ignore[arg-type]  # any field of the record


def an_incident(**changes: object) -> Incident:
    found = Incident(Kind.DUPLICATE, HOUR, a_total(), (), (), ())
    return replace(found, **changes)  # type: ignore[arg-type]  # any field of the record
