"""The tick, once a minute: is the hour alive, are calls odd, what is due to be said, is everything told.

Then it looks up what the guarded tool left unknown; it sends nothing.

Exit 0 done, 2 configuration, 3 a service is away, 4 notices given up, or Slack is away.
"""

import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta

from recon.cli import exits, extras

with extras.required("This job", "job,slack"):
    from jobs import post, vitals
    from jobs.shift import log, takes_nothing, work
    from recon import guard, reminding, watch
    from recon.doors.clock import utc_now
    from recon.doors.store.engines import Database
    from recon.model.errors import ReconError
    from recon.model.settings import Settings

DELIVERY_BUDGET = timedelta(seconds=20)  # A reply behind its root; for the rest the next tick comes soon.


def main() -> int:
    """Tick once, and return the exit code."""
    return work("tick", tick, failed=lambda settings, _: vitals.write(settings, now=utc_now()))


def tick(database: Database, settings: Settings) -> int:
    """Watch, remind, then deliver, so that what they say goes out at once; return the exit code.

    What stops another part is told by the exit code, and never keeps back what waits to be delivered.
    """
    codes = [_part(part, database, settings) for part in (_watch, _calls, _remind)]
    report = post.deliver(database, settings, clock=utc_now, budget=DELIVERY_BUDGET)
    codes.append(_part(_settle, database, settings))  # Last: a provider that is away holds up no message.
    vitals.write(settings, now=utc_now())  # Between two hours too: alerts look at the notices.
    undelivered = exits.UNDELIVERED if report.given_up or report.away else exits.OK
    return next((code for code in (*codes, undelivered) if code != exits.OK), exits.OK)


def _part(part: Callable[[Database, Settings], None], database: Database, settings: Settings) -> int:
    """Do one part before the delivery, and return its exit code; what went wrong is in the log."""
    try:
        part(database, settings)
    except ReconError as error:  # The database is away, or owners.toml is not as it should be.
        code = exits.of(error)
        log.error("failed", part=part.__name__.strip("_"), reason=str(error), exit_code=code)
        return code
    except Exception:  # noqa: BLE001 - a bug, shown whole in the log; messages go out all the same
        log.exception("bug", part=part.__name__.strip("_"), exit_code=exits.BUG)
        return exits.BUG
    return exits.OK


def _watch(database: Database, settings: Settings) -> None:
    found = watch.check(database, settings, clock=utc_now)
    if found.stale and found.age is not None:
        log.error("stale", age_seconds=int(found.age.total_seconds()))


def _calls(database: Database, settings: Settings) -> None:
    for burst in watch.calls(database, settings, clock=utc_now):
        log.warning("duplicate_calls", tool=burst.tool, calls=burst.calls, intents=burst.subjects)


def _remind(database: Database, settings: Settings) -> None:
    found = reminding.remind(database, settings, clock=utc_now)
    if found.total:
        log.info("reminded", **asdict(found))


def _settle(database: Database, settings: Settings) -> None:
    found = guard.settle(database, settings, clock=utc_now)
    if found.looked or found.cancelled:
        log.info("settled", **asdict(found))


if __name__ == "__main__":
    takes_nothing("tick", __doc__)
    sys.exit(main())
