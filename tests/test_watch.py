from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

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

    looks = [look(database, NOON + timedelta(minutes=minutes)).stale for minutes in (120, 121, 600, 1559)]

    (alarm,) = outbox.recent(database, 9)
    assert looks == [True] * 4
    assert alarm.target == "#refund-operators"
    look(database, NOON + timedelta(hours=26))
    assert len(outbox.recent(database, 9)) == 2


def test_an_hour_that_never_read_everything_is_told_each_day_however_many_runs_there_were(
    database: Database,
) -> None:
    hours = [NOON + timedelta(hours=hour) for hour in range(96)]
    save(
        database,
        *(replace(complete(n, at), started_at=at, verdict=Verdict.INCOMPLETE) for n, at in enumerate(hours)),
    )

    ages = [look(database, NOON + timedelta(hours=hours)).age for hours in (3, 27, 51, 75)]

    assert ages == [timedelta(hours=hours) for hours in (3, 27, 51, 75)]
    assert len(outbox.recent(database, 9)) == 4


def test_what_was_said_is_not_written_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    save(database, RUN)
    look(database, NOON + timedelta(hours=3))
    monkeypatch.setattr(Database, "write", None)

    assert look(database, NOON + timedelta(hours=4)).stale
    assert len(outbox.recent(database, 9)) == 1


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


def said(database: Database) -> list[tuple[str, str]]:
    return [(notice.verb, notice.message.text) for notice in reversed(outbox.recent(database, 99))]


def complete(number: int, ended: datetime) -> Run:
    return replace(RUN, id=RunId(f"r{number}"), fence=number, finished_at=ended, as_of=ended)


def test_the_end_is_said_once_in_the_thread_of_the_last_alarm(database: Database) -> None:
    save(database, RUN)
    look(database, NOON + timedelta(hours=2))
    look(database, NOON + timedelta(hours=26))
    first, last = (each.thread_key for each in reversed(outbox.recent(database, 9)))
    save(database, complete(2, NOON + timedelta(hours=27)))

    looks = [look(database, NOON + timedelta(hours=27, minutes=minute)).stale for minute in range(3)]
    save(database, *(complete(number, NOON + timedelta(hours=25 + number)) for number in (3, 4)))
    look(database, NOON + timedelta(hours=29))

    assert looks == [False] * 3
    *alarms, over = reversed(outbox.recent(database, 9))
    assert (len(alarms), over.verb, over.thread_key, over.target) == (2, "reply", last, "#refund-operators")
    assert last != first
    assert over.message.text == (
        "Over: a complete run ended at 2026-03-07 15:00 UTC, 1 d 3 h after the one before it. "
        "It read what happened meanwhile."
    )


def test_the_end_is_said_by_the_first_look_after_it_however_late(database: Database) -> None:
    save(database, RUN)
    look(database, NOON + timedelta(hours=3))
    save(database, *(complete(number, NOON + timedelta(hours=2 + number)) for number in range(2, 10)))

    look(database, NOON + timedelta(hours=11))

    assert [verb for verb, _ in said(database)] == ["root", "reply"]
    assert "ended at 2026-03-06 16:00 UTC, 4 h 0 min after" in said(database)[1][1]


def test_a_first_complete_run_ends_the_alarm_that_there_was_none(database: Database) -> None:
    save(database, replace(RUN, verdict=Verdict.INCOMPLETE))
    assert look(database, NOON + timedelta(hours=3)).stale
    save(database, complete(2, NOON + timedelta(hours=4)))

    look(database, NOON + timedelta(hours=4))

    assert [verb for verb, _ in said(database)] == ["root", "reply"]
    assert "ended at 2026-03-06 16:00 UTC, the first of all" in said(database)[1][1]


def test_an_incomplete_run_ends_nothing(database: Database) -> None:
    save(database, RUN)
    look(database, NOON + timedelta(hours=3))
    save(database, replace(complete(2, NOON + timedelta(hours=4)), verdict=Verdict.INCOMPLETE))

    assert look(database, NOON + timedelta(hours=4)).stale
    assert [verb for verb, _ in said(database)] == ["root"]


def test_runs_that_were_never_stale_end_nothing(database: Database) -> None:
    save(database, RUN, complete(2, NOON + timedelta(hours=1)))

    look(database, NOON + timedelta(hours=1))

    assert said(database) == []


def test_a_clock_that_jumps_ahead_and_back_alarms_once_and_the_next_run_ends_it(database: Database) -> None:
    save(database, RUN)
    ahead = look(database, NOON + timedelta(days=1))
    back = look(database, NOON + timedelta(minutes=30))
    save(database, complete(2, NOON + timedelta(hours=1)))
    look(database, NOON + timedelta(hours=1))

    assert (ahead.stale, back.stale) == (True, False)
    assert [verb for verb, _ in said(database)] == ["root", "reply"]


def test_a_run_written_down_by_a_clock_that_was_ahead_does_not_keep_the_alarm_quiet(
    database: Database,
) -> None:
    save(database, replace(RUN, finished_at=NOON + timedelta(days=1), as_of=NOON))

    looks = [look(database, NOON + timedelta(minutes=minutes)) for minutes in (5, 119, 120)]

    assert [found.stale for found in looks] == [False, False, True]
    assert "Stale: no complete run for 2 h 0 min" in said(database)[0][1]
