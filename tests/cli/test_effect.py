"""`recon guard show`, on what was asked for, told and concluded."""

import json
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from recon.model.errors import Report
from tests.cli.test_unknowns import SECRET, Office


@pytest.fixture
def office(database: Database, database_url: str, tmp_path: Path) -> Office:
    (tmp_path / "recon.toml").write_text("")
    return Office(database, database_url, tmp_path)


@pytest.mark.parametrize(
    "words, stands, said",
    [
        (("--done", "--id", "letter 7"), "done (letter 7)", "done (letter 7)"),
        (("--not-done",), "not done, and never sent again", "not done"),
    ],
)
def test_a_persons_word_stands_beside_the_calls(
    office: Office, words: tuple[str, ...], stands: str, said: str
) -> None:
    key = office.call(order="8812")
    office.call(order="8812")
    office.run("conclude", "send_letter", key, "--by", "maria", *words)
    told = office.run("show", key)

    assert SECRET not in told
    lines = told.splitlines()
    assert lines[:2] == [f"send_letter  {key}", f"  stands      {stands}"]
    assert lines[-4] == "  asked       3 entries"
    assert lines[-3:-1] == ["    2026-03-06 23:59:50 UTC  a call, told pending_unknown"] * 2
    assert lines[-1].endswith(f" UTC  maria concluded: {said}")


def test_json_has_every_key_and_nothing_that_was_sent(office: Office) -> None:
    key = office.call(order="8812", account="acct_1")
    office.run("conclude", "send_letter", key, "--account", "acct_1", "--by", "maria", "--not-done")
    told = office.run("show", key, "--account", "acct_1", "--format", "json")
    found = json.loads(told)

    assert SECRET not in told
    assert (found["status"], found["refusal"]) == ("failed", "maria found that it was not done")
    assert [(each["told"], each["concluded"], each["done"]) for each in found["shown"]] == [
        ("pending_unknown", False, None),
        (None, True, False),
    ]


def test_what_nobody_knows_of_is_shown_as_that(office: Office) -> None:
    key = office.call(order="1")

    assert "  stands      nobody knows\n" in office.run("show", key)


def test_a_key_of_nothing_is_refused(office: Office) -> None:
    with pytest.raises(Report, match="found none of nothing: see recon guard unknown"):
        office.run("show", "nothing")
