"""What acts in the world for a guarded tool, as the guard sees it.

Never decides what an act means for the intent: rules/guarding.py does.
"""

from datetime import datetime
from typing import Protocol

from recon.model.records.guarded import Answer, Finding, Guarded


class Hands(Protocol):
    """What acts in the world for one tool. None of these raises for what the world does.

    until: when each must have ended, on time.monotonic(); after that nothing is sent.
    """

    def send(self, row: Guarded, *, until: float) -> Answer:
        """Send the row's body once, with the row's key, and return what that means."""

    def find(self, row: Guarded, *, until: float) -> Finding:
        """Return what the world shows of it; absent only when everything was read."""

    def check(self, row: Guarded, *, until: float) -> Finding:
        """Return how what was made stands now."""

    def now(self) -> datetime | None:
        """Return the world's own time at its latest answer; None where it tells none."""
