"""Pictures of every page of the desk, to be looked at: `python -m tests.gallery_desk FOLDER`.

The demo's evening some hours ago, with what people and runs did since: each page in the light, in the dark
and on a phone, as it is at first and from top to bottom.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from recon import hourly
from recon.cli.friday import evening
from recon.doors.store import history, queue
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.records.queues import QueueFilters
from recon.model.records.words import Kind
from recon.sandbox.server import Sandbox
from tests.gallery import Evening
from tests.screens import LOOKS, resized, settled, still
from tests.served import chromium, served

HOURS = 8  # Runs since the evening.
TALLEST = 6000  # Pixels: a taller page is cut.


@dataclass(frozen=True)
class Shot:
    """One picture. act: what a person does first, once the page is there."""

    name: str
    path: str
    act: Callable[[Page], None] = lambda _: None


def shots(database: Database) -> Iterator[Shot]:
    """Yield every picture of the desk over this database."""
    first = queue.page(database, QueueFilters(kinds=(Kind.DUPLICATE,)), limit=1).cases[0]
    stray = queue.page(database, QueueFilters(kinds=(Kind.ORPHAN,)), limit=1).cases[0]
    yield Shot("queue", "/")
    yield Shot("queue-filters", "/", unfold)
    yield Shot("queue-filtered", "/?kind=duplicate&severity=high&severity=critical&text=re_1")
    yield Shot("queue-list", "/?view=list&kind=duplicate")
    yield Shot("case", f"/case?case={first.id}")
    yield Shot("case-stray", f"/case?case={stray.id}")
    yield Shot("case-resolve", f"/case?case={first.id}", press("Resolve"))
    yield Shot("case-resolved", f"/case?case={first.id}&kind=duplicate", resolve)
    stuck = queue.page(database, QueueFilters(kinds=(Kind.STUCK,)), limit=1).cases[0]
    yield Shot("case-stuck", f"/case?case={stuck.id}")
    yield Shot("case-look", f"/case?case={stuck.id}", press("Look again now"))
    yield Shot("case-none", "/case?case=C-NONE")
    yield Shot("incident", "/incident")
    yield Shot("incident-list", "/incident?view=list")
    yield Shot("trends", "/trends")
    yield Shot("runs", "/runs")
    yield Shot("run", f"/runs?run={first_run(database)}")
    yield Shot("notices", "/notices")
    yield Shot("owners", "/owners")
    yield Shot("tools", "/tools")
    yield Shot("owners-tried", f"/owners?case={first.id}&view=list")


def first_run(database: Database) -> str:
    """Return the run that opened most of it."""
    return history.page(database, limit=HOURS + 1).passes[-1].run.id


def unfold(page: Page) -> None:
    """Show the filters that are folded away."""
    page.get_by_text("Filters", exact=True).click()
    page.get_by_text("At risk at least").wait_for()


def press(name: str) -> Callable[[Page], None]:
    """Return how a person presses a button, after which its dialog is there."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("dialog").wait_for()

    return act


def resolve(page: Page) -> None:
    """Resolve the case, if nobody has, and stay where that leads."""
    if not page.get_by_role("button", name="Resolve", exact=True).count():
        return
    press("Resolve")(page)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").click()
    page.get_by_role("option").first.click()
    dialog.get_by_label("Reason").fill("The customer sent it back.")
    dialog.get_by_role("button", name=re.compile("^Resolve|check Resolve")).click()
    dialog.wait_for(state="detached")


@contextmanager
def world() -> Iterator[tuple[Database, str]]:
    """The evening some hours ago, and a run each hour since; people answered some of it."""
    with (
        TemporaryDirectory() as place,
        Sandbox.start() as sandbox,
        Database.open(f"sqlite:///{place}/recon.db") as database,
    ):
        friday = Evening(database, sandbox.url)
        now = datetime.now(UTC)
        friday.begin(now - evening.JUDGED - timedelta(hours=HOURS))
        for hour in range(HOURS - 1, -1, -1):
            friday.street.set_time(now - timedelta(hours=hour, minutes=2))
            provider = Provider(friday.settings.provider)
            hourly.run(database, provider, friday.settings, clock=friday.street.now)
            if hour in {5, 3}:
                friday.work(1, acknowledge=1)
            friday.deliver()
        yield database, f"sqlite:///{place}/recon.db"


def main(folder: Path) -> None:
    """Write the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        world() as (database, url),
        TemporaryDirectory() as place,
        served(Path(place), {"RECON_DATABASE_URL": url}) as address,
        chromium() as browser,
    ):
        for shot in shots(database):
            take(browser, address, folder, shot)


def take(browser: Browser, address: str, folder: Path, shot: Shot) -> None:
    """Take one page's picture in every look: what is in sight at first, and the whole from top to bottom."""
    for look, options in LOOKS.items():
        context = browser.new_context(timezone_id="Europe/Berlin", locale="en-GB", **options)
        page = context.new_page()
        page.goto(address + shot.path)
        page.locator("h1").wait_for()
        settled(page)
        shot.act(page)
        still(page)
        page.screenshot(path=folder / f"desk-{shot.name}-{look}-first.png")
        height = page.get_by_test_id("stMain").evaluate("each => each.scrollHeight")
        resized(page, options["viewport"]["width"], min(height, TALLEST))
        page.screenshot(path=folder / f"desk-{shot.name}-{look}.png")
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
