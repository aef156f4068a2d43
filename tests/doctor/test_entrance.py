import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from recon.model.records.remarks import Section
from tests.doctor.clinic import CLOSED, Clinic, levels, lines, one

SECRETS = {"RECON_OIDC_CLIENT_SECRET": "canary-client", "RECON_COOKIE_SECRET": "canary-cookie-" + "0" * 32}
SETTINGS = """
[dashboard]
mode = "oidc"
url = "https://desk.example.com"
[sign_in]
metadata_url = "{provider}/.well-known/openid-configuration"
client_id = "desk"
scopes = "{scopes}"
groups = [{{ group = "support", role = "{role}" }}]
[four_eyes]
amounts = {{ usd = "500.00" }}
"""

Provider = Callable[[dict[str, object] | str], str]


@pytest.fixture
def provider() -> Iterator[Provider]:
    """An address that describes a provider with these words beside what each has."""
    servers = []

    def answering(told: dict[str, object] | str) -> str:
        class Described(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = f"http://127.0.0.1:{server.server_port}"
                usual = dict.fromkeys(("authorization_endpoint", "token_endpoint", "jwks_uri"), f"{url}/x")
                body = told if isinstance(told, str) else json.dumps({"issuer": url, **usual, **told})
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Described)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield answering
    for server in servers:
        server.shutdown()
        server.server_close()


def configured(
    clinic: Clinic, url: str, *, scopes: str = "openid email groups", role: str = "approver"
) -> Clinic:
    clinic.configure("recon.toml", SETTINGS.format(provider=url, scopes=scopes, role=role))
    clinic.environ |= SECRETS
    return clinic


def test_in_local_mode_nobody_signs_in_and_nothing_is_lacking(small: Clinic) -> None:
    assert small.told(Section.DASHBOARD) == [
        "ok: Nobody signs in: whoever uses this machine acts as 'local operator'."
    ]


def test_a_desk_that_lacks_nothing_says_what_the_provider_must_know(
    small: Clinic, provider: Provider
) -> None:
    url = provider({"scopes_supported": ["openid", "email", "groups"]})

    told = configured(small, url).told(Section.DASHBOARD)

    assert told == [
        "ok: People sign in at the OpenID provider, and stay signed in for 8 hours.",
        "ok: 1 group and 0 people have a role.",
        "ok: The provider must know https://desk.example.com/oauth2callback as redirect address.",
        f"ok: The provider {url} describes itself.",
    ]


@pytest.mark.parametrize(
    "said, told, scopes, level",
    [
        (
            "calls itself https://id.example.com",
            {"issuer": "https://id.example.com"},
            "openid email",
            "warning",
        ),
        ("found something else", "<html>", "openid email", "failure"),
        ("found nothing of jwks_uri", {"jwks_uri": None}, "openid email", "failure"),
        ("does not ask for email", {}, "openid", "failure"),
        (
            "does not name the scope groups",
            {"scopes_supported": ["openid", "email"]},
            "openid email groups",
            "warning",
        ),
    ],
)
def test_what_is_wrong_with_the_provider_is_said(  # noqa: PLR0917 -- a table
    small: Clinic, provider: Provider, said: str, told: dict[str, object] | str, scopes: str, level: str
) -> None:
    found = configured(small, provider(told), scopes=scopes).told(Section.DASHBOARD)

    assert one(found, said).startswith(f"{level}: ")


def test_a_provider_that_does_not_answer_is_a_failure_and_offline_it_is_not_asked(small: Clinic) -> None:
    clinic = configured(small, CLOSED)

    assert one(clinic.told(Section.DASHBOARD), "found nobody listening there").startswith("failure: ")
    offline = lines(clinic.examine(Section.DASHBOARD, offline=True), Section.DASHBOARD)
    assert levels(offline) == {"ok"}
    assert "ok: The provider was not asked." in offline


def test_what_the_way_in_lacks_is_a_failure_and_no_secret_is_shown(small: Clinic, provider: Provider) -> None:
    clinic = configured(small, provider({}))
    del clinic.environ["RECON_COOKIE_SECRET"]

    told = clinic.told(Section.DASHBOARD)

    assert one(told, "found nothing in RECON_COOKIE_SECRET").startswith("failure: ")
    assert "canary" not in "\n".join(told)


def test_where_two_people_are_asked_for_somebody_must_be_able_to_approve(
    small: Clinic, provider: Provider
) -> None:
    told = configured(small, provider({}), role="operator").told(Section.DASHBOARD)

    assert one(told, "Nobody who signs in may approve").startswith("warning: ")
