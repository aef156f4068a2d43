"""The first day, and what is older than the books: withheld, said, and no reason to distrust a run."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store import beginnings, mirror
from recon.doors.store.engines import Database
from recon.model.records.words import AccountId, IntentStatus, Verdict
from recon.model.settings import PullSettings
from tests.hours import FRIDAY, Town, a_town, kinds, rows, twice
from tests.past import LONG_AGO, long_ago, strangers, under
from tests.sandboxes import Street

PLATFORM = AccountId("")


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, surge_limit=3)


# Intents older than what was read.


def test_old_history_does_not_spoil_the_hour(town: Town) -> None:
    for status in ("done", "pending", "pending_unknown", "failed"):
        long_ago(town, status, status=IntentStatus(status))
    twice(town, "1")
    first = town.run()
    later = town.run()

    assert (first.complete, first.in_order, kinds(first)) == (True, True, ["opened duplicate"])
    assert first.run.verdict is Verdict.BREAKS
    assert first.result.counts.withheld == 3
    (older,) = first.older
    assert (older.intents, older.refunds, older.earliest) == (3, 0, LONG_AGO)
    assert not any(notice.target == "#operators" for notice in first.notices)
    assert rows(town, "due") == 0
    assert (later.run.full, later.complete, later.older) == (False, True, first.older)


def test_an_old_intent_is_judged_by_what_is_there(town: Town) -> None:
    intent = town.intend(
        "1", created_at=LONG_AGO, updated_at=LONG_AGO, first_sent_at=LONG_AGO, status=IntentStatus.PENDING
    )
    town.pay(intent)
    town.pay(intent)

    assert kinds(town.run()) == ["opened duplicate"]


def test_an_old_intent_that_is_sent_today_can_be_stuck(town: Town) -> None:
    long_ago(town, "1", status=IntentStatus.PENDING, first_sent_at=FRIDAY)
    town.run()
    town.pass_time(hours=1)
    report = town.run()

    assert (kinds(report), report.complete) == (["opened stuck"], True)


def test_what_was_older_is_judged_once_the_first_window_is_long_enough(town: Town) -> None:
    long_ago(town, "1")
    before = town.run()
    town.settings = replace(town.settings, pull=PullSettings(first_window=timedelta(days=90)))
    after = town.run()
    again = town.run()

    assert (before.complete, kinds(before)) == (True, [])
    assert (after.complete, kinds(after), after.older) == (True, ["opened missing"], ())
    assert not again.run.full
    assert again.run.accounts[0].from_at > FRIDAY - timedelta(days=1)


def test_an_account_that_was_not_read_is_incomplete_and_not_older(town: Town) -> None:
    long_ago(town, "1")
    weather = under(town)
    weather.breaks = "refunds"
    broken = town.run()
    weather.breaks = ""
    whole = town.run()

    assert (broken.run.verdict, broken.older) == (Verdict.INCOMPLETE, ())
    assert (whole.run.verdict, whole.older[0].intents) == (Verdict.RECONCILED, 1)
    assert rows(town, "due") == 0


# Refunds older than the intents.


def test_refunds_from_before_the_first_intent_are_no_orphans_where_they_are_many(town: Town) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    twice(town, "1")
    town.pass_time(hours=1)
    first = town.run()
    strangers(town, 1, at=town.now)
    town.pass_time(hours=1)
    later = town.run()

    assert kinds(first) == ["opened duplicate"]
    assert first.complete
    assert "4 refunds made before 2026-03-06 17:00 UTC will not be taken for orphans" in first.said[0]
    assert (first.older[0].refunds, first.older[0].intents_from) == (4, FRIDAY)
    assert (kinds(later), later.said, later.older) == (["opened orphan"], (), first.older)


def test_a_few_refunds_from_before_the_first_intent_are_ordinary_orphans(town: Town) -> None:
    strangers(town, 3, at=FRIDAY - timedelta(days=9))
    town.refund("1")
    report = town.run()

    assert (kinds(report), report.said) == (["opened orphan"] * 3, ())
    assert beginnings.decided(town.database) == {}


def test_without_an_intent_they_begin_where_the_first_reading_ended(town: Town) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    first = town.run()
    strangers(town, 4, at=town.now + timedelta(minutes=1))
    town.pass_time(hours=1)
    later = town.run()

    assert (kinds(first), first.run.verdict) == ([], Verdict.RECONCILED)
    assert beginnings.decided(town.database) == {PLATFORM: first.run.as_of}
    assert kinds(later) == ["opened orphan"] * 4


def test_a_first_reading_that_broke_off_decides_nothing_and_opens_nothing(town: Town) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    town.refund("1")
    weather = under(town, page_size=2)
    weather.breaks = "end"
    broken = town.run()
    assert (beginnings.decided(town.database), rows(town, "refunds")) == ({}, 5)
    weather.breaks = ""
    whole = town.run()

    assert (kinds(broken), broken.run.verdict) == ([], Verdict.INCOMPLETE)
    assert (kinds(whole), whole.complete) == ([], True)
    assert beginnings.decided(town.database) == {PLATFORM: FRIDAY}


def test_a_run_that_died_after_its_first_reading_leaves_the_decision_to_the_next(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    town.refund("1")
    with monkeypatch.context() as patched:
        patched.setattr("recon.doors.store.beginnings.save", died)
        with pytest.raises(KeyboardInterrupt):
            town.run()
    assert mirror.accounts(town.database)[0].covered_from is not None

    assert kinds(town.run()) == []


def died(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_dry_first_run_says_the_same_and_decides_nothing(town: Town) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    town.refund("1")
    dry = town.run(dry_run=True)

    assert beginnings.decided(town.database) == {}
    assert (kinds(dry), len(dry.said)) == ([], 1)
    assert town.run().said == dry.said


@pytest.mark.parametrize("days, found", [(10, 4), (9, 4), (8, 0)])
def test_a_setting_says_from_when_intents_are_known(town: Town, days: int, found: int) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    pull = PullSettings(intents_from=FRIDAY - timedelta(days=days))
    town.settings = replace(town.settings, pull=pull)
    report = town.run()

    assert kinds(report) == ["opened orphan"] * found
    assert report.complete
    assert beginnings.decided(town.database) == {}


def test_intents_that_come_later_move_the_beginning_back_when_everything_is_judged_anew(town: Town) -> None:
    strangers(town, 4, at=FRIDAY - timedelta(days=9))
    town.run()
    long_ago(town, "1", at=FRIDAY - timedelta(days=10))
    same = town.run()
    town.settings = replace(town.settings, policy=replace(town.settings.policy, healing=False))
    anew = town.run()

    assert kinds(same) == ["opened missing"]
    assert kinds(anew) == ["opened orphan"] * 4
    assert beginnings.decided(town.database) == {PLATFORM: FRIDAY - timedelta(days=10)}


def test_intents_that_are_deleted_later_hide_nothing(town: Town) -> None:
    strangers(town, 3, at=FRIDAY - timedelta(days=9))
    intent, _ = town.refund("1")
    town.run()
    strangers(town, 3, at=town.now)
    town.forget(intent)
    town.pass_time(hours=1)
    report = town.run()

    assert kinds(report) == ["opened orphan"] * 4
    assert beginnings.decided(town.database) == {}


# What is in flight and was not read.


def test_a_run_that_reads_only_what_was_touched_speaks_of_all_that_is_in_flight(town: Town) -> None:
    town.intend("young")
    full = town.run()
    touched = town.run()
    town.pass_time(minutes=15)
    broken = town.run()

    assert (full.run.full, touched.run.full) == (True, False)
    assert touched.result.counts.intents == 0
    assert (touched.run.verdict, touched.run.counts["in_flight"]) == (Verdict.RECONCILED_WITH_PENDING, 1)
    assert touched.result.in_flight == full.result.in_flight
    assert (kinds(broken), broken.run.counts["in_flight"]) == (["opened missing"], 0)


def test_a_refund_that_the_provider_has_not_finished_is_not_in_flight(town: Town) -> None:
    intent = town.intend("1")
    named = {"intent_key": str(intent.key)}
    town.street.control("refunds", payment="pi_1", amount=4900, metadata=named, status="pending")
    town.pass_time(hours=1)
    town.run()
    later = town.run()

    assert rows(town, "due") == 1
    assert (later.result.in_flight, later.result.counts.in_flight) == ((), 0)
