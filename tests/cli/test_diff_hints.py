import json
from pathlib import Path

import pytest

from tests.cli.test_diff import INTENT, LATER, REFUND, Recon, diff, recon, write

__all__ = ["diff", "recon"]  # Fixtures.

EARLIER = {**REFUND, "intent_key": None, "created_at": "2026-03-06T15:00:00Z"}
TIMES = (
    "1 of 1 missing intent has an orphan refund of the same payment and amount, 2 h 0 min apart (the refund"
    " is earlier): is the zone of one file right?"
)


@pytest.mark.parametrize("format_", ["table", "json", "csv", "html"])
def test_a_hint_is_said_first_whatever_is_written(diff: Recon, format_: str) -> None:
    write([INTENT], [EARLIER])

    run = diff("--format", format_, *LATER)

    assert (run.returncode, run.stderr) == (1, f"recon: {TIMES}\n")
    assert (TIMES in run.stdout) is (format_ == "html")
    if format_ == "json":
        assert not {"hint", "hints"} & set(json.loads(run.stdout))


def test_a_side_that_nobody_can_read_is_exit_3_and_names_the_command_that_maps_it(diff: Recon) -> None:
    write([{**INTENT, "currency": "gulden"}], [REFUND])

    run = diff(*LATER)

    assert run.returncode == 3
    assert run.stderr == (
        "recon: The only row of intents.json could not be judged, so nothing was compared:"
        " recon map intents.json proposes a map.\n"
    )


def test_many_rows_of_one_cause_are_one_sentence_and_hide_no_other(diff: Recon) -> None:
    spoiled = [{**INTENT, "key": f"k{n}", "currency": "xyz"} for n in range(2, 302)]
    write([INTENT, *spoiled, {**INTENT, "key": "k302", "created_at": "soon"}], [REFUND])

    first, second = diff("--format", "csv", *LATER).stderr.splitlines()

    assert first.startswith("recon: intents.json rows 2, 3, 4 and 297 more: currency must be")
    assert second.startswith("recon: intents.json row 302: created_at must be")


def test_of_many_causes_the_first_are_said_and_how_many_rows_are_not(diff: Recon) -> None:
    flawed = ("account", "amount_minor", "currency", "status", "created_at", "updated_at", "first_sent_at")
    write([{**INTENT, "key": f"k{n}", name: ["?"]} for n, name in enumerate(flawed)], [REFUND])

    said = diff("--format", "csv", *LATER).stderr.splitlines()[1:]

    assert ["intents.json row" in line for line in said] == [True] * 5 + [False]
    assert said[-1] == "recon: 2 more rows were rejected; recon diff --format json lists them all."


def test_filters_that_keep_nothing_are_exit_3_and_said(diff: Recon) -> None:
    where = 'where = [{ column = "status", is = "DONE" }]\n'
    Path("map.toml").write_text(f"[intents]\n{where}[refunds]\n{where}")

    run = diff("--format", "json", "--columns", "map.toml", *LATER)

    assert (run.returncode, json.loads(run.stdout)["verdict"]) == (3, "incomplete")
    for side in ("intents", "refunds"):
        assert f"recon: the map's filters by 'status' do not keep the only row of {side}, so" in run.stderr
