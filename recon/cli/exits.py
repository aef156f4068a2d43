"""What a process ends with, the same for every command and job: a number for what the caller must do."""

from recon.model.errors import ReconError, Reload, Report, Stop, Wait

OK = 0
FOUND = 1  # What was asked for is there: mismatches, entries that do not fit.
CONFIGURATION = 2  # A person must put something right.
INCOMPLETE = 3  # Not everything was read, or something is away.
UNDELIVERED = 4  # Notices wait.
BUG = 70  # EX_SOFTWARE of sysexits.h: it is shown whole, and never mistaken for an answer.
HELD = 75  # EX_TEMPFAIL of sysexits.h: another is at it, come back later.
INTERRUPTED = 130  # 128 and SIGINT, as shells say it.

_OF_ERRORS: tuple[tuple[type[ReconError], int], ...] = (
    (Report, CONFIGURATION),
    (Wait, INCOMPLETE),
    (Reload, HELD),
    (Stop, HELD),
)


def of(error: ReconError) -> int:
    """Return the exit code of what a door reported."""
    return next(code for sort, code in _OF_ERRORS if isinstance(error, sort))
