"""Who somebody at the desk's door is, and in which role: from a provider's claims or a proxy's headers.

Only what is proved counts: an e-mail address that the provider verified, a header beside the proxy's secret.
Whom the settings name neither by address nor by group does not come in. Never reads the database: it may take
a role away afterwards, and never gives one.
"""

import hmac
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from recon.model.records.people import Arrival, Operator, Refused, Shut, named
from recon.model.records.words import Actor, Role
from recon.model.settings import SignInSettings

# How far the provider's clock may be ahead of ours, as OpenID's own libraries allow. Beyond it a sign-in
# would outlast its session.
SKEW: Final = timedelta(minutes=5)
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)  # Before it no provider signed a token of OpenID.

Header = tuple[str, str]


def role(sign_in: SignInSettings, name: str, groups: Iterable[str]) -> Role | None:
    """Return the role of somebody: by their own address, else by the first group in the settings' order.

    None is no access. An address is compared as `named` writes it, a group as it stands.
    """
    for person, given in sign_in.people:
        if named(person) == name:
            return given
    theirs = frozenset(groups)
    return next((given for group, given in sign_in.groups if group in theirs), None)


def by_claims(claims: Mapping[str, object], sign_in: SignInSettings, *, now: datetime) -> Operator | Refused:
    """Return whom a provider's id token signs in, or why it does not.

    claims: those of the token and is_logged_in, as Streamlit tells them; none where nobody signed in.
    """
    if claims.get("is_logged_in") is not True:
        return Refused(Shut.SIGNED_OUT, "Sign in to see this page.")
    name = _vouched(claims)
    if name is None:
        return Refused(
            Shut.NAMELESS,
            "Your provider does not say that your e-mail address is verified, and every decision here is "
            "kept with a verified address: ask whoever runs the provider.",
        )
    since = _instant(claims.get("iat"))
    if since is None or since > now + SKEW:
        return Refused(
            Shut.ENDED,
            "Your provider does not say when you signed in, or names a time to come: sign in again.",
            name,
        )
    return _admitted(sign_in, name, _texts(claims.get(sign_in.groups_claim)), since)


def by_headers(headers: Iterable[Header], sign_in: SignInSettings, *, now: datetime) -> Arrival | Refused:
    """Return whom the proxy's headers vouch for, or why they do not.

    headers: all of the request, in any case. Each of the three that count stands there once and under its own
    name: what reads like it with _ for - is somebody's attempt at a second one.
    """
    unproved = Refused(Shut.UNPROVED, "This desk is reached through its proxy, which signs people in.")
    found = list(headers)
    secret = _only(found, sign_in.secret_header)
    told = (secret or "").encode()
    if not sign_in.proxy_secret or not hmac.compare_digest(told, sign_in.proxy_secret.reveal().encode()):
        return unproved
    name = _single(_only(found, sign_in.user_header))
    groups = _only(found, sign_in.groups_header, absent="")
    if name is None or groups is None:
        return unproved
    return Arrival(name, tuple(group for each in groups.split(",") if (group := each.strip())), now)


def admitted(arrival: Arrival, sign_in: SignInSettings) -> Operator | Refused:
    """Return whom the proxy vouched for with their role, or why they do not come in."""
    return _admitted(sign_in, arrival.name, arrival.groups, arrival.at)


def _admitted(
    sign_in: SignInSettings, name: Actor, groups: Iterable[str], since: datetime
) -> Operator | Refused:
    given = role(sign_in, name, groups)
    if given is None:
        return Refused(
            Shut.NO_ROLE,
            f"You are signed in as {name}, and nothing here gives you access: ask whoever runs the desk to "
            "name you or a group of yours under [sign_in] in recon.toml.",
            name,
        )
    return Operator(name, given, since=since)


def _vouched(claims: Mapping[str, object]) -> Actor | None:
    """Return the e-mail address that the provider verified, None where there is none."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return named(email) if _is_address(email) else None


def _single(user: str | None) -> Actor | None:
    """Return the one person that a proxy's header names, None where it names none or more.

    A proxy that adds its line to one that the browser sent may join the two by a comma, and by each such name
    the same person would be another one.
    """
    if user is None or "," in user or ("@" in user and not _is_address(user)):
        return None
    return named(user)


def _is_address(text: str) -> bool:
    local, at, domain = text.partition("@")
    return bool(local and at and domain) and "@" not in domain and " " not in text


def _instant(value: object) -> datetime | None:
    """Return the time that a claim of seconds names, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):  # No number, or no year of ours.
        return None
    return found if found >= _FIRST else None


def _texts(value: object) -> tuple[str, ...]:
    """Return the groups in a claim: a list of texts, or one text; whatever else is in it is none."""
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()


def _only(headers: Iterable[Header], name: str, *, absent: str | None = None) -> str | None:
    """Return the value of a header that stands there once, None where it does not or is empty."""
    wanted = name.lower()
    like = [(each.lower(), value) for each, value in headers if each.lower().replace("_", "-") == wanted]
    if not like:
        return absent
    ((found, value), *more) = like
    return None if more or found != wanted or (absent is None and not value) else value
