import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from jobs import hourly, tick
from recon.doors.store import cases, outbox, runs
from recon.doors.store.engines import Database
from recon.model.errors import DatabaseUnavailable
from recon.model.records.words import IntentKey, NoticeState
from tests.builders import an_intent
from tests.databases import ON_ONE
from tests.doors.store.books import put
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


@ON_ONE
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
    assert "asked row 1 (r1): status (column 'state') must be" in logged[0]["first"][0]
    assert sum("1 row of asked could not be judged" in each["text"] for each in street.messages()) == 1


@ON_ONE
def test_a_listing_that_breaks_off_exits_3_and_still_delivers(street: Street) -> None:
    hourly.main()
    street.fault("GET /v1/refunds", "drop_before", times=9)
    before = len(street.messages())

    assert hourly.main() == 3
    assert len(street.messages()) == before + 1
    assert "incomplete" in street.messages()[-1]["text"]


@ON_ONE
def test_slack_being_away_exits_4_at_once_and_keeps_the_notices(
    street: Street, database: Database, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.setenv("RECON_SLACK_BASE_URL", "http://127.0.0.1:9/api/")
    started = datetime.now(UTC)

    assert hourly.main() == 4

    assert datetime.now(UTC) - started < timedelta(seconds=30)
    assert outbox.undelivered(database)[NoticeState.WAITING] > 0
    assert log()[-1]["reasons"] == ["Slack was not reached (ConnectionRefusedError)."]


@ON_ONE
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
@ON_ONE
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


@ON_ONE
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


def test_a_run_is_one_line_that_says_what_was_read_what_came_of_it_and_how_long_it_took(
    street: Street, database: Database, log: Log
) -> None:
    hourly.main()

    (said,) = [line for line in log() if line["event"] == "run"]
    run = runs.last_saved(database)
    assert run is not None
    assert (said["run_id"], said["fence"], said["job"]) == (run.id, 1, "hourly")
    assert (said["verdict"], said["complete"], said["accounts_read"]) == ("breaks", True, "1 of 1")
    assert (said["opened"], said["cleared"], said["healed"]) == (1, 0, 0)
    assert said["notices"] >= 1
    assert said["at_risk"] == {"usd": 4900}
    assert said["counts"]["refunds"] == 1
    (window,) = said["windows"]
    assert (window["account"], window["complete"], window["refunds"], window["error"]) == ("", True, 1, None)
    assert window["from"] < window["to"] == said["as_of"]
    assert list(said["seconds"]) == sorted(["pull", "copy", "read", "compare", "plan", "save"])
    assert all(0 <= seconds < 60 for seconds in said["seconds"].values())


@ON_ONE
def test_a_run_that_fails_says_how_far_it_came_and_later_lines_carry_its_fence_no_more(
    street: Street, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("Expected SQLite to answer, found that the disk is full.")

    monkeypatch.setattr(cases, "save_run", away)

    assert hourly.main() == 3

    said = {line["event"]: line for line in log()}
    assert (said["run"]["level"], said["run"]["exit_code"]) == ("error", 3)
    assert "the disk is full" in said["run"]["reason"]
    assert set(said["run"]["seconds"]) == {"pull", "copy", "read", "compare", "plan", "save"}
    assert "fence" not in said["delivery"]


def test_neither_a_secret_nor_a_customer_is_logged(
    street: Street, database: Database, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    heart = "http://127.0.0.1:9/ping-hidden1234"
    monkeypatch.setenv("RECON_HEARTBEAT_URL", heart)
    ours = an_intent(
        key=IntentKey("odd"),
        order_id="order-of-jane",
        customer_id="cus_jane",
        payment="pi_jane",
        created_at=datetime.now(UTC) - timedelta(hours=2),
        updated_at=datetime.now(UTC) - timedelta(hours=2),
    )
    put(database, ours)
    for base in (street.url, "http://127.0.0.1:9"):
        monkeypatch.setenv("RECON_STRIPE_BASE_URL", base)
        hourly.main()
        tick.main()

    lines = log()
    said = json.dumps(lines)
    assert {"run", "delivery", "heartbeat"} <= {line["event"] for line in lines}
    assert next(line["counts"]["mismatches"]["missing"] for line in lines if "counts" in line) == 1
    for hidden in (STRIPE_KEY, SLACK_TOKEN, "hidden1234", "jane"):
        assert hidden not in said


def test_a_tick_delivers_what_the_hour_left(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")
    hourly.main()
    assert street.messages() == []
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)

    assert tick.main() == 0
    assert len(street.messages()) > 0


def test_a_tick_writes_the_metrics_too_and_a_file_that_cannot_be_written_stops_neither_job(
    street: Street, configure: Configure, tmp_path: Path, log: Log
) -> None:
    configure(f'[pulse]\nmetrics_textfile = "{tmp_path}/recon.prom"\n')
    ticked = tick.main()
    written = (tmp_path / "recon.prom").read_text()
    configure(f'[pulse]\nmetrics_textfile = "{tmp_path}/nowhere/recon.prom"\n')
    log()

    assert (ticked, tick.main(), hourly.main()) == (0, 0, 0)

    assert "recon_delivery_lag_seconds 0.0" in written
    said = [line["reason"] for line in log() if line["event"] == "metrics"]
    assert len(said) == 2
    assert all("No such file or directory" in reason for reason in said)


@pytest.mark.parametrize("job", [hourly, tick])
@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:9/recon", "sqlite:///not-ready.db"])
def test_a_database_that_cannot_be_used_is_told_in_the_metrics(  # noqa: PLR0917 - what the test is made of
    street: Street,
    job: ModuleType,
    url: str,
    configure: Configure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure(f'[pulse]\nmetrics_textfile = "{tmp_path}/recon.prom"\n')
    monkeypatch.setenv("RECON_DATABASE_URL", url)

    assert job.main() in {2, 3}

    values = [line for line in (tmp_path / "recon.prom").read_text().splitlines() if line[0] != "#"]
    assert values == ["recon_database_up 0.0"]


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
