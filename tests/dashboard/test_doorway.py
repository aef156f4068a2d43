import base64
import json
from functools import partial

import pytest
from starlette.types import ASGIApp

from dashboard.doorway import ARRIVAL, HEALTH, Doorway, Hardened
from recon.admission import Admission
from recon.model.records.words import Role
from recon.model.settings import DashboardSettings, Secret, Settings, SignInSettings
from tests.builders import NOON
from tests.dashboard.asgi import Seen, Sent, asked

SECRET = "0123456789abcdef0123456789abcdef"
HOST = ("Host", "desk.example.com")
PROVEN = ("X-Recon-Proxy-Secret", SECRET)
USER = ("X-Forwarded-Email", "Ana@Example.com")
GROUPS = ("X-Forwarded-Groups", "support,all")
FROM_PROXY: Sent = [HOST, PROVEN, USER, GROUPS]
KINDS = pytest.mark.parametrize("kind", ["http", "websocket"])
PASSED = {"http": 200, "websocket": 101}


def through(mode: str, headers: Sent, **request: str) -> Seen:
    """Ask a desk of that mode, whose own server and pages are not there."""
    settings = Settings(
        dashboard=DashboardSettings(url="https://desk.example.com", mode=mode),
        sign_in=SignInSettings(proxy_secret=Secret(SECRET), groups=(("support", Role.OPERATOR),)),
    )
    return asked(partial(Doorway, admission=Admission(settings, lambda: NOON)), headers, **request)  # type: ignore[arg-type]  # by name


def arrived(seen: Seen) -> object:
    assert seen.passed is not None
    told = seen.passed.getlist(ARRIVAL)
    assert len(told) <= 1
    return json.loads(base64.b64decode(told[0])) if told else None


@KINDS
@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501"])
def test_local_mode_answers_this_machine(kind: str, host: str) -> None:
    assert through("local", [("Host", host)], kind=kind).status == PASSED[kind]


@KINDS
@pytest.mark.parametrize(
    "headers, request_",
    [
        ([("Host", "desk.example.com")], {}),
        ([("Host", "127.0.0.1.example.com")], {}),
        ([("Host", "[")], {}),
        ([("Host", "127.0.0.1:8501")], {"peer": "192.0.2.7"}),
        ([("Host", "127.0.0.1:8501")], {"server": "0.0.0.0"}),  # noqa: S104 -- refused
        ([("Host", "127.0.0.1:8501")], {"server": "192.0.2.1"}),
        *(
            ([("Host", "127.0.0.1:8501"), (name, "127.0.0.1")], {})
            for name in (
                "Forwarded",
                "X-Forwarded-For",
                "x-forwarded-host",
                "X-Forwarded-Proto",
                "X-Real-IP",
                "Via",
            )
        ),
    ],
)
def test_local_mode_answers_nobody_else(kind: str, headers: Sent, request_: dict[str, str]) -> None:
    seen = through("local", headers, kind=kind, **request_)

    assert (seen.status, seen.passed) == (403, None)


@KINDS
def test_whom_the_proxy_vouches_for_comes_in_and_the_page_reads_who_it_is(kind: str) -> None:
    seen = through("proxy", FROM_PROXY, kind=kind, peer="192.0.2.7", server="0.0.0.0")  # noqa: S104 -- any

    assert seen.status == PASSED[kind]
    assert arrived(seen) == ["ana@example.com", ["support", "all"], NOON.timestamp()]


@KINDS
@pytest.mark.parametrize(
    "headers",
    [
        [HOST],
        [HOST, USER],
        [HOST, USER, GROUPS],
        [HOST, PROVEN],
        [*FROM_PROXY, USER],
        [*FROM_PROXY, ("x-FORWARDED-email", "bo@example.com")],
        [*FROM_PROXY, ("X_Forwarded_Email", "bo@example.com")],
        [*FROM_PROXY, ("X-Forwarded_Groups", "leads")],
        [*FROM_PROXY, PROVEN],
        [*FROM_PROXY, ("X_Recon_Proxy_Secret", SECRET)],
        [HOST, ("X_Recon_Proxy_Secret", SECRET), USER],
        [HOST, ("X-Recon-Proxy-Secret", SECRET[:-1] + "0"), USER],
        [HOST, PROVEN, ("X-Forwarded-Email", b"\xffna@example.com")],
        [HOST, PROVEN, ("X-Forwarded-Email", "")],
    ],
)
def test_what_the_proxy_does_not_prove_is_refused(kind: str, headers: Sent) -> None:
    seen = through("proxy", headers, kind=kind)

    assert (seen.status, seen.passed) == (403, None)
    assert SECRET.encode() not in seen.body


def test_a_name_beyond_ascii_arrives_as_it_was_sent() -> None:
    seen = through("proxy", [HOST, PROVEN, ("X-Forwarded-Email", "Jörg@example.com")])

    assert arrived(seen) == ["jörg@example.com", [], NOON.timestamp()]


@KINDS
@pytest.mark.parametrize("mode", ["local", "oidc", "proxy"])
@pytest.mark.parametrize("name", [ARRIVAL, ARRIVAL.upper(), ARRIVAL.replace("-", "_")])
def test_nobody_vouches_for_themselves(kind: str, mode: str, name: str) -> None:
    forged = base64.b64encode(b'["eve@example.com", ["support"], 1767225600]').decode()
    here: Sent = [("Host", "127.0.0.1:8501")] if mode == "local" else FROM_PROXY

    seen = through(mode, [(name, forged), *here], kind=kind)

    assert seen.status == PASSED[kind]
    assert arrived(seen) == (
        ["ana@example.com", ["support", "all"], NOON.timestamp()] if mode == "proxy" else None
    )
    assert forged not in str(seen.passed)


@KINDS
@pytest.mark.parametrize("mode", ["local", "oidc"])
def test_the_proxys_headers_mean_nothing_without_a_proxy(kind: str, mode: str) -> None:
    here: Sent = [("Host", "localhost")] if mode == "local" else [HOST]

    assert arrived(through(mode, [*here, *FROM_PROXY[1:]], kind=kind)) is None


@KINDS
@pytest.mark.parametrize("mode", ["oidc", "proxy"])
@pytest.mark.parametrize(
    "host", ["127.0.0.1:8501", "desk.example.com.evil.example", "", "desk.example.com:444"]
)
def test_where_people_sign_in_the_desk_answers_to_its_own_name(kind: str, mode: str, host: str) -> None:
    seen = through(mode, [("Host", host), *FROM_PROXY[1:]], kind=kind)

    assert (seen.status, seen.passed) == (421 if kind == "http" else 403, None)


@pytest.mark.parametrize("mode", ["oidc", "proxy"])
def test_whoever_watches_the_server_is_answered(mode: str) -> None:
    assert through(mode, [("Host", "10.0.0.9:8501")], path=HEALTH).status == 200
    assert through(mode, [("Host", "10.0.0.9:8501")], path=f"{HEALTH}/x").status != 200
    assert through(mode, [("Host", "10.0.0.9:8501")], path=HEALTH, kind="websocket").status == 403


@KINDS
@pytest.mark.parametrize("mode", ["oidc", "proxy"])
@pytest.mark.parametrize(
    "path", ["/_stcore/metrics", "//_stcore/metrics/", "/_stcore/agent", "/_stcore/agent/openapi.json"]
)
def test_where_nobody_signs_in_nobody_is_answered(kind: str, mode: str, path: str) -> None:
    seen = through(mode, FROM_PROXY, path=path, kind=kind)

    assert (seen.status, seen.passed) == (404 if kind == "http" else 403, None)
    assert through(mode, FROM_PROXY, path="/_stcore/stream", kind=kind).status == PASSED[kind]


@KINDS
@pytest.mark.parametrize(
    "mode, headers",
    [("local", [("Host", "127.0.0.1:8501")]), ("oidc", [HOST]), ("proxy", FROM_PROXY)],
)
@pytest.mark.parametrize("path", ["/_stcore/stream", HEALTH])
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:9999",
        "http://127.0.0.1:8501.evil.example",
        "https://desk.example.com:8443",
        "http://desk.example.com",
        "https://[",
    ],
)
def test_no_page_of_another_site_or_port_is_answered(
    kind: str, mode: str, headers: Sent, path: str, origin: str
) -> None:
    seen = through(mode, [*headers, ("Origin", origin)], kind=kind, path=path)

    assert (seen.status, seen.passed) == (403, None)


@KINDS
@pytest.mark.parametrize(
    "mode, headers, origin",
    [
        ("local", [("Host", "127.0.0.1:8501")], "http://127.0.0.1:8501"),
        ("local", [("Host", "localhost:8502")], "http://localhost:8502"),
        ("oidc", [HOST], "https://desk.example.com"),
        ("proxy", FROM_PROXY, "https://Desk.example.com"),
    ],
)
def test_the_desks_own_pages_are_answered(kind: str, mode: str, headers: Sent, origin: str) -> None:
    assert through(mode, [*headers, ("Origin", origin)], kind=kind).status == PASSED[kind]


def guarded(cookie: str, *, secure: bool) -> Seen:
    def wrap(app: ASGIApp) -> ASGIApp:
        return Hardened(app, secure=secure)

    return asked(wrap, [], answer=[("Set-Cookie", cookie), ("Content-Type", "text/html")])


@pytest.mark.parametrize(
    "cookie, expected",
    [
        ("_streamlit_user=x; Path=/; HttpOnly", "_streamlit_user=x; Path=/; HttpOnly; Secure"),
        ("a=secure; Path=/", "a=secure; Path=/; Secure"),
        ("a=b; Secure; Path=/", "a=b; Secure; Path=/"),
        ("a=b; path=/; secure", "a=b; path=/; secure"),
    ],
)
def test_cookies_travel_over_tls_only_where_the_desk_is_reached_so(cookie: str, expected: str) -> None:
    assert guarded(cookie, secure=True).headers["set-cookie"] == expected
    assert guarded(cookie, secure=False).headers["set-cookie"] == cookie


def test_no_page_of_the_desk_stands_in_anybody_elses() -> None:
    headers = guarded("a=b", secure=False).headers

    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert headers["content-type"] == "text/html"
