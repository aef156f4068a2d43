"""What is said of a time that should be there: how it should be written, and what stands there instead."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

import pandas as pd

from recon.model import cells, mapping
from recon.model.mapping import Column

MILLISECONDS = "which looks like milliseconds since 1970"
"""Said of a time that a map may say is one."""


def expected(how: Column, zone: str) -> str:
    """Return which times are expected."""
    if how.format == mapping.ISO:
        return f"an ISO 8601 time {'in' if zone else 'with its zone'}{zone and f' {zone}'}, or Unix seconds"
    where = f" in {zone}" if zone and _is_zoneless(how) else ""
    return f"a time written as {how.format}{where}, as the map says"


def found(value: object, how: Column, zone: str) -> str:
    """Return what stands where a time should; of a time that the zone's clocks skip or show twice, that."""
    shown = cells.shown(value)
    if re.fullmatch(r"1[0-9]{12}(\.0*)?", str(value).strip()):
        return f"{shown}, {MILLISECONDS}"
    naive = _naive(value, how) if zone and _is_zoneless(how) else None
    if naive is None:
        return shown
    there = mapping.zone_of(zone)
    if _is_skipped(naive, there):
        return f"{shown}, in an hour that the clocks of {zone} skipped: is it the zone of these times?"
    if _is_shown_twice(naive, there):
        return f"{shown}, in an hour that the clocks of {zone} showed twice: nothing says which one is meant"
    return shown


def _is_zoneless(how: Column) -> bool:
    """Return whether times of this form say no zone of their own."""
    return how.format not in mapping.EPOCHS and "z" not in mapping.directives(how.format)


def _naive(value: object, how: Column) -> datetime | None:
    """Return a cell as the time on somebody's clock; None where it is none."""
    read: object
    if isinstance(value, datetime):  # Of Parquet and the like.
        read = pd.Timestamp(value)
    elif how.format != mapping.ISO:
        read = pd.to_datetime(str(value), format=how.format, errors="coerce")
    else:
        return _naive_iso(str(value))
    if not isinstance(read, pd.Timestamp) or read.tzinfo is not None:
        return None
    return read.to_pydatetime(warn=False)


def _naive_iso(text: str) -> datetime | None:
    if not re.match(f"{cells.ZONELESS_TIME}|{cells.DATE}", text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # No such day or hour.
        return None


def _is_skipped(naive: datetime, zone: tzinfo) -> bool:
    """Return whether no clock of the zone shows a time: there and back again it is another."""
    back = naive.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    return back.replace(tzinfo=None, fold=0) != naive


def _is_shown_twice(naive: datetime, zone: tzinfo) -> bool:
    first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return (first.utcoffset() or timedelta()) != (second.utcoffset() or timedelta())
