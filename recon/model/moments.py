"""A time that somebody has typed, read. Never takes one without its zone: nobody knows when that is."""

from datetime import UTC, datetime


def read(text: str) -> datetime | None:
    """Return an ISO 8601 time in UTC; None where it is none, has no zone, or is no time of ours in UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):  # No time, or one that in UTC lies outside the years 1 to 9999.
        return None
