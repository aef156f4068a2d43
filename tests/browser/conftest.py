"""A real Chromium on a real server, one of each per worker; a browser context of its own for each test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.results import Mismatch
from recon.model.records.words import IntentKey, Kind, Subject
from tests import seeds
from tests.browser.axe import Axe, fetched
from tests.screens import PHONE, settled
from tests.served import SECONDS, served
from tests.served import chromium as started

NUMBERS = count(7000)  # An order of its own for each test: all tests of a worker share one database.


@dataclass
class Desk:
    """The served dashboard and the database behind it. outside: addresses that a page asked for elsewhere."""

    url: str
    database: Database
    outside: list[str] = field(default_factory=list)

    def seeded(self) -> Case:
        """Save a run that found one more order refunded twice, and give back its case."""
        number = next(NUMBERS)
        return self._saved(seeds.duplicate(number, at=datetime.now(UTC) - timedelta(hours=2)), number)

    def hostile(self, text: str) -> Case:
        """Save the same, with the text wherever somebody else could have written it."""
        number = next(NUMBERS)
        named = f"{number} {text}"
        mismatch = replace(
            seeds.duplicate(number, at=datetime.now(UTC) - timedelta(hours=2)),
            subject=Subject(f"intent:{named}"),
            intent_key=IntentKey(named),
            order_id=text,
            customer_id=text,
            payment=text,
            diagnosis=text,
            why=text,
        )
        return self._saved(mismatch, number)

    def stray(self) -> Case:
        """Save a run that found one more refund that nobody asked for."""
        number = next(NUMBERS)
        double = seeds.duplicate(number, at=datetime.now(UTC) - timedelta(hours=2))
        mismatch = replace(
            double,
            kind=Kind.ORPHAN,
            subject=Subject(f"refund:{double.refund_ids[0]}"),
            intent_key=None,
            why=f"Refund {double.refund_ids[0]} went out, and no intent of ours asked for it.",
            refund_ids=double.refund_ids[:1],
            extra_refund_ids=(),
        )
        return self._saved(mismatch, number)

    def _saved(self, mismatch: Mismatch, number: int) -> Case:
        now = datetime.now(UTC)
        intent, refunds = seeds.sides(mismatch, at=mismatch.since)
        if mismatch.kind is Kind.ORPHAN:
            seeds.rows(self.database, [], [replace(each, intent_key=None) for each in refunds], now=now)
        else:
            seeds.rows(self.database, [intent], refunds, now=now)
        (case,) = seeds.run(self.database, [mismatch], now=now, number=number)
        return case


@pytest.fixture(scope="session")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The dashboard as the launcher starts it, on a free port, over a file of its own."""
    folder = tmp_path_factory.mktemp("desk")
    file = folder / "recon.db"
    file.write_bytes(sqlite_template.read_bytes())
    with (
        Database.open(f"sqlite:///{file}") as database,
        served(folder, {"RECON_DATABASE_URL": f"sqlite:///{file}"}) as url,
    ):
        yield Desk(url, database)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a worker."""
    with started() as browser:
        yield browser


@pytest.fixture
def desk(server: Desk) -> Iterator[Desk]:
    """The served dashboard; after the test, nothing may have left for outside."""
    server.outside.clear()
    yield server
    assert server.outside == []


@pytest.fixture(scope="session")
def desktop(chromium: Browser) -> Iterator[BrowserContext]:
    """A person's browser, in Berlin. One for all tests: it loads the desk's own files once.

    At the desk on one's own machine nothing of a visit stays in a browser.
    """
    with kept(chromium, viewport={"width": 1440, "height": 900}) as made:
        yield made


@pytest.fixture(scope="session")
def handset(chromium: Browser) -> Iterator[BrowserContext]:
    """The same on a phone."""
    with kept(chromium, **PHONE) as made:
        yield made


@contextmanager
def kept(chromium: Browser, **options: Any) -> Iterator[BrowserContext]:  # noqa: ANN401 -- of a context
    """Give a browser that many tests use."""
    made = chromium.new_context(timezone_id="Europe/Berlin", locale="en-GB", **options)
    made.set_default_timeout(SECONDS * 1000)
    expect.set_options(timeout=SECONDS * 1000)
    yield made
    made.close()


@contextmanager
def visited(browser: BrowserContext, desk: Desk) -> Iterator[Callable[[str], Page]]:
    """Give what opens a tab on an address of the dashboard, and waits until all of it is there."""

    def watch(request: Request) -> None:
        if not request.url.startswith((desk.url, "data:", "blob:")):
            desk.outside.append(request.url)

    def opened(path: str) -> Page:
        page = browser.new_page()
        page.goto(desk.url + path)
        page.locator("h1").wait_for()
        settled(page)  # The heading comes before what is below it.
        return page

    browser.on("request", watch)
    yield opened
    browser.remove_listener("request", watch)
    for page in browser.pages:
        page.close()


@pytest.fixture
def phone(handset: BrowserContext, desk: Desk) -> Iterator[Callable[[str], Page]]:
    """Open a page on somebody's phone, as `tab`."""
    with visited(handset, desk) as opened:
        yield opened


@pytest.fixture
def tab(desktop: BrowserContext, desk: Desk) -> Iterator[Callable[[str], Page]]:
    """Open a tab on an address of the dashboard."""
    with visited(desktop, desk) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Axe:
    """axe-core, fetched once per worker."""
    return fetched(tmp_path_factory.mktemp("axe"))
