"""The desk's door: what signs people in here, and who they are by it.

Reads the settings once, when it is opened, and no database: whether a sign-in still counts, the desk says at
each action.
"""

from collections.abc import Iterable, Mapping
from typing import Self

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.model.errors import ConfigurationError
from recon.model.records.people import Arrival, Operator, Refused
from recon.model.settings import Settings
from recon.rules import arrivals, entrances


class Admission:
    """Says who somebody at the door is; keeps nothing of anybody's."""

    def __init__(self, settings: Settings, clock: Clock = utc_now) -> None:
        self.settings = settings
        self._clock = clock

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the door as the settings describe it.

        Raises:
            ConfigurationError: the settings cannot be read, or the way in lacks something.
        """
        settings = config.load(environ)
        for lack in entrances.lacks(settings.dashboard, settings.sign_in):
            raise ConfigurationError(f"{lack.found} {lack.todo}")
        return cls(settings)

    @property
    def mode(self) -> str:
        """Return the way in: local, oidc or proxy."""
        return self.settings.dashboard.mode

    def by_claims(self, claims: Mapping[str, object]) -> Operator | Refused:
        """Return whom the provider's id token signs in, or why they do not come in."""
        return arrivals.by_claims(claims, self.settings.sign_in, now=self._clock())

    def by_headers(self, headers: Iterable[arrivals.Header]) -> Arrival | Refused:
        """Return whom the proxy's headers vouch for, or why they do not."""
        return arrivals.by_headers(headers, self.settings.sign_in, now=self._clock())

    def admitted(self, arrival: Arrival) -> Operator | Refused:
        """Return whom the proxy vouched for with their role, or why they do not come in."""
        return arrivals.admitted(arrival, self.settings.sign_in)
