"""Signing in at a real OpenID provider, in a real browser: who comes in, who does not, and for how long."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from recon.doors.store import cases as book
from recon.doors.store import operators, sign_outs
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, Role
from tests.browser.axe import Axe
from tests.browser.conftest import Desk
from tests.browser.test_case import confirm, decide
from tests.provider import CLIENT_SECRET, installed, provider
from tests.served import SECONDS, free_port, served

# npm, a provider, a desk and a browser: each starts in seconds, and in many on a busy machine.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

COOKIE_SECRET = "0123456789abcdef0123456789abcdef"
PEOPLE = {
    name: {"email": f"{name}@example.com", "email_verified": True, "groups": groups}
    for name, groups in {
        "vera": ["audit"],
        "omar": ["all", "support"],
        "lena": ["support", "leads"],
        "adam": [],
        "nils": ["sales"],
        "rita": ["support"],
        "emil": ["support"],
        "olga": ["support"],
    }.items()
} | {"nora": {"email": "adam@example.com", "email_verified": False, "groups": ["support"]}}
SETTINGS = """
[dashboard]
mode = "oidc"
url = "{desk}"
[sign_in]
metadata_url = "{provider}/.well-known/openid-configuration"
client_id = "desk"
scopes = "openid email profile groups"
people = [{{ email = "Adam@Example.com", role = "admin" }}]
groups = [
    {{ group = "leads", role = "approver" }},
    {{ group = "support", role = "operator" }},
    {{ group = "audit", role = "viewer" }},
]
"""

Come = Callable[..., Page]


@pytest.fixture(scope="module")
def door(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk where people sign in, its provider, and the database behind it."""
    folder = tmp_path_factory.mktemp("signed")
    installed(folder)
    file, port = folder / "recon.db", free_port()
    file.write_bytes(sqlite_template.read_bytes())
    url = f"http://127.0.0.1:{port}"
    with provider(folder, desk=url, people=PEOPLE) as named, Database.open(f"sqlite:///{file}") as database:
        (folder / "recon.toml").write_text(SETTINGS.format(desk=url, provider=named))
        environment = {
            "RECON_CONFIG": str(folder / "recon.toml"),
            "RECON_DATABASE_URL": f"sqlite:///{file}",
            "RECON_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "RECON_COOKIE_SECRET": COOKIE_SECRET,
        }
        with served(folder, environment, port=port):
            yield Desk(url, database)


@pytest.fixture(scope="module")
def case(door: Desk) -> Case:
    return door.seeded()


@pytest.fixture
def browser(chromium: Browser, door: Desk) -> Iterator[Callable[[], BrowserContext]]:
    """Browsers of people who do not know each other."""
    made = []

    def opened() -> BrowserContext:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(SECONDS * 1000)
        expect.set_options(timeout=SECONDS * 1000)
        made.append(context)
        return context

    yield opened
    for context in made:
        context.close()


@pytest.fixture
def come(browser: Callable[[], BrowserContext], door: Desk) -> Come:
    """Open a page as somebody who signs in on the way, in a browser of their own."""

    def opened(name: str, path: str = "/") -> Page:
        page = browser().new_page()
        page.goto(door.url + path)
        as_somebody(page, name)
        return page

    return opened


def as_somebody(page: Page, name: str) -> None:
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name=name).click()


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(text)


@pytest.mark.parametrize(
    "name, role, acts",
    [
        ("vera", "viewer: may read, not act", False),
        ("omar", "operator", True),
        ("lena", "approver", True),
        ("adam", "admin", True),
    ],
)
def test_a_link_from_slack_leads_to_its_case_in_the_role_that_the_settings_give(
    door: Desk, case: Case, come: Come, name: str, role: str, *, acts: bool
) -> None:
    link = f"/case?case={case.id}"

    page = come(name, link)

    heading(page, "Refunded twice")
    assert page.url == door.url + link
    expect(page.get_by_text(f"{name}@example.com")).to_be_visible()
    expect(page.get_by_text(role, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Acknowledge", exact=True)).to_have_count(int(acts))


def test_the_story_names_who_signed_in(door: Desk, come: Come) -> None:
    case = door.seeded()
    page = come("omar", f"/case?case={case.id}")
    decide(page, "Acknowledge", "Mine.")
    confirm(page, "Acknowledge")

    expect(page.get_by_text("Saved with your reason.")).to_be_visible()
    entry = book.entries(door.database, case.id)[-1].entry
    assert (entry.action, entry.actor) == (Action.ACKNOWLEDGED, "omar@example.com")


def test_who_is_denied_is_back_at_the_link_and_may_try_again(
    door: Desk, case: Case, browser: Callable[[], BrowserContext], axe: Axe
) -> None:
    link = f"{door.url}/case?case={case.id}"
    page = browser().new_page()
    page.goto(link)
    as_somebody(page, "deny")

    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    assert page.url == link
    expect(page.get_by_text("Page not found")).to_have_count(0)
    assert axe.every_look(page) == []

    as_somebody(page, "omar")
    heading(page, "Refunded twice")
    assert page.url == link


@pytest.mark.parametrize(
    "name, said",
    [
        ("nils", "You are signed in as nils@example.com, and nothing here gives you access"),
        ("nora", "does not say that your e-mail address is verified"),
    ],
)
def test_who_has_no_access_sees_why_and_nothing_else(
    case: Case, come: Come, axe: Axe, name: str, said: str
) -> None:
    page = come(name, f"/case?case={case.id}")

    heading(page, "No access")
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("Refunded twice")).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
    assert axe.every_look(page) == []
    page.get_by_role("button", name="Sign in as somebody else").click()
    page.get_by_role("button", name="leave").click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()


def test_who_is_signed_out_elsewhere_makes_no_move_from_the_tab_that_is_open(
    door: Desk, case: Case, come: Come
) -> None:
    page = come("rita", f"/case?case={case.id}")
    decide(page, "Acknowledge", "Mine.")
    sign_outs.put(door.database, Actor("rita@example.com"), datetime.now(UTC))

    confirm(page, "Acknowledge")
    expect(page.get_by_role("dialog").get_by_text("You were signed out at")).to_be_visible()
    assert len(book.entries(door.database, case.id)) == 1

    page.keyboard.press("Escape")
    page.get_by_role("link", name="Runs").click()
    heading(page, "Sign in again")
    page.wait_for_timeout(1000)  # A token says in whole seconds when it was made: not in that second again.
    page.get_by_role("button", name="Sign in", exact=True).click()
    heading(page, "Runs")  # The provider still knows them.
    assert page.url == f"{door.url}/runs"


def test_who_was_removed_is_out_of_the_tab_that_is_open_at_the_next_click(door: Desk, come: Come) -> None:
    page = come("emil")
    expect(page.get_by_text("emil@example.com")).to_be_visible()
    operators.put(door.database, Operator(Actor("emil@example.com"), Role.OPERATOR, active=False))

    page.get_by_role("link", name="Runs").click()

    heading(page, "No access")
    expect(page.get_by_text("emil@example.com may no longer come in at this desk.")).to_be_visible()


def test_who_signs_out_leaves_the_provider_too_and_a_copied_cookie_opens_nothing(
    door: Desk, come: Come, browser: Callable[[], BrowserContext]
) -> None:
    page = come("olga")
    page.get_by_role("button", name="Sign out").wait_for()
    copied = [each for each in page.context.cookies() if each["name"].startswith("_streamlit")]

    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="leave").click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    other = browser()
    other.add_cookies(copied)  # type: ignore[arg-type]  # what a browser gives, it takes
    stolen = other.new_page()
    stolen.goto(door.url)

    heading(stolen, "Sign in again")
    expect(stolen.get_by_text("You were signed out at")).to_be_visible()


@dataclass(frozen=True)
class Token:
    """A sign-in of the past, as the desk's own cookie holds it."""

    age: timedelta

    def cookie(self, url: str) -> dict[str, object]:
        iat = (datetime.now(UTC) - self.age).timestamp()
        claims = {"email": "omar@example.com", "email_verified": True, "groups": ["support"], "iat": iat}
        told = json.dumps({**claims, "origin": url, "is_logged_in": True, "provider": "desk"})
        value = create_signed_value(COOKIE_SECRET, "_streamlit_user", told).decode()
        return {"name": "_streamlit_user", "value": value, "url": url}


@pytest.mark.parametrize(
    "age, said", [(timedelta(hours=7, minutes=50), "Queue"), (timedelta(hours=8, minutes=1), "Sign in again")]
)
def test_a_cookie_of_thirty_days_opens_the_desk_for_eight_hours(
    door: Desk, browser: Callable[[], BrowserContext], axe: Axe, age: timedelta, said: str
) -> None:
    context = browser()
    context.add_cookies([Token(age).cookie(door.url)])  # type: ignore[list-item]  # as a browser takes it
    page = context.new_page()
    page.goto(door.url)

    heading(page, said)
    assert axe.every_look(page) == []
