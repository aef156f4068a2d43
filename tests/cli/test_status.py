import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from subprocess import CompletedProcess
from typing import Any

import pytest
from sqlalchemy import insert

from recon.cli import status
from recon.doors import config, intents
from recon.doors.store import leases, mirror, outbox, runs
from recon.doors.store.engines import Database
from recon.doors.store.rows import reject_row
from recon.model.records.people import Operator
from recon.model.records.results import Reject
from recon.model.records.runs import HOUR, Account, AccountReading
from recon.model.records.words import AccountId, Actor, IntentKey, IntentStatus, Role, Verdict
from recon.model.tables import rejects
from recon.switchboard import Switchboard
from tests.builders import PLATFORM, an_intent
from tests.cli.conftest import recon as command
from tests.rules.test_staleness import RUN
from tests.sandboxes import SLACK_TOKEN, Street
from tests.town import a_notice


def recon(*arguments: str) -> CompletedProcess[str]:
    return command(os.environ, *arguments)


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
        outbox.add(connection, [a_notice(key, thread=key) for key in keys])


def test_before_the_first_run_nothing_is_stale() -> None:
    done = recon("status", "--format", "json")

    said: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0
    assert (said["stale"], said["last_complete_run"], said["open_cases"]["total"]) == (False, None, 0)
    assert set(said) == {
        "stale", "age_seconds", "last_complete_run", "last_run", "last_run_verdict", "at_work",
        "accounts_read", "accounts", "open_cases", "pending_unknown", "pending", "withheld", "rejected",
        "unsettled", "rejected_most", "older", "undelivered", "undelivered_since", "slack",
        "switched_off",
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


READ = {
    "account": "",
    "livemode": True,
    "covered_from": "2026-03-01T12:00:00Z",
    "watermark_at": "2026-03-06T12:00:00Z",
    "read": True,
    "error": None,
}
LAST = {
    "id": "r2",
    "as_of": "2026-03-06T12:00:00Z",
    "finished_at": "2026-03-06T12:03:00Z",
    "seconds": 180.0,
    "verdict": "incomplete",
}
FOUND = {
    "stale": False,
    "age_seconds": 3660,
    "last_complete_run": LAST
    | {"id": "r1", "as_of": "2026-03-06T11:00:00Z", "seconds": 9.0, "verdict": "reconciled_with_pending"},
    "last_run": LAST,
    "last_run_verdict": "incomplete",
    "at_work": {
        "holder": "vm, process 32265",
        "heard_at": "2026-03-06T13:01:04Z",
        "until": "2026-03-06T13:06:04Z",
    },
    "accounts_read": {"read": 1, "of": 3},
    "accounts": [
        READ,
        READ | {"account": "acct_1", "read": False, "error": "page 3 broke off"},
        READ
        | {"account": "acct_2", "livemode": None, "read": None, "covered_from": None, "watermark_at": None},
    ],
    "open_cases": {
        "total": 3,
        "kinds": {"duplicate": 2, "amount_mismatch": 1},
        "severities": {"critical": 1, "high": 2},
        "at_risk": {"jpy": 415800, "usd": 4900},
        "oldest_opened_at": "2026-03-06T11:00:00Z",
    },
    "pending_unknown": 4,
    "pending": 2,
    "unsettled": [],
    "withheld": 7,
    "rejected": 3,
    "rejected_most": {"reason": "created_at is missing", "source": "requests", "rows": 2},
    "older": ["1,204 intents are older than 2026-01-20 and are not judged."],
    "undelivered": {"waiting": 2, "unknown": 0},
    "undelivered_since": "2026-03-06T11:30:00Z",
    "slack": True,
    "switched_off": [],
}


def test_the_status_is_said_in_the_words_of_the_desk() -> None:
    pending = "reconciled with pending: reconciled, some still pending"
    read = "2026-03-01 12:00 UTC to 2026-03-06 12:00 UTC"

    assert status.as_text(FOUND).splitlines() == [
        "freshness          rows rejected, 1 h 1 min old",
        f"last complete run  r1, as of 2026-03-06 11:00 UTC, {pending}",
        "last run           r2, as of 2026-03-06 12:00 UTC, incomplete; it took 3 min",
        "at work now        vm, process 32265: heard of at 13:01:04 UTC, has the lease until 13:06:04 UTC",
        (
            "rejected rows      3, and what they touch is not judged; 2 of requests: created_at is missing; "
            "recon run --format json lists them"
        ),
        "accounts           1 of 3 accounts read by the last run",
        f"                   the platform, live: {read}",
        f"                   acct_1, live: {read}; the last run did not read it to the end: page 3 broke off",
        "                   acct_2: not yet",
        "not judged         1,204 intents are older than 2026-01-20 and are not judged.",
        "open cases         3: 1 critical, 2 high; the oldest opened 2026-03-06 11:00 UTC",
        "                     2 refunded twice (duplicate)",
        "                     1 wrong amount (amount mismatch)",
        "money at risk      415,800 JPY, 49.00 USD",
        "unknown intents    4, and 2 pending: a case of an unknown outcome (stuck) may be of either",
        "notices            2 waiting, the oldest since 2026-03-06 11:30 UTC: recon deliver tries again",
    ]


def test_a_tool_that_is_switched_off_is_named_before_everything_else_that_waits(database: Database) -> None:
    ana = Operator(Actor("ana"), Role.OPERATOR)
    board = Switchboard(database, lambda: config.load({}), lambda: datetime(2026, 3, 6, 17, 2, tzinfo=UTC))
    board.throw("refund_order", operator=ana, reason="it\u202e doubles", action_id="click_1")

    found = status.facts(database, config.load({}), now=datetime.now(UTC))

    assert [each["by"] for each in found["switched_off"]] == ["ana"]
    lines = status.as_text(found).splitlines()
    assert [each for each in lines if each.startswith("switched off")] == [
        "switched off       refund_order, by ana since 2026-03-06 17:02 UTC: it\ufffd doubles"
    ]


@pytest.mark.parametrize(
    "told, slack, said",
    [
        ({"undeliverable": 3}, True, "none waits; 3 given up, see their cases in the dashboard"),
        (
            {"waiting": 1, "undeliverable": 3},
            True,
            (
                "1 waiting, the oldest since 2026-03-06 11:30 UTC: recon deliver tries again; "
                "3 given up, see their cases in the dashboard"
            ),
        ),
        ({"waiting": 1}, False, "1 waiting; SLACK_BOT_TOKEN is not set"),
    ],
)
def test_what_was_given_up_is_not_said_to_be_tried_again(
    told: dict[str, int],
    slack: bool,  # noqa: FBT001 -- a table's column
    said: str,
) -> None:
    found = FOUND | {"undelivered": told, "slack": slack}

    assert status.as_text(found).splitlines()[-1].split(maxsplit=1)[1] == said


def test_an_ordinary_day_is_few_lines() -> None:
    nothing: dict[str, Any] = {
        "total": 0,
        "kinds": {},
        "severities": {},
        "at_risk": {},
        "oldest_opened_at": None,
    }
    quiet = FOUND | {
        "last_complete_run": LAST | {"verdict": "reconciled"},
        "last_run": LAST | {"verdict": "reconciled"},
        "accounts_read": {"read": 1, "of": 1},
        "accounts": [READ],
        "open_cases": nothing,
        "at_work": None,
        "pending_unknown": 0,
        "pending": 0,
        "withheld": 0,
        "rejected": 0,
        "rejected_most": None,
        "older": [],
        "undelivered": {"waiting": 0},
        "undelivered_since": None,
    }

    assert status.as_text(quiet).splitlines() == [
        "freshness          ok, 1 h 1 min old",
        "last complete run  r2, as of 2026-03-06 12:00 UTC, reconciled; it took 3 min",
        "accounts           the platform, live: 2026-03-01 12:00 UTC to 2026-03-06 12:00 UTC",
        "open cases         0",
        "money at risk      none",
        "unknown intents    none",
        "notices            none waits",
    ]


@pytest.mark.parametrize(
    "withheld,said", [(7, "not judged         7 withheld, because not enough was read"), (0, None)]
)
def test_what_is_withheld_for_another_reason_is_said_as_well(withheld: int, said: str | None) -> None:
    lines = status.as_text(FOUND | {"withheld": withheld, "rejected": 0, "older": []}).splitlines()

    assert (said in lines) if said else not any(line.startswith("not judged") for line in lines)


@pytest.mark.parametrize("stale,word", [(True, "STALE"), (False, "ok")])
def test_a_terminal_shows_the_first_word_in_colour_and_a_pipe_does_not(stale: bool, word: str) -> None:  # noqa: FBT001
    found = FOUND | {"stale": stale, "rejected": 0}

    assert f"\x1b[1m{word}\x1b[0m" in status.as_text(found, colour=True)
    assert "\x1b" not in status.as_text(found)


def test_the_accounts_of_the_last_run_are_counted_and_named(database: Database) -> None:
    lease = leases.take(database, HOUR, "a test", now=RUN.started_at, duration=timedelta(minutes=5))
    whole = AccountReading(PLATFORM, RUN.as_of, RUN.as_of, complete=True, pages=1, refunds=1, changed=0)
    part = replace(whole, account=AccountId("acct_1"), complete=False, error="it broke\x1b[2J off")
    for each in (whole, part):
        known = Account(each.account, livemode=False, covered_from=RUN.as_of, watermark_at=RUN.as_of)
        mirror.save_account(database, lease, known)
    with database.write() as connection:
        runs.put(connection, replace(RUN, verdict=Verdict.INCOMPLETE, accounts=(whole, part)))

    said = json.loads(recon("status", "--format", "json").stdout)

    assert said["accounts_read"] == {"read": 1, "of": 2}
    assert [(each["account"], each["read"], each["error"]) for each in said["accounts"]] == [
        ("", True, None),
        ("acct_1", False, "it broke\x1b[2J off"),
    ]
    assert "it broke\ufffd[2J off" in recon("status").stdout


def test_who_is_at_work_and_what_was_rejected_is_read_from_the_database(database: Database) -> None:
    leases.take(database, HOUR, "a test", now=datetime.now(UTC), duration=timedelta(minutes=5))
    with database.write() as connection:
        runs.put(connection, replace(RUN, counts={"rejected": 3}))
        for row, reason in enumerate(("b is missing", "a is missing", "b is missing")):
            connection.execute(insert(rejects).values(reject_row(Reject("requests", row, None, reason))))
        for key, word in (("1", "pending"), ("2", "pending_unknown"), ("3", "pending"), ("4", "done")):
            intents.put(connection, an_intent(key=IntentKey(key), status=IntentStatus(word)))

    said = json.loads(recon("status", "--format", "json").stdout)

    assert said["at_work"]["holder"] == "a test"
    assert said["rejected_most"] == {"reason": "b is missing", "source": "requests", "rows": 2}
    assert (said["pending_unknown"], said["pending"]) == (1, 2)


def test_a_lease_that_was_given_back_or_has_lapsed_is_nobodys(database: Database) -> None:
    now = datetime.now(UTC)
    lease = leases.take(database, HOUR, "a test", now=now, duration=timedelta(minutes=5))

    assert leases.held(database, HOUR, now=now) == lease
    assert leases.held(database, HOUR, now=lease.expires_at) is None
    leases.release(database, lease)
    assert leases.held(database, HOUR, now=now) is None


def test_an_error_says_nothing_that_a_terminal_would_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECON_CONFIG", "nowhere\x1b]0;owned\x07")

    assert "names nowhere\ufffd]0;owned\ufffd, which is" in recon("status").stderr


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


def test_deliver_says_when_what_is_unknown_will_be_looked_for(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "one")
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)
    sandbox.fault("POST /api/chat.postMessage", "drop_after")
    recon("deliver", "--seconds", "0")
    due = outbox.next_due(database)
    again = recon("deliver", "--seconds", "0")

    assert due is not None
    assert again.stdout == f"0 sent, 1 waiting, 0 given up.\n  The next is due at {due:%Y-%m-%d %H:%M} UTC.\n"
    assert again.returncode == 4


def test_what_quiet_hours_hold_back_is_said_so(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        outbox.add(connection, [a_notice("one", next_at=datetime.now(UTC) + timedelta(hours=9))])
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)

    done, status = recon("deliver"), recon("status")

    said = "0 sent, 1 waiting, 0 given up.\n  Held back by quiet hours: 1.\n"
    assert (done.returncode, done.stdout) == (0, said)
    assert "notices            1 waiting, held back by quiet hours\n" in status.stdout


def test_deliver_without_a_token_says_that_notices_wait(database: Database) -> None:
    add(database, "one")

    done = recon("deliver")

    assert (done.returncode, done.stdout) == (0, "SLACK_BOT_TOKEN is not set: 1 notice waits.\n")
