"""Two people at two desks over one database: what the first proposes, only the second approves."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from recon.doors.store import cases as book
from recon.doors.store import operators, proposals
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, CaseState, Role
from tests import seeds
from tests.browser.test_case import confirm, decide
from tests.served import SECONDS, served

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # Two servers are started one after the other.

SETTINGS = '[dashboard]\noperator = "{name}"\n[four_eyes]\namounts = {{ usd = "40.00" }}\n'
Desk = Callable[[str, str], Page]


@pytest.fixture
def database(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "recon.db"
    file.write_bytes(sqlite_template.read_bytes())
    with Database.open(f"sqlite:///{file}") as opened:
        for name in ("Ana", "Bea"):
            operators.put(opened, Operator(Actor(name), Role.APPROVER))
        yield opened


@pytest.fixture
def case(database: Database) -> Case:
    now = datetime.now(UTC)
    (found,) = seeds.run(database, [seeds.duplicate(8812, at=now - timedelta(hours=2))], now=now)
    return found


@pytest.fixture
def desk(database: Database, tmp_path: Path, chromium: Browser) -> Iterator[Desk]:
    """Open a page at the desk of one person: each has a server, a browser and settings of their own."""
    with ExitStack() as stack:
        urls: dict[str, str] = {}

        def opened(name: str, path: str) -> Page:
            if name not in urls:
                folder = tmp_path / name
                folder.mkdir()
                (folder / "recon.toml").write_text(SETTINGS.format(name=name))
                environment = {
                    "RECON_DATABASE_URL": f"sqlite:///{tmp_path / 'recon.db'}",
                    "RECON_CONFIG": str(folder / "recon.toml"),
                }
                urls[name] = stack.enter_context(served(folder, environment))
            context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
            stack.callback(context.close)
            context.set_default_timeout(SECONDS * 1000)
            expect.set_options(timeout=SECONDS * 1000)
            page = context.new_page()
            page.goto(urls[name] + path)
            page.locator("h1").wait_for()
            return page

        yield opened


def test_one_person_proposes_and_another_approves(desk: Desk, database: Database, case: Case) -> None:
    ana = desk("Ana", f"/case?case={case.id}")
    decide(ana, "Propose: Resolve", "The customer paid it back.")
    dialog = ana.get_by_role("dialog")
    dialog.get_by_role("combobox").click()
    ana.get_by_role("option", name="Recovered").click()
    confirm(ana, "Propose: Resolve 49.00 USD")
    expect(ana.get_by_text("Proposed: Resolve. Another person must approve it")).to_be_visible()
    expect(ana.get_by_text("Ana proposed this: another person must approve it.")).to_be_visible()
    expect(ana.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    before = book.get(database, case.id)

    bea = desk("Bea", "/?proposed=yes")
    expect(bea.get_by_text("Page 1, 1 case")).to_be_visible()
    bea = desk("Bea", f"/case?case={case.id}")
    expect(bea.get_by_text("Resolve as recovered. Proposed by Ana")).to_be_visible()
    decide(bea, "Approve", "The bank shows it.")
    confirm(bea, "Approve · 49.00 USD")
    expect(bea.get_by_text("Approved, and done as it was proposed.")).to_be_visible()

    after = book.get(database, case.id)
    assert before is not None
    assert after is not None
    assert (before.state, after.state) == (CaseState.OPEN, CaseState.RESOLVED)
    told = [stored.entry for stored in book.entries(database, case.id)]
    assert [(entry.action, entry.actor) for entry in told[1:]] == [
        (Action.PROPOSED, "Ana"),
        (Action.RESOLVED, "Bea"),
    ]
    assert told[2].reason.startswith("The bank shows it. Proposed by Ana on ")
    assert told[2].reason.endswith(": The customer paid it back.")
    assert proposals.waiting(database, case.id) is None
    assert book.verify(database) == ()
