from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from recon.doors.store import cases as book
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.words import Action, CaseState
from tests.browser.conftest import Desk
from tests.browser.test_case import Tab, confirm, decide

pytestmark = pytest.mark.browser

BERLIN = ZoneInfo("Europe/Berlin")  # Where the browser is.


def told(desk: Desk, case: Case) -> tuple[Action, str]:
    entry = book.entries(desk.database, case.id)[-1].entry
    return entry.action, entry.reason


def test_a_case_is_accepted_until_a_day(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    day = datetime.now(BERLIN).date() + timedelta(days=7)
    page = tab(f"/case?case={case.id}")
    decide(page, "Accept until a date", None)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("spinbutton").first.focus()
    page.keyboard.type(f"{day:%Y%m%d}")
    dialog.get_by_label("Reason").fill("Finance knows.")
    confirm(page, "Accept until a date")

    expect(page.get_by_text("Accepted. Saved with your reason.")).to_be_visible()
    stored = book.get(desk.database, case.id)
    assert stored is not None
    assert stored.state is CaseState.ACCEPTED
    assert stored.accepted_until == datetime.combine(day, time.min, BERLIN)
    page.get_by_role("button", name="Reopen").wait_for()


def test_a_refund_nobody_asked_for_is_adopted(desk: Desk, tab: Tab) -> None:
    case = desk.stray()
    page = tab(f"/case?case={case.id}")
    decide(page, "Adopt the refund", "The shop asked for it by phone.")
    confirm(page, "Adopt the refund")

    expect(
        page.get_by_text("Refund adopted. Saved with your reason. The next run judges it.")
    ).to_be_visible()
    named = case.subject.removeprefix("refund:")
    assert told(desk, case) == (
        Action.ADOPTED,
        f"Refund {named} is now the intent adopted:{named}. The shop asked for it by phone.",
    )
    with desk.database.read() as connection:
        columns = tables.intents.c
        assert connection.scalar(select(columns.key).where(columns.refund_id == named)) == f"adopted:{named}"


def test_a_refund_is_linked_from_the_case_of_its_intent(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")
    decide(page, "Link a refund", "Same order, sent by hand.")
    page.get_by_role("dialog").get_by_label("Id of the refund").fill("re_nowhere")
    confirm(page, "Link a refund")

    expect(page.get_by_text("has no refund re_nowhere in the mirror")).to_be_visible()
    assert told(desk, case)[0] is Action.OPENED
