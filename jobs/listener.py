"""The listener: what people click in Slack, heard over Socket Mode, or over HTTP where Slack can reach us.

A click that was acknowledged and not yet worked on is lost when the process is killed; the dashboard does all
that a button does. SIGTERM ends it after what it has begun.
Exit 0 ended, 2 configuration, 3 the database is away.
"""

import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event
from types import FrameType
from typing import Protocol

from recon.cli import exits, extras

with extras.required("This job", "job,slack"):
    from jobs.answers import Answers
    from jobs.presence import Presence
    from jobs.reception import Reception
    from jobs.shift import log, work
    from recon.desk import Desk
    from recon.doors.clock import utc_now
    from recon.doors.slack.clicks import Mouth
    from recon.doors.slack.socket import Socket, Turn
    from recon.doors.store import signatures
    from recon.doors.store.engines import Database
    from recon.model.errors import ConfigurationError
    from recon.model.settings import Settings, SlackSettings

TURN_SECONDS = 1.0  # Between two looks at the connection.
_PORT_LIMIT = 65_535
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen for Slack's calls."""

    host: str
    port: int


class Ear(Protocol):
    """Something that hears clicks."""

    def turn(self) -> Turn:
        """Look after it once; return how it is."""

    def close(self) -> None:
        """Hear nothing more."""


def main(address: Address | None = None) -> int:
    """Listen until SIGTERM or SIGINT, and return the exit code. address: for HTTP; None is Socket Mode."""
    return work("listener", partial(listen, address=address))


def listen(
    database: Database, settings: Settings, *, address: Address | None = None, ended: Event | None = None
) -> int:
    """Hear and answer until the event is set, or a signal sets one; return the exit code.

    Raises:
        ConfigurationError: a token or secret is missing or refused, or the address cannot be listened on.
    """
    _check(settings.slack, address)
    desk = Desk(database, settings)
    desk.keep_limits()
    answers = Answers(desk, Mouth(settings.slack), dashboard_url=settings.dashboard.url)
    presence = Presence(database, utc_now)
    with _ending() as signalled:
        reception = Reception(answers)
        try:
            ear = _ear(database, settings.slack, reception, address)
            try:
                _listen(ear, presence, ended or signalled)
            finally:
                ear.close()
        finally:
            reception.close()
            presence.leave()
    log.info("ended")
    return exits.OK


def turn(ear: Ear, presence: Presence) -> Turn:
    """Look after the connection once, say so where it changed, and give a sign of life."""
    done = ear.turn()
    if done.changed:
        (log.info if done.connected else log.warning)("connected" if done.connected else "disconnected")
    if done.failed is not None:
        log.warning("not connected", reason=done.failed)
    presence.turn(there=done.connected)
    return done


def arguments(words: list[str] | None = None) -> Address | None:
    """Return where to listen over HTTP; None where nothing of it is said.

    Raises:
        SystemExit: there was another argument; with 2 where it was not -h or --help.
    """
    parser = ArgumentParser(
        prog="python -m jobs.listener", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        type=_address,
        help="wait there for Slack to call /slack/interactivity, instead of Socket Mode; put TLS before it. "
        f"A port alone is one of {_LOOPBACK}",
    )
    found: Address | None = parser.parse_args(words).http
    return found


def _check(slack: SlackSettings, address: Address | None) -> None:
    if address is not None and not slack.signing_secret:
        raise ConfigurationError("SLACK_SIGNING_SECRET is not set: without it nothing over HTTP is Slack's.")
    if address is None and slack.signing_secret and not slack.app_token:
        raise ConfigurationError(
            "SLACK_APP_TOKEN is not set: set it (xapp-) for Socket Mode, or say --http HOST:PORT."
        )
    if not slack.answers:
        raise ConfigurationError(
            "Neither SLACK_APP_TOKEN (xapp-, for Socket Mode) nor SLACK_SIGNING_SECRET (for --http) is "
            "set: set one of them to answer clicks; without them messages carry links only."
        )


def _ear(database: Database, slack: SlackSettings, reception: Reception, address: Address | None) -> Ear:
    if address is None:
        return Socket(slack, reception)
    with extras.needed("Listening over HTTP", "slack"):
        from jobs.interactivity import Counter, Serving  # noqa: PLC0415 - who is not called needs no server

    def fresh(signature: str) -> bool:
        return signatures.take(database, signature, now=utc_now())

    counter = Counter(slack.signing_secret, reception, fresh, utc_now)
    serving = Serving(counter, address.host, address.port)
    log.info("http", host=address.host, port=serving.port)
    return serving


def _listen(ear: Ear, presence: Presence, ended: Event) -> None:
    while True:
        turn(ear, presence)
        if ended.wait(TURN_SECONDS):
            return


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if (
        port.isdecimal()
        and port.isascii()
        and len(port) <= len(str(_PORT_LIMIT))
        and int(port) <= _PORT_LIMIT
    ):
        return Address(host.strip("[]") or _LOOPBACK, int(port))
    raise ArgumentTypeError(f"expected HOST:PORT, such as {_LOOPBACK}:8080, found {text[:80]!r}")


@contextmanager
def _ending() -> Iterator[Event]:
    """Yield what the first signal to end sets; what has begun is not broken off by a second one."""
    ended = Event()
    if threading.current_thread() is not threading.main_thread():  # Signals are not heard there.
        yield ended
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main(arguments()))
