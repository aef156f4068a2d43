"""What every job does around its work: settings, logs, the database, and an exit code for what went wrong.

Never knows what the work is.
"""

from collections.abc import Callable

import structlog

from recon.doors import config, logs
from recon.doors.store import migrations
from recon.doors.store.engines import Database
from recon.model.errors import ReconError, Reload, Report, Stop, Wait
from recon.model.settings import Settings

OK, CONFIGURATION, INCOMPLETE, UNDELIVERED, HELD = 0, 2, 3, 4, 75
# What the caller must do, as a number. 75 is EX_TEMPFAIL of sysexits.h: nothing was written, come back later.
_EXITS: tuple[tuple[type[ReconError], int], ...] = (
    (Report, CONFIGURATION),
    (Wait, INCOMPLETE),
    (Reload, HELD),
    (Stop, HELD),
)

log = structlog.get_logger("recon")


def work(job: str, task: Callable[[Database, Settings], int]) -> int:
    """Do the task with everything it needs, and return the process's exit code; one log line says why."""
    logs.configure()
    with structlog.contextvars.bound_contextvars(job=job):
        try:
            settings = config.load()
            logs.configure(settings)
            with Database.open(settings.database_url.reveal()) as database:
                migrations.check(database)
                return task(database, settings)
        except ReconError as error:  # Whatever a door reports; a bug shows its traceback.
            code = exit_code(error)
            log.error("failed", reason=str(error), exit_code=code)  # noqa: TRY400 - weather, not a bug
            return code


def exit_code(error: ReconError) -> int:
    """Return the exit code of what a door reported."""
    return next(code for sort, code in _EXITS if isinstance(error, sort))
