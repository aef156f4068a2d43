"""Whether the hour has stopped: no complete run is young enough, so nobody knows how the books stand.

Never reads a clock or a table.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from recon.model.blocks import clean, duration, message
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.records.words import NoticeState

_DELIVERIES = UUID("2f0d9f4e-5a86-5a0e-8f4b-5e8a0b1c7d21")  # Our namespace of delivery ids; any would do.


def age(last_complete: Run | None, latest: Sequence[Run], *, now: datetime) -> timedelta | None:
    """Return how long the books have not been read completely; None before the first run of all.

    latest: the newest saved runs, of any verdict. Where none was ever complete, the oldest of these counts.
    """
    if last_complete is not None:
        return now - last_complete.finished_at
    return now - min(run.started_at for run in latest) if latest else None


def is_stale(how_long: timedelta | None, *, stale_after: timedelta) -> bool:
    """Return whether that is too long. Before the first run nothing is: nobody has relied on one yet."""
    return how_long is not None and how_long >= stale_after


def alarm(
    last_complete: Run | None, how_long: timedelta, *, now: datetime, dashboard_url: str, channel: str
) -> Notice:
    """Return the alarm; the same within one day for one last complete run, so that it is said once a day."""
    since = last_complete.id if last_complete is not None else "none"
    key = f"stale|{since}|{now:%Y-%m-%d}"
    title = f"Stale: no complete run for {duration(how_long)}"
    last = (
        f"The last one ended at {last_complete.finished_at:%Y-%m-%d %H:%M} UTC"
        if last_complete is not None
        else "There was none yet"
    )
    rest = (
        f"{last}. What happened since is not known: no case is opened or cleared. Look at the job and its "
        f"log, then at `recon status`. {clean(dashboard_url)}"
    )
    return Notice(
        id=None,
        dedupe_key=key,
        delivery_id=str(uuid5(_DELIVERIES, key)),
        thread_key=key,
        target=channel,
        verb="root",
        message=message(f"{title}. {rest}", title, [rest]),
        case_ids=(),
        state=NoticeState.WAITING,
        created_at=now,
        next_at=now,
    )
