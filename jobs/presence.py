"""Whether somebody listens for clicks, as a row that others can read: a lease that lapses with its holder.

Never keeps a second listener out: Slack spreads clicks over all that are connected, and moves happen once.
"""

import os
import platform
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.errors import ReconError, Stop
from recon.model.records.clicks import LISTENER
from recon.model.records.runs import Lease

log = structlog.get_logger("recon")

BEAT: Final = timedelta(seconds=20)
LASTS: Final = timedelta(seconds=60)  # Two beats may be missed.


class Presence:
    """One listener's sign of life."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._holder = f"{platform.node()}, process {os.getpid()}"
        self._lease: Lease | None = None
        self._next_at = clock()

    def turn(self, *, there: bool) -> bool:
        """Say that somebody is there, or is no longer; return whether it is this listener that says it."""
        now = self._clock()
        if not there:
            self.leave()
            self._next_at = now
        elif now >= self._next_at:
            self._next_at = now + BEAT
            self._beat(now)
        return self._lease is not None

    def leave(self) -> None:
        """Say that nobody is there; nothing where another says that somebody is."""
        if self._lease is None:
            return
        try:
            leases.release(self._database, self._lease)
        except ReconError as away:  # It lapses by itself.
            log.warning("presence", reason=str(away))
        self._lease = None

    def _beat(self, now: datetime) -> None:
        try:
            if self._lease is None:
                self._lease = leases.take(self._database, LISTENER, self._holder, now=now, duration=LASTS)
            else:
                self._lease = leases.renew(self._database, self._lease, now=now, duration=LASTS)
        except Stop:  # Another listener says it.
            self._lease = None
        except ReconError as away:  # The database; clicks will hear of it one by one.
            log.warning("presence", reason=str(away))
