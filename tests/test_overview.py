from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store import cases, leases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.histories import NoticeFilters
from recon.model.records.runs import Older
from recon.model.records.words import NoticeState, RunId
from recon.model.settings import Secret, Settings, SlackSettings
from recon.overview import Outstanding, Overview
from recon.rules import beginnings
from tests.builders import NOON, PLATFORM
from tests.doors.store.books import a_lease, a_notice, a_run
from tests.weeks import Week

LATER = NOON + timedelta(hours=3)


@pytest.fixture
def overview(database: Database) -> Overview:
    return Overview(database, Settings, clock=lambda: LATER)


def test_a_run_is_shown_beside_the_one_before_it(database: Database, overview: Overview) -> None:
    week = Week(database, NOON)
    runs = [week.run(), week.run()]

    views = [overview.run(run.id) for run in runs]

    assert [view and view.passed.run.id for view in views] == ["run_1", "run_2"]
    assert [view and view.before and view.before.id for view in views] == [None, "run_1"]


def test_a_run_that_was_read_before_is_not_counted_anew(database: Database, overview: Overview) -> None:
    week = Week(database, NOON)
    week.run()
    (read,) = overview.runs().passes
    marked = replace(read, number=7)

    view = overview.run("run_1", known=[marked])

    assert view is not None
    assert view.passed == marked


@pytest.mark.parametrize("named", ["run_9", "", "run_1\x00", "run_1'--"])
def test_a_run_that_is_not_there_is_none(database: Database, overview: Overview, named: str) -> None:
    Week(database, NOON).run()

    assert overview.run(named) is None


def test_a_run_says_what_it_could_not_judge_because_it_is_older(
    database: Database, overview: Overview
) -> None:
    older = Older(PLATFORM, intents=3, refunds=0, covered_from=NOON, intents_from=None, earliest=NOON)
    lease = a_lease(database)
    run = a_run(counts={beginnings.OLDER: beginnings.as_counts([older])})
    cases.save_run(database, lease, Saving(run))

    view = overview.run(run.id)

    assert view is not None
    assert view.said == beginnings.sentences([older])
    assert view.said[0].startswith("3 intents")


def test_what_is_not_delivered_is_counted_with_its_age(database: Database, overview: Overview) -> None:
    lease = a_lease(database)
    found = [
        replace(a_notice(), dedupe_key=f"key_{state}", delivery_id=f"delivery_{state}", state=state)
        for state in NoticeState
    ]
    cases.save_run(database, lease, Saving(a_run(), notices=tuple(found)))

    assert overview.outstanding() == Outstanding(
        states={state: 1 for state in NoticeState if state is not NoticeState.SENT},
        since=NOON,
        late=3,
        slack=False,
    )


def test_settings_are_those_of_now(database: Database) -> None:
    told = [Settings(), Settings(slack=SlackSettings(bot_token=Secret("xoxb-1")))]
    overview = Overview(database, lambda: told.pop(0), clock=lambda: LATER)

    assert [overview.outstanding().slack, overview.outstanding().slack] == [False, True]


def test_what_no_database_keeps_fits_no_notice(database: Database, overview: Overview) -> None:
    lease = a_lease(database)
    cases.save_run(database, lease, Saving(a_run(id=RunId("run_1")), notices=(a_notice(),)))
    leases.release(database, lease)

    found = overview.notices(NoticeFilters(targets=("#payments\x00", "\ud800")))

    assert found.notices == ()
    assert len(overview.notices(NoticeFilters(targets=("#payments",))).notices) == 1
