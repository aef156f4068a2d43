import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recon.cli.backtest import _asked
from recon.model.errors import ConfigurationError
from tests.cli.test_diff import INTENT, REFUND, Recon, recon, write

__all__ = ["recon"]  # A fixture.

HOURS = ("--as-of", "2026-03-06T18:30:00Z", "--hours", "3")


def at(clock: str) -> str:
    return f"2026-03-06T{clock}:00Z"


@pytest.fixture
def backtest(recon: Recon) -> Recon:
    """Three that were odd at 17:30 and had settled at 18:30, and one that stays missing."""
    write(
        [
            {**INTENT, "key": "late", "payment": "pi_1"},
            {**INTENT, "key": "row later", "payment": "pi_2", "refund_id": "re_2", "created_at": at("17:50")},
            {
                **INTENT,
                "key": "slow",
                "payment": "pi_3",
                "created_at": at("16:20"),
                "first_sent_at": at("16:20"),
                "updated_at": at("17:40"),
            },
            {**INTENT, "key": "gone", "payment": "pi_4", "amount_minor": 100},
        ],
        [
            {**REFUND, "intent_key": "late", "created_at": at("17:40")},
            {**REFUND, "id": "re_2", "intent_key": None, "payment_intent": "pi_2", "created_at": at("17:10")},
            {
                **REFUND,
                "id": "re_3",
                "intent_key": "slow",
                "payment_intent": "pi_3",
                "created_at": at("17:39"),
            },
        ],
    )
    return partial(recon, "backtest", "intents.json", "refunds.json")


def graces(backtest: Recon, *arguments: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Each grace's outcomes by their value."""
    document = json.loads(backtest("--format", "json", *HOURS, *arguments).stdout)
    return {name: {each["value"]: each for each in ladder} for name, ladder in document["graces"].items()}


def test_it_says_what_each_grace_would_have_reported_and_what_of_it_settled(backtest: Recon) -> None:
    found = graces(backtest, "--grace", "missing_after_minutes", "--grace", "stuck_after_minutes=60,90")

    usual = {
        "value": "15",
        "usual": True,
        "reported": {"missing": 2, "stuck": 1, "orphan": 1},
        "settled": {"missing": 1, "stuck": 1, "orphan": 1},
        "at_risk": {"usd": 3 * 4900 + 100},
        "settled_at_risk": {"usd": 3 * 4900},
        "in_flight": 0,
    }
    assert found["missing_after_minutes"]["15"] == usual
    assert found["stuck_after_minutes"]["60"] == usual | {"value": "60"}
    assert found["missing_after_minutes"]["60"]["reported"] == {"missing": 1, "stuck": 1, "orphan": 1}
    assert found["missing_after_minutes"]["60"]["settled"] == {"stuck": 1, "orphan": 1}
    assert found["missing_after_minutes"]["240"]["in_flight"] == 1
    assert found["stuck_after_minutes"]["90"]["reported"] == {"missing": 2, "orphan": 1}


def test_the_last_run_reports_what_the_diff_does(backtest: Recon, recon: Recon) -> None:
    found = graces(backtest, "--hours", "1")
    document = json.loads(
        recon("diff", "intents.json", "refunds.json", "--format", "json", "--as-of", at("18:30")).stdout
    )

    told = {kind: n for kind, n in document["counts"]["mismatches"].items() if n}
    assert {
        json.dumps(each["reported"]) for ladder in found.values() for each in ladder.values() if each["usual"]
    } == {json.dumps(told)}


def test_judged_earlier_than_the_files_end_it_sees_what_came_after(backtest: Recon) -> None:
    run = backtest("--as-of", at("17:30"), "--hours", "1", "--format", "json")

    document = json.loads(run.stdout)
    assert (document["hours"], document["end"]) == ([at("17:30")], at("17:50"))
    (usual,) = [each for each in document["graces"]["orphan_after_minutes"] if each["usual"]]
    assert usual["reported"] == {"missing": 2, "stuck": 1, "orphan": 1}
    assert usual["settled"] == {"missing": 1, "stuck": 1, "orphan": 1}


def test_a_table_says_what_differs_and_is_short_of_what_does_not(backtest: Recon) -> None:
    run = backtest(*HOURS)

    assert (run.returncode, run.stderr) == (0, "")
    assert "What 3 hourly runs until 2026-03-06 18:30 UTC would have reported" in run.stdout
    said = "own graces (*): 2 missing, 1 stuck, 1 orphan, with 148.00 USD at risk."
    assert said in " ".join(run.stdout.split())
    assert "      60         3         2          0  -1 missing, -49.00 USD" in run.stdout
    assert "Nothing changes by\n" in run.stdout
    assert "  clock_skew_seconds 0, 5 *, 60\n" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--grace", "odd"), "--grace must be one of stuck_after_minutes"),
        (("--hours", "0"), "--hours"),
        (("--policy", "nowhere.toml"), "nowhere.toml cannot be read"),
    ],
)
def test_what_cannot_be_used_is_exit_2(backtest: Recon, arguments: tuple[str, ...], said: str) -> None:
    run = backtest(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr


@pytest.mark.parametrize("form", ["table", "json"])
def test_rejected_rows_are_said_and_exit_3(backtest: Recon, form: str) -> None:
    whole = backtest(*HOURS, "--grace", "missing_after_minutes", "--format", form)
    write(
        [*json.loads(Path("intents.json").read_text()), {**INTENT, "currency": "xyz"}],
        [*json.loads(Path("refunds.json").read_text()), {**REFUND, "id": None, "intent_key": None}],
    )
    run = backtest(*HOURS, "--grace", "missing_after_minutes", "--format", form)

    assert (whole.returncode, run.returncode, run.stdout) == (0, 3, whole.stdout)
    assert [line.partition(":")[2].partition(":")[0] for line in run.stderr.splitlines()] == [
        " intents.json row 5",
        " refunds.json row 4",
    ]


def test_a_side_that_was_not_read_to_its_end_is_said_and_exit_3(backtest: Recon) -> None:
    Path("map.toml").write_text('[refunds]\nwhere = [{ column = "id", is = "re_0" }]\n')

    run = backtest(*HOURS, "--columns", "map.toml")

    assert run.returncode == 3
    assert "recon: the map's filters by 'id' keep none of the" in run.stderr


def test_two_files_without_a_row_have_nothing_to_report(backtest: Recon) -> None:
    write([], [])

    assert "own graces (*): nothing." in backtest(*HOURS).stdout


@pytest.mark.parametrize(
    "asked, said",
    [
        ("stuck_after", "--grace must be one of stuck_after_minutes, "),
        ("healing", "--grace must be one of"),
        ("stuck_after_minutes=", "--grace stuck_after_minutes must be numbers"),
        ("stuck_after_minutes=15,soon", "found '15,soon'"),
        ("stuck_after_minutes=-1", "--grace: stuck_after_minutes must be a number of minutes from 0"),
        ("stuck_after_minutes=nan", "--grace: stuck_after_minutes must be a number of minutes from 0"),
    ],
)
def test_what_is_no_grace_is_refused(asked: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        _asked(asked)

    assert said in str(refused.value)
