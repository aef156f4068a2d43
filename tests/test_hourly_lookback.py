"""An older window, read back on purpose: judged once it joins, and told to nobody who did not ask."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.doors.store import beginnings, mirror
from recon.doors.store.engines import Database
from recon.hourly import RunReport
from recon.model.errors import ConfigurationError
from recon.model.records.runs import Backfill
from recon.model.records.words import AccountId, CaseState
from tests.hours import FRIDAY, Town, a_town, kinds, rows, states, twice
from tests.past import LONG_AGO, long_ago, strangers, under
from tests.sandboxes import Street

PLATFORM = AccountId("")


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, surge_limit=3)


def read_back(town: Town, from_at: datetime, to_at: datetime, **options: Any) -> RunReport:  # noqa: ANN401  # of a backfill
    """Read an older window back, and judge it."""
    dry_run = options.pop("dry_run", False)
    return town.run(back=Backfill(from_at, to_at, **options), dry_run=dry_run)


def test_a_window_read_back_is_judged_and_nobody_is_told(town: Town) -> None:
    intent = town.intend("old", created_at=LONG_AGO, updated_at=LONG_AGO, first_sent_at=LONG_AGO, paid=False)
    strangers(town, 2, at=LONG_AGO + timedelta(days=1))
    first = town.run()
    twice(town, "new")
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40))
    later = town.run()

    assert kinds(first) == []
    assert kinds(report) == ["opened duplicate", "opened missing", "opened orphan", "opened orphan"]
    assert report.untold == 3
    assert {each for notice in report.notices for each in notice.case_ids} == {report.changes[0].case.id}
    assert states(town)[f"intent:{intent.key}"] is CaseState.OPEN
    assert (report.run.full, report.complete, report.back[0].joined) == (True, True, True)
    assert mirror.accounts(town.database)[0].covered_from == LONG_AGO
    assert (later.changes, later.notices, later.run.full, later.older) == ((), (), False, ())


def test_a_window_read_back_is_told_of_if_asked(town: Town) -> None:
    long_ago(town, "old")
    town.run()
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40), notify=True)

    assert (kinds(report), report.untold) == (["opened missing"], 0)
    assert {notice.target for notice in report.notices} == {"#payments"}


def test_a_case_that_nobody_was_told_of_is_told_when_it_changes(town: Town) -> None:
    intent = town.intend("old", created_at=LONG_AGO, updated_at=LONG_AGO, first_sent_at=LONG_AGO)
    town.run()
    read_back(town, LONG_AGO, FRIDAY - timedelta(days=40))
    town.pay(intent)
    town.pay(intent)
    report = town.run()

    assert kinds(report) == ["reclassified duplicate"]
    assert [notice.verb for notice in report.notices] == ["root", "reply"]


def test_a_gap_keeps_what_lies_before_it_unjudged(town: Town) -> None:
    long_ago(town, "old")
    strangers(town, 2, at=LONG_AGO + timedelta(days=1))
    town.run()
    gap = read_back(town, LONG_AGO, FRIDAY - timedelta(days=50))
    between = town.run()
    joined = read_back(town, FRIDAY - timedelta(days=50), FRIDAY - timedelta(days=44))
    whole = read_back(town, LONG_AGO, FRIDAY - timedelta(days=50))

    assert (gap.back[0].joined, kinds(gap), rows(town, "refunds")) == (False, [], 2)
    assert (gap.complete, gap.older[0].intents, gap.older[0].refunds) == (True, 1, 2)
    assert (between.changes, between.complete) == ((), True)
    assert joined.back[0].joined
    assert kinds(whole) == ["opened missing", "opened orphan", "opened orphan"]


def test_a_window_read_back_that_broke_off_is_incomplete_and_goes_on_where_it_was(town: Town) -> None:
    long_ago(town, "old")
    strangers(town, 3, at=LONG_AGO + timedelta(days=5))
    town.run()
    covered = mirror.accounts(town.database)[0].covered_from
    weather, window = under(town, page_size=2), (LONG_AGO, FRIDAY - timedelta(days=40))
    weather.breaks = "late"
    broken = read_back(town, *window)
    asked, weather.breaks = len(weather.asked), ""
    between = mirror.accounts(town.database)[0].covered_from
    weather.asked.clear()
    whole = read_back(town, *window)

    assert (broken.complete, broken.back[0].reading.complete, kinds(broken)) == (False, False, [])
    assert between == covered
    assert rows(town, "refunds") == 3
    assert kinds(whole) == ["opened missing", *["opened orphan"] * 3]
    assert len(weather.asked) < asked


def test_a_connected_account_that_cuts_us_off_leaves_the_others_read_back(
    database: Database, sandbox: Street
) -> None:
    town = a_town(database, sandbox, accounts=("acct_2",))
    town.run()
    under(town).breaks = "refused"
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40))

    assert [each.reading.complete for each in report.back] == [True, False]
    assert report.back[1].reading.error == "cut off"
    assert not report.complete


def test_a_dry_window_says_what_a_wet_one_does(town: Town) -> None:
    long_ago(town, "old")
    town.run()
    covered = mirror.accounts(town.database)[0].covered_from
    dry = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40), dry_run=True)
    assert (mirror.accounts(town.database)[0].covered_from, rows(town, "cases")) == (covered, 0)
    wet = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40))

    assert kinds(dry) == kinds(wet) == ["opened missing"]


def test_many_refunds_read_back_from_before_the_first_intent_are_no_orphans(town: Town) -> None:
    strangers(town, 4, at=LONG_AGO + timedelta(days=1))
    town.refund("1")
    town.run()
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40))

    assert (kinds(report), len(report.said)) == ([], 1)
    assert beginnings.decided(town.database) == {PLATFORM: FRIDAY}


@pytest.mark.parametrize(
    "back, told",
    [
        (Backfill(FRIDAY, FRIDAY + timedelta(days=2)), "Only the past can be read back"),
        (Backfill(FRIDAY + timedelta(days=1), FRIDAY + timedelta(days=1)), "Only the past"),
        (Backfill(LONG_AGO, FRIDAY, (AccountId("acct_9"),)), "No account acct_9 is read here"),
    ],
)
def test_what_cannot_be_read_back_is_refused(town: Town, back: Backfill, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        town.run(back=back)

    assert rows(town, "runs") == 0


def test_one_account_is_read_back_alone(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox, accounts=("acct_2",))
    town.run()
    other = AccountId("acct_2")
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40), accounts=(other,))

    assert [each.reading.account for each in report.back] == [other]
    covered = {each.account: each.covered_from for each in mirror.accounts(town.database)}
    assert (covered[other] == LONG_AGO, covered[PLATFORM] == LONG_AGO) == (True, False)


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry", "with a row that cannot be read"])
def test_reading_back_moves_no_watermark_that_the_run_itself_left(town: Town, *, dry_run: bool) -> None:
    town.run()
    before = mirror.accounts(town.database)[0]
    town.pass_time(hours=2)
    _, made = town.refund("new")
    under(town).flawed = None if dry_run else made.id
    report = read_back(town, LONG_AGO, FRIDAY - timedelta(days=40), dry_run=dry_run)
    after = mirror.accounts(town.database)[0]

    assert len(report.result.rejected) == (0 if dry_run else 1)
    assert after.watermark_at == before.watermark_at
    assert after.covered_from == (before.covered_from if dry_run else LONG_AGO)


def test_the_beginning_of_all_time_can_be_read_back(town: Town) -> None:
    town.run()
    first = datetime.min.replace(tzinfo=UTC)

    assert not read_back(town, first, first).back[0].joined
    assert read_back(town, first, FRIDAY).back[0].joined
    assert town.run().complete
