"""The wire to Slack: its own client, that asks once, says nothing of a token and goes where it is told.

Never sends anything by itself.
"""

import json
import logging
import re
import time
from collections.abc import Mapping
from http.client import HTTPMessage, HTTPResponse, IncompleteRead
from typing import IO, Any
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from recon.model.errors import ConfigurationError
from recon.model.settings import SlackSettings

BODY_LIMIT = 32 * 1024 * 1024  # Bytes of one answer; a page of 200 messages has a hundredth.
_PART = 65_536  # As much as a connection gives at once.


class _Stays(HTTPRedirectHandler):
    """Follows no redirect: the token and the message would go along."""

    def redirect_request(  # noqa: PLR0917 - urllib's
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Make a redirect an answer that is not Slack's."""


class Client(WebClient):
    """Slack's client with a way to it of its own; the other one's is chosen once for a whole process."""

    opener: OpenerDirector

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:  # noqa: ARG002 - the client's
        with self.opener.open(req, timeout=self.timeout) as answer:
            body = self._body(answer).decode(answer.headers.get_content_charset() or "utf-8")
            return {"status": answer.code, "headers": answer.headers, "body": body}

    def post(self, url: str, content: Mapping[str, object]) -> None:
        """Send something to an address that Slack has given, without the token.

        Raises:
            OSError: it was not taken, or nobody knows.
        """
        request = Request(url, json.dumps(content).encode(), {"Content-Type": "application/json"})  # noqa: S310 - the caller knows whose it is
        with self.opener.open(request, timeout=self.timeout) as answer:
            self._body(answer)

    def _body(self, answer: HTTPResponse) -> bytes:
        """Read a whole body; one that comes a byte at a time would keep a sender for hours."""
        body, ends = bytearray(), time.monotonic() + 2 * self.timeout
        while part := answer.read1(_PART):
            body += part
            if time.monotonic() > ends or len(body) > BODY_LIMIT:
                raise TimeoutError
        if answer.length:
            raise IncompleteRead(bytes(body), answer.length)
        return bytes(body)


def client(settings: SlackSettings) -> Client:
    """Return a client; it opens nothing yet.

    Raises:
        ConfigurationError: there is no token.
    """
    if not settings.enabled:
        raise ConfigurationError("SLACK_BOT_TOKEN is not set; expected a bot token that may post messages.")
    # The client's debug lines print whole bodies, and its error lines go to whoever listens.
    quiet = logging.getLogger("recon.slack_sdk")
    quiet.setLevel(logging.CRITICAL)
    made = Client(
        settings.bot_token.reveal(),
        base_url=settings.base_url or WebClient.BASE_URL,
        timeout=settings.timeout_seconds,
        retry_handlers=[],
        logger=quiet,
    )
    # An address of our own is on this machine: a proxy for the world outside must not get the token. Slack
    # itself is reached as the environment says, NO_PROXY included, which the client's own reading leaves out.
    made.proxy = None
    made.opener = build_opener(ProxyHandler({} if settings.base_url else None), _Stays())
    return made


def word(error: SlackApiError) -> str | None:
    """Return Slack's own word for what is wrong; None where the answer is not Slack's."""
    data = error.response.data
    said = data.get("error") if isinstance(data, dict) else None
    return said if isinstance(said, str) and re.fullmatch(r"[a-z0-9_]+", said) else None


def refusal(error: SlackApiError) -> str:
    """Return what Slack, or something in front of it, answered, as one sentence."""
    said = word(error)
    return f"Slack said {said}." if said else f"Slack answered {error.response.status_code}."
