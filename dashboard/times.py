"""How moments and spans are written: in the viewer's zone with UTC beside it, or in UTC and saying so."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


def moment(at: datetime, zone: tzinfo = UTC) -> str:
    """Return the moment in the zone, UTC in brackets where they differ: "29 Nov 2026, 15:02 (14:02 UTC)"."""
    there, utc = at.astimezone(zone), at.astimezone(UTC)
    shown = f"{there.day} {there:%b %Y, %H:%M}"
    if there.utcoffset() == timedelta(0):
        return f"{shown} UTC"
    return (
        f"{shown} ({utc:%H:%M} UTC)"
        if there.date() == utc.date()
        else f"{shown} ({utc.day} {utc:%b %H:%M} UTC)"
    )


def exact(at: datetime, zone: tzinfo = UTC) -> str:
    """Return the moment to the second in the zone, with UTC beside it: two refunds may be seconds apart."""
    there, utc = at.astimezone(zone), at.astimezone(UTC)
    shown = f"{there.day} {there:%b %Y, %H:%M:%S}"
    return f"{shown} UTC" if there.utcoffset() == timedelta(0) else f"{shown} ({utc:%H:%M:%S} UTC)"


def short(at: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """Return the moment in the zone, whose name the column's heading says; long ago, the day only."""
    there = at.astimezone(zone)
    recent = timedelta(0) <= now - at < timedelta(days=300)
    return f"{there.day:02} {there:%b, %H:%M}" if recent else f"{there.day:02} {there:%b %Y}"


def day(at: datetime, zone: tzinfo = UTC) -> str:
    """Return the day of the moment in the zone: "29 Nov 2026"."""
    there = at.astimezone(zone)
    return f"{there.day} {there:%b %Y}"


def clock(at: datetime) -> str:
    """Return the hour and minute in UTC."""
    return f"{at.astimezone(UTC):%H:%M}"


def zone_name(now: datetime, zone: tzinfo) -> str:
    """Return what a column's heading calls the zone: CET, or +13 where it has no letters."""
    return f"{now.astimezone(zone):%Z}" or "UTC"


def span(length: timedelta) -> str:
    """Return the length in at most two units, rounded down: "12 min", "3 h 20 min", "4 d 2 h"."""
    seconds = max(int(length.total_seconds()), 0)
    if seconds < MINUTE:
        return "under a minute"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        hours, rest = divmod(seconds, HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    days, rest = divmod(seconds, DAY)
    return f"{days} d {rest // HOUR} h" if rest >= HOUR else f"{days} d"


def ago(at: datetime, now: datetime) -> str:
    """Return how long ago the moment was: "just now", "12 min ago"."""
    return "just now" if now - at < timedelta(minutes=1) else f"{span(now - at)} ago"
