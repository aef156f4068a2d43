import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs import hourly, tick
from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from recon.model.records.words import NoticeState
from tests.jobs.conftest import Configure, Log
from tests.jobs.test_heartbeat import beats
from tests.rules.test_staleness import RUN
from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street
from tests.wires import Wire


def test_one_hour_finds_tells_and_exits_clean(street: Street, log: Log) -> None:
    assert hourly.main() == 0

    said = {line["event"]: line for line in log()}
    assert (said["run"]["verdict"], said["run"]["counts"]["mismatches"]["orphan"]) == ("breaks", 1)
    assert said["delivery"]["sent"] == len(street.messages()) > 0
    assert "orphan" in street.messages()[0]["text"]


def test_a_second_hour_says_nothing_new(street: Street) -> None:
    hourly.main()
    told = street.messages()

    assert hourly.main() == 0
    assert street.messages() == told


def test_rejected_rows_exit_3_and_are_logged_and_told_but_the_accounts_were_read(
    street: Street, heart: Wire, database: Database, configure: Configure, log: Log
) -> None:
    mapped = '[intents]\ntable = "asked"\n[intents.columns]\nkey = "number"\nstatus = "state"\n'
    constants = 'currency = "usd"\namount_minor = "1"\ncreated_at = "2026-03-06T17:00:00Z"\n'
    configure(f"{mapped}[intents.constants]\n{constants}")
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE asked (number TEXT, state TEXT)")
        connection.exec_driver_sql("INSERT INTO asked VALUES ('r1', 'odd')")
    codes = [hourly.main(), hourly.main()]

    assert codes == [3, 3]
    assert beats(heart) == ["/start", ""] * 2
    logged = [line for line in log() if line["event"] == "rejected"]
    assert [(line["rows"], len(line["first"])) for line in logged] == [(1, 1)] * 2
    assert "asked row 1 (r1): status must be" in logged[0]["first"][0]
    assert sum("1 row of asked could not be judged" in each["text"] for each in street.messages()) == 1


def test_a_listing_that_breaks_off_exits_3_and_still_delivers(street: Street) -> None:
    hourly.main()
    street.fault("GET /v1/refunds", "drop_before", times=9)
    before = len(street.messages())

    assert hourly.main() == 3
    assert len(street.messages()) == before + 1
    assert "incomplete" in street.messages()[-1]["text"]


def test_slack_being_away_exits_4_at_once_and_keeps_the_notices(
    street: Street, database: Database, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.setenv("RECON_SLACK_BASE_URL", "http://127.0.0.1:9/api/")
    started = datetime.now(UTC)

    assert hourly.main() == 4

    assert datetime.now(UTC) - started < timedelta(seconds=30)
    assert outbox.undelivered(database)[NoticeState.WAITING] > 0
    assert log()[-1]["reasons"] == ["Slack was not reached (ConnectionRefusedError)."]


def test_without_slack_the_hour_is_done_and_notices_wait(
    street: Street, database: Database, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")

    assert hourly.main() == 0

    assert outbox.undelivered(database)[NoticeState.WAITING] > 0
    assert log()[-1]["reasons"] == ["SLACK_BOT_TOKEN is not set"]


@pytest.mark.parametrize(
    "name,value,said",
    [
        ("STRIPE_API_KEY", "", "STRIPE_API_KEY is not set"),
        ("RECON_CONFIG", "nowhere", "RECON_CONFIG names nowhere"),
        ("STRIPE_API_KEY", "wrong", "401"),
    ],
)
def test_what_a_person_must_put_right_exits_2_in_one_line(  # noqa: PLR0917 - the columns of the table
    street: Street,
    monkeypatch: pytest.MonkeyPatch,
    log: Log,
    name: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(name, value)

    assert hourly.main() == 2

    assert said in next(line["reason"] for line in log() if line["level"] == "error")


def test_metrics_are_written_after_the_hour(street: Street, configure: Configure, tmp_path: Path) -> None:
    place = tmp_path / "recon.prom"
    configure(f'[pulse]\nmetrics_textfile = "{place}"\n')

    assert hourly.main() == 0

    written = place.read_text()
    assert 'recon_open_cases{kind="orphan",severity="medium"} 1.0' in written
    assert 'recon_money_at_risk_minor{currency="usd",kind="orphan"} 4900.0' in written
    assert 'recon_last_run_verdict{verdict="breaks"} 1.0' in written
    assert 'recon_deliveries{state="waiting"} 0.0' in written
    for name in ("last_success_timestamp", "last_complete_window_end", "run_duration_seconds"):
        assert f"\nrecon_{name} " in written


def test_no_secret_is_logged(street: Street, monkeypatch: pytest.MonkeyPatch, log: Log) -> None:
    for base in (street.url, "http://127.0.0.1:9"):
        monkeypatch.setenv("RECON_STRIPE_BASE_URL", base)
        hourly.main()

    said = json.dumps(log())
    assert STRIPE_KEY not in said
    assert SLACK_TOKEN not in said


def test_a_tick_delivers_what_the_hour_left(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")
    hourly.main()
    assert street.messages() == []
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)

    assert tick.main() == 0
    assert len(street.messages()) > 0


def test_a_tick_raises_the_alarm_and_sends_it(street: Street, database: Database, log: Log) -> None:
    hours_ago = datetime.now(UTC) - timedelta(hours=3)
    with database.write() as connection:
        runs.put(connection, replace(RUN, started_at=hours_ago, finished_at=hours_ago))

    assert tick.main() == 0

    assert [message["text"][:30] for message in street.messages()] == ["Stale: no complete run for 3 h"]
    assert any(line["event"] == "stale" for line in log())


def test_a_tick_while_slack_is_away_exits_4(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")
    hourly.main()
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", "http://127.0.0.1:9/api/")

    assert tick.main() == 4
