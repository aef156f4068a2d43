from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recon import watch
from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from recon.model.records.runs import Run
from recon.model.records.words import RunId, Verdict
from recon.model.settings import Settings
from tests.rules.test_staleness import RUN

NOON = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)


def save(database: Database, *saved: Run) -> None:
    with database.write() as connection:
        for run in saved:
            runs.put(connection, run)


def look(database: Database, now: datetime) -> watch.Freshness:
    return watch.check(database, Settings(), clock=lambda: now)


def test_before_the_first_run_nothing_is_said(database: Database) -> None:
    found = look(database, NOON)

    assert (found.stale, found.age, found.last_saved) == (False, None, None)
    assert outbox.recent(database, 9) == ()


def test_a_fresh_complete_run_raises_nothing(database: Database) -> None:
    save(database, RUN)

    found = look(database, NOON + timedelta(minutes=119))

    assert (found.stale, found.last_complete) == (False, RUN)
    assert outbox.recent(database, 9) == ()


def test_an_hour_that_stopped_is_told_once_a_day(database: Database) -> None:
    save(database, RUN)

    looks = [look(database, NOON + timedelta(minutes=minutes)).stale for minutes in (120, 121, 600)]

    (alarm,) = outbox.recent(database, 9)
    assert looks == [True, True, True]
    assert alarm.target == "#refund-operators"
    look(database, NOON + timedelta(hours=13))
    assert len(outbox.recent(database, 9)) == 2


def test_incomplete_runs_do_not_keep_the_alarm_quiet(database: Database) -> None:
    late = replace(
        RUN, id=RunId("r2"), verdict=Verdict.INCOMPLETE, finished_at=NOON + timedelta(hours=3), fence=2
    )
    save(database, RUN, late)

    found = look(database, NOON + timedelta(hours=3))

    assert (found.stale, found.last_complete, found.last_saved) == (True, RUN, late)


def test_looking_alone_writes_nothing(database: Database) -> None:
    save(database, RUN)

    assert watch.freshness(database, Settings(), now=NOON + timedelta(hours=9)).stale
    assert outbox.recent(database, 9) == ()
