from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from recon.rules.reports import hours

BERLIN = ZoneInfo("Europe/Berlin")
KOLKATA = ZoneInfo("Asia/Kolkata")
AT = datetime(2026, 3, 6, 17, 15, tzinfo=UTC)


def test_hours_without_anything_stand_in_between() -> None:
    found = hours.bars({"a": [(AT, 2), (AT + timedelta(hours=2), 1)], "b": [(AT, 5)]}, UTC)

    assert found.width == "hour"
    assert [start.hour for start in found.starts] == [17, 18, 19]
    assert found.series == {"a": (2, 0, 1), "b": (5, 0, 0)}


@pytest.mark.parametrize(
    "apart, width, number",
    [
        (timedelta(0), "hour", 1),
        (timedelta(hours=hours.MOST - 1), "hour", hours.MOST),
        (timedelta(hours=hours.MOST), "day", 11),
        (timedelta(days=hours.MOST), "month", 9),
        (timedelta(days=365 * 30), "year", 31),
        (timedelta(days=365 * 2000), "century", 21),
    ],
)
def test_the_width_is_the_finest_that_fits(apart: timedelta, width: str, number: int) -> None:
    found = hours.bars({"a": [(AT, 1), (AT + apart, 1)]}, UTC)

    assert (found.width, len(found.starts), sum(found.series["a"])) == (width, number, 1 + 1)


def test_the_calendars_ends_are_drawn() -> None:
    ends = [
        (datetime.min.replace(tzinfo=UTC), 1),
        (datetime.max.replace(tzinfo=UTC), 1),
    ]
    for zone in (UTC, BERLIN, ZoneInfo("America/New_York")):
        found = hours.bars({"a": ends}, zone)

        assert (found.width, found.series["a"][0], found.series["a"][-1]) == ("century", 1, 1)


def test_an_hour_is_the_zones_own() -> None:
    assert hours.bars({"a": [(AT, 1)]}, BERLIN).starts == (datetime(2026, 3, 6, 18),)  # noqa: DTZ001 - the zone's clock
    assert hours.bars({"a": [(AT, 1)]}, KOLKATA).starts == (datetime(2026, 3, 6, 22),)  # noqa: DTZ001 - as above
    assert hours.of_day([(AT, 3)], KOLKATA)[22] == 3


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
def test_nothing_is_lost_where_clocks_change(day: datetime) -> None:
    times = [(day + timedelta(minutes=15 * n), 1) for n in range(96)]

    assert sum(hours.bars({"a": times}, BERLIN).series["a"]) == 96
    assert sum(hours.of_day(times, BERLIN)) == 96


def test_nothing_is_no_bar() -> None:
    assert hours.bars({"a": []}, UTC).series == {"a": ()}
