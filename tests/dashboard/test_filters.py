from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import filters
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.records.cases import Change
from recon.model.records.people import Operator
from recon.model.records.words import AccountId, Actor, Resolution, Role
from recon.rules import moves
from tests import seeds
from tests.dashboard.conftest import Server, Visit, now, words

PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36"


def shown(page: AppTest) -> int:
    """How many cases the page shows."""
    assert not page.exception
    return len(page.dataframe[0].value) if page.dataframe else 0


@pytest.mark.parametrize(
    "address, number",
    [
        ({"account": "platform"}, 17),
        ({"account": "acct_none"}, 0),
        ({"least": "100.00 usd"}, 6),
        ({"least": "100,000 usd"}, 0),
        ({"least": "77 EUR"}, 4),
        ({"least": "some usd"}, 17),
        ({"least": "1 xyz"}, 17),
        ({"from": "2020-01-01T00:00:00Z"}, 17),
        ({"before": "2020-01-01T00:00:00Z"}, 0),
        ({"from": "0001-01-01T00:00:00Z"}, 17),
        ({"before": "9999-12-31T23:59:59Z"}, 17),
        ({"before": "yesterday"}, 17),
        ({"person": "local operator"}, 0),
        ({"person": "refund operators"}, 17),
        ({"owner": "nobody yet"}, 0),
        ({"state": "open"}, 17),
        ({"state": "acknowledged"}, 0),
    ],
)
def test_the_address_narrows_the_queue(
    database: Database, visit: Visit, address: dict[str, str], number: int
) -> None:
    seeds.trouble(database, now=now())

    assert shown(visit(**address)) == number


def once(name: str) -> Callable[[AppTest], None]:
    def press(page: AppTest) -> None:
        page.button_group(key=filters.AT_ONCE_KEY).set_value([name]).run()

    return press


def unfold(page: AppTest) -> None:
    page.toggle(key=filters.UNFOLDED_KEY).set_value(True).run()


def day(name: str, value: date) -> Callable[[AppTest], None]:
    def fill(page: AppTest) -> None:
        unfold(page)
        page.date_input(key=filters.KEYS[name]).set_value(value).run()

    return fill


def least(page: AppTest) -> None:
    unfold(page)
    page.selectbox(key=filters.CURRENCY_KEY).set_value("usd").run()
    page.text_input(key=filters.KEYS["least"]).set_value("100").run()


@pytest.mark.parametrize(
    "act, address",
    [
        (once(filters.MINE), {"person": "local operator"}),
        (once(filters.UNOWNED), {"owner": "nobody yet"}),
        (once(filters.UNANSWERED), {"state": "open"}),
        (day("from", date(2026, 3, 6)), {"from": "2026-03-06T00:00:00Z"}),
        (day("before", date(2026, 3, 6)), {"before": "2026-03-06T00:00:00Z"}),
        (least, {"least": "100 usd"}),
    ],
)
def test_what_is_chosen_stands_in_the_address(
    database: Database, visit: Visit, act: Callable[[AppTest], None], address: dict[str, str]
) -> None:
    seeds.trouble(database, now=now())
    page = visit()

    act(page)

    assert not page.exception
    assert dict(page.query_params) == address


def test_a_second_click_takes_it_back(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit(state="open", person="local operator")
    pills = page.button_group(key=filters.AT_ONCE_KEY)
    assert pills.value == [filters.MINE, filters.UNANSWERED]

    pills.set_value([]).run()

    assert dict(page.query_params) == {}
    assert shown(page) == 17


def test_mine_is_what_i_own_and_what_i_took(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    seeds.acknowledged(database, found[0].id, by="local operator", now=now())
    seeds.acknowledged(database, found[1].id, by="Ana", now=now())
    page = visit()

    once(filters.MINE)(page)

    assert list(page.dataframe[0].value["Case"]) == [found[0].id]


def test_a_link_of_somebody_elses_shows_theirs(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    seeds.acknowledged(database, found[1].id, by="Ana", now=now())

    page = visit(person="Ana")

    assert list(page.dataframe[0].value["Case"]) == [found[1].id]


def test_an_id_of_an_answered_case_is_found_in_every_state(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    told = {"actor": Actor("Ana"), "reason": "Recovered.", "now": now(), "action_id": "a1"}
    change = moves.resolve(found[0], code=Resolution.RECOVERED, fence=1, **told)  # type: ignore[arg-type]  # by name
    assert isinstance(change, Change), change
    book.move(database, change)
    page = visit(text=found[0].id, kind="stuck", severity="low")

    assert "No case fits these filters. The search takes a whole id, as it is written." in words(page)

    page.button(key="everywhere").click().run()

    assert shown(page) == 1
    assert (page.query_params["text"], page.query_params["state"]) == (found[0].id, "all")
    assert not {"kind", "severity"} & {*page.query_params}


def test_what_is_in_no_state_is_not_offered_to_be_searched_in_every_one(
    database: Database, visit: Visit
) -> None:
    seeds.trouble(database, now=now())

    offered = [each.label for each in visit(text="nowhere", state="all").button]

    assert "Search in every state" not in offered
    assert "Clear the filters" in offered


def test_the_filters_are_cleared_as_one(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit(least="100 usd", account="acct_none", person="Ana", **{"from": "2020-01-01T00:00:00Z"})

    page.button(key="clear").click().run()

    assert dict(page.query_params) == {}
    assert shown(page) == 17


def test_an_amount_that_is_none_is_said(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit()
    unfold(page)

    page.text_input(key=filters.KEYS["least"]).set_value("much").run()

    assert "Expected an amount such as 100 or 49.50 in EUR." in words(page)
    assert shown(page) == 17


@pytest.mark.parametrize(
    "agent, view, tables",
    [
        (PHONE, {}, 0),
        (PHONE, {"view": "table"}, 1),
        (PHONE, {"view": "nonsense"}, 0),
        (DESKTOP, {}, 1),
        (DESKTOP, {"view": "list"}, 0),
        (None, {}, 1),
    ],
)
def test_a_phone_gets_the_list_unless_the_table_is_asked_for(  # noqa: PLR0917 -- pytest passes them by name
    database: Database, visit: Visit, server: Server, agent: str | None, view: dict[str, str], tables: int
) -> None:
    seeds.trouble(database, now=now())
    server.headers = {} if agent is None else {"User-Agent": agent}

    assert len(visit(**view).dataframe) == tables


def test_a_snoozed_case_is_marked_with_its_date_in_table_and_list(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    until = datetime.combine(now().date() + timedelta(days=3), time(), UTC)
    change = moves.snooze(
        found[0], until=until, actor=Actor("Ana"), reason="Later.", now=now(), action_id="snooze-1"
    )
    assert isinstance(change, Change)
    book.move(database, change)

    table = visit(text=found[0].id).dataframe[0].value
    listed = words(visit(text=found[0].id, view="list"))

    assert list(table["State"]) == [f"Snoozed to {until:%d %b}"]
    assert f"Snoozed until {until.day} {until:%b %Y}, 00:00 UTC" in listed


def test_a_row_without_an_order_names_its_refund(database: Database, visit: Visit) -> None:
    stray = replace(seeds.duplicate(1, at=now()), order_id=None, refund_ids=())
    seeds.run(database, [replace(stray, subject=type(stray.subject)("refund:re_77"))], now=now())

    assert list(visit().dataframe[0].value["Order or refund"]) == ["re_77"]


def test_who_may_only_read_chooses_nothing(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    assert [each.label for each in visit().toggle] == ["Filters", "Choose several"]

    operators.put(database, Operator(Actor("local operator"), Role.VIEWER))

    assert [each.label for each in visit().toggle] == ["Filters"]


def test_accounts_are_told_apart(database: Database, visit: Visit) -> None:
    other = replace(seeds.duplicate(2, at=now()), account=AccountId("acct_2"))
    seeds.run(database, [seeds.duplicate(1, at=now()), other], now=now())

    assert list(visit(account="acct_2").dataframe[0].value["Order or refund"]) == ["order_2"]


def test_what_is_new_is_offered_and_moves_nothing_by_itself(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit()
    seeds.run(database, [seeds.duplicate(1, at=now())], now=now(), number=2)
    page.run()
    assert "1 new since you looked." not in words(page)  # It is not counted at each click.

    del page.session_state["latest"]
    page.run()
    assert "1 new since you looked." in words(page)
    assert shown(page) == 17
    page.button(key="refresh").click().run()

    assert "1 new since you looked." not in words(page)
    assert shown(page) == 18
