import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import incidents
from recon.doors.store.engines import Database
from recon.model import moments
from recon.model.records.incidents import Window
from recon.model.records.results import Money
from recon.model.records.words import IntentKey, Kind
from tests import seeds
from tests.builders import NOON, a_case, a_mismatch
from tests.dashboard.conftest import Visit, now, words

BERLIN = ZoneInfo("Europe/Berlin")


def test_the_page_opens_at_the_nine_of_the_latest_evening(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now() - timedelta(minutes=12))

    page = visit("incident")
    said = words(page)

    assert not page.exception
    assert page.title[0].value == "Incident · Refunded twice · 9 customers"
    assert [(metric.label, metric.value) for metric in page.metric] == [
        ("At risk", "936.00 USD"),
        ("Customers", "9"),
        ("Orders", "9"),
        ("Extra refunds", "9"),
        ("From first to last", "8 min"),
    ]
    assert "9 cases: 9 open." in said
    assert list(page.dataframe[0].value["Order"]) == [f"order_{8812 + place}" for place in range(9)]


def test_the_window_and_the_kind_come_from_the_address(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    evening = (now() - timedelta(hours=3)).replace(microsecond=0)
    window = Window(evening + timedelta(seconds=90), evening + timedelta(seconds=210))

    page = visit("incident", **incidents.address(Kind.DUPLICATE, window))

    assert page.title[0].value == "Incident · Refunded twice · 2 customers"
    assert visit("incident", kind="stuck").title[0].value == "Incident · Outcome unknown · 1 customer"


@pytest.mark.parametrize(
    "address",
    [
        {"from": "yesterday", "to": "now"},
        {"from": "2026-11-27T18:00:00Z", "to": "2026-11-27T17:00:00Z"},
        {"kind": "nonsense"},
    ],
)
def test_an_address_that_says_nothing_shows_the_latest(
    database: Database, visit: Visit, address: dict[str, str]
) -> None:
    seeds.trouble(database, now=now())

    page = visit("incident", **address)

    assert page.title[0].value == "Incident · Refunded twice · 9 customers"


def test_a_choice_is_written_into_the_address_and_shown(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit("incident")

    page.selectbox[0].select(Kind.MISSING)
    page.button[0].click().run()

    assert page.title[0].value == "Incident · Refund missing · 1 customer"
    assert page.query_params["kind"] == "missing"

    last = moment(page, 1)
    page.datetime_input[1].set_value(last - timedelta(days=1))
    page.datetime_input[0].set_value(last - timedelta(days=2))
    page.button[0].click().run()

    assert "Nothing of this kind began in this window." in words(page)
    assert moments.read(page.query_params["to"]) == (last - timedelta(days=1)).replace(tzinfo=UTC)


def test_the_latest_stands_in_the_address_so_that_it_is_the_same_tomorrow(
    database: Database, visit: Visit
) -> None:
    seeds.trouble(database, now=now() - timedelta(days=1))
    page = visit("incident")
    address = {name: str(page.query_params[name]) for name in ("kind", "from", "to")}
    later = replace(seeds.duplicate(1, at=now()), customer_id="cus_later")
    seeds.run(database, [later], now=now(), number=2)

    assert visit("incident", **address).title[0].value == "Incident · Refunded twice · 9 customers"
    assert visit("incident").title[0].value == "Incident · Refunded twice · 1 customer"


def test_a_window_that_was_asked_for_stands_for_another_kind_too(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    today = now().replace(second=0, microsecond=0)
    before = Window(today - timedelta(days=9), today - timedelta(days=8))
    page = visit("incident", **incidents.address(Kind.DUPLICATE, before))

    page.selectbox[0].select(Kind.MISSING)
    page.button[0].click().run()

    assert page.title[0].value == "Incident · Refund missing · 0 customers"


def test_a_window_whose_end_comes_first_is_asked_for_again(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit("incident")

    page.datetime_input[1].set_value(moment(page, 0) - timedelta(days=1))
    page.button[0].click().run()

    assert page.warning[0].value == "Choose a window whose end is after its beginning."


def test_without_any_case_of_a_kind_the_page_says_so(database: Database, visit: Visit) -> None:
    seeds.run(database, now=now())

    page = visit("incident")

    assert not page.exception
    assert "No case was ever opened for this: refunded twice." in words(page)


def test_the_affected_are_also_a_plain_list_of_links(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())

    page = visit("incident", view="list")
    said = words(page)

    assert [link.label for link in page.page_link if "49.00 USD" in link.label] == ["**49.00 USD · Open**"]
    assert "cus_8812 · order_8812" in said
    assert "should stand: re_8812; extra: re_8812_2" in said
    assert found[0].id in said


def test_what_the_channel_is_told_names_nobody(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    told = visit("incident").code[0].value

    assert told.startswith(
        "Refunded twice (duplicate): 9 cases, 9 customers, 9 orders.\nAt risk: 936.00 USD.\n"
    )
    assert "order_" not in told
    assert "cus_" not in told


def test_other_peoples_text_is_never_markdown(database: Database, visit: Visit) -> None:
    hostile = "[x](http://outside.example) <b>\u202e=1+1"
    double = replace(seeds.duplicate(1, at=now() - timedelta(hours=1)), customer_id=hostile, order_id=hostile)
    seeds.run(database, [double], now=now())

    page = visit("incident", view="list")

    assert not any("outside.example" in element.value for element in page.markdown)
    assert not any("outside.example" in element.value for element in page.code)
    assert "outside.example" in words(page)
    assert "\u202e" not in words(page)


def test_the_export_has_a_row_for_each_case_and_no_formula() -> None:
    mismatch = a_mismatch(
        customer_id='=HYPERLINK("x")',
        order_id="a\nb",
        payment="\t+1",
        intent_key=IntentKey("-k"),
        at_risk=Money(5, "xxx"),
    )
    case = a_case(mismatch, owner=None)

    rows = list(csv.DictReader(io.StringIO(incidents.export([case, a_case()]))))

    assert rows[0] | {"case": "", "kind": ""} == {
        "case": "",
        "kind": "",
        "certainty": "confirmed",
        "state": "open",
        "account": "",
        "customer_id": '\'=HYPERLINK("x")',
        "order_id": "a b",
        "payment": "[U+0009]+1",
        "intent_key": "'-k",
        "at_risk": "",
        "at_risk_minor": "5",
        "currency": "xxx",
        "began_at": "2026-03-06T12:00:30Z",
        "refunds_that_should_stand": "re_8812",
        "extra_refunds": "re_8812_2",
        "owner": "",
    }
    assert (rows[1]["at_risk"], rows[1]["owner"]) == ("49.00", "Payments on call")


@pytest.mark.parametrize(
    "first, last, expected",
    [
        (NOON, NOON + timedelta(seconds=1), True),
        (NOON, NOON, False),
        (NOON, NOON - timedelta(days=1), False),
        (NOON.replace(year=1), NOON, False),
        (NOON, NOON.replace(year=9999), False),
    ],
)
def test_a_window_ends_after_it_begins_and_in_our_times(
    first: datetime, last: datetime, *, expected: bool
) -> None:
    assert incidents.between(first, last) == (Window(first, last) if expected else None)


def test_a_case_leads_to_what_else_began_within_the_hour() -> None:
    case = a_case(a_mismatch(kind=Kind.STUCK, since=NOON + timedelta(seconds=30)))

    assert incidents.beside(case) == {
        "kind": "stuck",
        "from": "2026-03-06T11:00:00Z",
        "to": "2026-03-06T13:01:00Z",
    }


@pytest.mark.parametrize(
    "step, expected",
    [
        (timedelta(minutes=1), "23:30"),
        (timedelta(minutes=15), "23:30"),
        (timedelta(hours=1), "6 Mar, 23:30"),
        (timedelta(days=1), "6 Mar 2026"),
    ],
)
def test_a_step_is_called_by_what_parts_it_from_the_next(step: timedelta, expected: str) -> None:
    assert incidents.label(datetime(2026, 3, 6, 22, 30, tzinfo=UTC), step, BERLIN) == expected


def moment(page: AppTest, place: int) -> datetime:
    """What one of the two times says, without a zone, as it is typed."""
    shown = page.datetime_input[place].value
    assert shown is not None
    return shown
