"""Whether the hour has stopped: no complete run is young enough, so nobody knows how the books stand.

Never reads a clock or a table.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from recon.model.blocks import clean, message, section
from recon.model.phrases import duration, minute
from recon.model.records.notices import ALARM, Message, Notice, Thread
from recon.model.records.runs import Run

_AGAIN = timedelta(days=1)  # How long one alarm holds: who has not acted on it by then is asked anew.
ALARMS = "stale|"  # What the key of each alarm, and of its thread, begins with.


def age(last_complete: Run | None, others: Sequence[Run], *, now: datetime) -> timedelta | None:
    """Return how long the books have not been read completely; None before the first run of all.

    others: saved runs of any verdict. Where none was ever complete, the oldest of these counts.
    """
    if last_complete is not None:
        return max(now - _ended(last_complete, now), timedelta(0))
    return max(now - min(run.started_at for run in others), timedelta(0)) if others else None


def is_stale(how_long: timedelta | None, *, stale_after: timedelta) -> bool:
    """Return whether that is too long. Before the first run nothing is: nobody has relied on one yet."""
    return how_long is not None and how_long >= stale_after


def alarm(
    last_complete: Run | None,
    how_long: timedelta,
    *,
    stale_after: timedelta,
    now: datetime,
    dashboard_url: str,
    channel: str,
) -> Notice:
    """Return the alarm; the same for a day from its beginning on, so that it is said once in 24 hours."""
    key = f"{_since(last_complete)}{(how_long - stale_after) // _AGAIN:05d}"
    title = f"Stale: no complete run for {duration(how_long)}"
    last = (
        f"The last one ended at {minute(last_complete.finished_at)}"
        if last_complete is not None
        else "There was none yet"
    )
    rest = (
        f"{last}. What happened since is not known: no case is opened or cleared. What to do: look at the "
        f"job and its log, then at `recon status`. {clean(dashboard_url)}"
    )
    return _notice(key, key, "root", message(f"{title}. {rest}", title, [rest]), target=channel, now=now)


def over(
    complete: Sequence[Run], threads: Mapping[str, Thread], *, whole: bool, now: datetime
) -> tuple[Notice, ...]:
    """Return the word that it is over, for the last alarm before each of these runs; none where none was.

    complete: the latest complete runs, newest first. whole: these are all there ever were. threads: those of
    alarms. The word is the same each time, so that it is said once.
    """
    before: list[Run | None] = [*complete[1:], *([None] if whole else [])]
    said = []
    for back, last in zip(complete, before, strict=False):
        alarms = sorted(key for key in threads if key.startswith(_since(last)))
        if alarms:
            gap = (
                f"{duration(back.finished_at - last.finished_at)} after the one before it"
                if last is not None
                else "the first of all"
            )
            text = (
                f"Over: a complete run ended at {minute(back.finished_at)}, {gap}. It read what "
                "happened meanwhile."
            )
            key = alarms[-1]
            told = Message(text, (section(text),))
            said.append(_notice(f"over|{key}", key, "reply", told, target=threads[key].target, now=now))
    return tuple(said)


def _ended(run: Run, now: datetime) -> datetime:
    """Return when a run ended; a clock that was wrong has put it ahead of now, and the provider's has not."""
    return run.finished_at if run.finished_at <= now else min(run.as_of, run.finished_at)


def _since(last_complete: Run | None) -> str:
    """Return what the keys of all alarms since this run begin with."""
    return f"{ALARMS}{last_complete.id if last_complete is not None else 'none'}|"


def _notice(key: str, thread: str, verb: str, told: Message, *, target: str, now: datetime) -> Notice:
    return Notice.new(key, verb, told, thread_key=thread, target=target, urgency=ALARM, now=now)
