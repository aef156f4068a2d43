import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from recon.doors.store import cases as book
from recon.model.records.cases import Case
from recon.model.records.results import Money
from recon.model.records.words import Action, CaseState, Resolution
from tests import seeds
from tests.browser.conftest import NUMBERS, Desk
from tests.screens import NARROW, resized

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]
ROW = 33  # Pixels of one row of the grid, and of its heading.


def seeded(desk: Desk, number: int, *, customer: str) -> tuple[Case, ...]:
    """Save one run that found so many orders of a customer refunded twice, and give their cases back."""
    at = datetime.now(UTC) - timedelta(hours=2)
    found = [replace(seeds.duplicate(next(NUMBERS), at=at), customer_id=customer) for _ in range(number)]
    return seeds.run(desk.database, found, now=datetime.now(UTC), number=next(NUMBERS))


def in_order(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases as the queue shows them: all of one severity and one time."""
    return tuple(sorted(cases, key=lambda case: case.id))


def tick(page: Page, row: int) -> None:
    """Tick a row of the grid, the first is 1."""
    grid = page.get_by_test_id("stDataFrame").first
    grid.wait_for()
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + ROW * row + ROW / 2)


def choose(page: Page) -> None:
    page.get_by_text("Choose several").click()
    expect(page.get_by_text("Nothing is chosen yet.")).to_be_visible()


def press(page: Page, verb: str) -> Locator:
    page.get_by_role("button", name=verb, exact=True).click()
    return page.get_by_role("dialog")


def state(desk: Desk, case: Case) -> CaseState:
    found = book.get(desk.database, case.id)
    assert found is not None
    return found.state


def entries(desk: Desk, case: Case) -> list[tuple[Action, str]]:
    return [(stored.entry.action, stored.entry.actor) for stored in book.entries(desk.database, case.id)]


def test_several_are_resolved_at_once_and_who_was_faster_is_said(desk: Desk, tab: Tab) -> None:
    customer = f"cus_bulk_{next(NUMBERS)}"
    first, second, third = in_order(seeded(desk, 3, customer=customer))
    page = tab(f"/?text={customer}")
    choose(page)
    tick(page, 1)
    expect(page.get_by_text("Chosen: 1 case, 49.00 USD at risk.")).to_be_visible()
    tick(page, 2)
    expect(page.get_by_text("Chosen: 2 cases, 98.00 USD at risk.")).to_be_visible()
    dialog = press(page, "Resolve")
    seeds.acknowledged(desk.database, second.id, by="Ben", now=datetime.now(UTC))

    dialog.get_by_role("combobox").click()
    page.get_by_role("option").filter(has_text="Written off").click()
    dialog.get_by_label("Reason").fill("All of one cause.")
    button = dialog.get_by_role("button", name="Resolve 2 cases · 98.00 USD")
    with desk.database.write():  # Somebody else writes: the first click is still at it when the others come.
        button.click(click_count=3, delay=100)

    expect(dialog.get_by_text("1 done, 1 not.")).to_be_visible()
    expect(dialog.get_by_text(f"{second.id}: Ben acknowledged this case")).to_be_visible()
    assert entries(desk, first) == [(Action.OPENED, "recon"), (Action.RESOLVED, "local operator")]
    assert [state(desk, case) for case in (second, third)] == [CaseState.ACKNOWLEDGED, CaseState.OPEN]
    resolved = book.get(desk.database, first.id)
    assert resolved is not None
    assert resolved.resolution is Resolution.WRITTEN_OFF
    dialog.get_by_role("button", name="Back to the queue").click()
    expect(page.get_by_text("2 cases, most severe first")).to_be_visible()


def test_a_new_row_on_top_moves_no_selection(desk: Desk, tab: Tab) -> None:
    customer = f"cus_top_{next(NUMBERS)}"
    older = in_order(seeded(desk, 2, customer=customer))
    page = tab(f"/?text={customer}")
    choose(page)
    tick(page, 1)
    expect(page.get_by_text("Chosen: 1 case, 49.00 USD at risk.")).to_be_visible()

    at = datetime.now(UTC) - timedelta(hours=2)
    urgent = replace(
        seeds.duplicate(next(NUMBERS), at=at), customer_id=customer, at_risk=Money(9_900_000, "usd")
    )
    (top,) = seeds.run(desk.database, [urgent], now=datetime.now(UTC), number=next(NUMBERS))
    assert top.severity is not older[0].severity
    tick(page, 2)  # The page runs again, and still shows what this person has looked at.
    expect(page.get_by_text("Chosen: 2 cases, 98.00 USD at risk.")).to_be_visible()
    tick(page, 2)
    expect(page.get_by_text("Chosen: 1 case, 49.00 USD at risk.")).to_be_visible()
    dialog = press(page, "Acknowledge")
    dialog.get_by_label("Reason").fill("Asking the bank.")
    dialog.get_by_role("button", name="Acknowledge 1 case · 49.00 USD").click()
    expect(dialog.get_by_text("1 case done, saved with your reason.")).to_be_visible()

    assert [state(desk, case) for case in (top, *older)] == [
        CaseState.OPEN,
        CaseState.ACKNOWLEDGED,
        CaseState.OPEN,
    ]


def test_the_list_on_a_phone_decides_several_too(desk: Desk, tab: Tab) -> None:
    customer = f"cus_phone_{next(NUMBERS)}"
    first, second = in_order(seeded(desk, 2, customer=customer))
    page = tab(f"/?text={customer}&view=list")
    resized(page, *NARROW)
    choose(page)

    page.get_by_text(f"Choose {second.id}").click()
    expect(page.get_by_text("Chosen: 1 case, 49.00 USD at risk.")).to_be_visible()
    dialog = press(page, "Acknowledge")
    dialog.get_by_label("Reason").fill("Asking the bank.")
    dialog.get_by_role("button", name="Acknowledge 1 case · 49.00 USD").click()
    expect(dialog.get_by_text("1 case done, saved with your reason.")).to_be_visible()

    assert [state(desk, case) for case in (first, second)] == [CaseState.OPEN, CaseState.ACKNOWLEDGED]


def test_what_is_filtered_is_downloaded_as_csv(desk: Desk, tab: Tab) -> None:
    customer = f"cus_csv_{next(NUMBERS)}"
    seeded(desk, 1, customer=f"{customer}_other")
    found = in_order(seeded(desk, 3, customer=customer))
    page = tab(f"/?text={customer}")
    page.get_by_role("button", name="Export as CSV").click()
    expect(page.get_by_text("3 cases, as filtered")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="Download the CSV").click()

    lines = download.value.path().read_text().splitlines()
    assert re.fullmatch(r"cases-\d{4}-\d\d-\d\dT\d{4}Z\.csv", download.value.suggested_filename)
    assert lines[0].startswith("case,account,subject,kind")
    assert [line.split(",")[0] for line in lines[1:]] == [case.id for case in found]


@pytest.mark.parametrize("path", ["/", "/incident", "/runs"])
def test_no_column_is_cut_on_a_small_screen(desk: Desk, tab: Tab, path: str) -> None:
    seeded(desk, 2, customer="cus_NffrFeUfNV2Hib")
    page = tab(path)
    resized(page, 1280, 800)
    wide = page.locator(".dvn-scroller").first.evaluate("each => [each.scrollWidth, each.clientWidth]")

    assert wide[0] <= wide[1]
