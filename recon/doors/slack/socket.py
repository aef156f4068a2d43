"""Socket Mode: one connection to Slack over which clicks come, kept up; each is acknowledged as it is read.

The client's own ways to come back are off: it asks every five seconds for as long as an outage lasts, at once
whenever Slack says that a connection ends, sleeps for as long as Slack likes, and takes the end of one for
silence. Never does what a click asks for.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from socket import SHUT_RDWR
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.builtin import SocketModeClient

from recon.doors.slack import wire
from recon.model.errors import ConfigurationError, Wait
from recon.model.settings import SlackSettings

# What is done with a click's payload, at once; what is returned goes back with the acknowledgement. Where it
# raises Wait there is none, and Slack tells whoever clicked.
Hear = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

_LONGEST_PAUSE_SECONDS = 60.0  # Slack lets an app open few connections a minute.
_STEADY_SECONDS = 60.0  # A connection that lasted so long was a good one: the next pause is short again.
_BYTES = 65_536  # At once: a click carries the whole message, and the client puts its parts together slowly.
# A person must put right the token or the app.
_WRONG = frozenset(
    {
        "account_inactive",
        "app_not_found",
        "forbidden_team",
        "invalid_auth",
        "missing_scope",
        "not_allowed_token_type",
        "not_authed",
        "socket_mode_not_enabled",
        "token_expired",
        "token_revoked",
    }
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn did.

    connected: as it is now. changed: since the turn before. failed: why no connection was made; None where
    one was, or was not tried.
    """

    connected: bool
    changed: bool = False
    failed: str | None = None


class Socket:
    """One connection, that is looked after turn by turn."""

    def __init__(
        self, settings: SlackSettings, hear: Hear, *, timer: Callable[[], float] = time.monotonic
    ) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no token.
        """
        self._client: Final = _Client(settings, self._read)
        self._hear = hear
        self._timer = timer
        self._connected = False
        self._failures = 0
        self._since = self._next_at = timer()
        self._trying = Lock()

    def turn(self) -> Turn:
        """Connect where there is no connection, and it is time to; return what was done.

        Raises:
            ConfigurationError: Slack refuses the token, or the app: trying again helps nobody.
        """
        now, before = self._timer(), self._connected
        self._connected = self._client.is_connected()
        if self._connected:
            if now - self._since >= _STEADY_SECONDS:
                self._failures = 0
            return Turn(connected=True, changed=not before)
        if not self._may_connect(now):
            return Turn(connected=False, changed=before)
        failed = self._connect()
        self._connected = failed is None
        self._next_at += self._timer() - now  # The pause begins when the trying ends.
        return Turn(self._connected, changed=self._connected or before, failed=failed)

    def close(self) -> None:
        """Hear nothing more."""
        self._client.hang_up()
        self._client.close()

    def _may_connect(self, now: float) -> bool:
        """Return whether a connection may be tried now; each that may makes the pause after it longer."""
        with self._trying:
            if now < self._next_at:
                return False
            self._failures += 1
            self._since = now
            self._next_at = now + min(_LONGEST_PAUSE_SECONDS, 2.0 ** (self._failures - 1))
            return True

    def _connect(self) -> str | None:
        """Return why no connection was made; None where one was."""
        try:
            self._client.connect_to_new_endpoint()
        except SlackApiError as error:  # Slack, or something in front of it, answered no.
            said = wire.word(error)
            if said in _WRONG:
                raise ConfigurationError(
                    "Expected SLACK_APP_TOKEN to open a socket (an xapp- token with connections:write, of an "
                    f"app that has Socket Mode on), found that Slack says {said}."
                ) from None
            return wire.refusal(error)
        except Exception as error:  # noqa: BLE001 - a broken connection, an answer cut short or in a wrong encoding
            return f"No usable answer from Slack ({type(error).__name__})."
        return None if self._client.is_connected() else "Slack did not open the socket that it named."

    def _read(self, text: str) -> None:
        """Acknowledge what came, before anything else is done about it."""
        try:
            envelope = json.loads(text)
        except (ValueError, RecursionError):  # Slack's words are JSON; anything else is nobody's click.
            return
        if not isinstance(envelope, dict):
            return
        if envelope.get("type") == "disconnect":
            # It is about to end. Where another was made just now, it is waited for as after any end: an app
            # that has too many connections is told so at once by each that it makes.
            if self._may_connect(self._timer()):
                self._client.move()
            return
        found = envelope.get("envelope_id")
        if not isinstance(found, str):
            return
        payload = envelope.get("payload")
        click = payload if envelope.get("type") == "interactive" and isinstance(payload, dict) else None
        try:
            answer = None if click is None else self._hear(click)
        except Wait:  # Too many wait.
            return
        said = {"envelope_id": found} | ({} if answer is None else {"payload": answer})
        with suppress(Exception):  # The connection is gone: Slack tells whoever clicked; the move is made.
            self._client.send_message(json.dumps(said))


class _Client(SocketModeClient):
    """The official client, which connects only when it is told to."""

    def __init__(self, settings: SlackSettings, read: Callable[[str], None]) -> None:
        quiet = logging.getLogger("recon.slack_sdk.socket")
        quiet.setLevel(logging.CRITICAL)  # Its lines print payloads.
        self._wire: _Ending | None = None
        self._ours = settings.base_url is not None
        super().__init__(
            settings.app_token.reveal(),
            logger=quiet,
            web_client=wire.client(settings),
            auto_reconnect_enabled=False,
            receive_buffer_size=_BYTES,
            concurrency=1,
            on_message_listeners=[read],
        )

    def issue_new_wss_url(self) -> str:
        """Return the address of one socket; asks once, where its base sleeps and asks again."""
        url = str(self.web_client.apps_connections_open(app_token=self.app_token)["url"])
        direct = self._ours or proxy_bypass(urlsplit(url).hostname or "")
        self.proxy = None if direct else getproxies().get("https")  # By itself it does not know NO_PROXY.
        return url

    def connect(self) -> None:
        """Open the socket; where the other side ends it, that is an end and no silence."""
        super().connect()
        session = self.current_session
        if session is not None and session.sock is not None:
            self._wire = _Ending(session.sock)
            session.sock = self._wire  # type: ignore[assignment]  # what it uses of one

    def enqueue_message(self, message: str) -> None:
        """Keep nothing for later: what comes is read at once, above."""

    def move(self) -> None:
        """Open another connection while this one is still there, on the client's own thread."""
        self.message_queue.put('{"type": "disconnect"}')

    def hang_up(self) -> None:
        """Wake whoever reads from the socket; by itself the client waits for the reading to time out."""
        if self._wire is not None:
            self._wire.end()


class _Ending:
    """A socket that says so when the other side has ended it, and sends everything it is given."""

    def __init__(self, inner: Any) -> None:  # noqa: ANN401 - a plain socket or one under TLS
        self._inner = inner

    def recv(self, size: int) -> bytes:
        received: bytes = self._inner.recv(size)
        if not received:
            raise ConnectionResetError("the other side ended the connection")
        return received

    def send(self, content: bytes) -> int:
        self._inner.sendall(content)
        return len(content)

    def end(self) -> None:
        with suppress(OSError):  # The other side was faster.
            self._inner.shutdown(SHUT_RDWR)

    def close(self) -> None:
        self._inner.close()
