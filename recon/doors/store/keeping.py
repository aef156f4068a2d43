"""A lease held for as long as a job takes: waited for if asked, renewed in time, given back at the end.

Never writes anything but the lease's own row.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.errors import LeaseHeld
from recon.model.records.runs import Lease

Clock = Callable[[], datetime]
Sleep = Callable[[float], None]

AT_ONCE = timedelta(0)  # Not to wait at all.
_LOOKS_EVERY = timedelta(seconds=1)  # A run takes seconds to minutes, and a look is one small statement.


@dataclass(slots=True)
class Keeper:
    """Holds the lease and renews it in time."""

    database: Database
    lease: Lease
    duration: timedelta
    clock: Clock

    def current(self) -> Lease:
        """Return the lease, renewed once a third of it is gone.

        Raises:
            LeaseLost: Another has taken it. Nothing was written.
        """
        now = self.clock()
        if self.lease.expires_at - now < self.duration * 2 / 3:
            self.lease = leases.renew(self.database, self.lease, now=now, duration=self.duration)
        return self.lease


@contextmanager
def kept(
    database: Database,
    name: str,
    *,
    duration: timedelta,
    clock: Clock,
    wait: timedelta = AT_ONCE,
    sleep: Sleep = time.sleep,
) -> Iterator[Keeper]:
    """Take the lease, and give it back unless another has it by then.

    wait: how long to look for it again while somebody holds it. What counts is what was slept, not the clock,
    which may jump.

    Raises:
        LeaseHeld: Somebody holds it still. Nothing was written.
    """
    lease = _taken(database, name, duration=duration, clock=clock, wait=wait, sleep=sleep)
    keeper = Keeper(database, lease, duration, clock)
    try:
        yield keeper
    finally:
        leases.release(database, keeper.lease)


def _taken(
    database: Database, name: str, *, duration: timedelta, clock: Clock, wait: timedelta, sleep: Sleep
) -> Lease:
    holder = f"{platform.node()}, process {os.getpid()}"
    while True:
        try:
            return leases.take(database, name, holder, now=clock(), duration=duration)
        except LeaseHeld:  # Another run is at it.
            if wait <= AT_ONCE:
                raise
        pause = min(wait, _LOOKS_EVERY)
        sleep(pause.total_seconds())
        wait -= pause
