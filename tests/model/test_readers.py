from datetime import UTC, date, datetime

import pytest

from recon.model import readers

MARCH = datetime(2026, 3, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("", None),
        ("2026-03-06", MARCH),
        (" 2026-03-06 ", MARCH),
        (date(2026, 3, 6), MARCH),
        ("2026-03-06T17:00:00Z", MARCH.replace(hour=17)),
        ("2026-03-06T17:00:00+01:00", MARCH.replace(hour=16)),
        (MARCH, MARCH),
    ],
)
def test_a_moment_is_a_day_or_a_time_with_its_zone(value: object, expected: datetime | None) -> None:
    assert readers.moment_or_none(value) == expected


@pytest.mark.parametrize(
    "value",
    ["yesterday", "2026-03-06T17:00:00", 20260306, True, None, "2026-13-01", "0001-01-01T00:00+05:00"],
)
def test_anything_else_is_no_moment(value: object) -> None:
    with pytest.raises(ValueError, match="a date such as 2026-03-06"):
        readers.moment_or_none(value)


@pytest.mark.parametrize("value", ["", "recon.prom", "/var/lib/node_exporter/recon.prom"])
def test_metrics_go_into_a_file_that_the_exporter_reads(value: str) -> None:
    assert readers.metrics_file_or_none(value) == (value or None)


@pytest.mark.parametrize(
    "value", ["/", ".", "..", "recon.txt", "/var/lib/", ".prom", "x.prom/", "a\nb.prom", 1]
)
def test_anything_else_is_no_file_for_metrics(value: object) -> None:
    with pytest.raises(ValueError, match=r"a file whose name ends in \.prom"):
        readers.metrics_file_or_none(value)
