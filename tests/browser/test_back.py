import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.test_queue import tick
from tests.screens import settled

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]
FILTERED = re.compile(r"kind=duplicate.*severity=high")


def filtered(page: Page) -> None:
    """Expect the queue with the filters of the link that was followed."""
    expect(page.get_by_role("button", name="High severity", exact=True)).to_be_visible()
    expect(page).to_have_url(FILTERED)


def test_the_way_back_from_a_case_keeps_the_filters(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/?kind=duplicate&severity=high&text={case.mismatch.order_id}&view=list")
    page.get_by_role("link", name="Refunded twice · 49.00 USD").click()
    expect(page.get_by_role("heading", name="at risk")).to_be_visible()
    page.get_by_role("link", name="Queue").last.click()  # The first is in the list of pages.

    filtered(page)


@pytest.mark.parametrize("view", ["list", "table"])
def test_the_browsers_own_back_keeps_them_too(desk: Desk, tab: Tab, view: str) -> None:
    case = desk.seeded()
    page = tab(f"/?kind=duplicate&severity=high&text={case.mismatch.order_id}&view={view}")
    settled(page)
    if view == "list":
        page.get_by_role("link", name="Refunded twice · 49.00 USD").click()
    else:
        tick(page, 1)
    expect(page.get_by_role("heading", name="at risk")).to_be_visible()
    settled(page)
    page.go_back()

    filtered(page)
