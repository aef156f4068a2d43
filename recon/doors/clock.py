"""What time it is by this machine's clock.

Rules never ask it: to them the time is an argument. Who does anything at a time takes a clock, so that a test
has one of its own.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time, aware and in UTC."""
    return datetime.now(UTC)
