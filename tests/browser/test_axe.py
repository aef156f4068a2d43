import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from recon.model.records.cases import Case
from tests import seeds
from tests.browser.axe import Axe
from tests.browser.conftest import Desk
from tests.screens import settled

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

LIGHT, DARK = "light", "dark"


@pytest.fixture(scope="session")
def cases(server: Desk) -> tuple[Case, ...]:
    """One case of each kind, and a burst of duplicates."""
    return seeds.trouble(server.database, now=datetime.now(UTC) - timedelta(minutes=5))


PAGES = {
    "queue": "/",
    "queue, as a list": "/?view=list",
    "queue, filtered": "/?kind=duplicate&severity=high&owner=Ana&person=Ben&from=2026-03-06T00:00:00Z",
    "queue, nothing": "/?text=nowhere",
    "case": "/case?case={case}",
    "case, none": "/case?case=C-NONE",
    "incident": "/incident?kind=duplicate",
    "incident, as a list": "/incident?view=list",
    "trends": "/trends",
    "runs": "/runs",
    "a run": "/runs?run=run_1",
    "notices": "/notices",
    "tools": "/tools",
    "owners": "/owners",
    "owners, a case tried": "/owners?case={case}&view=list",
}


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
def test_every_page_in_the_light_in_the_dark_and_on_a_phone(
    tab: Tab, phone: Tab, axe: Axe, cases: tuple[Case, ...], path: str
) -> None:
    address = path.format(case=cases[0].id)
    page = tab(address)
    found = {LIGHT: looked_at(page, axe), DARK: looked_at(page, axe, scheme=DARK)}
    found["phone"] = looked_at(phone(address), axe)

    assert found == {LIGHT: [], DARK: [], "phone": []}


def looked_at(page: Page, axe: Axe, *, scheme: str = LIGHT) -> list[str]:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of the words it takes
    settled(page)
    return axe.violations(page)


DIALOGS = {
    "Acknowledge": "Acknowledge",
    "Resolve": "Resolve",
    "Comment": "Comment",
    "Link": "Link a refund",
    "Accept": "Accept until a date",
    "Snooze": "Snooze",
    "Assign": "Assign",
}


@pytest.mark.parametrize("verb", DIALOGS.values(), ids=DIALOGS.keys())
def test_every_dialog_of_a_case(desk: Desk, tab: Tab, axe: Axe, cases: tuple[Case, ...], verb: str) -> None:
    page = tab(f"/case?case={cases[0].id}")
    page.get_by_role("button", name=verb, exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()

    assert [looked_at(page, axe), looked_at(page, axe, scheme=DARK)] == [[], []]


def test_the_dialogs_about_several_cases_and_what_is_unfolded(
    desk: Desk, tab: Tab, axe: Axe, cases: tuple[Case, ...]
) -> None:
    page = tab("/?view=list")
    page.get_by_text("Filters", exact=True).click()
    expect(page.get_by_text("At risk at least")).to_be_visible()
    found = [looked_at(page, axe), looked_at(page, axe, scheme=DARK)]
    page.get_by_text("Choose several").click()
    page.get_by_text(re.compile("^Choose C-")).first.click()
    page.get_by_role("button", name="Resolve", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    found += [looked_at(page, axe), looked_at(page, axe, scheme=LIGHT)]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export as CSV").click()
    expect(page.get_by_role("button", name="Download the CSV")).to_be_visible()
    found.append(looked_at(page, axe))

    assert found == [[]] * 5


def test_a_page_with_something_wrong_is_found_out(
    desk: Desk, tab: Tab, axe: Axe, cases: tuple[Case, ...]
) -> None:
    page = tab("/")
    page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<img src=\"data:,\">')")

    (found,) = axe.violations(page)

    assert found.startswith("image-alt")
