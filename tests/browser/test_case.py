import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from recon.doors.store import cases as book
from recon.model.records.cases import Case
from recon.model.records.words import Action, CaseState, Resolution
from tests.browser.conftest import Desk
from tests.screens import NARROW, resized

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

SCROLL_BAR = 10  # Pixels of the window's own, which a browser in tests leaves out.
AROUND = 239  # Pixels beside the grid: the sidebar, margins and borders.


def entries(desk: Desk, case: Case) -> list[tuple[Action, str]]:
    """What the database says was done to the case, and by whom."""
    return [(stored.entry.action, stored.entry.actor) for stored in book.entries(desk.database, case.id)]


def decide(page: Page, verb: str, reason: str | None, *, code: str | None = None) -> None:
    """Open the dialog of a move and fill it in, without confirming; reason: None leaves what stands there."""
    page.get_by_role("button", name=verb, exact=True).click()
    dialog = page.get_by_role("dialog")
    if code is not None:
        dialog.get_by_role("combobox").click()
        page.get_by_role("option").filter(has_text=code).click()
    if reason is not None:
        dialog.get_by_label("Reason").fill(reason)


def confirm(page: Page, label: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=label).click()


def test_from_the_queue_to_a_resolved_case(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/?text={case.mismatch.order_id}&view=list")

    page.get_by_role("link", name="Refunded twice · 49.00 USD").click()
    expect(page.get_by_role("heading", name="Refunded twice · 49.00 USD at risk")).to_be_visible()
    assert f"case={case.id}" in page.url
    decide(page, "Resolve", "The customer sent it back.", code="Recovered")
    confirm(page, "Resolve 49.00 USD")
    expect(page.get_by_text("Resolved. Saved with your reason.")).to_be_visible()

    stored = book.get(desk.database, case.id)
    assert stored is not None
    assert (stored.state, stored.resolution) == (CaseState.RESOLVED, Resolution.RECOVERED)
    last = book.entries(desk.database, case.id)[-1].entry
    assert (last.actor, last.reason) == ("local operator", "The customer sent it back.")
    expect(page.get_by_role("heading", name="Refunded twice · 49.00 USD was at risk")).to_be_visible()
    page.get_by_role("link", name="Queue").last.click()
    expect(page.get_by_text("No case fits these filters.")).to_be_visible()  # The way back keeps them.
    expect(page).not_to_have_url(re.compile("case="))


def test_a_row_of_the_grid_opens_its_case(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/?text={case.mismatch.order_id}")

    grid = page.get_by_test_id("stDataFrame")
    grid.wait_for()
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + 33 + 16)

    expect(page.get_by_text(case.id).first).to_be_visible()
    assert f"case={case.id}" in page.url


def test_the_last_column_of_the_grid_is_in_sight_on_a_small_desktop(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/?text={case.mismatch.order_id}")
    grid = page.locator(".dvn-scroller")
    grid.wait_for()
    resized(page, 1400 - SCROLL_BAR, 900)

    expect(grid).to_have_js_property("clientWidth", 1400 - SCROLL_BAR - AROUND)
    assert grid.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def test_five_quick_clicks_are_one_entry(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")
    decide(page, "Comment", "Asking the bank.")  # The rules would take five of these.

    button = page.get_by_role("dialog").get_by_role("button", name="Save the comment")
    with desk.database.write():  # Somebody else writes: the first click is still at it when the others come.
        button.click(click_count=5, delay=100)

    expect(page.get_by_text("Commented. Saved with your reason.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Asking the bank.")).to_be_visible()

    assert entries(desk, case) == [(Action.OPENED, "recon"), (Action.COMMENTED, "local operator")]


def test_of_two_tabs_the_second_is_told_and_nothing_is_overwritten(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    first, second = tab(f"/case?case={case.id}"), tab(f"/case?case={case.id}")
    decide(second, "Resolve", "Nothing was wrong.", code="False alarm")
    decide(first, "Acknowledge", "Asking the bank.")
    confirm(first, "Acknowledge 49.00 USD")
    expect(first.get_by_text("Acknowledged. Saved with your reason.")).to_be_visible()

    second.bring_to_front()
    confirm(second, "Resolve 49.00 USD")

    expect(second.get_by_text("local operator acknowledged this case at")).to_be_visible()
    second.get_by_role("button", name="Read it again").click()
    expect(second.get_by_text("Asking the bank.")).to_be_visible()
    decide(second, "Resolve", None, code="False alarm")
    expect(second.get_by_label("Reason")).to_have_value("Nothing was wrong.")
    assert entries(desk, case) == [(Action.OPENED, "recon"), (Action.ACKNOWLEDGED, "local operator")]


def test_a_move_without_a_reason_is_not_saved(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")
    decide(page, "Acknowledge", "   ")

    confirm(page, "Acknowledge 49.00 USD")

    expect(page.get_by_text("A reason is required")).to_be_visible()
    assert entries(desk, case) == [(Action.OPENED, "recon")]


HOSTILE = (
    "![x](http://outside.example/x.png) <img src=http://outside.example/y.png onerror=alert(1)> "
    "=HYPERLINK(1) :red[x] $x$ \u202eesrever"
)


def test_hostile_text_is_shown_as_text_and_asks_for_nothing_outside(desk: Desk, tab: Tab) -> None:
    case = desk.hostile(HOSTILE)
    alerts: list[str] = []

    page = tab(f"/case?case={case.id}")  # Of all others, test_hostile.py shows it.
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    page.get_by_text(case.id).first.wait_for()
    decide(page, "Comment", HOSTILE)
    confirm(page, "Save the comment")
    expect(page.get_by_text("Commented. Saved with your reason.")).to_be_visible()

    shown = page.get_by_test_id("stMain").inner_text()
    assert shown.count("![x](http://outside.example/x.png) <img src=http://outside.example/y.png") >= 3
    assert ":red[x] $x$ [U+202E]esrever" in shown
    assert page.locator("img[src*='outside.example']").count() == 0
    assert alerts == []


def test_on_a_phone_both_sides_are_read_without_scrolling_sideways(desk: Desk, tab: Tab) -> None:
    case = desk.seeded()
    page = tab(f"/case?case={case.id}")
    resized(page, *NARROW)
    sides = page.get_by_text("Refund 2 extra")
    expect(sides).to_be_visible()

    def reach() -> dict[str, bool]:
        ours, theirs = (page.get_by_text(name, exact=True).bounding_box() for name in ("Intent", "Refund 1"))
        assert ours is not None
        assert theirs is not None
        scrolling = page.evaluate(
            """[...document.querySelectorAll('[data-testid="stMain"] *')].some(
                each => each.scrollWidth > each.clientWidth + 1
                    && ["auto", "scroll"].includes(getComputedStyle(each).overflowX))"""
        )
        return {"below": theirs["y"] > ours["y"], "scrolling": scrolling}

    assert reach() == {"below": True, "scrolling": False}
