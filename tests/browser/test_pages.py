from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.grids import ROW_PIXELS
from tests.browser.conftest import Desk

Tab = Callable[[str], Page]

pytestmark = pytest.mark.browser


def test_the_run_that_is_ticked_is_the_one_that_opens(desk: Desk, tab: Tab) -> None:
    desk.seeded()
    latest = desk.seeded()
    page = tab("/runs")
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None

    page.mouse.click(box["x"] + 15, box["y"] + ROW_PIXELS * 1.5)  # The first row: the latest run.

    expect(page.get_by_role("heading", level=1)).to_contain_text("Run of ")
    expect(page.get_by_text("+ 1 opened")).to_be_visible()
    number = str(latest.mismatch.order_id).removeprefix("order_")
    assert page.url.endswith(f"run=run_{number}")


def test_a_case_that_was_tried_is_a_click_away(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/owners?case={case.id}")

    expect(page.get_by_text("is the last that fits.")).to_be_visible()
    page.get_by_role("link", name="Refunded twice").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Refunded twice")
    assert f"case={case.id}" in page.url
