"""Alarms about the system itself: when the runs have stopped and are back, and when calls of a tool are odd.

Never sends anything: delivery does. Throws a tool's kill switch where tools.toml says so; never lifts one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from recon.doors.store import calls as recorded
from recon.doors.store import outbox, runs, switches
from recon.doors.store.engines import Database
from recon.model import bursts, registry
from recon.model.records.cases import JOB
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.records.tools import Burst, Switch, SwitchMove, Tool, ToolCall
from recon.model.settings import Settings
from recon.rules import alerts, staleness

_DAY = timedelta(days=1)  # How far back a burst is followed that does not end.
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


def calls(database: Database, settings: Settings, *, clock: Callable[[], datetime]) -> tuple[Burst, ...]:
    """Return the bursts of odd calls that are told about now, having told them and thrown their switches.

    Each is said once, and again when it has doubled and when it is over.

    Raises:
        ConfigurationError: tools.toml is not as its format says. Nothing was written.
        DatabaseUnavailable: what was not told yet is told next time.
    """
    now, declared = clock(), registry.parse(settings.tools)
    stands = switches.every(database)
    told, read_from = recorded.since(database, now - alerts.reach(declared.values()))
    found = []
    for name, mine in alerts.by_tool(told).items():
        tool = declared.get(name) or registry.undeclared(name)
        switch = stands.get(name, Switch(name))
        burst = _burst(database, tool, switch, (mine, read_from), now)
        if burst is not None and _tell(database, settings, tool, switch, burst, now=now):
            found.append(burst)
    return tuple(found)


def _burst(
    database: Database,
    tool: Tool,
    switch: Switch,
    read: tuple[Sequence[ToolCall], datetime],
    now: datetime,
) -> Burst | None:
    """Return a tool's burst from what was read, or from a day where that does not show its beginning."""
    told, read_from = alerts.counted(read[0], switch, read[1])
    burst = alerts.burst(told, tool, read_from=read_from)
    if burst is None or burst.whole:
        return burst
    day, since = recorded.since(database, now - _DAY, tool=tool.name)
    told, read_from = alerts.counted(day, switch, since)
    return alerts.burst(told, tool, read_from=read_from)


def _tell(
    database: Database, settings: Settings, tool: Tool, switch: Switch, burst: Burst, *, now: datetime
) -> bool:
    """Say what is new of a burst, and throw the switch where that is asked for; False where nothing is."""
    known = outbox.threads_from(database, f"{alerts.ALERTS}{tool.name}|")
    key = alerts.thread(burst, known, now=now)
    news = partial(
        alerts.news,
        burst,
        tool,
        key=key,
        begun=key in known,
        now=now,
        dashboard_url=settings.dashboard.url.rstrip("/"),
        channel=settings.slack.operators_channel,
    )
    throws = alerts.throws(burst, tool, switch, now=now)
    said = news(switch, thrown=False)
    if not throws and all(outbox.named(database, each.dedupe_key) for each in said):
        return False
    with database.write() as connection:
        after = _thrown(connection, burst, switch, key, now) if throws else switch
        outbox.add(connection, news(after, thrown=after.version > switch.version))
    return True


def _thrown(connection: Connection, burst: Burst, switch: Switch, key: str, now: datetime) -> Switch:
    """Return the switch after the alert has thrown it; as it was where somebody else is at it just now."""
    after = switches.move(
        connection,
        switch,
        SwitchMove.THROWN,
        actor=JOB,
        reason=bursts.reason(burst),
        now=now,
        action_id=f"alert:{key}",
    )
    return switch if after is None else after
