"""What every job does around its work: settings, logs, the database, and an exit code for what went wrong.

Never knows what the work is.
"""

import signal
import threading
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

import structlog

from recon.cli import exits
from recon.doors import config, logs
from recon.doors.store import revisions
from recon.doors.store.engines import Database
from recon.model.errors import ReconError
from recon.model.settings import Settings

log = structlog.get_logger("recon")

TERMINATED = 143  # 128 and SIGTERM, as shells say it.
_LONGEST_WAIT = 86_400  # A day: by then somebody has looked at what holds the lease.


def takes_nothing(job: str, about: str | None) -> None:
    """Answer -h with what the job is, and refuse every other argument, before anything is done.

    Raises:
        SystemExit: there was an argument; with 2 where it was not -h or --help.
    """
    ArgumentParser(
        prog=f"python -m jobs.{job}", description=about, formatter_class=RawDescriptionHelpFormatter
    ).parse_args()


def takes_wait(job: str, about: str | None) -> timedelta:
    """Return how long the job is to wait while another run is at it; refuse every other argument.

    Raises:
        SystemExit: there was another argument; with 2 where it was not -h or --help.
    """
    parser = ArgumentParser(
        prog=f"python -m jobs.{job}", description=about, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        default=timedelta(0),
        help=f"wait that long at most while another run is at it, 0 to {_LONGEST_WAIT}; 0 ends at once",
    )
    waited: timedelta = parser.parse_args().wait
    return waited


def _seconds(text: str) -> timedelta:
    if text.isdecimal() and int(text) <= _LONGEST_WAIT:
        return timedelta(seconds=int(text))
    raise ArgumentTypeError(
        f"expected a whole number of seconds from 0 to {_LONGEST_WAIT}, found {text[:40]!r}"
    )


def work(
    job: str,
    task: Callable[[Database, Settings], int],
    *,
    failed: Callable[[Settings, int], None] | None = None,
) -> int:
    """Do the task with everything it needs, and return the process's exit code; one log line says why.

    failed: told the exit code when a door stopped the task; not where there are no settings.
    """
    logs.configure()
    with _ending(), structlog.contextvars.bound_contextvars(job=job):
        settings = None
        try:
            settings = config.load()
            logs.configure(settings)
            with Database.open(settings.database_url.reveal()) as database:
                revisions.check(database)
                return task(database, settings)
        except ReconError as error:  # Whatever a door reports; a bug shows its traceback.
            code = exits.of(error)
            log.error("failed", reason=str(error), exit_code=code)  # noqa: TRY400 - weather, not a bug
            if failed is not None and settings is not None:
                failed(settings, code)
            return code
        except Exception:  # A bug: shown whole, in the log, where secrets are taken out.
            log.exception("bug", exit_code=exits.BUG)
            return exits.BUG


@contextmanager
def _ending() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does: its lease is given back, and those who watch are told."""
    if threading.current_thread() is not threading.main_thread():  # Signals are not heard there.
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)
