"""Counts by hour in a zone, for charts; by day, month, year or century where hours would be too many."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

MOST = 240  # Bars that one chart shows: ten days of hours. More would be thinner than a line.
OF_DAY = 24


@dataclass(frozen=True, slots=True)
class Bars:
    """Several series over the same bars. width: hour, day, month, year or century.

    starts: where each bar begins, as the zone's clock says it, without a zone; none is left out in between.
    series: counts per bar, by the name of the series.
    """

    width: str
    starts: tuple[datetime, ...]
    series: Mapping[str, tuple[int, ...]]


def bars(series: Mapping[str, Iterable[tuple[datetime, int]]], zone: tzinfo) -> Bars:
    """Return the counts of each series in the finest width that needs no more than MOST bars.

    series: times with how many of something, each a whole quarter of an hour or any other time.
    """
    told = {
        name: [(local(at, zone).replace(tzinfo=None), n) for at, n in times] for name, times in series.items()
    }
    every = [at for times in told.values() for at, _ in times]
    if not every:
        return Bars("hour", (), dict.fromkeys(series, ()))
    width, begin, starts = _finest(min(every), max(every))
    place = {start: number for number, start in enumerate(starts)}
    counted = {}
    for name, times in told.items():
        counts = [0] * len(starts)
        for at, n in times:
            counts[place[begin(at)]] += n
        counted[name] = tuple(counts)
    return Bars(width, tuple(starts), counted)


def of_day(times: Iterable[tuple[datetime, int]], zone: tzinfo) -> tuple[int, ...]:
    """Return how many there are in each of the day's 24 hours, as the zone's clock says them."""
    counts: Counter[int] = Counter()
    for at, n in times:
        counts[local(at, zone).hour] += n
    return tuple(counts[hour] for hour in range(OF_DAY))


def local(at: datetime, zone: tzinfo) -> datetime:
    """Return a time in a zone; as it is where the calendar ends before the zone's time does."""
    try:
        return at.astimezone(zone)
    except OverflowError:  # The first or the last day of all, and a zone on the other side of it.
        return at


def _finest(first: datetime, last: datetime) -> tuple[str, Callable[[datetime], datetime], list[datetime]]:
    """Return a width, what begins a bar of it, and every beginning from the first to the last."""
    for width, (begin, following) in _WIDTHS.items():
        starts = _between(begin(first), begin(last), following)
        if starts:
            return width, begin, starts
    raise AssertionError("a calendar has fewer centuries than a chart has bars")


def _between(first: datetime, last: datetime, following: Callable[[datetime], datetime]) -> list[datetime]:
    """Return every start from first to last; nothing where they are too many."""
    starts = [first]
    while starts[-1] < last:
        if len(starts) == MOST:
            return []
        starts.append(following(starts[-1]))
    return starts


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0, fold=0)


def _day(at: datetime) -> datetime:
    return _hour(at).replace(hour=0)


def _month(at: datetime) -> datetime:
    return _day(at).replace(day=1)


def _year(at: datetime) -> datetime:
    return _month(at).replace(month=1)


def _century(at: datetime) -> datetime:
    return _year(at).replace(year=max(1, at.year - at.year % 100))


def _next_century(at: datetime) -> datetime:
    return at.replace(year=at.year - at.year % 100 + 100)


_WIDTHS: Mapping[str, tuple[Callable[[datetime], datetime], Callable[[datetime], datetime]]] = {
    "hour": (_hour, lambda at: at + timedelta(hours=1)),
    "day": (_day, lambda at: at + timedelta(days=1)),
    "month": (_month, lambda at: _month(at + timedelta(days=32))),
    "year": (_year, lambda at: at.replace(year=at.year + 1)),
    "century": (_century, _next_century),
}
