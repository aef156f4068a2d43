from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from dashboard import times

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "zone, expected",
    [
        ("UTC", "29 Nov 2026, 12:00 UTC"),
        ("Europe/London", "29 Nov 2026, 12:00 UTC"),
        ("Europe/Berlin", "29 Nov 2026, 13:00 (12:00 UTC)"),
        ("Pacific/Auckland", "30 Nov 2026, 01:00 (29 Nov 12:00 UTC)"),
    ],
)
def test_a_moment_is_in_the_viewers_zone_with_utc_beside_it(zone: str, expected: str) -> None:
    assert times.moment(NOON, ZoneInfo(zone)) == expected


def test_an_exact_moment_has_its_seconds() -> None:
    at = NOON + timedelta(seconds=7)

    assert times.exact(at) == "29 Nov 2026, 12:00:07 UTC"
    assert times.exact(at, ZoneInfo("Europe/Berlin")) == "29 Nov 2026, 13:00:07 (12:00:07 UTC)"


@pytest.mark.parametrize(
    "length, expected",
    [
        (timedelta(0), "under a minute"),
        (timedelta(seconds=59), "under a minute"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(minutes=59, seconds=59), "59 min"),
        (timedelta(hours=1), "1 h"),
        (timedelta(hours=3, minutes=20), "3 h 20 min"),
        (timedelta(days=1), "1 d"),
        (timedelta(days=4, hours=2, minutes=59), "4 d 2 h"),
        (timedelta(seconds=-5), "under a minute"),
    ],
)
def test_a_span_has_at_most_two_units(length: timedelta, expected: str) -> None:
    assert times.span(length) == expected


def test_what_is_a_moment_ago_is_just_now() -> None:
    assert times.ago(NOON, NOON + timedelta(seconds=59)) == "just now"
    assert times.ago(NOON, NOON + timedelta(minutes=1)) == "1 min ago"
