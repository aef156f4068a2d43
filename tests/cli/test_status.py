import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.cli import status
from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from tests.rules.test_staleness import RUN
from tests.sandboxes import SLACK_TOKEN, Street
from tests.town import a_notice


def recon(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "recon.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(autouse=True)
def told(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a process names this test's database."""
    monkeypatch.setenv("RECON_DATABASE_URL", database_url)


def save_run(database: Database, age: timedelta) -> None:
    ended = datetime.now(UTC) - age
    with database.write() as connection:
        runs.put(connection, replace(RUN, started_at=ended, finished_at=ended))


def add(database: Database, *keys: str) -> None:
    with database.write() as connection:
        outbox.add(connection, [a_notice(key, thread=key) for key in keys], [])


def test_before_the_first_run_nothing_is_stale() -> None:
    done = recon("status", "--format", "json")

    said: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0
    assert (said["stale"], said["last_complete_run"], said["open_cases"]["total"]) == (False, None, 0)
    assert set(said) == {
        "stale", "age_seconds", "last_complete_run", "last_run_verdict", "accounts", "open_cases",
        "undelivered", "slack",
    }  # fmt: skip


def test_a_fresh_run_is_named_and_a_stale_one_exits_3(database: Database) -> None:
    save_run(database, timedelta(minutes=5))
    fresh = recon("status")
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM runs")
    save_run(database, timedelta(hours=3))
    stale = recon("status")

    assert (fresh.returncode, stale.returncode) == (0, 3)
    assert "r1, as of 2026-03-06 12:00 UTC, breaks: mismatches found" in fresh.stdout
    assert "STALE: no complete run for 3 h 0 min" in stale.stdout
    assert "ok, 5 min old" in fresh.stdout
    assert "STALE" not in fresh.stdout


def test_the_cases_are_counted_in_the_words_of_the_desk() -> None:
    found = {
        "stale": False,
        "age_seconds": 60,
        "last_complete_run": None,
        "last_run_verdict": "reconciled_with_pending",
        "accounts": [
            {"account": "", "livemode": False, "covered_from": None, "watermark_at": None},
            {
                "account": "acct_1",
                "livemode": True,
                "covered_from": "2026-03-01T12:00:00Z",
                "watermark_at": "2026-03-06T12:00:00Z",
            },
        ],
        "open_cases": {
            "total": 3,
            "kinds": {"duplicate": 2, "amount_mismatch": 1},
            "severities": {"critical": 1, "high": 2},
            "at_risk": {"jpy": 415800, "usd": 4900},
            "oldest_opened_at": "2026-03-06T11:00:00Z",
        },
        "undelivered": {"waiting": 2, "unknown": 0},
        "slack": True,
    }

    assert status.as_text(found).splitlines() == [
        "freshness          ok, 1 min old",
        "last complete run  none yet",
        "last run           reconciled with pending: reconciled, some still pending",
        "read               the platform, test mode: not yet",
        "read               acct_1, live: 2026-03-01 12:00 UTC to 2026-03-06 12:00 UTC",
        "open cases         3: 1 critical, 2 high; the oldest since 2026-03-06 11:00 UTC",
        "                     2 refunded twice (duplicate)",
        "                     1 wrong amount (amount mismatch)",
        "money at risk      415,800 JPY, 49.00 USD",
        "notices            2 waiting: recon deliver tries again",
    ]


def test_what_waits_is_counted(database: Database) -> None:
    add(database, "one", "two")

    assert "2 waiting; SLACK_BOT_TOKEN is not set" in recon("status").stdout


def test_a_database_that_is_not_set_up_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECON_DATABASE_URL", "sqlite:///:memory:")

    done = recon("status")

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_deliver_sends_what_waits(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "one")
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)

    done = recon("deliver")

    assert (done.returncode, done.stdout) == (0, "1 sent, 0 waiting, 0 given up.\n")
    assert [message["text"] for message in sandbox.messages()] == ["one"]


def test_deliver_does_not_name_what_stopped_a_notice_that_went_out_in_the_end(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "one")
    sandbox.fault("POST /api/chat.postMessage", "429", times=1, after_s=1)
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)

    done = recon("deliver")

    assert [each["answer"]["status"] for each in sandbox.requests(path="/api/chat.postMessage")] == [429, 200]
    assert (done.returncode, done.stdout) == (0, "1 sent, 0 waiting, 0 given up.\n")


def test_deliver_exits_4_when_something_is_left(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    add(database, "one")
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", "http://127.0.0.1:9/api/")

    done = recon("deliver")

    assert done.returncode == 4
    assert "0 sent, 1 waiting" in done.stdout
    assert "Slack was not reached" in done.stdout


def test_deliver_without_a_token_says_that_notices_wait(database: Database) -> None:
    add(database, "one")

    done = recon("deliver")

    assert (done.returncode, done.stdout) == (0, "SLACK_BOT_TOKEN is not set: 1 notice waits.\n")
