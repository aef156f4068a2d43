"""Alarms about the system itself: when the runs have stopped, and when they are back, one notice each.

Never sends anything: delivery does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from recon.doors.store import outbox, runs
from recon.doors.store.engines import Database
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.settings import Settings
from recon.rules import staleness

_COMPLETE_BACK = 12  # Complete runs whose alarms may still have to be ended: half a day without a tick.


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
    last_complete = runs.last_complete(database)
    first = runs.first(database) if last_complete is None else None
    age = staleness.age(last_complete, (first,) if first is not None else (), now=now)
    return Freshness(
        last_complete=last_complete,
        last_saved=runs.last_saved(database),
        age=age,
        stale=staleness.is_stale(age, stale_after=settings.stale_after),
    )


def check(database: Database, settings: Settings, *, clock: Callable[[], datetime]) -> Freshness:
    """Return how fresh the books are, having raised the alarm when they are stale, or ended it.

    It is said again each day, and its end once, in the thread of the last one.

    Raises:
        DatabaseUnavailable: nothing was written.
    """
    now = clock()
    found = freshness(database, settings, now=now)
    said: tuple[Notice, ...] = ()
    if found.stale and found.age is not None:
        alarm = staleness.alarm(
            found.last_complete,
            found.age,
            stale_after=settings.stale_after,
            now=now,
            dashboard_url=settings.dashboard.url,
            channel=settings.slack.operators_channel,
        )
        said = (alarm,)
    elif alarms := outbox.threads_from(database, staleness.ALARMS):
        complete = runs.recent_complete(database, _COMPLETE_BACK)
        said = staleness.over(complete, alarms, whole=len(complete) < _COMPLETE_BACK, now=now)
    said = tuple(each for each in said if outbox.named(database, each.dedupe_key) is None)
    if said:
        with database.write() as connection:
            outbox.add(connection, said)
    return found
