import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from recon.doors.store.engines import Database
from recon.model import formulas
from recon.model.records.cases import Case
from tests import hostile
from tests.browser.conftest import Desk
from tests.screens import NARROW, resized, settled
from tests.served import served

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

# What would be there if any of the text were taken for more than letters.
TAKEN = (
    "[data-hostile], [src*='outside.example'], [href*='//outside.example'], [href*='//www.outside'], "
    "[href^='mailto:'], .katex, strong:has-text('bold-hostile'), code:has-text('code'):not(pre code), "
    "[data-testid='stException']"
)
WIDE = """() => [document.documentElement, ...document.querySelectorAll('[data-testid="stMain"]')]
    .map(each => each.scrollWidth - each.clientWidth)"""


@pytest.fixture(scope="module")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A dashboard of this module's own: strangers wrote its database and its settings."""
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / "recon.db"
    file.write_bytes(sqlite_template.read_bytes())
    settings = hostile.settings(folder) | {"RECON_DATABASE_URL": f"sqlite:///{file}"}
    with Database.open(f"sqlite:///{file}") as database, served(folder, settings) as url:
        yield Desk(url, database)


@pytest.fixture(scope="module")
def cases(server: Desk) -> tuple[Case, ...]:
    return hostile.world(server.database, now=datetime.now(UTC))


SAID = quote(hostile.MARKUP[:200])
PAGES = {
    "queue": "/",
    "queue, as a list": "/?view=list",
    "queue, asked for hostile words": f"/?owner={SAID}&person={SAID}&account={SAID}&text={SAID}&kind={SAID}",
    "case": "/case?case={case}",
    "case, a long one": "/case?case={long}",
    "case, none": f"/case?case={SAID}",
    "incident": "/incident?view=table",
    "incident, as a list": "/incident?view=list",
    "trends": f"/trends?owner={SAID}",
    "runs": "/runs?view=table",
    "runs, as a list": "/runs?view=list",
    "a run": "/runs?run=run_hostile&view=list",
    "a run, none": f"/runs?run={SAID}",
    "notices": f"/notices?to={SAID}&state={SAID}",
    "owners": "/owners?view=table&case={case}",
    "owners, as a list": "/owners?view=list&case={case}",
}


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
def test_nothing_of_it_is_more_than_letters_and_no_page_is_wider_for_it(
    desk: Desk, tab: Tab, cases: tuple[Case, ...], path: str
) -> None:
    page = tab(path.format(case=cases[0].id, long=cases[2].id))
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    settled(page)
    taken, wide = page.locator(TAKEN).count(), page.evaluate(WIDE)
    resized(page, *NARROW)

    assert (taken, wide, page.evaluate(WIDE), alerts) == (0, [0, 0], [0, 0], [])
    assert not re.search("[\u202e\u200b\x1b]", page.locator("body").inner_text())


def test_it_is_read_where_it_stands(desk: Desk, tab: Tab, cases: tuple[Case, ...]) -> None:
    page = tab(f"/case?case={cases[0].id}")
    said = page.get_by_test_id("stMain").inner_text()

    assert said.count("=HYPERLINK(1) ![x](http://outside.example/x.png)") > 10
    assert ":red[hostile] :material/delete: $x^2$" in said
    assert "[U+202E]esrever[U+200B] [U+001B][31m" in said


def test_no_cell_of_an_export_is_a_formula(desk: Desk, tab: Tab, cases: tuple[Case, ...]) -> None:
    page = tab("/?view=list&state=all")
    page.get_by_role("button", name="Export as CSV").click()
    queue = downloaded(page, "Download the CSV")
    incident = downloaded(tab("/incident?kind=duplicate"), "Export as CSV")

    assert {row["case"] for row in queue} == {case.id for case in cases}
    assert {row["case"] for row in incident} == {cases[0].id, cases[2].id}
    assert [
        cell for row in (*queue, *incident) for cell in row.values() if formulas.defused(cell) != cell
    ] == []
    assert {row["order_id"] for row in queue} == {f"'{hostile.MARKUP}", f"'{hostile.LONG}"}


def downloaded(page: Page, button: str) -> list[dict[str, str]]:
    expect(page.get_by_role("button", name=button)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"), newline="")))
