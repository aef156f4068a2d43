"""The tick, once a minute: is the hour still alive, and is everything told.

Exit 0 done, 2 configuration, 3 a service is away, 4 notices given up, or Slack is away.
"""

import sys
from datetime import UTC, datetime, timedelta

from jobs import vitals
from jobs.hourly import deliver
from jobs.shift import log, takes_nothing, work
from recon import watch
from recon.cli import exits
from recon.doors.store.engines import Database
from recon.model.settings import Settings

DELIVERY_BUDGET = timedelta(seconds=20)  # A reply behind its root; for the rest the next tick comes soon.


def main() -> int:
    """Tick once, and return the exit code."""
    return work("tick", tick, failed=lambda settings, _: vitals.write(settings, now=datetime.now(UTC)))


def tick(database: Database, settings: Settings) -> int:
    """Watch, then deliver, so that an alarm goes out at once; return the exit code."""
    found = watch.check(database, settings, clock=lambda: datetime.now(UTC))
    if found.stale and found.age is not None:
        log.error("stale", age_seconds=int(found.age.total_seconds()))
    report = deliver(database, settings, budget=DELIVERY_BUDGET)
    vitals.write(settings, now=datetime.now(UTC))  # Between two hours too: alerts look at the notices.
    return exits.UNDELIVERED if report.given_up or report.away else exits.OK


if __name__ == "__main__":
    takes_nothing("tick", __doc__)
    sys.exit(main())
