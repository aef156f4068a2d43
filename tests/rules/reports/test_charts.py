import re
from datetime import UTC, datetime, timedelta

from recon.rules.reports import charts, hours
from tests.rules.reports.test_pages import Page

AT = datetime(2026, 3, 6, 17, tzinfo=UTC)


def drawn(*counts: int) -> str:
    times = [(AT + timedelta(hours=place), n) for place, n in enumerate(counts)]
    return charts.over_time("Refunds", "a", hours.bars({"a": times}, UTC), "UTC")


def heights(html: str) -> list[float]:
    return [float(found) for found in re.findall(r'<rect [^>]*height="([0-9.]+)"', html)]


def test_a_bar_is_as_high_as_its_number_and_none_that_is_something_vanishes() -> None:
    assert heights(drawn(1000, 500, 0, 1)) == [100.0, 50.0, 1.5]


def test_a_chart_is_read_out_as_a_sentence_and_as_a_table() -> None:
    found = Page(drawn(2, 0, 7))
    labels = [attributes.get("aria-label") for tag, attributes in found.elements if tag == "svg"]

    assert labels == ["Refunds by hour (UTC): 9 in all, at most 7 in one hour, 2026-03-06 19:00"]
    assert "Hour How many 2026-03-06 17:00 2 2026-03-06 19:00 7" in found.text


def test_nothing_is_no_chart() -> None:
    assert drawn() == drawn(0) == charts.over_day("Refunds", [0] * 24, "UTC") == ""


def test_the_hours_of_a_day_are_all_named() -> None:
    found = Page(charts.over_day("Refunds", [*range(24)], "UTC"))

    assert "Refunds by hour of the day (UTC)" in found.text
    assert "23:00 23" in found.text
