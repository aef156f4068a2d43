"""How an OpenID provider describes itself. Signs nobody in, and sends no secret.

Source: OpenID Connect Discovery 1.0, section 4, https://openid.net/specs/openid-connect-discovery-1_0.html
"""

import json
import socket
import ssl
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError, URLError

from recon.model.errors import UnusableInput, Wait

_BYTES = 1_000_000  # Descriptions have some thousand; a page that is none may have any number.


@dataclass(frozen=True, slots=True)
class Description:
    """What the desk's sign-in rests on. scopes: that may be asked for; none where the provider names none."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    scopes: tuple[str, ...]


def described(metadata_url: str, *, timeout_seconds: float) -> Description:
    """Return what a provider says of itself at its metadata address.

    Raises:
        Wait: it does not answer now.
        UnusableInput: what it answers is no such description.
    """
    try:
        with urllib.request.urlopen(metadata_url, timeout=timeout_seconds) as answer:  # noqa: S310 - http(s), as read
            told = json.loads(answer.read(_BYTES))
    except (OSError, HTTPException) as error:  # Not there, too slow, refused.
        raise Wait(
            f"Expected the provider's description at {metadata_url}, found {_instead(error)}."
        ) from None
    except ValueError:  # No JSON, or no address.
        raise UnusableInput(f"Expected JSON at {metadata_url}, found something else.") from None
    names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
    lacking = [name for name in names if not isinstance(told, dict) or not isinstance(told.get(name), str)]
    if lacking:
        raise UnusableInput(
            f"Expected {', '.join(names)} at {metadata_url}, found nothing of {', '.join(lacking)}."
        )
    scopes = told.get("scopes_supported")
    texts = tuple(each for each in scopes if isinstance(each, str)) if isinstance(scopes, list) else ()
    return Description(**{name: told[name] for name in names}, scopes=texts)


def _instead(error: Exception) -> str:
    """Return what was found in a description's place, in words for people."""
    if isinstance(error, HTTPError):
        return f"the answer {error.code}"
    cause = error.reason if isinstance(error, URLError) else error
    named = {
        socket.gaierror: "no machine of that name",
        ssl.SSLError: "a certificate or an encryption that cannot be relied on",
        ConnectionRefusedError: "nobody listening there",
        TimeoutError: "no answer in time",
    }
    for kind, words in named.items():
        if isinstance(cause, kind):
            return words
    return "no connection" if isinstance(error, URLError) else "an answer that broke off"
