from collections.abc import Mapping

import pytest

from recon.model import mapping_toml, samples
from recon.rules.mapping import proposing, writing, zones

Row = Mapping[str, object]
SHOP: Row = {"idempotency_key": "k1", "total": "49.00", "currency": "EUR", "status": "done"}


@pytest.mark.parametrize(
    "header, zone",
    [
        ("Created (Europe/Berlin)", "Europe/Berlin"),
        ("Created America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("Created (UTC)", "UTC"),
        ("date_created_gmt", "UTC"),
        ("Created (UTC+1)", "+01:00"),
        ("Created (GMT-05:30)", "-05:30"),
        ("Created (UTC+1:30)", "+01:30"),
        ("Created (UTC+99)", None),
        ("UTC-Zeit", "UTC"),
        ("Created (CET)", None),
        ("Date/Time", None),
        ("Created", None),
    ],
)
def test_a_zone_is_named_by_a_header_in_full(header: str, zone: str | None) -> None:
    assert zones.named(header) == zone


@pytest.mark.parametrize(
    "header, more, likely",
    [
        ("Created", {}, ["UTC", "Europe/Berlin"]),
        ("Created (CET)", {}, ["Europe/Berlin", "UTC"]),
        ("Created PDT", {}, ["America/Los_Angeles", "UTC", "Europe/Berlin"]),
        ("Angelegt am", {}, ["Europe/Berlin", "UTC"]),
        ("Created", {"Bemerkung": "x"}, ["Europe/Berlin", "UTC"]),
    ],
)
def test_the_zone_that_a_header_or_a_language_makes_likely_is_the_first_answer(
    header: str, more: Row, likely: list[str]
) -> None:
    proposal = proposing.propose(samples.of("shop.csv", [{**SHOP, header: "2026-03-06 17:00:00", **more}]))
    (question,) = proposal.questions

    assert [choice.zone for choice in question.choices] == likely


def test_where_the_month_goes_before_the_day_the_other_answer_is_american() -> None:
    proposal = proposing.propose(samples.of("shop.csv", [{**SHOP, "Created": "03/16/2026 2:05 PM"}]))
    (question,) = proposal.questions

    assert [choice.means for choice in question.choices] == [
        "they are in UTC",
        "they are in America/New_York",
    ]


def test_a_header_that_says_its_zone_leaves_nothing_to_ask() -> None:
    rows: list[Row] = [{**SHOP, "Created (Europe/Berlin)": "06.03.2026 17:00"}]
    proposal = proposing.propose(samples.of("shop.csv", rows))

    (line,) = (line for line in proposal.lines if line.ours == "created_at")
    assert proposal.questions == ()
    assert line.told.zone == "Europe/Berlin"
    assert 'zone = "Europe/Berlin"' in mapping_toml.written_column(line.ours, line.told)


def test_a_doubt_names_its_column_where_no_line_does() -> None:
    rows: list[Row] = [{**SHOP, "Made": "06.03.2026 17:00", "idempotency_key": f"k{n}"} for n in range(4)]
    found = samples.of("shop.csv", [*rows, {**SHOP, "Made": "yesterday", "idempotency_key": "k9"}])

    assert "# Made: 1 of 5 are written otherwise.\n" in writing.text(proposing.propose(found), found)
