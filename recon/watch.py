"""Alarms about the system itself: when the runs have stopped, one notice is put into the outbox.

Never sends anything: delivery does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from recon.model.records.runs import Run
from recon.model.settings import Settings
from recon.rules import staleness

_RUNS_BACK = 48  # Two days of runs: far longer than any stale_after that makes sense.


@dataclass(frozen=True, slots=True)
class Freshness:
    """How fresh the books are.

    last_complete: None before the first. age: since it ended, else since the first run; None before any run.
    """

    last_complete: Run | None
    last_saved: Run | None
    age: timedelta | None
    stale: bool


def freshness(database: Database, settings: Settings, *, now: datetime) -> Freshness:
    """Return how fresh the books are now."""
    last_complete, latest = runs.last_complete(database), runs.recent(database, _RUNS_BACK)
    age = staleness.age(last_complete, latest, now=now)
    return Freshness(
        last_complete=last_complete,
        last_saved=latest[0] if latest else None,
        age=age,
        stale=staleness.is_stale(age, stale_after=settings.stale_after),
    )


def check(database: Database, settings: Settings, *, clock: Callable[[], datetime]) -> Freshness:
    """Return how fresh the books are, having raised the alarm when they are stale; the same alarm once a day.

    Raises:
        DatabaseUnavailable: nothing was written.
    """
    now = clock()
    found = freshness(database, settings, now=now)
    if found.stale and found.age is not None:
        alarm = staleness.alarm(
            found.last_complete,
            found.age,
            now=now,
            dashboard_url=settings.dashboard.url,
            channel=settings.slack.operators_channel,
        )
        with database.write() as connection:
            outbox.add(connection, [alarm], [])
    return found
