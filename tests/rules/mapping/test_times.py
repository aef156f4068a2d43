from datetime import UTC, datetime

import pytest

from recon.rules.mapping import times

TABLE: list[tuple[list[object], str, int, int]] = [
    # cells, format, without a zone, without a time of day
    (["2026-03-06T17:00:00Z", "2026-03-06 17:00:00.5+00"], "iso", 0, 0),
    (["2026-03-06 17:00:00", "2026-03-06T17:00:00Z"], "iso", 1, 0),
    (["2026-03-06"], "iso", 1, 1),
    (["1772816400", 1772816401], "unix", 0, 0),
    ([1772816400123], "unix_ms", 0, 0),
    (["1772816400123456"], "unix_us", 0, 0),
    (["31/03/2026 17:00", "01/04/2026 18:00"], "%d/%m/%Y %H:%M", 2, 0),
    (["03/31/2026 5:00 PM"], "%m/%d/%Y %I:%M %p", 1, 0),
    (["31.03.2026"], "%d.%m.%Y", 1, 1),
    (["2026/03/31 17:00:01"], "%Y/%m/%d %H:%M:%S", 1, 0),
    (["31 Mar 2026, 17:00", "1 Apr 2026, 18:00"], "%d %b %Y, %H:%M", 2, 0),
    (["31/03/2026 17:00 +0200"], "%d/%m/%Y %H:%M %z", 0, 0),
    (["20260306"], "%Y%m%d", 1, 1),
    ([datetime(2026, 3, 6, 17, tzinfo=UTC)], "iso", 0, 0),
]


@pytest.mark.parametrize("cells, format_, zoneless, dates", TABLE)
def test_the_format_that_reads_all_is_found(
    cells: list[object], format_: str, zoneless: int, dates: int
) -> None:
    seen = times.look(cells)

    assert seen is not None
    assert (seen.format, seen.others, seen.fits) == (format_, (), len(cells))
    assert (seen.zoneless, seen.dates) == (zoneless, dates)


def test_a_day_that_could_be_a_month_leaves_two_formats() -> None:
    seen = times.look(["03/04/2026", "05/06/2026"])

    assert seen is not None
    assert {seen.format, *seen.others} == {"%d/%m/%Y", "%m/%d/%Y"}


def test_one_day_beyond_twelve_decides_for_all() -> None:
    seen = times.look(["03/04/2026", "05/06/2026", "13/06/2026"])

    assert seen is not None
    assert (seen.format, seen.others) == ("%d/%m/%Y", ())


@pytest.mark.parametrize("cells", [[], ["late"], ["49.00"], ["8812"], [True], ["2026-03-06", "x", "y"]])
def test_what_is_no_time_has_no_format(cells: list[object]) -> None:
    assert times.look(cells) is None
