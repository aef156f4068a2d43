from pathlib import Path
from typing import Any

import pytest

from recon.model.records.words import Kind
from tests.bench import books, diff_table, ours
from tests.bench.diff_table import OURS, Sample

FOUND: dict[str, Any] = {
    "intents": 100,
    "linked": {"none": 2, "operator": 0, "intent_key": 90, "refund_id": 5, "request_key": 0, "inferred": 1},
    "named": 89,
    "kinds": {"missing": 3},
    "confirmed": dict.fromkeys(Kind, 1),
    "healable": 1,
    "inferred": 1,
}
FITTING = {
    "pandas merge": {"both": 90},
    "datacompy": {"both": 89, "only_intents": 11},
    "fastrecon": {"only_intents": 11},
    "duckdb": {
        "linked": {"none": 3, "intent_key": 90, "refund_id": 5},
        "kinds": {
            "duplicate": 1,
            "currency_mismatch": 1,
            "amount_mismatch": 1,
            "status_mismatch": 1,
            "refund_failed": 1,
            "stuck": 1,
            "overdue": 1,
            "missing": 4,
            "healable": 1,
        },
    },
}


def sample(seconds: float, found: object = None) -> Sample:
    return {"seconds": seconds, "cpu_seconds": 2 * seconds, "megabytes": 900, "found": found}


def test_a_row_is_met_up_to_its_goal_and_judged_by_medians() -> None:
    samples = {OURS: [sample(each) for each in (0.5, 9.0, 0.4)], "pandas merge": [sample(1.0)] * 3}

    (row,) = diff_table.rows(samples, {}, ["merge"])

    assert (row.ratio, row.cpu_ratio, row.outcome) == (0.5, 0.5, "met")
    samples["pandas merge"] = [sample(0.99)]
    assert diff_table.rows(samples, {}, ["merge"])[0].outcome == "MISSED"


def test_the_time_of_five_times_the_rows_is_compared_per_row() -> None:
    (row,) = diff_table.rows({OURS: [sample(1.0)], diff_table.LARGE: [sample(7.5)]}, {}, ["scale"])

    assert (row.ratio, row.outcome) == (1.5, "met")


def test_what_cannot_be_installed_is_said_and_not_made_up() -> None:
    (row,) = diff_table.rows({OURS: [sample(1.0)]}, {"duckdb": "no such package"}, ["duckdb"])

    assert (row.ratio, row.outcome) == (None, "not installable here: no such package")
    assert "no such package" in diff_table.text([row], {OURS: [sample(1.0)]})


def test_answers_that_fit_are_fair() -> None:
    samples = {OURS: [sample(1, FOUND)]} | {name: [sample(1, found)] for name, found in FITTING.items()}

    assert diff_table.unfair(samples) == []


@pytest.mark.parametrize("name", FITTING)
def test_an_answer_about_other_data_is_unfair(name: str) -> None:
    samples = {OURS: [sample(1, FOUND)], name: [sample(1, {"both": 1, "linked": {}, "kinds": {}})]}

    assert {sentence.partition(" says ")[0] for sentence in diff_table.unfair(samples)} == {name}


def test_the_greatest_peak_counts() -> None:
    told = [{"megabytes": each, "frame_megabytes": 100.0} for each in (150, 290, 200)]

    assert diff_table.memory(told) == pytest.approx(2.9)


def test_the_books_hold_every_kind_and_every_way_to_link_without_a_person(tmp_path: Path) -> None:
    intents, refunds = books.write(2000, tmp_path)

    found = ours.said(ours.diff(*ours.read(intents, refunds), books.AS_OF))

    assert found["kinds"] == dict.fromkeys(Kind, 2) | {Kind.DUPLICATE: 6}
    assert found["confirmed"] == dict.fromkeys(Kind, 2)
    assert (found["healable"], found["inferred"]) == (2, 2)
    assert found["linked"] == {
        "none": 4,
        "operator": 0,
        "intent_key": 1996,
        "refund_id": 2,
        "request_key": 0,
        "inferred": 2,
    }
