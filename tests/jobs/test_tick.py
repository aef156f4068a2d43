"""The tick's order, and that what stops one part keeps nothing back that another has to say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from jobs import hourly, tick
from recon import reminding, watch
from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError, DatabaseUnavailable
from recon.model.guarded import calls
from recon.model.settings import Settings
from tests.doors.store.books import a_notice
from tests.jobs.conftest import Log
from tests.rules.test_staleness import RUN
from tests.sandboxes import Street


@pytest.fixture
def waiting(street: Street, database: Database) -> None:
    """Let a message wait, and no run be young enough."""
    hours_ago = datetime.now(UTC) - timedelta(hours=3)
    with database.write() as connection:
        runs.put(connection, replace(RUN, started_at=hours_ago, finished_at=hours_ago))
        outbox.add(connection, [a_notice(case_ids=(), target="#payments")])


def fails_with(error: Exception) -> object:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def heard(street: Street) -> list[str]:
    return sorted(message["text"].partition(" ")[0] for message in street.messages())


@pytest.mark.usefixtures("waiting")
def test_what_is_found_out_goes_out_at_once(street: Street) -> None:
    assert tick.main() == 0

    assert heard(street) == ["One", "Stale:"]


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize(
    "error, code",
    [
        (DatabaseUnavailable("It is away."), 3),
        (ConfigurationError("owners.toml: line 3."), 2),
        (ZeroDivisionError("a bug"), 70),
    ],
)
def test_reminders_that_fail_keep_nothing_back(
    street: Street, error: Exception, code: int, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reminding, "remind", fails_with(error))

    assert tick.main() == code

    assert heard(street) == ["One", "Stale:"]
    assert [line["part"] for line in log() if line["event"] in {"failed", "bug"}] == ["remind"]


def test_duplicate_calls_are_told_by_the_next_tick(street: Street, database: Database, log: Log) -> None:
    asked = {"amount_minor": "4900", "currency": "usd", "payment": "pi_1"}
    at = datetime.now(UTC) - timedelta(minutes=1)
    row = {"account": "", "tool": "refund_order", "asked_at": at, "asked": asked}
    with database.write() as connection:
        connection.execute(insert(calls), [row | {"intent_key": key} for key in ("k1", "k2")])

    assert tick.main() == 0

    assert heard(street) == ["Duplicate"]
    (line,) = [line for line in log() if line["event"] == "duplicate_calls"]
    assert (line["tool"], line["calls"]) == ("refund_order", 2)


@pytest.mark.usefixtures("waiting")
def test_a_tools_file_that_is_wrong_stops_neither_the_alarm_nor_what_waits(
    street: Street, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools.toml").write_text("[tools.pay]\n")
    monkeypatch.setenv("RECON_CONFIG", str(tmp_path))

    assert tick.main() == 2

    assert heard(street) == ["One", "Stale:"]


@pytest.mark.usefixtures("waiting")
def test_an_owners_file_that_is_wrong_stops_neither_the_alarm_nor_what_waits(
    street: Street, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "owners.toml").write_text('[[rules]]\nname = "everything"\n')
    monkeypatch.setenv("RECON_CONFIG", str(tmp_path))

    assert tick.main() == 2

    assert heard(street) == ["One", "Stale:"]


@pytest.mark.usefixtures("waiting")
def test_a_watch_that_fails_keeps_back_neither_reminders_nor_messages(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    reminded: list[object] = []

    def remind(*_: object, **__: object) -> reminding.Reminded:
        reminded.append("once")
        return reminding.Reminded()

    monkeypatch.setattr(watch, "check", fails_with(DatabaseUnavailable("It is away.")))
    monkeypatch.setattr(reminding, "remind", remind)

    assert tick.main() == 3

    assert (heard(street), reminded) == (["One"], ["once"])


@pytest.mark.usefixtures("waiting")
def test_what_stops_the_process_is_no_failure_of_a_part(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "check", fails_with(SystemExit(143)))  # type: ignore[arg-type]

    with pytest.raises(SystemExit):
        tick.main()

    assert heard(street) == []


def test_what_a_run_has_told_and_nobody_answers_is_asked_of_who_comes_next(
    street: Street, database: Database
) -> None:
    chain = [{"after_minutes": 60, "owner": "the head"}]
    owners = {
        "owners": {
            "refund operators": {"target": "#refund-operators", "escalation": chain, "digest_at": ""},
            "the head": {"target": "#head", "digest_at": ""},
        },
        "rules": [{"name": "everything", "owner": "refund operators"}],
    }
    hourly.main()
    told_at = datetime.now(UTC)

    def remind(after: timedelta) -> int:
        found = reminding.remind(database, Settings(owners=owners), clock=lambda: told_at + after)
        return found.escalations

    asked = [remind(timedelta(minutes=minutes)) for minutes in (58, 61, 99)]

    (said,) = outbox.recent(database, 1)
    assert (asked, said.target) == ([0, 1, 0], "#head")
    assert said.message.text.startswith("MEDIUM: nobody has answered for 1 h ")
    assert "1 refund nobody asked for (orphan), test mode, 49.00 USD at risk" in said.message.text
