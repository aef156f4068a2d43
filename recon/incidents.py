"""What happened, and how it has been going: one incident, and the trends of all cases.

Reads only. Whoever may see the desk may see this; nothing here moves a case.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Self

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.doors.store import affected, revisions, trends
from recon.doors.store.engines import Database
from recon.model.records.incidents import Incident, Window
from recon.model.records.trends import Past
from recon.model.records.words import Kind
from recon.rules import incidents as rules

LOOKED_AT: Final = timedelta(days=1)  # How far before the latest case a burst is looked for.


class Incidents:
    """What the dashboard asks about the past; keeps nothing of anybody's, so that all tabs share it."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the incidents of the database that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        return cls(revisions.ready(config.load(environ).database_url.reveal()))

    def latest(self, kind: Kind) -> Window | None:
        """Return the window of the latest day's densest burst; None where no case is of this kind."""
        found = self.burst(kind)
        return rules.around(found[0], found[-1]) if found else None

    def burst(self, kind: Kind) -> tuple[datetime, ...]:
        """Return when each case of that burst began, in order; none where no case is of this kind."""
        return rules.densest(affected.beginnings(self._database, kind, LOOKED_AT))

    def incident(self, kind: Kind, window: Window) -> Incident:
        """Return who was affected by mismatches of a kind that began in the window."""
        return affected.incident(self._database, kind, window)

    def past(self, days: int) -> Past:
        """Return what is known of so many days, today among them."""
        return trends.past(self._database, days=days, now=self._clock())
