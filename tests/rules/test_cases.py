"""Every situation with a known answer comes out as it must, by the recon command and by the slow reading."""

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recon.cli.main import main
from tests import reference

FOLDER = Path(__file__).parent.parent / "cases"
CASES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
COUNTED = ("rejected", "withheld", "superseded", "declared_repeats")

Case = dict[str, Any]


def hold(expect: Case, document: Case) -> None:
    """Assert everything that a case expects of a result."""
    found = {mismatch["subject"]: mismatch for mismatch in document["mismatches"]}
    assert list(found) == [wanted["subject"] for wanted in expect["mismatches"]]
    for wanted in expect["mismatches"]:
        fields = {name: value for name, value in wanted.items() if name != "diagnosis_set"}
        actual = found[wanted["subject"]]
        assert {name: actual[name] for name in fields} == fields
        if "diagnosis_set" in wanted:
            assert (actual["diagnosis"] is not None) == wanted["diagnosis_set"]
    for name in ("healable", "in_flight"):
        assert len(document[name]) == len(expect[name])
        for wanted, row in zip(expect[name], document[name], strict=True):
            assert {field: row[field] for field in wanted} == wanted
    for name in COUNTED:
        if name in expect:
            assert document["counts"][name] == expect[name]
    assert len(document["rejected"]) == expect["rejected"]
    assert (document["verdict"] == "incomplete") == ("incomplete" in expect)


def exit_code(expect: Case) -> int:
    """How the command must end."""
    if "incomplete" in expect or expect["rejected"]:
        return 3
    return 1 if expect["mismatches"] else 0


def code_of(command: Callable[[], None]) -> int:
    """How the command ends, as its process would."""
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@pytest.mark.parametrize("name", CASES)
def test_the_slow_reading_gives_the_known_answer(name: str) -> None:
    case = CASES[name]
    expect = case["expect"]
    incomplete = frozenset([expect["incomplete"]]) if "incomplete" in expect else frozenset[str]()
    as_of = datetime.fromisoformat(case["as_of"])

    hold(expect, reference.diff(case["intents"], case["refunds"], as_of=as_of, incomplete=incomplete))


@pytest.mark.parametrize("name", CASES)
def test_recon_diff_gives_the_known_answer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    for side in ("intents", "refunds"):
        (tmp_path / f"{side}.json").write_text(json.dumps(case[side]), encoding="utf-8")
    files = [str(tmp_path / "intents.json"), str(tmp_path / "refunds.json")]
    options = ["--as-of", case["as_of"], "--format", "json"]
    if "incomplete" in case["expect"]:
        options += ["--incomplete", case["expect"]["incomplete"]]
    monkeypatch.setattr(sys, "argv", ["recon", "diff", *files, *options])
    ended = code_of(main)

    hold(case["expect"], json.loads(capsys.readouterr().out))
    assert ended == exit_code(case["expect"])
