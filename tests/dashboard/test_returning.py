import time
from functools import partial
from typing import Any

import pytest

from dashboard.returning import COOKIE, LOGIN, LONGEST, SECONDS, Returning
from recon.model.settings import Secret
from recon.rules.entrances import CALLBACK
from tests.dashboard.asgi import Seen, Sent, asked

URL = "https://desk.example.com"
SECRET = Secret("0123456789abcdef0123456789abcdef")
PLACE = "/case?case=C-8812&queue=kind%3Dduplicate"


def through(headers: Sent, *, path: str, secret: Secret = SECRET, **answer: Any) -> Seen:  # noqa: ANN401
    return asked(partial(Returning, url=URL, secret=secret), headers, path=path, status=302, **answer)


def kept(referer: str, **other: Any) -> str | None:  # noqa: ANN401
    """The cookie that signing in from a page leaves, as a browser sends it back."""
    told = through([("Referer", referer)], path=LOGIN, **other).headers.get("set-cookie")
    return None if told is None else told.partition(";")[0]


def led(cookie: str | None, location: str = "/", path: str = CALLBACK) -> str:
    """Where the provider's answer then leads."""
    headers: Sent = [] if cookie is None else [("Cookie", f"other=1; {cookie}")]
    return through(headers, path=path, answer=[("Location", location)]).headers["location"]


def test_the_page_that_asked_is_where_the_sign_in_leads() -> None:
    assert led(kept(URL + PLACE)) == PLACE


def test_it_is_forgotten_once_it_was_gone_to() -> None:
    cookie = kept(URL + PLACE)

    seen = through([("Cookie", str(cookie))], path=CALLBACK, answer=[("Location", "/")])

    assert seen.headers["set-cookie"].startswith(f'{COOKIE}=""; ')
    assert "Max-Age=0" in seen.headers["set-cookie"]


def test_the_cookie_is_for_the_server_alone_and_for_minutes() -> None:
    told = through([("Referer", URL + PLACE)], path=LOGIN).headers["set-cookie"]

    assert {"HttpOnly", "Path=/", "SameSite=lax", f"Max-Age={SECONDS}"} <= set(told.split("; "))


@pytest.mark.parametrize(
    "referer",
    [
        "",
        "https://evil.example/case",
        "http://desk.example.com/case",
        "https://desk.example.com:444/case",
        "https://desk.example.com.evil.example/case",
        "https://evil.example/https://desk.example.com/case",
        URL,
        "https://[",
        f"{URL}//evil.example/case",
        f"{URL}/\\evil.example",
        f"{URL}/case?a=\\evil",
        f"{URL}/ä",
        f"{URL}/a b",
        f"{URL}/{'a' * LONGEST}",
    ],
)
def test_whatever_is_no_page_of_ours_is_not_kept(referer: str) -> None:
    assert kept(referer) is None


def test_a_page_of_the_greatest_length_is_kept() -> None:
    place = "/" + "a" * (LONGEST - 1)

    assert led(kept(URL + place)) == place


@pytest.mark.parametrize(
    "forged", [f"{COOKIE}=%2Fcase", f"{COOKIE}=Ii9jYXNlIg.aaaa.bbbb", f"{COOKIE}=", None]
)
def test_a_cookie_that_we_did_not_sign_leads_nowhere(forged: str | None) -> None:
    assert led(forged) == "/"
    assert led(kept(URL + PLACE, secret=Secret("another secret of thirty-two characters"))) == "/"


def test_a_cookie_that_is_too_old_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie, now = kept(URL + PLACE), time.time()

    monkeypatch.setattr(time, "time", lambda: now + SECONDS + 2)

    assert led(cookie) == "/"


def test_only_streamlits_way_to_its_first_page_is_changed() -> None:
    cookie = kept(URL + PLACE)

    assert led(cookie, location="https://id.example.com/session/end") == "https://id.example.com/session/end"
    assert led(cookie, path="/case") == "/"
