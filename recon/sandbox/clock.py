"""Sandbox time: starts at the real now, runs with it, and can be moved by hand.

It never slows or stops; hangs and latency are measured in real time instead.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """A wall clock with an offset that a control call may change."""

    def __init__(self) -> None:
        self._offset_s = 0.0

    def now(self) -> float:
        """Sandbox time in seconds since the epoch."""
        return time.time() + self._offset_s

    def advance(self, seconds: float) -> None:
        """Move sandbox time; a negative number moves it back."""
        self._offset_s += seconds

    def set(self, moment: datetime) -> None:
        """Make sandbox time an aware moment, from which it runs on."""
        self._offset_s = moment.timestamp() - time.time()

    def iso(self) -> str:
        """Sandbox time as ISO 8601 in UTC, to the microsecond."""
        return iso(self.now())


def iso(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 with a Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
