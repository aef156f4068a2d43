"""`recon guard unknown` and `recon guard conclude`, on what nobody knows of."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from typer.testing import CliRunner

from recon.cli.guard import app
from recon.doors import config, intents
from recon.doors.store import unknowns
from recon.doors.store.engines import Database
from recon.guard import Guard
from recon.model import registry
from recon.model.errors import LeaseHeld, Report
from recon.model.guarded import calls
from recon.model.holds import guarded
from recon.model.records.words import AccountId, IntentKey
from recon.rules import keys
from tests.builders import an_intent
from tests.guards import LATE

SECRET = "the letter's own words"
TOOL = (
    '[tools.send_letter]\ntitle = "Letter"\neffect = "side_effect"\nkey = ["order"]\nfingerprint = ["to"]\n'
)


def lost(*_: object) -> str:
    """Send something, perhaps."""
    raise TimeoutError


@dataclass
class Office:
    """A guard whose answers are lost, and the commands over its books."""

    database: Database
    url: str
    folder: Path
    now: datetime = LATE

    def call(self, tool: str = "send_letter", account: str = "", **named: str) -> IntentKey:
        """Ask for a letter, and return its key."""
        guard = Guard(tool, lost, engine=self.database, clock=lambda: self.now)
        guard.call(named, {"text": SECRET}, noun="letter", account=account)
        return keys.make(tool, AccountId(account), named)

    def run(self, *words: str, code: int = 0) -> str:
        """Return what `recon guard WORDS` prints."""
        env = {"RECON_DATABASE_URL": self.url, "RECON_CONFIG": str(self.folder)}
        done = CliRunner().invoke(app, words, env=env, catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done.output

    def status(self, key: IntentKey) -> str:
        """Return what the books say of it."""
        with self.database.read() as connection:
            row = intents.read(connection, AccountId(""), key)
        assert row is not None
        return str(row.status)

    def concluded(self) -> list[tuple[Any, ...]]:
        """Return who concluded what."""
        query = select(calls.c.intent_key, calls.c.caller, calls.c.asked).where(calls.c.answer == "concluded")
        with self.database.read() as connection:
            return [tuple(row) for row in connection.execute(query)]


@pytest.fixture
def office(database: Database, database_url: str, tmp_path: Path) -> Office:
    (tmp_path / "recon.toml").write_text("")
    return Office(database, database_url, tmp_path)


def test_where_everything_is_known_it_says_so(office: Office) -> None:
    assert office.run("unknown").startswith("Nobody needs to look")
    assert json.loads(office.run("unknown", "--format", "json"))["unknown"] == []


def test_each_is_shown_with_the_fields_of_its_key_and_how_to_conclude_it(office: Office) -> None:
    key = office.call(order="8812")
    told = office.run("unknown", code=1)

    assert SECRET not in told
    head, _, first, order, since, look, said, way = told.splitlines()
    command = f"recon guard conclude send_letter {key} --by NAME"
    assert head == "Nobody knows whether 1 guarded effect is done."
    assert first == f"send_letter  {key}"
    assert order == "  order      8812"
    assert since.startswith("  since      2026-03-06 23:59 UTC, ")
    assert look == "  last look  2026-03-06 23:59 UTC"
    assert said == "  said       1 call, the latest told pending_unknown"
    assert way == f"  conclude   {command}, with --done [--id ID] or with --not-done"


def test_the_oldest_comes_first_and_json_has_every_key(office: Office) -> None:
    later = office.call(order="1")
    office.now -= timedelta(minutes=5)
    first = office.call(order="2", account="acct_1")
    told = office.run("unknown", "--format", "json", code=1)
    found = json.loads(told)

    assert SECRET not in told
    assert (found["total"], [each["key"] for each in found["unknown"]]) == (2, [first, later])
    assert found["unknown"][0]["age_seconds"] > 0
    assert found["unknown"][0]["fields"] == {"order": "2"}
    assert " --account acct_1 --by NAME" in found["unknown"][0]["conclude"]


def test_of_a_declared_tool_the_fields_are_those_of_its_key(office: Office) -> None:
    (office.folder / "tools.toml").write_text(TOOL)
    settings = config.load({"RECON_CONFIG": str(office.folder)})
    declared = registry.parse(settings.tools)["send_letter"]
    guard = Guard("send_letter", lost, engine=office.database, declared=declared)
    guard.call({"order": "7"}, {"to": "ana@example.com", "text": SECRET}, noun="letter", caller="agent")
    told = office.run("unknown", "--format", "json", code=1)

    assert json.loads(told)["unknown"][0]["fields"] == {"order": "7"}
    assert "ana@example.com" not in told


def test_what_a_stranger_wrote_moves_no_terminal(office: Office) -> None:
    key = office.call(order="1")
    with office.database.write() as connection:
        connection.execute(update(guarded).values(refusal="\x1b[2Jno\u202e"))
        connection.execute(update(calls).values(asked={"order\x1b": "\x1b]0;x\x07"}))
    told = office.run("unknown", code=1)

    assert key in told
    assert "refused: " in told
    assert not {"\x1b", "\x07", "\u202e"} & set(told)


def test_of_too_many_the_oldest_are_shown(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.call(order="1")
    office.call(order="2")
    kept = unknowns.oldest
    monkeypatch.setattr(unknowns, "oldest", lambda database, *, now: kept(database, now=now, limit=1))

    head = office.run("unknown", code=1).splitlines()[0]

    assert head == "Nobody knows whether 2 guarded effects are done, of which the oldest 1 follow."


@pytest.mark.parametrize(
    "word, made, status", [("--done", ["--id", "L7"], "done"), ("--not-done", [], "failed")]
)
def test_a_person_concludes_what_nobody_knew(office: Office, word: str, made: list[str], status: str) -> None:
    key = office.call(order="1")
    told = office.run("conclude", "send_letter", key, word, "--by", "ana", *made)
    again = office.run("conclude", "send_letter", key, word, "--by", "bo", *made)
    result = made[-1] if made else None

    assert told.startswith(f"{key} is {'done (L7)' if made else 'not done'}, by the word of ana.")
    assert "was settled already" in again
    assert office.status(key) == status
    assert office.concluded() == [(key, "ana", {"status": status, "result_id": result})]
    assert office.run("unknown").startswith("Nobody needs to look")


def test_it_is_concluded_once_and_by_somebody(office: Office) -> None:
    key = office.call(order="1")
    words = ["conclude", "send_letter", key]
    with pytest.raises(Report, match="By must say who found it out"):
        office.run(*words, "--done", "--by", " ")
    with pytest.raises(Report, match="expected --done beside it"):
        office.run(*words, "--not-done", "--by", "ana", "--id", "L7")
    office.run(*words, "--done", "--by", "ana")
    with pytest.raises(Report, match="is settled already: it is done"):
        office.run(*words, "--not-done", "--by", "bo")

    assert [by for _, by, _ in office.concluded()] == ["ana"]


def test_neither_word_or_no_name_is_no_conclusion(office: Office) -> None:
    key = office.call(order="1")
    office.run("conclude", "send_letter", key, "--by", "ana", code=2)
    office.run("conclude", "send_letter", key, "--done", code=2)

    assert office.status(key) == "pending_unknown"


def test_another_tools_key_or_none_is_refused(office: Office) -> None:
    key = office.call(order="1")
    with pytest.raises(Report, match="found one of send_letter: recon guard unknown lists them"):
        office.run("conclude", "charge_card", key, "--done", "--by", "ana")
    with pytest.raises(Report, match="found none"):
        office.run("conclude", "send_letter", "strange", "--done", "--by", "ana")

    assert office.status(key) == "pending_unknown"


def test_a_refund_is_for_its_case(office: Office) -> None:
    key = office.call("refund_order", order_id="1")
    with office.database.write() as connection:
        assert intents.put(connection, an_intent(key=key, status="pending_unknown"))
    told = office.run("unknown", code=1)
    with pytest.raises(Report, match=r"is a refund.*in its case at the desk"):
        office.run("conclude", "refund_order", key, "--done", "--by", "ana")

    assert "  order_id   1" in told
    assert told.splitlines()[-1].startswith("  settle     it is a refund: the hour does, or a person in its")
    assert office.status(key) == "pending_unknown"
    assert office.concluded() == []


def test_while_a_call_is_at_it_or_nothing_was_sent_nothing_is_written(office: Office) -> None:
    key = office.call(order="1")
    words = ["conclude", "send_letter", key, "--done", "--by", "ana"]
    with office.database.write() as connection:
        connection.execute(update(guarded).values(until=datetime.fromisoformat("2100-01-01T00:00Z")))
    with pytest.raises(LeaseHeld, match="a call or a look-up is"):
        office.run(*words)
    with office.database.write() as connection:
        connection.execute(update(guarded).values(until=LATE, first_sent_at=None, status="pending"))
    with pytest.raises(Report, match="Nothing was ever sent"):
        office.run(*words)

    assert office.concluded() == []


def test_what_no_call_is_on_record_of_is_listed_all_the_same(office: Office) -> None:
    times = dict.fromkeys(("created_at", "updated_at", "first_sent_at", "next_at", "until"), LATE)
    counts = {"sends": 1, "misses": 0, "fence": 1, "holder": "", "fingerprint": {}, "body": {}}
    row = {"account": "", "key": "k", "tool": "send_letter", "status": "pending", **times, **counts}
    with office.database.write() as connection:
        connection.execute(insert(guarded).values(row))

    assert "  said       0 calls" in office.run("unknown", code=1)
