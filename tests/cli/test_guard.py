"""`recon guard latency` as a person reads it, and as a program does."""

import json
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, update
from typer.testing import CliRunner

from recon.cli.guard import app
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError
from recon.model.guarded import calls
from recon.model.holds import guarded
from recon.model.settings import build

LATER = datetime(2100, 1, 1, tzinfo=UTC)
SHIPPED = ["[guard]", "send_timeout_seconds = 10", "deadline_seconds = 20", "lease_seconds = 45"]


def said(url: str, *words: str, code: int = 0) -> str:
    """What `recon guard latency WORDS` prints."""
    env = {"RECON_DATABASE_URL": url}
    done = CliRunner().invoke(app, ["latency", *words], env=env, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output.strip()


def recorded(database: Database, number: int, *, seconds: float, tool: str = "refund_order") -> None:
    """Write down so many calls, one a minute, that took so long; one in 50 took twice that."""
    now = datetime.now(UTC)
    asked, held = [], []
    for place in range(number):
        at = now - timedelta(minutes=place + 1)
        told = at + timedelta(seconds=seconds * (2 if place % 50 == 0 else 1))
        key, what = f"{tool}:{place}", {"account": "", "tool": tool}
        asked.append(
            {**what, "intent_key": key, "asked_at": at, "answered_at": told, "answer": "done", "asked": {}}
        )
        times = {
            "created_at": at,
            "updated_at": told,
            "first_sent_at": at,
            "sent_at": at,
            "next_at": at,
            "until": at,
        }
        counts = {"sends": 1, "misses": 0, "fence": 1, "holder": "", "fingerprint": {}, "body": {}}
        held.append({**what, "key": key, "status": "done", **times, **counts})
    with database.write() as connection:
        connection.execute(insert(calls), asked)
        connection.execute(insert(guarded), held)


def test_before_any_call_it_says_so_and_keeps_what_is_in_force(database: Database, database_url: str) -> None:
    first, _, few, kept, _, *lines = said(database_url).splitlines()

    assert first.startswith("No guarded tool was called from ")
    assert (few, kept) == (
        "Too few to propose anything: 200 sends of one tool are needed, and there are 0.",
        "These are the limits in force:",
    )
    assert lines == SHIPPED
    assert said(database_url, "--tool", "mail").startswith("mail was not called from ")


def test_few_calls_are_shown_and_nothing_is_proposed(database: Database, database_url: str) -> None:
    recorded(database, 150, seconds=1.5)
    told = said(database_url)

    assert "200 sends of one tool are needed, and there are 150." in told
    assert told.splitlines()[-4:] == SHIPPED
    assert told.splitlines()[2:5] == [
        "tool                 number     p50     p95     p99  longest",
        "refund_order  calls     150  1.50 s  1.50 s  3.00 s   3.00 s",
        "              sends     150  1.50 s  1.50 s  3.00 s   3.00 s",
    ]


def test_enough_calls_propose_lines_that_recon_toml_takes(database: Database, database_url: str) -> None:
    recorded(database, 400, seconds=1.5)
    told = said(database_url)
    lines = told.splitlines()[-4:]

    assert told.startswith("400 calls from ")
    assert "Proposed, from the sends of refund_order:" in told
    assert lines == [
        "[guard]",
        "send_timeout_seconds = 6  # now 10",
        "deadline_seconds = 12  # now 20",
        "lease_seconds = 27  # now 45",
    ]
    assert build(tomllib.loads("\n".join(lines))).guard.deadline_seconds == 12


def test_slow_sends_say_what_agents_must_wait_for(database: Database, database_url: str) -> None:
    recorded(database, 400, seconds=8.0)

    assert "Let whoever calls wait longer than 64 seconds: many agents give up after 30." in said(
        database_url
    )


@pytest.mark.parametrize("number, proposed", [(150, None), (400, 6.0)])
def test_a_program_reads_the_same(
    database: Database, database_url: str, number: int, proposed: float | None
) -> None:
    recorded(database, number, seconds=1.5)
    told = json.loads(said(database_url, "--format", "json", "--days", "7", "--tool", "refund_order"))

    assert (told["calls"], told["kept"], told["now"]["lease_seconds"]) == (number, False, 45.0)
    assert told["tools"][0]["sent"] == {"number": number, "p50": 1.5, "p95": 1.5, "p99": 3.0, "longest": 3.0}
    assert (told["proposed"] and told["proposed"]["send_timeout_seconds"]) == proposed
    assert datetime.fromisoformat(told["to"]) - datetime.fromisoformat(told["from"]) == timedelta(days=7)


def test_without_a_database_it_says_which_command_makes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="recon db upgrade makes it"):
        said(f"sqlite:///{tmp_path / 'none.db'}")


def test_what_the_table_cannot_show_is_said(database: Database, database_url: str) -> None:
    recorded(database, 3, seconds=1.5)
    changes: list[dict[str, object]] = [
        {"answer": "pending_unknown"},
        {"answered_at": None},
        {"asked_at": LATER},
    ]
    with database.write() as connection:
        for number, change in enumerate(changes):
            connection.execute(
                update(calls).where(calls.c.intent_key == f"refund_order:{number}").values(change)
            )

    assert said(database_url, "--days", "366").splitlines()[7:10] == [
        "1 call ended with nobody knowing yet.",
        "1 call told nobody anything: under way, or the process died.",
        "1 call left out, told before it was asked by clocks that were set.",
    ]
