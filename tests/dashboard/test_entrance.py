"""What is behind the desk's door, and what is before it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import doorway
from recon.admission import Admission
from recon.doors.store import operators, sign_outs
from recon.doors.store.engines import Database
from recon.model.records.people import Arrival, Operator
from recon.model.records.words import Actor, Role
from recon.model.settings import DashboardSettings, Settings, SignInSettings
from tests.dashboard.conftest import APP, SECONDS, Server, words

ANA = Actor("ana@example.com")
PAGES = ("queue", "case", "runs", "notices", "owners", "incident", "trends")
SIGN_IN = SignInSettings(groups=(("support", Role.OPERATOR), ("audit", Role.VIEWER)))

Come = Callable[..., AppTest]


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Serve the pages behind the doorway of a mode."""

    def standing(mode: str) -> None:
        settings = Settings(dashboard=DashboardSettings(mode=mode), sign_in=SIGN_IN)
        monkeypatch.setattr(doorway.STANDING, "admission", Admission(settings))

    return standing


@pytest.fixture
def come(door: Callable[[str], None], database: Database) -> Come:
    """Open a page as somebody whose provider signed them in with these claims."""
    door("oidc")

    def opened(page: str = "queue", **claims: object) -> AppTest:
        test = AppTest.from_file(APP, default_timeout=SECONDS)
        test.user = {**signed_in(), **claims} if claims.get("is_logged_in", True) else claims
        test.run()
        return test.switch_page(f"views/{page}.py").run() if page != "queue" else test

    return opened


def signed_in() -> dict[str, object]:
    iat = (datetime.now(UTC) - timedelta(minutes=5)).timestamp()
    claims = {"is_logged_in": True, "email": "Ana@example.com", "email_verified": True}
    return {**claims, "groups": ["support"], "iat": iat}


def buttons(test: AppTest) -> list[str]:
    return [button.label for button in test.button]


@pytest.mark.parametrize("page", PAGES)
def test_who_has_not_signed_in_sees_one_button_whatever_they_ask_for(come: Come, page: str) -> None:
    test = come(page, is_logged_in=False)

    assert (words(test), buttons(test)) == ("Refund desk\nSign in to see this page.", ["Sign in"])


def test_who_signed_in_sees_the_page_their_name_and_the_way_out(come: Come) -> None:
    test = come()

    assert "ana@example.com\n" in words(test)
    assert [button.label for button in test.sidebar.button] == ["Sign out"]
    assert "local mode" not in words(test)


@pytest.mark.parametrize(
    "claims, said",
    [
        ({"groups": ["sales"]}, "nothing here gives you access"),
        ({"email_verified": False}, "does not say that your e-mail address is verified"),
    ],
)
def test_who_has_no_access_is_told_why_and_may_come_as_somebody_else(
    come: Come, claims: dict[str, object], said: str
) -> None:
    test = come("runs", **claims)

    assert (test.title[0].value, buttons(test)) == ("No access", ["Sign in as somebody else"])
    assert said in words(test)


def test_a_sign_in_that_is_too_old_asks_for_another(come: Come) -> None:
    test = come(iat=(datetime.now(UTC) - timedelta(hours=8, minutes=1)).timestamp())

    assert (test.title[0].value, buttons(test)) == ("Sign in again", ["Sign in"])
    assert "that counts for 8 hours" in words(test)


@pytest.mark.parametrize("page", ["queue", "case", "trends"])
def test_an_open_tab_of_who_was_signed_out_shows_the_door_at_the_next_action(
    come: Come, database: Database, page: str
) -> None:
    test = come(page)
    assert "ana@example.com" in words(test)

    sign_outs.put(database, ANA, datetime.now(UTC))
    test.run()

    assert (test.title[0].value, buttons(test)) == ("Sign in again", ["Sign in"])
    assert "You were signed out at" in words(test)


def test_an_open_tab_of_who_was_removed_shows_the_door_at_the_next_action(
    come: Come, database: Database
) -> None:
    test = come()

    operators.put(database, Operator(ANA, Role.OPERATOR, active=False))
    test.run()

    assert test.title[0].value == "No access"
    assert "ana@example.com may no longer come in at this desk." in words(test)


def test_who_signs_out_is_out_everywhere(come: Come, database: Database) -> None:
    test = come()
    before = datetime.now(UTC)

    test.sidebar.button[0].click().run()

    out_at = sign_outs.latest(database, ANA)
    assert out_at is not None
    assert before - timedelta(seconds=1) <= out_at <= datetime.now(UTC)
    assert not test.exception


def test_the_role_of_the_sign_in_is_lowered_by_the_database_and_shown(come: Come, database: Database) -> None:
    operators.put(database, Operator(ANA, Role.VIEWER))

    assert "viewer: may read, not act" in words(come())


def test_who_the_proxy_vouched_for_comes_in_by_their_groups(
    door: Callable[[str], None], database: Database, server: Server
) -> None:
    door("proxy")
    arrival = Arrival(ANA, ("support",), datetime.now(UTC))
    server.headers = told(arrival)
    inside = AppTest.from_file(APP, default_timeout=SECONDS).run()
    server.headers = told(replace(arrival, groups=()))
    outside = AppTest.from_file(APP, default_timeout=SECONDS).run()
    server.headers = {"X-Forwarded-Email": ANA}
    past = AppTest.from_file(APP, default_timeout=SECONDS).run()

    assert "ana@example.com\n" in words(inside)
    assert "Sign out" not in buttons(inside)  # The proxy's, not ours.
    assert (outside.title[0].value, buttons(outside)) == ("No access", [])
    assert (past.title[0].value, buttons(past)) == ("No access", [])


def told(arrival: Arrival) -> dict[str, str]:
    ((name, value),) = doorway.carrying([], arrival)
    return {name.decode().title(): value.decode()}


@pytest.mark.parametrize("mode", ["oidc", "proxy"])
def test_where_people_sign_in_nothing_is_shown_by_a_server_that_looks_at_nobody(
    database: Database, monkeypatch: pytest.MonkeyPatch, server: Server, mode: str
) -> None:
    settings = Settings(dashboard=DashboardSettings(mode=mode), sign_in=SIGN_IN)
    monkeypatch.setattr(Admission, "open", classmethod(lambda _: Admission(settings)))
    server.headers = told(Arrival(ANA, ("support",), datetime.now(UTC)))
    test = AppTest.from_file(APP, default_timeout=SECONDS)
    test.user = signed_in()

    test.run()

    assert test.title[0].value == "No access"
    assert "where recon dashboard serves the desk" in words(test)
