"""The desk behind the proxy of config/deploy, in a real browser and past it."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from tests.browser.conftest import Desk
from tests.browser.test_case import confirm, decide
from tests.browser.test_sign_in import COOKIE_SECRET, PEOPLE, as_somebody, heading
from tests.browser.test_sign_in import SETTINGS as OIDC
from tests.nginx import nginx
from tests.provider import CLIENT_SECRET, installed, provider
from tests.served import SECONDS, free_port, served

# A provider, nginx, a desk and a browser: each starts in seconds, and in many on a busy machine.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SECRET = "abcdef0123456789abcdef0123456789"
PROVEN = ("X-Recon-Proxy-Secret", SECRET)
USER = ("X-Forwarded-Email", "jörg@example.com")
GROUPS = ("X-Forwarded-Groups", "support")
SETTINGS = """
[dashboard]
mode = "proxy"
url = "DESK"
[sign_in]
groups = [{ group = "support", role = "operator" }]
"""
Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class Proxied:
    """A desk behind nginx. past: the desk's own port, which only nginx should reach."""

    desk: Desk
    past: int


class Oauth2Proxy(BaseHTTPRequestHandler):
    """Stands for oauth2-proxy: it knows whoever has its cookie, and nobody else."""

    def do_GET(self) -> None:
        """Answer whether somebody is signed in, or show the way in."""
        if self.path != "/oauth2/auth":
            self._answer(200, {}, f"sign in, then {self.headers['X-Auth-Request-Redirect']}".encode())
        elif "who=joerg" in self.headers.get("Cookie", ""):
            self._answer(202, {"X-Auth-Request-Email": USER[1], "X-Auth-Request-Groups": GROUPS[1]})
        else:
            self._answer(401, {})

    def _answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            # The server writes latin-1, and the wire has UTF-8.
            self.send_header(name, value.encode().decode("latin-1"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def signer() -> Iterator[int]:
    """The port of what signs people in before the desk."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Oauth2Proxy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def behind(
    folder: Path, template: Path, *, settings: str, environment: Mapping[str, str], changes: Mapping[str, str]
) -> Iterator[Proxied]:
    """Serve a desk behind nginx. settings: with {desk}, its address. changes: in the example of nginx."""
    file, port, past = folder / "recon.db", free_port(), free_port()
    url = f"https://127.0.0.1:{port}"
    file.write_bytes(template.read_bytes())
    (folder / "recon.toml").write_text(settings.replace("DESK", url))
    (folder / "recon-proxy-secret.conf").write_text(f'proxy_set_header {PROVEN[0]} "{SECRET}";\n')
    told = {"RECON_CONFIG": str(folder / "recon.toml"), "RECON_DATABASE_URL": f"sqlite:///{file}"}
    with (
        Database.open(f"sqlite:///{file}") as database,
        nginx(folder, port=port, changes={"127.0.0.1:8501": f"127.0.0.1:{past}", **changes}),
        served(folder, {**told, **environment}, port=past),
    ):
        yield Proxied(Desk(url, database), past)


@pytest.fixture(scope="module")
def proxied(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, signer: int
) -> Iterator[Proxied]:
    """A desk that believes its proxy, and nginx that asks who it is."""
    changes = {"# include": "include", "127.0.0.1:4180": f"127.0.0.1:{signer}"}
    told = {"settings": SETTINGS, "environment": {"RECON_PROXY_SECRET": SECRET}, "changes": changes}
    with behind(tmp_path_factory.mktemp("proxied"), sqlite_template, **told) as served_:  # type: ignore[arg-type]  # by name
        yield served_


@pytest.fixture
def person(chromium: Browser) -> Iterator[Page]:
    """A tab that takes the example's certificate; after the test, nothing was kept from the page."""
    refused: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    context = chromium.new_context(ignore_https_errors=True, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(SECONDS * 1000)
    expect.set_options(timeout=SECONDS * 1000)
    page = context.new_page()
    page.on("console", hear)
    yield page
    context.close()
    assert refused == []


def joerg(page: Page, url: str) -> None:
    page.context.add_cookies([{"name": "who", "value": "joerg", "url": url}])


def test_whom_the_proxy_signed_in_decides_by_the_name_that_it_gives(proxied: Proxied, person: Page) -> None:
    case = proxied.desk.seeded()
    joerg(person, proxied.desk.url)
    person.goto(f"{proxied.desk.url}/case?case={case.id}")
    heading(person, "Refunded twice")
    decide(person, "Acknowledge", "Mine.")
    confirm(person, "Acknowledge")

    expect(person.get_by_text("Saved with your reason.")).to_be_visible()
    assert book.entries(proxied.desk.database, case.id)[-1].entry.actor == USER[1]


def test_a_page_with_a_grid_and_one_with_charts_are_whole_under_the_policy(
    proxied: Proxied, person: Page
) -> None:
    proxied.desk.seeded()
    joerg(person, proxied.desk.url)
    answer = person.goto(f"{proxied.desk.url}/")
    assert answer is not None
    person.get_by_test_id("stDataFrame").first.wait_for()
    person.get_by_role("link", name="Trends").click()
    person.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first.wait_for()

    told = answer.all_headers()
    assert "script-src 'self' 'sha256-" in told["content-security-policy"]
    assert "frame-ancestors 'none'" in told["content-security-policy"]
    assert told["strict-transport-security"] == "max-age=31536000"
    assert (told["x-content-type-options"], told["referrer-policy"]) == ("nosniff", "same-origin")


def test_who_has_not_signed_in_is_sent_to_the_proxys_page_with_the_way_back(proxied: Proxied) -> None:
    answer = asked(f"{proxied.desk.url}/case?case=C-1&queue=x", [])

    assert (answer.status_code, answer.text) == (403, "sign in, then /case?case=C-1&queue=x")


@pytest.mark.parametrize(
    "forged",
    [
        [USER, GROUPS],
        [PROVEN, USER, GROUPS],
        [("X_Forwarded_Email", "eve@example.com")],
        [("X-Recon-Arrival", "W10=")],
    ],
)
def test_a_forged_header_through_the_proxy_is_nobodys(proxied: Proxied, forged: Headers) -> None:
    assert asked(proxied.desk.url, forged).status_code == 403
    assert shaken(proxied.desk.url, forged) == 403


def test_a_forged_header_beside_a_persons_own_changes_nothing(proxied: Proxied) -> None:
    own = [("Cookie", "who=joerg")]
    forged = [("X-Forwarded-Email", "eve@example.com"), ("X-Recon-Proxy-Secret", "0" * 32)]

    assert asked(proxied.desk.url, own + forged).status_code == 200
    assert shaken(proxied.desk.url, own + forged) == 101


@pytest.mark.parametrize(
    "headers, status",
    [
        ([PROVEN, USER, GROUPS], 101),  # As the proxy says it.
        ([USER, GROUPS], 403),
        ([(PROVEN[0], "0" * 32), USER], 403),
        ([PROVEN], 403),
        ([PROVEN, USER, USER], 403),
        ([PROVEN, USER, ("x-FORWARDED-email", "eve@example.com")], 403),
        ([PROVEN, USER, ("X_Forwarded_Email", "eve@example.com")], 403),
        ([PROVEN, ("X_Forwarded_Email", USER[1])], 403),
        ([PROVEN, USER, GROUPS, ("X-Forwarded-Groups", "admins")], 403),
        ([("X_Recon_Proxy_Secret", SECRET), USER], 403),
    ],
)
def test_past_the_proxy_a_forged_header_is_refused(proxied: Proxied, headers: Headers, status: int) -> None:
    named = [("Host", proxied.desk.url.removeprefix("https://")), *headers]

    answer = asked(f"http://127.0.0.1:{proxied.past}", named)
    assert answer.status_code == (200 if status == 101 else status)
    assert shaken(proxied.desk.url, headers, port=proxied.past) == status


def test_people_sign_in_at_the_provider_through_nginx_and_cookies_travel_over_tls(
    sqlite_template: Path, tmp_path: Path, person: Page
) -> None:
    installed(tmp_path)
    named = free_port()
    settings = OIDC.format(desk="DESK", provider=f"http://127.0.0.1:{named}")
    secrets = {"RECON_OIDC_CLIENT_SECRET": CLIENT_SECRET, "RECON_COOKIE_SECRET": COOKIE_SECRET}
    with (
        behind(tmp_path, sqlite_template, settings=settings, environment=secrets, changes={}) as proxied,
        provider(tmp_path, desk=proxied.desk.url, people=PEOPLE, port=named),
    ):
        case = proxied.desk.seeded()
        link = f"{proxied.desk.url}/case?case={case.id}"
        person.goto(link)
        as_somebody(person, "omar")

        heading(person, "Refunded twice")
        assert person.url == link
        ours = [each for each in person.context.cookies(link) if each["name"].startswith("_streamlit_")]
        assert {each["secure"] for each in ours if each["name"] != "_streamlit_xsrf"} == {True}
        assert asked(f"{proxied.desk.url}/_stcore/agent/openapi.json", []).status_code == 404


def asked(url: str, headers: Headers) -> httpx.Response:
    """Ask as somebody who writes headers by hand."""
    raw = [(name.encode(), value.encode()) for name, value in headers]
    return httpx.get(url, headers=raw, verify=False, timeout=SECONDS)  # noqa: S501 -- a certificate of this test


def shaken(url: str, headers: Headers, *, port: int | None = None) -> int:
    """Return how the handshake of the page's WebSocket is answered: 101, or the status of the refusal.

    url: the desk's. port: None is that of the url; another is asked without TLS, under the url's name.
    """
    host = url.removeprefix("https://")
    trusting = ssl._create_unverified_context() if port is None else None  # noqa: S323, SLF001 -- as above
    raw = [(name, value.encode().decode("latin-1")) for name, value in headers]
    try:
        with (
            socket.create_connection(("127.0.0.1", port or int(host.rpartition(":")[2])), SECONDS) as line,
            connect(
                f"{'ws' if port else 'wss'}://{host}/_stcore/stream",
                sock=line,
                ssl=trusting,
                additional_headers=raw,
                origin=Origin(url),
                open_timeout=SECONDS,
            ),
        ):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
