"""Every page and every dialog before axe: in the light, in the dark and on a phone."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from recon.desk import Desk as Counter
from recon.doors import config
from recon.doors.store import operators, outbox
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.notices import Message, Notice
from recon.model.records.people import Operator
from recon.model.records.words import Actor, CaseId, IntentKey, Kind, NoticeState, Resolution, Role
from recon.switchboard import Switchboard
from tests import seeds
from tests.browser.axe import Axe
from tests.browser.conftest import Desk
from tests.screens import settled
from tests.served import served

pytestmark = pytest.mark.browser

Tab = Callable[[str], Page]

BEA = Operator(Actor("Bea"), Role.APPROVER)
ME = Operator(Actor("local operator"), Role.ADMIN)  # Who sits at the desk: everything is offered.
SETTINGS = '[four_eyes]\namounts = { usd = "100.00" }\n'


@dataclass(frozen=True)
class World:
    """One case of each kind and a burst of duplicates; some were decided, some wait for a second person."""

    cases: tuple[Case, ...]
    stray: Case
    stuck: Case
    linked: Case
    resolved: Case
    mine: Case
    anothers: Case
    large: Case


@pytest.fixture(scope="module")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A dashboard of this module's own: some of its cases take two people."""
    folder = tmp_path_factory.mktemp("axe-desk")
    (folder / "recon.toml").write_text(SETTINGS)
    file = folder / "recon.db"
    file.write_bytes(sqlite_template.read_bytes())
    told = {"RECON_CONFIG": str(folder), "RECON_DATABASE_URL": f"sqlite:///{file}"}
    with Database.open(told["RECON_DATABASE_URL"]) as database, served(folder, told) as url:
        yield Desk(url, database)


@pytest.fixture(scope="module")
def world(server: Desk, tmp_path_factory: pytest.TempPathFactory) -> World:
    (folder := tmp_path_factory.mktemp("axe-world")).joinpath("recon.toml").write_text(SETTINGS)
    operators.put(server.database, ME)
    cases = seeds.trouble(server.database, now=datetime.now(UTC) - timedelta(minutes=5))
    desk = Counter(server.database, config.load({"RECON_CONFIG": str(folder)}))

    def click(case: Case, who: Operator) -> Mapping[str, object]:
        told = {"version": case.version, "reason": "Seeded.", "operator": who}
        return told | {"action_id": f"axe-{case.id}"}

    recovered = Resolution.RECOVERED
    desk.resolve(cases[1].id, code=recovered, **click(cases[1], BEA))  # type: ignore[arg-type]  # a Click
    refund, key = cases[2].mismatch.extra_refund_ids[0], IntentKey(str(cases[3].mismatch.intent_key))
    desk.link(cases[2].id, refund_id=refund, intent_key=key, **click(cases[2], BEA))  # type: ignore[arg-type]  # a Click
    for case, who in ((cases[7], ME), (cases[8], BEA)):
        assert desk.resolve(case.id, code=recovered, **click(case, who)) is not None  # type: ignore[arg-type]  # a Click
    _tell(server.database)
    by_kind = {case.mismatch.kind: case for case in cases}
    return World(
        cases,
        stray=by_kind[Kind.ORPHAN],
        stuck=by_kind[Kind.STUCK],
        resolved=cases[1],
        linked=cases[2],
        large=cases[6],
        mine=cases[7],
        anothers=cases[8],
    )


def _tell(database: Database) -> None:
    """Put a notice of each state into the outbox."""
    now = datetime.now(UTC)
    told = {"target": "#payments", "urgency": 1, "now": now, "case_ids": (CaseId("C-ABCDEFGH23"),)}
    with database.write() as connection:
        for state in NoticeState:
            words = Message(f"HIGH: 1 refunded twice, {state}.")
            notice = Notice.new(f"axe-{state}", "root", words, thread_key=f"axe-{state}", **told)  # type: ignore[arg-type]  # by name
            outbox.add(connection, [replace(notice, state=state)])


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
def test_every_page(tab: Tab, phone: Tab, axe: Axe, world: World, path: str) -> None:
    address = path.format(case=world.cases[0].id)

    small = phone(address)
    settled(small)

    assert axe.looked_at(tab(address)) + axe.violations(small) == []


# What is open on a case when these are pressed, each by itself.
DIALOGS: Mapping[str, tuple[str, ...]] = {
    "cases": (
        "Acknowledge",
        "Resolve",
        "Comment",
        "Link a refund",
        "Accept until a date",
        "Snooze",
        "Assign",
    ),
    "stray": ("Adopt the refund",),
    "stuck": ("Look again now", "Confirm as refunded", "Confirm as not refunded"),
    "linked": ("Take a link back",),
    "resolved": ("Reopen",),
    "large": ("Propose: Resolve",),
    "anothers": ("Approve", "Decline"),
    "mine": ("Take it back",),
}


@pytest.mark.parametrize("which", DIALOGS)
def test_every_dialog_of_a_case(tab: Tab, axe: Axe, world: World, which: str) -> None:
    case = world.cases[0] if which == "cases" else getattr(world, which)

    assert opened(tab(f"/case?case={case.id}"), axe, DIALOGS[which]) == []


def opened(page: Page, axe: Axe, verbs: tuple[str, ...]) -> list[str]:
    """Open the dialog of each button, and return what is wrong with it."""
    found = []
    for verb in verbs:
        page.get_by_role("button", name=verb, exact=True).click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        found += [f"{verb}, {each}" for each in axe.every_look(page)]
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    return found


def test_the_dialogs_of_a_kill_switch_and_the_banner(desk: Desk, tab: Tab, axe: Axe, world: World) -> None:
    page = tab("/tools")
    found = opened(page, axe, ("Switch off",))
    board = Switchboard(desk.database, lambda: config.load({}))
    board.throw("refund_order", operator=ME, reason="Doubles.", action_id="axe-throw")
    page.reload()
    expect(page.get_by_text("1 tool is switched off.")).to_be_visible()
    found += opened(page, axe, ("Switch on again",))
    board.lift("refund_order", version=1, operator=ME, reason="Mended.", action_id="axe-lift")

    assert found == []


def test_what_is_said_after_a_decision(desk: Desk, tab: Tab, axe: Axe, world: World) -> None:
    page = tab(f"/case?case={world.cases[4].id}")
    page.get_by_role("button", name="Acknowledge", exact=True).click()
    page.get_by_role("dialog").get_by_label("Reason").fill("Asking the bank.")
    page.get_by_role("dialog").get_by_role("button", name="Acknowledge 104.00 USD").click()
    expect(page.get_by_role("status").get_by_text("Acknowledged. Saved with your reason.")).to_be_visible()
    expect(page.get_by_role("link", name="Next case: Refunded twice")).to_be_visible()

    assert axe.looked_at(page) == []


def test_the_dialogs_about_several_cases_and_what_is_unfolded(
    desk: Desk, tab: Tab, axe: Axe, world: World
) -> None:
    page = tab("/?view=list")
    page.get_by_text("Filters", exact=True).click()
    expect(page.get_by_text("At risk at least")).to_be_visible()
    found = axe.looked_at(page)
    page.get_by_text("Choose several").click()
    page.get_by_text(re.compile("^Choose C-")).first.click()
    page.get_by_role("button", name="Resolve", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    found += axe.looked_at(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export as CSV").click()
    expect(page.get_by_role("button", name="Download the CSV")).to_be_visible()
    found += axe.looked_at(page)

    assert found == []


def test_a_page_with_something_wrong_is_found_out(desk: Desk, tab: Tab, axe: Axe, world: World) -> None:
    page = tab("/")
    page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<img src=\"data:,\">')")
    (light,) = axe.looked_at(page)
    page.evaluate("document.querySelector('h1').style.color = '#222'")  # On a page in the dark.

    assert light.startswith("image-alt")
    assert [each.partition(":")[0] for each in axe.violations(page, colors=True)] == ["color-contrast"]
