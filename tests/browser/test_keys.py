import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from recon.doors.store import cases as book
from recon.model.records.words import CaseState, Resolution
from tests.browser.conftest import Desk
from tests.screens import settled

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

STOPS = 60  # More than any of these pages has before what is looked for.
HERE = """() => {
    const here = document.activeElement;
    const labels = here.labels ? [...here.labels].map(each => each.innerText) : [];
    const text = here.tagName === "MAIN" ? "" : here.innerText;  // The page itself is a stop, which scrolls.
    return [here.getAttribute("aria-label"), text, ...labels].filter(Boolean).join(" | ");
}"""


def reach(page: Page, name: str) -> None:
    """Go from stop to stop until what has this name has the focus."""
    passed = []
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(HERE))
        if name in passed[-1]:
            return
    pytest.fail(f"{name} cannot be reached with the keyboard; these can: {passed}")


def test_a_case_is_found_and_resolved_without_a_mouse(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab("/")
    reach(page, "Find exactly")
    page.keyboard.type(str(case.mismatch.order_id))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]text="))  # What is drawn anew takes no key that came before.
    settled(page)
    reach(page, "Table")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Refunded twice · 49.00 USD")).to_have_count(1)
    settled(page)
    reach(page, "Refunded twice · 49.00 USD")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Refunded twice · 49.00 USD at risk")).to_be_visible()
    settled(page)
    reach(page, "Resolve")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    reach(page, "How was it settled?")
    page.keyboard.type("Recovered")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    reach(page, "Reason")
    page.keyboard.type("The customer sent it back.")
    reach(page, "Resolve 49.00 USD")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Resolved. Saved with your reason.")).to_be_visible()

    stored = book.get(desk.database, case.id)
    assert stored is not None
    assert (stored.state, stored.resolution) == (CaseState.RESOLVED, Resolution.RECOVERED)


def test_a_dialog_is_left_with_escape_and_nothing_is_saved(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")
    reach(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    reach(page, "Reason")
    page.keyboard.type("On second thoughts.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    assert "Acknowledge" in page.evaluate(HERE)  # The focus is back where it came from.
    assert book.get(desk.database, case.id) == case


def test_filters_are_unfolded_chosen_and_taken_away_without_a_mouse(desk: Desk, tab: Tab) -> None:
    desk.seeded()
    page = tab("/")
    reach(page, "Filters")
    page.keyboard.press("Space")
    expect(page.get_by_text("At risk at least")).to_be_visible()
    reach(page, "Refunded twice")
    page.keyboard.press("Space")
    chip = page.get_by_role("button", name="Refunded twice", exact=True)
    expect(chip).to_be_visible()
    assert "kind=duplicate" in page.url
    settled(page)
    chip.focus()
    page.keyboard.press("Enter")

    expect(chip).to_have_count(0)
    assert "kind=" not in page.url
