"""What is said of a time that no clock showed, or that it showed twice."""

from datetime import datetime

import pytest

from recon.model.mapping import Column
from tests.model.test_fitting import read

PATTERN = "%d.%m.%Y %H:%M"
THERE = Column(("x",), format=PATTERN, zone="Europe/Berlin")
ISO = Column(("x",), zone="Europe/Berlin")
SKIPPED = ", in an hour that the clocks of Europe/Berlin skipped: is it the zone of these times?"
TWICE = ", in an hour that the clocks of Europe/Berlin showed twice: nothing says which one is meant"


@pytest.mark.parametrize(
    "column, value, said",
    [
        (THERE, "29.03.2026 02:17", f"'29.03.2026 02:17'{SKIPPED}"),
        (THERE, "29.03.2026 02:00", f"'29.03.2026 02:00'{SKIPPED}"),
        (THERE, "25.10.2026 02:17", f"'25.10.2026 02:17'{TWICE}"),
        (THERE, "31.02.2026 02:17", "'31.02.2026 02:17'"),
        (THERE, "soon", "'soon'"),
        (ISO, "2026-03-29 02:17", f"'2026-03-29 02:17'{SKIPPED}"),
        (ISO, "2026-10-25T02:17:09.5", f"'2026-10-25T02:17:09.5'{TWICE}"),
        (ISO, datetime(2026, 3, 29, 2, 17), f"'2026-03-29 02:17:00'{SKIPPED}"),  # noqa: DTZ001 - no zone is the case.
        (ISO, "2026-99-29 02:17", "'2026-99-29 02:17'"),
        (ISO, "1774744620000", "'1774744620000', which looks like milliseconds since 1970"),
        (Column(("x",), zone="America/Santiago"), "2026-09-06", "skipped"),  # Clocks change at midnight.
        (Column(("x",), format="%Y %z", zone="Europe/Berlin"), "29.03.2026 02:17", "'29.03.2026 02:17'"),
        (Column(("x",), format="unix", zone="Europe/Berlin"), "29.03.2026 02:17", "'29.03.2026 02:17'"),
    ],
)
def test_the_reason_says_what_the_clocks_of_the_zone_did(column: Column, value: object, said: str) -> None:
    (reject,) = read("created_at", column, value).rejects

    found = reject.reason.partition("; found ")[2]

    assert found == said if said != "skipped" else said in found
