import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from recon.doors.store import leases, outbox
from recon.doors.store.engines import Database
from recon.model.records.runs import HOUR
from tests.cli.conftest import recon
from tests.hours import Town, rows, twice
from tests.sandboxes import SLACK_TOKEN
from tests.town import a_notice

KEYS = [
    "run",
    "accounts",
    "read_back",
    "older",
    "said",
    "changes",
    "heals",
    "not_healed",
    "notices",
    "as_of",
    "verdict",
    "counts",
    "at_risk",
    "mismatches",
    "in_flight",
    "healable",
    "rejected",
]


def test_a_run_prints_the_verdict_the_money_the_owner_and_the_messages(
    town: Town, environ: dict[str, str]
) -> None:
    twice(town, "1")
    done = recon(environ, "run")

    assert (done.returncode, done.stderr) == (0, "")
    for told in (
        "breaks as of 2026-03-06 17:0",
        "1 of 1 accounts read",
        "Cases: 1 opened",
        "Opened: Refunded twice (duplicate), high, owner Payments on call",
        "49.00 USD  order order_1, customer cus_1",
        "Mismatches: 1\n     1 refunded twice (duplicate)",
        "Money at risk: 49.00 USD",
        "Notices: 2 (1 in channels, 1 in their threads)",
        "#payments, new with 1 reply: HIGH: 1 refunded twice (duplicate), test mode, 49.00 USD at risk",
        "To send the notices: recon deliver",
        "To answer the cases: recon dashboard, then http://127.0.0.1:8501",
    ):
        assert told in done.stdout
    assert rows(town, "runs") == 1


def test_deliver_says_how_much_went_out(town: Town, environ: dict[str, str]) -> None:
    twice(town, "1")
    told = {"SLACK_BOT_TOKEN": SLACK_TOKEN, "RECON_SLACK_BASE_URL": town.street.slack_url}
    done = recon({**environ, **told}, "run", "--deliver")

    assert (done.returncode, done.stderr) == (0, "recon: 2 notices sent.\n")
    assert "recon deliver" not in done.stdout


def test_deliver_says_what_quiet_hours_hold_back(
    town: Town, database: Database, environ: dict[str, str]
) -> None:
    with database.write() as connection:
        outbox.add(connection, [a_notice("one", next_at=datetime.now(UTC) + timedelta(hours=9))])
    told = {"SLACK_BOT_TOKEN": SLACK_TOKEN, "RECON_SLACK_BASE_URL": town.street.slack_url}
    done = recon({**environ, **told}, "run", "--deliver")

    assert (done.returncode, done.stderr) == (0, "recon: 0 notices sent, 1 held back by quiet hours.\n")


def test_json_has_every_key_and_fail_on_mismatch_makes_1(town: Town, environ: dict[str, str]) -> None:
    twice(town, "1")
    done = recon(environ, "run", "--format", "json", "--fail-on-mismatch")
    told = json.loads(done.stdout)

    assert done.returncode == 1
    assert list(told) == KEYS
    assert [change["action"] for change in told["changes"]] == ["opened"]
    assert told["accounts"][0]["complete"] is True
    assert told["mismatches"][0]["kind"] == "duplicate"


def test_a_dry_run_prints_what_the_wet_one_prints(town: Town, environ: dict[str, str]) -> None:
    twice(town, "1")
    town.pass_time(hours=1)
    options = ("--format", "json", "--as-of", "2026-03-06T18:00:00Z")
    dry = json.loads(recon(environ, "run", "--dry-run", *options).stdout)
    assert rows(town, "runs") == rows(town, "cases") == 0
    wet = json.loads(recon(environ, "run", *options).stdout)

    assert (dry.pop("run")["dry_run"], wet.pop("run")["dry_run"]) == (True, False)
    seen = [told.pop("accounts")[0] for told in (dry, wet)]
    assert [each["refunds"] for each in seen] == [2, 2]
    assert dry == wet


def test_an_incomplete_run_exits_3_and_says_what_was_not_read(town: Town, environ: dict[str, str]) -> None:
    town.street.fault("GET /v1/refunds", "drop_before", times=200)
    done = recon(environ, "run")

    assert done.returncode == 3
    assert "0 of 1 accounts read" in done.stdout
    assert "Not read to the end: the platform: page 1 of the refunds: the provider did not" in done.stdout
    assert "broke off" not in done.stdout
    assert "Put right what was not read, then run again" in done.stdout
    assert "incomplete as of 2026-03-06 17:0" in done.stdout


def test_a_dry_run_says_so_first_and_how_to_do_it_last(town: Town, environ: dict[str, str]) -> None:
    twice(town, "1")
    told = recon(environ, "run", "--dry-run").stdout.splitlines()

    assert told[1] == "  Dry run: nothing was written but the mirror."
    assert told[-1] == "  To do it: recon run"
    assert not any("recon deliver" in line or "recon dashboard" in line for line in told)


def test_rejected_rows_exit_3_and_come_first(town: Town, environ: dict[str, str], tmp_path: Path) -> None:
    map_odd_rows(town, tmp_path)
    done = recon(environ, "run")
    lines = done.stdout.splitlines()

    assert done.returncode == 3
    assert lines[0] == "Rejected rows: 22; what they touch was not judged"
    assert lines[1].startswith(
        "  22 rows of refund_requests (r10, r11, r12 and 19 more): status (column 'state')"
    )
    assert lines[2].startswith("breaks") or lines[2].startswith("reconciled")
    assert "#operators, new: 22 rows of refund_requests could not be judged" in done.stdout
    assert "Put the rejected rows right" in done.stdout
    assert "Put right what was not read" not in done.stdout


def test_a_dry_run_says_that_it_copied_your_table(
    town: Town, environ: dict[str, str], tmp_path: Path
) -> None:
    map_odd_rows(town, tmp_path)
    told = recon(environ, "run", "--dry-run").stdout.splitlines()

    assert "  Dry run: nothing was written but the mirror and the copy of refund_requests." in told


def test_a_mapping_of_no_table_is_found_before_the_provider_is_asked(
    town: Town, environ: dict[str, str], tmp_path: Path
) -> None:
    map_odd_rows(town, tmp_path)
    with town.database.write() as connection:
        connection.execute(text("DROP TABLE refund_requests"))
    done = recon(environ, "run")

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "expected a table or view named 'refund_requests'" in done.stderr
    assert town.street.requests(path="/v1/refunds") == []


def map_odd_rows(town: Town, config: Path) -> None:
    """Let intents be kept in a table of which no row can be judged."""
    (config / "recon.toml").write_text(
        '[slack]\noperators_channel = "#operators"\n[intents]\ntable = "refund_requests"\n'
        '[intents.columns]\nkey = "number"\nstatus = "state"\n[intents.constants]\n'
        'currency = "usd"\namount_minor = "4900"\ncreated_at = "2026-03-06T17:00:00Z"\n'
    )
    with town.database.write() as connection:
        connection.execute(text("CREATE TABLE refund_requests (number TEXT, state TEXT)"))
        rows = [{"number": f"r{number}"} for number in range(10, 32)]
        connection.execute(text("INSERT INTO refund_requests VALUES (:number, 'odd')"), rows)


def test_a_held_lease_exits_75_in_one_sentence(town: Town, environ: dict[str, str]) -> None:
    now = datetime.now(UTC)
    leases.take(town.database, HOUR, "another run", now=now, duration=timedelta(hours=1))
    done = recon(environ, "run")

    assert done.returncode == 75
    assert done.stderr.count("\n") == 1
    assert "another run" in done.stderr


def test_whom_a_run_waits_for_is_said_before_it_gives_up(town: Town, environ: dict[str, str]) -> None:
    now = datetime.now(UTC)
    held = leases.take(town.database, HOUR, "vm, process 7", now=now, duration=timedelta(hours=1))
    done = recon(environ, "run", "--wait", "1")

    waiting, gave_up = done.stderr.splitlines()
    assert done.returncode == 75
    until = f"{held.expires_at:%H:%M:%S} UTC"
    assert waiting == f"recon: Waiting for vm, process 7, which holds the lease until {until}."
    assert "held by vm, process 7" in gave_up


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"STRIPE_API_KEY": ""}, "STRIPE_API_KEY is not set"),
        ({"STRIPE_API_KEY": "nonsense"}, "refused with 401"),
        ({"RECON_DATABASE_URL": "sqlite:////nowhere/recon.db"}, "database"),
    ],
)
def test_what_must_be_put_right_is_one_sentence(
    town: Town, environ: dict[str, str], changes: dict[str, str], told: str
) -> None:
    done = recon(environ | changes, "run")

    assert done.returncode in {2, 3}
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("as_of", ["yesterday", "2026-03-06T19:00:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_without_a_zone_is_refused(environ: dict[str, str], as_of: str) -> None:
    done = recon(environ, "run", "--as-of", as_of)

    assert done.returncode == 2
    assert "--as-of must be an ISO 8601 time with its zone" in done.stderr
