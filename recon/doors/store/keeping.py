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
from recon.model.records.progress import Waiting
from recon.model.records.runs import Lease

Clock = Callable[[], datetime]
Sleep = Callable[[float], None]
Tell = Callable[[Waiting], None]

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
    tell: Tell | None = None,
) -> Iterator[Keeper]:
    """Take the lease, and give it back unless another has it by then.

    wait: how long to look for it again while somebody holds it. What counts is what was slept, not the clock,
    which may jump. tell: told once for whom it waits, as soon as it does.

    Raises:
        LeaseHeld: Somebody holds it still. Nothing was written.
    """
    waiting = _Waiter(database, name, clock, sleep, tell)
    lease = waiting.taken(duration=duration, wait=wait)
    keeper = Keeper(database, lease, duration, clock)
    try:
        yield keeper
    finally:
        leases.release(database, keeper.lease)


@dataclass(slots=True)
class _Waiter:
    """Waits for the lease, and says once for whom. tell: None where nobody listens, or has heard it."""

    database: Database
    name: str
    clock: Clock
    sleep: Sleep
    tell: Tell | None

    def taken(self, *, duration: timedelta, wait: timedelta) -> Lease:
        """Return the lease as soon as it is free."""
        holder = f"{platform.node()}, process {os.getpid()}"
        while True:
            try:
                return leases.take(self.database, self.name, holder, now=self.clock(), duration=duration)
            except LeaseHeld:  # Another run is at it.
                if wait <= AT_ONCE:
                    raise
            self._say()
            pause = min(wait, _LOOKS_EVERY)
            self.sleep(pause.total_seconds())
            wait -= pause

    def _say(self) -> None:
        if self.tell is None:
            return
        held = leases.held(self.database, self.name, now=self.clock())
        if held is not None:  # It may have been given back between the two looks.
            self.tell(Waiting(held.holder, held.expires_at))
            self.tell = None
