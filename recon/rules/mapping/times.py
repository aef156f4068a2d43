"""How the times of a column are written, by looking at all of them.

Never says which zone a time without one is in, nor which of two numbers is the month where both could be.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from recon.model import cells, mapping

# From 1973 to 2286, as numbers of seconds and of their parts.
_COUNTED = (
    (re.compile(cells.UNIX), "unix"),
    (re.compile(r"[0-9]{12,13}(\.0*)?"), "unix_ms"),
    (re.compile(r"[0-9]{15,16}(\.0*)?"), "unix_us"),
)
_DAYS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y-%m-%d",
    "%Y%m%d",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
)
_CLOCKS = ("", "%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%H:%M:%S.%f", "%H:%M %z", "%H:%M:%S %z")
_BETWEEN = (" ", ", ", "T")
_TRIED = 400  # Cells; more of one program's would say the same.
_MOST = 0.6  # Of the cells must fit: the others are named when they are rejected.


@dataclass(frozen=True, slots=True)
class Written:
    """How times are written.

    count: cells that hold something. fits: those that the format reads. format: as a map names it. others:
    formats that read as many. zoneless: those that say no zone. dates: those that say no time of day.
    """

    count: int
    fits: int
    format: str = mapping.ISO
    others: tuple[str, ...] = ()
    zoneless: int = 0
    dates: int = 0


def look(held: Iterable[object]) -> Written | None:
    """Return how times are written; None where they are no times."""
    listed = [cell for cell in held if not isinstance(cell, bool)][:_TRIED]
    texts = [_text(cell) for cell in listed]
    if not texts:
        return None
    found = max((_as_iso(texts), *_as_counts(texts)), key=lambda one: one.fits)
    if found.fits < _MOST * len(texts):
        found = max((found, _as_pattern(texts)), key=lambda one: one.fits)
    return found if found.fits >= _MOST * len(texts) else None


def _text(cell: object) -> str:
    """Return a cell as text; a time as it is in ISO 8601."""
    return cell.isoformat() if isinstance(cell, datetime) else str(cell).strip()


def _as_iso(texts: list[str]) -> Written:
    """Return how many are ISO 8601."""
    zoned = sum(bool(re.fullmatch(cells.ZONED_TIME, text)) for text in texts)
    bare = sum(bool(re.fullmatch(cells.ZONELESS_TIME, text)) for text in texts)
    dates = sum(bool(re.fullmatch(cells.DATE, text)) for text in texts)
    return Written(len(texts), zoned + bare + dates, zoneless=bare + dates, dates=dates)


def _as_counts(texts: list[str]) -> list[Written]:
    """Return how many are numbers since 1970."""
    return [
        Written(len(texts), sum(bool(pattern.fullmatch(text)) for text in texts), name)
        for pattern, name in _COUNTED
    ]


def _as_pattern(texts: list[str]) -> Written:
    """Return the patterns of strptime's that read most."""
    distinct = list(dict.fromkeys(texts))
    begins = distinct[:3]
    likely = [pattern for pattern in _patterns() if any(_reads(pattern, text) for text in begins)]
    fits = {pattern: sum(_reads(pattern, text) for text in texts) for pattern in likely}
    most = max(fits.values(), default=0)
    best = [pattern for pattern, count in fits.items() if count == most]
    if not best:
        return Written(len(texts), 0)
    zoneless = 0 if "%z" in best[0] else most
    dates = most if not any(mark in best[0] for mark in ("%H", "%I")) else 0
    return Written(len(texts), most, best[0], tuple(best[1:]), zoneless, dates)


@cache
def _patterns() -> tuple[str, ...]:
    """Return the patterns that are tried."""
    joined = [
        day if not clock else f"{day}{between}{clock}"
        for day in _DAYS
        for clock in _CLOCKS
        for between in _BETWEEN
    ]
    return tuple(dict.fromkeys(joined))


@cache
def _marks(pattern: str) -> frozenset[str]:
    """Return what stands between the parts of a pattern."""
    return frozenset(re.sub("%[A-Za-z]", "", pattern))


def _reads(pattern: str, text: str) -> bool:
    """Return whether a pattern reads a text."""
    if not _marks(pattern) <= set(text):  # Much quicker than asking strptime about each of hundreds.
        return False
    try:
        datetime.strptime(text, pattern)  # noqa: DTZ007 - whether it is a date at all.
    except ValueError:
        return False
    return True
