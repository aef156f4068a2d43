from dataclasses import replace

import pytest

from recon.model.records.words import Role
from recon.model.settings import DashboardSettings, Secret, SignInSettings
from recon.rules import entrances

LONG = Secret("0123456789abcdef0123456789abcdef")
DESK = DashboardSettings(url="https://desk.example.com", mode="oidc")
SIGN_IN = SignInSettings(
    metadata_url="https://id.example.com/.well-known/openid-configuration",
    client_id="desk",
    client_secret=Secret("s"),
    cookie_secret=LONG,
    proxy_secret=LONG,
    groups=(("support", Role.OPERATOR),),
)
NONE = Secret("")


def found(desk: DashboardSettings, sign_in: SignInSettings) -> list[str]:
    return [lack.found for lack in entrances.lacks(desk, sign_in)]


@pytest.mark.parametrize("mode", ["oidc", "proxy"])
@pytest.mark.parametrize("url", ["https://desk.example.com", "http://127.0.0.1:8501", "https://desk:8443"])
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 -- in a container
def test_a_way_in_that_has_what_it_takes_lacks_nothing(mode: str, url: str, address: str) -> None:
    assert found(replace(DESK, mode=mode, url=url, address=address), SIGN_IN) == []


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_local_mode_takes_nothing_but_loopback(address: str) -> None:
    assert found(DashboardSettings(address=address), SignInSettings()) == []


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.7", "desk.example", ""])  # noqa: S104 -- refused
def test_local_mode_listens_nowhere_else(address: str) -> None:
    (lack,) = found(DashboardSettings(address=address), SIGN_IN)

    assert "loopback only" in lack


@pytest.mark.parametrize(
    "mode, changes, said",
    [
        ("oidc", {"metadata_url": ""}, "found nothing in sign_in.metadata_url."),
        ("oidc", {"client_id": "", "client_secret": NONE}, "in sign_in.client_id, RECON_OIDC_CLIENT_SECRET."),
        ("oidc", {"cookie_secret": NONE}, "found nothing in RECON_COOKIE_SECRET."),
        ("oidc", {"metadata_url": "http://id.example.com/x"}, "metadata_url to begin with https://"),
        ("proxy", {"proxy_secret": NONE}, "Expected RECON_PROXY_SECRET to be set"),
        ("proxy", {"user_header": "x-forwarded-groups"}, "three different headers"),
        ("proxy", {"secret_header": "X-Forwarded-Email"}, "three different headers"),
        ("oidc", {"groups": ()}, "Expected sign_in.groups or sign_in.people"),
        ("proxy", {"groups": ()}, "Expected sign_in.groups or sign_in.people"),
    ],
)
def test_what_a_way_in_lacks_is_said(mode: str, changes: dict[str, object], said: str) -> None:
    (lack,) = found(replace(DESK, mode=mode), replace(SIGN_IN, **changes))  # type: ignore[arg-type]  # a row

    assert said in lack


@pytest.mark.parametrize("mode", ["oidc", "proxy"])
@pytest.mark.parametrize(
    "url, said",
    [
        ("http://desk.example.com", "to begin with https://"),
        ("https://example.com/desk", "to end with the host"),
        ("https://example.com?desk", "to end with the host"),
    ],
)
def test_where_people_sign_in_the_address_is_a_host_over_tls(mode: str, url: str, said: str) -> None:
    (lack,) = found(replace(DESK, mode=mode, url=url), SIGN_IN)

    assert said in lack


def test_people_alone_are_enough_to_give_a_role() -> None:
    assert found(DESK, replace(SIGN_IN, groups=(), people=(("ana@example.com", Role.ADMIN),))) == []


def test_the_provider_is_told_where_streamlit_takes_its_answer() -> None:
    assert entrances.callback(DESK) == "https://desk.example.com/oauth2callback"


def test_no_lack_shows_a_secret() -> None:
    told = replace(SIGN_IN, client_id="", client_secret=LONG, groups=())

    assert LONG.reveal() not in str([*entrances.lacks(DESK, told)])
