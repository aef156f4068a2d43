"""A kill switch on the page on tools, thrown in a real browser: five quick clicks are one entry."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from recon.doors.store import switches
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Actor
from tests.browser.conftest import Desk
from tests.browser.test_case import Tab, decide
from tests.builders import NOON

pytestmark = pytest.mark.browser

TOOL = "refund_order"


@pytest.fixture
def on_again(desk: Desk) -> Iterator[None]:
    """Lift the switch at the end: all tests of a worker share one database."""
    yield
    with desk.database.write() as connection:
        switches.move(
            connection,
            switches.get(desk.database, TOOL),
            SwitchMove.LIFTED,
            actor=Actor("bo"),
            reason="The test is over.",
            now=NOON,
            action_id="test_tools:lift",
        )


@pytest.mark.usefixtures("on_again")
def test_five_quick_clicks_throw_a_switch_once_and_every_page_says_so(desk: Desk, tab: Tab) -> None:
    page = tab("/tools")
    decide(page, "Switch off", "Refunded twice since 17:01.")
    pressed = page.get_by_role("dialog").get_by_role("button", name=f"Switch off: {TOOL}")
    with desk.database.write():  # Somebody else writes: the first click is still at it when the others come.
        pressed.click(click_count=5, delay=100)

    expect(page.get_by_text("Thrown. Saved with your reason.")).to_be_visible()
    expect(page.get_by_text("1 tool is switched off.")).to_be_visible()
    expect(page.get_by_role("button", name="Switch on again")).to_have_count(0)
    (entry,) = switches.history(desk.database, TOOL)
    assert (entry.move, entry.actor, entry.reason) == (
        SwitchMove.THROWN,
        "local operator",
        "Refunded twice since 17:01.",
    )
    expect(tab("/runs").get_by_text("1 tool is switched off.")).to_be_visible()
