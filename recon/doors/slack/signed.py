"""Whether a request over HTTP comes from Slack: its signature and its age, whatever its headers hold.

Never remembers a signature, so that a request that came before still looks genuine here: doors/store does.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from slack_sdk.signature import Clock, SignatureVerifier

from recon.model.settings import Secret

_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


def genuine(body: bytes, headers: Mapping[str, str], secret: Secret, *, now: datetime) -> str | None:
    """Return the signature of a request that Slack made within five minutes of now; None of any other.

    headers: by their lower-case names.
    """
    at, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
    # The verifier would raise at what is no number, or no ASCII.
    if not _TIME.fullmatch(at) or not _SIGNATURE.fullmatch(signature):
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:  # Slack's forms are ASCII; the verifier would raise.
        return None
    verifier = SignatureVerifier(secret.reveal(), _At(now))
    return signature if verifier.is_valid(text, at, signature) else None


class _At(Clock):
    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> float:
        return self._now.timestamp()
