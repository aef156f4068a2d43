import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_diff import INTENT, LATER, REFUND, Recon, recon

__all__ = ["recon"]  # A fixture.

AS_JSON = ("--format", "json", *LATER)


@pytest.fixture
def several(recon: Recon) -> None:
    """Two files of refunds, and the intents of both."""
    lines = (json.dumps({**REFUND, "id": f"re_{n}", "intent_key": f"k{n}"}) for n in (1, 2))
    for month, line in zip(("01", "02"), lines, strict=True):
        Path(f"2026-{month}.jsonl").write_text(f"{line}\n")
    Path("intents.json").write_text(json.dumps([INTENT, {**INTENT, "key": "k2"}]))


def counts(stdout: str) -> tuple[int, int, int]:
    told: dict[str, Any] = json.loads(stdout)["counts"]
    return told["intents"], told["refunds"], told["matched"]


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    "refunds",
    [("2026-*.jsonl",), ("2026-01.jsonl", "--more-refunds", "2026-02.jsonl")],
    ids=["pattern", "more"],
)
def test_a_side_may_be_several_files(recon: Recon, refunds: tuple[str, ...]) -> None:
    run = recon("diff", "intents.json", *refunds, *AS_JSON)

    assert (run.stderr, counts(run.stdout)) == ("", (2, 2, 1))  # The second is one like the first.


@pytest.mark.usefixtures("several")
def test_a_report_names_the_files_that_a_pattern_found(recon: Recon) -> None:
    run = recon("diff", "intents.json", "2026-*.jsonl", "--format", "html", *LATER)

    assert "2026-01.jsonl, 2026-02.jsonl" in run.stdout
    assert "2026-*" not in run.stdout


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("refunds", ["2026-01.jsonl", "2026-*.jsonl"])
def test_a_report_takes_no_file_s_place_that_it_is_made_of(recon: Recon, refunds: str) -> None:
    before = Path("2026-01.jsonl").read_bytes()

    run = recon("diff", "intents.json", refunds, "--output", "./2026-01.jsonl", *AS_JSON)

    assert (run.returncode, run.stdout, Path("2026-01.jsonl").read_bytes()) == (2, "", before)
    assert "--output names 2026-01.jsonl, which is read for the report" in run.stderr


@pytest.mark.usefixtures("several")
def test_the_intents_may_be_several_files_too(recon: Recon) -> None:
    for name in ("k1", "k2"):
        Path(f"{name}.json").write_text(json.dumps([{**INTENT, "key": name}]))

    run = recon("diff", "k1.json", "2026-*.jsonl", "--more-intents", "k2.json", *AS_JSON)

    assert counts(run.stdout)[:2] == (2, 2)


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("packed", [False, True])
def test_a_side_may_come_through_standard_input(
    recon: Recon, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    content = Path("2026-01.jsonl").read_bytes()
    piped = io.BytesIO(gzip.compress(content) if packed else content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))

    run = recon("diff", "intents.json", "-", "--format", "html", *LATER)

    assert "<bdi>stdin</bdi>" in run.stdout
    assert "1 mismatch between" in run.stdout


@pytest.mark.usefixtures("several")
def test_a_format_is_said_where_no_name_says_it(recon: Recon) -> None:
    Path("2026-01.jsonl").rename("export")
    Path("intents.json").rename("ours")

    refused = recon("diff", "ours", "export", *AS_JSON)
    run = recon("diff", "ours", "export", "--intents-format", "json", "--refunds-format", "jsonl", *AS_JSON)

    assert refused.returncode == 2
    assert counts(run.stdout)[:2] == (2, 1)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("-", "-"), "Only one side can be standard input"),
        (("-", "refunds.json", "--more-refunds", "-"), "Only one side can be standard input"),
        (("intents.json", "2027-*.json"), "No file fits '2027-*.json'"),
        (("intents.json", "refunds.json", "--refunds-format", "xml"), "--refunds-format"),
    ],
)
@pytest.mark.parametrize("command", ["diff", "backtest"])
def test_what_cannot_be_read_is_exit_2(
    recon: Recon, command: str, arguments: tuple[str, ...], said: str
) -> None:
    run = recon(command, *arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
