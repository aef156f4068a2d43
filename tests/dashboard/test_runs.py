from datetime import timedelta

import pandas as pd

from recon.doors.store.engines import Database
from recon.model.records.results import Reject
from recon.overview import RUNS
from tests import seeds
from tests.dashboard.conftest import Visit, now, words
from tests.weeks import Week, eventful

HOSTILE = "![](http://127.0.0.1:9/x.png) <b>=cmd()</b>\u202e"


def a_day(database: Database, *, hours: int = 3) -> Week:
    return Week(database, now() - timedelta(hours=hours, minutes=12))


def test_before_the_first_run_the_page_says_how_to_start_one(database: Database, visit: Visit) -> None:
    page = visit("runs")

    assert not page.exception
    assert "recon run" in page.info[0].value


def test_runs_are_shown_newest_first_with_what_each_did(database: Database, visit: Visit) -> None:
    week = a_day(database, hours=2)
    week.run([seeds.duplicate(number, at=week.now) for number in range(3)])
    week.run([seeds.duplicate(0, at=week.now)], complete=False)

    page = visit("runs")
    rows = page.dataframe[0].value

    assert not page.exception
    assert list(rows["Verdict"]) == ["Incomplete", "Mismatches found"]
    assert list(rows["Accounts"]) == ["0 of 1", "1 of 1"]
    assert list(rows["Opened"]) == ["0", "3"]
    assert list(rows["Waiting"]) == ["3", "3"]
    assert list(rows["At risk, as judged"]) == ["49.00 USD", "147.00 USD"]
    assert "3 cases waited after the latest run shown, 3 to 3 after these 2." in words(page)
    assert "None: every row that was read could be judged." in words(page)


def test_runs_are_also_a_plain_list_of_links(database: Database, visit: Visit) -> None:
    week = a_day(database)
    week.run([seeds.duplicate(1, at=week.now)])
    week.run()

    page = visit("runs", view="list")

    assert not page.dataframe
    assert "0 cases waiting; 1 cleared" in words(page)
    assert "1 case waiting; 1 opened" in words(page)


def test_a_run_shows_sums_that_add_up_from_the_run_before(database: Database, visit: Visit) -> None:
    week = a_day(database)
    week.run([seeds.duplicate(number, at=week.now) for number in range(3)])
    week.run([seeds.duplicate(number, at=week.now) for number in range(2, 7)])

    page = visit("runs", run="run_2")
    sums = page.table[0].value

    assert not page.exception
    assert "3 waited + 4 opened - 2 cleared = 5 now" in words(page)
    assert sums.to_dict("list") == {
        "Waiting cases": ["Refunded twice", "All"],
        "Before": ["3", "3"],
        "Opened (+)": ["4", "4"],
        "Again (+)": ["0", "0"],
        "Cleared (-)": ["2", "2"],
        "People (+/-)": ["0", "0"],
        "Now (=)": ["5", "5"],
    }


def test_the_sums_of_every_run_add_up_on_the_page(database: Database, visit: Visit) -> None:
    week = a_day(database, hours=6)
    eventful(week, 5)

    for number in range(1, 6):
        page = visit("runs", run=f"run_{number}")
        assert not page.exception
        numbers: pd.DataFrame = page.table[0].value.drop(columns="Waiting cases").astype(int)
        signed = numbers * [1, 1, 1, -1, 1, -1]
        assert list(signed.sum(axis=1)) == [0] * len(numbers)


def test_a_run_that_could_not_read_everything_says_why(database: Database, visit: Visit) -> None:
    a_day(database).run(complete=False)

    said = words(visit("runs", run="run_1"))

    assert "the platform: page 3 of the list: the provider answered 502" in said
    assert "Nothing: no case waited before the first run, and none waits now." in said


def test_an_unknown_run_is_said_and_leads_back(database: Database, visit: Visit) -> None:
    a_day(database).run()

    page = visit("runs", run=HOSTILE)

    assert page.title[0].value == "No such run"
    assert "[U+202E]" in words(page)
    assert all("![](" not in each.value for each in (*page.markdown, *page.caption))


def test_rejected_rows_are_named_with_their_reason_as_text(database: Database, visit: Visit) -> None:
    a_day(database).run(rejects=(Reject("refunds", 4, "=re_4", HOSTILE),))

    page = visit("runs")
    rows = page.dataframe[1].value

    assert list(rows["Id"]) == ["'=re_4"]
    assert "1 row of refunds: " in words(page)
    assert all("![](" not in each.value for each in (*page.markdown, *page.caption))


def test_older_runs_are_a_page_further_and_newer_ones_back(database: Database, visit: Visit) -> None:
    week = a_day(database, hours=RUNS + 2)
    for _ in range(RUNS + 2):
        week.run()
    page = visit("runs")
    first = list(page.dataframe[0].value["Finished"])

    page.button(key="older").click().run()
    second = list(page.dataframe[0].value["Finished"])
    page.button(key="newer").click().run()

    assert (len(first), len(second)) == (RUNS, 2)
    assert list(page.dataframe[0].value["Finished"]) == first
