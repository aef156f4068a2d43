from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.runs import Account, Slice
from recon.rules import windows
from recon.rules.windows import KEPT, SHORTEST, SLICES, Window
from tests.builders import NOON, PLATFORM

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
OVERLAP = timedelta(minutes=10)

spans = st.one_of(st.integers(0, 20_000), st.integers(0, 100 * 86_400))
done = st.lists(st.tuples(st.integers(-90_000, 400_000), st.integers(0, 90_000)), max_size=6)


def at(seconds: int) -> datetime:
    return NOON + seconds * SECOND


def seconds_of(part: Window | Slice) -> range:
    first, last = ((each - NOON) // SECOND for each in (part.from_at, part.to_at))
    return range(first, last + 1)


@given(spans, done)
def test_each_second_that_is_not_done_is_in_one_part_and_no_other_is_in_any(
    span: int, ready: list[tuple[int, int]]
) -> None:
    window = Window(at(0), at(span))
    slices = [Slice(at(start), at(start + length), NOON) for start, length in ready]

    parts = windows.parts(window, slices)

    places = [*map(seconds_of, slices), *map(seconds_of, parts)]
    edges = {0, span} | {end + step for each in places for end in (each[0], each[-1]) for step in (-1, 0, 1)}
    for second in (edge for edge in edges if 0 <= edge <= span):
        skipped = any(second in seconds_of(each) for each in slices)
        assert sum(second in seconds_of(part) for part in parts) == (0 if skipped else 1)
    assert all(0 <= seconds_of(part)[0] <= seconds_of(part)[-1] <= span for part in parts)
    assert list(parts) == sorted(parts, key=lambda part: part.from_at)


@given(spans)
def test_a_window_has_few_parts_and_none_is_short(span: int) -> None:
    parts = windows.parts(Window(at(0), at(span)))

    assert 1 <= len(parts) <= SLICES
    assert len(parts) == 1 or min(len(seconds_of(part)) for part in parts) * SECOND >= SHORTEST


@pytest.mark.parametrize(
    "span,number",
    [
        (timedelta(0), 1),
        (timedelta(minutes=70), 1),
        (2 * HOUR - 2 * SECOND, 1),
        (2 * HOUR - SECOND, 2),
        (timedelta(days=1, minutes=10), 24),
        (timedelta(days=45), 47),
        (timedelta(days=3650), 47),
    ],
)
def test_an_ordinary_hour_is_one_part_and_a_long_window_as_many_as_there_may_be(
    span: timedelta, number: int
) -> None:
    assert len(windows.parts(Window(NOON - span, NOON))) == number


def test_parts_are_counted_in_whole_seconds_as_the_provider_counts() -> None:
    part = windows.parts(Window(at(0) + SECOND * 0.9, at(10) + SECOND * 0.9))

    assert part == (Window(at(0), at(10)),)


READ = Slice(NOON - 9 * HOUR, NOON - 8 * HOUR, NOON - HOUR)


@pytest.mark.parametrize(
    "read,good",
    [
        (READ, True),
        (READ._replace(read_at=READ.to_at + OVERLAP), True),
        (READ._replace(read_at=READ.to_at + OVERLAP - SECOND), False),
        (READ._replace(read_at=NOON), True),
        (READ._replace(read_at=NOON + SECOND), False),
        (READ._replace(read_at=NOON - KEPT, from_at=NOON - 4 * KEPT, to_at=NOON - 3 * KEPT), False),
        (READ._replace(read_at=NOON - KEPT + SECOND, from_at=NOON - 4 * KEPT, to_at=NOON - 3 * KEPT), True),
        (Slice(NOON - 20 * KEPT, NOON - 10 * KEPT - SECOND, NOON - HOUR), False),
        (Slice(NOON - 20 * KEPT, NOON - 10 * KEPT, NOON - HOUR), True),
    ],
    ids=["read", "just settled", "nearly", "now", "from the future", "old", "a day", "before", "edge"],
)
def test_a_slice_is_good_if_it_had_settled_when_it_was_read_not_long_ago(read: Slice, good: bool) -> None:  # noqa: FBT001
    window = Window(NOON - 10 * KEPT, NOON)

    assert windows.settled([read], window, now=NOON, overlap=OVERLAP) == ((read,) if good else ())


FROM = NOON - 9 * KEPT
KNOWN = Account(PLATFORM, livemode=False, covered_from=FROM, watermark_at=NOON)


@pytest.mark.parametrize(
    "end,covered",
    [
        (FROM - 2 * SECOND, False),
        (FROM - SECOND, True),
        (FROM, True),
        (NOON, True),
    ],
)
def test_an_older_window_that_touches_extends_what_is_covered_and_moves_no_watermark(
    end: datetime,
    covered: bool,  # noqa: FBT001
) -> None:
    window = Window(NOON - 20 * KEPT, end)

    after = windows.read_back(KNOWN, window)

    assert after.covered_from == (window.from_at if covered else FROM)
    assert after.watermark_at == NOON
    assert windows.read_back(Account(PLATFORM), window) == Account(PLATFORM)
