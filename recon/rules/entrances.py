"""What a way into the desk lacks, as its settings stand: read before anybody is served, and by the doctor."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from recon.model.addresses import loopback
from recon.model.settings import DashboardSettings, SignInSettings

METADATA: Final = "/.well-known/openid-configuration"  # Where OpenID Connect Discovery has it, section 4.
CALLBACK: Final = "/oauth2callback"  # Where Streamlit takes the provider's answer.


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that keeps people out, or would let too many in. found, todo: one sentence each."""

    found: str
    todo: str


def callback(dashboard: DashboardSettings) -> str:
    """Return the redirect address that the provider must know."""
    return dashboard.url + CALLBACK


def lacks(dashboard: DashboardSettings, sign_in: SignInSettings) -> Iterator[Lack]:
    """Yield everything that the way in lacks; nothing where people can be served."""
    if dashboard.mode == "local":
        if not loopback(dashboard.address):
            yield Lack(
                "The dashboard in local mode listens on loopback only, because whoever reaches it acts as "
                f"the operator: expected dashboard.address to be 127.0.0.1, found {dashboard.address!r}.",
                "Choose dashboard.mode oidc or proxy to let others in.",
            )
        return
    yield from _reached(dashboard)
    yield from _provider(sign_in) if dashboard.mode == "oidc" else _proxy(sign_in)
    if not sign_in.groups and not sign_in.people:
        yield Lack(
            "Expected sign_in.groups or sign_in.people to give somebody a role, found neither.",
            "Nobody has access until one of them does.",
        )


def _reached(dashboard: DashboardSettings) -> Iterator[Lack]:
    address = urlsplit(dashboard.url)
    if address.scheme != "https" and not loopback(address.hostname):
        yield Lack(
            f"Expected dashboard.url to begin with https:// where people sign in, found {dashboard.url!r}.",
            "Put a proxy that ends TLS before the desk: config/deploy has one.",
        )
    if address.path or address.query or address.fragment:
        yield Lack(
            f"Expected dashboard.url to end with the host where people sign in, found {dashboard.url!r}.",
            "Give the desk a host name of its own.",
        )


def _provider(sign_in: SignInSettings) -> Iterator[Lack]:
    needed = {
        "sign_in.metadata_url": sign_in.metadata_url,
        "sign_in.client_id": sign_in.client_id,
        "RECON_OIDC_CLIENT_SECRET": sign_in.client_secret,
        "RECON_COOKIE_SECRET": sign_in.cookie_secret,
    }
    lacking = [name for name, value in needed.items() if not value]
    if lacking:
        yield Lack(
            f"Expected {', '.join(needed)} to be set in dashboard.mode oidc, found nothing in "
            f"{', '.join(lacking)}.",
            "Register the desk at your provider, which gives the first three; the last one you make up.",
        )
    address = urlsplit(sign_in.metadata_url)
    if sign_in.metadata_url and address.scheme != "https" and not loopback(address.hostname):
        yield Lack(
            f"Expected sign_in.metadata_url to begin with https://, found {sign_in.metadata_url!r}.",
            "Whoever is on the way could sign in as anybody.",
        )


def _proxy(sign_in: SignInSettings) -> Iterator[Lack]:
    if not sign_in.proxy_secret:
        yield Lack(
            "Expected RECON_PROXY_SECRET to be set in dashboard.mode proxy, found nothing.",
            "Give it and the proxy the same 32 characters or more, which nobody else knows.",
        )
    names = [sign_in.user_header, sign_in.groups_header, sign_in.secret_header]
    if len({name.lower() for name in names}) < len(names):
        yield Lack(
            f"Expected three different headers from the proxy, found {', '.join(names)}.",
            "Name sign_in.user_header, groups_header and secret_header apart.",
        )
