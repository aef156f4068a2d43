from datetime import date, timedelta

import pytest

from dashboard import trends
from recon.doors.store.engines import Database
from recon.model.records.cases import Owner
from recon.model.records.trends import Agreed, Day, Group, Heap, Past
from recon.model.records.words import CaseState, Kind
from tests import seeds
from tests.builders import NOON
from tests.dashboard.conftest import Visit, now, words
from tests.doors.store.test_trends import live


def together(text: str) -> str:
    """Return what never stands in two lines."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def test_the_page_shows_what_waited_by_day_with_each_currency_by_itself(
    database: Database, visit: Visit
) -> None:
    seeds.trouble(database, now=now())

    page = visit("trends")
    table = page.table[0].value

    assert not page.exception
    assert list(table.columns) == ["Day", "Waiting", "EUR", "USD"]
    assert [list(row)[1:] for row in table.itertuples(index=False)] == [
        ["17", together("392.00 EUR"), together("1,300.00 USD")]
    ]
    assert "Nothing waited on the days that the table leaves out." in words(page)


def test_how_soon_it_was_answered_is_told_by_kind_and_by_owner(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now() - timedelta(hours=2))
    seeds.acknowledged(database, found[0].id, by="ada", now=now() - timedelta(minutes=35))

    page = visit("trends")

    assert "Acknowledged or decided: 1 time, half within 1 h 25 min, nine in ten within 1 h 25 min." in words(
        page
    )
    assert "Settled: none in these days." in words(page)
    kinds, owners = (table.value for table in page.table if "Half within" in table.value.columns)
    assert list(kinds["Kind"]) == ["Refunded twice"]
    assert list(owners["Cases"]) == ["1"]


def test_days_kind_and_owner_come_from_the_address_and_go_there(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    page = visit("trends", days="7", kind="stuck")

    assert page.session_state["trends-days"] == 7
    assert page.table[0].value.iloc[0]["Waiting"] == "1"

    page.selectbox(key="trends-kind").select("all").run()

    assert "kind" not in page.query_params
    assert page.table[0].value.iloc[0]["Waiting"] == "17"

    page.selectbox(key="trends-kind").select("missing").run()

    assert page.query_params["kind"] == "missing"
    assert page.table[0].value.iloc[0]["Waiting"] == "1"


def test_unknown_words_in_the_address_narrow_nothing(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    page = visit("trends", days="a year", kind="nonsense", owner="nobody of ours")

    assert page.session_state["trends-days"] == trends.USUAL
    assert page.table[0].value.iloc[0]["Waiting"] == "17"


def test_nothing_at_all_is_said(database: Database, visit: Visit) -> None:
    page = visit("trends")

    assert not page.exception
    assert "Nothing waited, and no run was complete, in 30 days." in words(page)


def test_a_quiet_month_says_what_is_fine_part_by_part(database: Database, visit: Visit) -> None:
    seeds.run(database, now=now())

    said = words(visit("trends"))

    assert "Nothing waited on any of these days." in said
    assert "Nothing waits." in said
    assert "No complete run in these days judged an intent." in said


def test_an_owners_name_is_never_markdown(database: Database, visit: Visit) -> None:
    hostile = "![x](http://outside.example/x.png) :red[*a*] $1$ \u202e"
    begin = now() - timedelta(hours=5)
    turns = ((CaseState.OPEN, begin), (CaseState.RESOLVED, begin + timedelta(hours=1)))
    live(database, 1, *turns, owner=Owner(hostile, "#x", "rule"))

    page = visit("trends")
    owners = next(table.value for table in page.table if "Owner" in table.value.columns)

    assert not page.exception
    assert owners["Owner"][0] == (
        r"\!\[x\]\(http\:{0}\/\/outside{0}\.example\/x{0}\.png\) \:red\[\*a\*\] \$1\$ \[U\+202E\]".format(
            "\N{WORD JOINER}"
        )
    )


@pytest.mark.parametrize(
    "intents, matched, expected",
    [(1000, 1000, "100.0 %"), (10_000, 9999, "99.9 %"), (3, 1, "33.3 %"), (7, 0, "0.0 %")],
)
def test_what_is_not_whole_is_never_said_to_be_whole(intents: int, matched: int, expected: str) -> None:
    assert trends.percent(Agreed(date(2026, 3, 6), 1, intents, matched)) == together(expected)


def test_a_day_without_an_intent_has_no_rate() -> None:
    chart, table = trends.agreed([Agreed(date(2026, 3, 5), 1, 0, 0), Agreed(date(2026, 3, 6), 2, 4, 3)])

    assert list(chart["Value"]) == [75.0]
    assert list(table.iloc[0]) == ["6 Mar", "2", "4", "3", together("75.0 %")]


def test_a_chart_of_money_is_of_one_currency_in_its_own_units() -> None:
    days = [Day(date(2026, 3, 5), 1, {"jpy": 500}), Day(date(2026, 3, 6), 2, {"jpy": 5, "usd": 4950})]

    assert list(trends.at_risk(days, "jpy")["Value"]) == [500, 5]
    assert list(trends.at_risk(days, "usd")["Value"]) == [0, 49.5]


def test_the_table_ends_with_the_first_day_on_which_anything_waited() -> None:
    days = [Day(date(2026, 3, day), cases, {}) for day, cases in ((4, 0), (5, 2), (6, 0), (7, 1))]

    assert list(trends.by_day(days, ())["Day"]) == ["7 Mar", "6 Mar", "5 Mar"]


def test_ages_are_named_and_each_has_its_money_by_currency() -> None:
    heaps = (
        Heap(Group(Kind.STUCK, "", "usd"), 4, 2, 4900),
        Heap(Group(Kind.STUCK, "", "eur"), 4, 1, 100),
        Heap(Group(Kind.STUCK, "", "usd"), 0, 1, 0),
    )

    _, table = trends.aging(Past(NOON, NOON.date(), heaps, (), (), ()))

    assert [tuple(row) for row in table.itertuples(index=False)] == [
        ("under 1 h", "1", "—"),
        ("1 h to 1 d", "0", "—"),
        ("1 d to 7 d", "0", "—"),
        ("7 d to 30 d", "0", "—"),
        ("30 d or more", "3", f"{together('1.00 EUR')} and {together('49.00 USD')}"),
    ]
