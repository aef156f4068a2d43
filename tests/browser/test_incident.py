import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

HEADING = re.compile(r"Incident · Refunded twice · \d+ customers")


def test_from_the_queue_to_who_was_affected_and_by_a_link_there_again(desk: Desk, tab: Tab) -> None:
    cases = [desk.seeded() for _ in range(3)]
    page = tab("/")

    page.get_by_role("link", name="Incident: refunded twice").click()
    expect(page.get_by_role("heading", name=HEADING)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/incident\?.*from="))
    heading = page.get_by_role("heading", name=HEADING).inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as CSV").click()
    with download.value.path().open() as file:
        exported = {row["case"]: row["customer_id"] for row in csv.DictReader(file)}

    again = tab(page.url.removeprefix(desk.url))
    expect(again.get_by_role("heading", name=HEADING)).to_have_text(heading)
    assert {case.id: case.mismatch.customer_id for case in cases}.items() <= exported.items()


def test_from_a_case_to_what_began_beside_it_and_back(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")

    page.get_by_role("link", name="Others like it within the hour").click()
    expect(page.get_by_role("heading", name="Incident · Refunded twice")).to_be_visible()
    page.get_by_text("List", exact=True).click()
    expect(page.get_by_text(f"{case.id} · began")).to_be_visible()
