"""The trends as the page shows them: frames for its charts and the same as tables of text.

Money is text in a table; in a chart it is major units, which may be rounded there and nowhere else.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import dropwhile, pairwise
from typing import Final

import pandas as pd

from dashboard import safe, tables, times, words
from recon.model import money
from recon.model.records.results import Money
from recon.model.records.trends import AGES, Agreed, Answer, Day, Heap, Past, Speed
from recon.model.records.words import Kind
from recon.rules import trends as rules

COLOR: Final = "#5b9ab8"  # Seen on a light and on a dark page.
PERIODS: Final = (7, 30, 90)
USUAL: Final = 30  # Days: what a month was like is asked most.
UNKNOWN_EXPONENT: Final = 0  # Of a currency that is not the provider's: its minor units are drawn.

AGE_NAMES: Final = (
    "under 1 h",
    *(f"{times.span(younger)} to {times.span(older)}" for younger, older in pairwise(AGES)),
    f"{times.span(AGES[-1])} or more",
)
ANSWERS: Final = {Answer.ACKNOWLEDGED: "Acknowledged or decided", Answer.SETTLED: "Settled"}


def called(day: date) -> str:
    """Return what a day is called below a chart and in a table."""
    return f"{day.day} {day:%b}"


def waiting(days: Iterable[Day]) -> pd.DataFrame:
    """Return one row per day, in order: its name and how many cases waited at its end."""
    return pd.DataFrame([(called(day.day), day.cases) for day in days], columns=["Day", "Value"])


def at_risk(days: Iterable[Day], currency: str) -> pd.DataFrame:
    """Return one row per day, in order: its name and what was at risk in one currency, in major units."""
    unit = 10 ** money.EXPONENTS.get(currency, UNKNOWN_EXPONENT)
    rows = [(called(day.day), day.at_risk.get(currency, 0) / unit) for day in days]
    return pd.DataFrame(rows, columns=["Day", "Value"])


def by_day(days: Iterable[Day], currencies: Sequence[str]) -> pd.DataFrame:
    """Return the same as a table for reading, the latest day first: each currency in a column of its own.

    It ends with the first day on which anything waited.
    """
    days = list(dropwhile(lambda day: not day.cases, days))
    rows = [
        (called(day.day), f"{day.cases:,}", *(_amount(day.at_risk.get(each, 0), each) for each in currencies))
        for day in days
    ]
    names = [currency_name(each) for each in currencies]
    return pd.DataFrame(list(reversed(rows)), columns=["Day", "Waiting", *names], dtype="str")


def aging(past: Past) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how old what waits is: for a chart the number of cases, and as a table with its money."""
    counts, heaps = rules.aged(past), rules.ages(past)
    chart = pd.DataFrame(list(zip(AGE_NAMES, counts, strict=True)), columns=["Day", "Value"])
    rows = [
        (name, f"{count:,}", _amounts(heap for heap in heaps if heap.age == age))
        for age, (name, count) in enumerate(zip(AGE_NAMES, counts, strict=True))
    ]
    return chart, pd.DataFrame(rows, columns=["Age", "Waiting", "At risk"], dtype="str")


def speeds(found: Iterable[Speed], heading: str, names: Mapping[str, str]) -> pd.DataFrame:
    """Return how soon each name was answered, as a table for reading."""
    rows = [
        (
            safe.plain(names.get(speed.name, speed.name)),
            f"{speed.cases:,}",
            minutes(speed.median_minutes),
            minutes(speed.ninetieth_minutes),
        )
        for speed in found
    ]
    return pd.DataFrame(rows, columns=[heading, "Cases", "Half within", "9 in 10 within"], dtype="str")


def kinds() -> Mapping[str, str]:
    """Return what each kind is called."""
    return {kind.value: words.KINDS[kind] for kind in Kind}


def agreed(days: Iterable[Agreed]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how much of what was judged agreed: in percent for a chart, and as a table with its numbers."""
    known = [day for day in days if day.intents]
    chart = [(called(day.day), round(100 * day.matched / day.intents, 2)) for day in known]
    rows = [
        (called(day.day), f"{day.runs:,}", f"{day.intents:,}", f"{day.matched:,}", percent(day))
        for day in reversed(known)
    ]
    columns = ["Day", "Complete runs", "Intents judged", "Matched", "Rate"]
    return pd.DataFrame(chart, columns=["Day", "Value"]), pd.DataFrame(rows, columns=columns, dtype="str")


def percent(day: Agreed) -> str:
    """Return a day's rate, rounded down: what is not whole is never said to be 100 %."""
    tenths = 1000 * day.matched // day.intents
    return f"{tenths // 10}.{tenths % 10}\N{NO-BREAK SPACE}%"


def chart(mark: str, *, title: str, whole: bool = True, zero: bool = True) -> dict[str, object]:
    """Return how one series is drawn, from frames with the columns Day and Value, in their order."""
    axis = {"tickMinStep": 1, "format": ",d"} if whole else {"format": ",.2~f"}
    drawn = {"type": mark, "color": COLOR, **({"point": True} if mark == "line" else {})}
    return {
        "mark": drawn,
        "encoding": {
            "x": {
                "field": "Day",
                "type": "ordinal",
                "sort": None,
                "title": None,
                "axis": {"labelOverlap": "parity", "labelAngle": 0, "labelFlush": True},
            },
            "y": {
                "field": "Value",
                "type": "quantitative",
                "title": title,
                "axis": axis,
                "scale": {"zero": zero},
            },
        },
    }


def minutes(number: int) -> str:
    """Return so many minutes as a span."""
    return times.span(timedelta(minutes=number))


def currency_name(currency: str) -> str:
    """Return what a currency is called: a row of somebody else's may name anything."""
    return "".join(filter(str.isalnum, currency))[:8].upper() or safe.ABSENT


def owners(past: Past) -> tuple[str, ...]:
    """Return who owns or owned any of it, by name; "" is nobody."""
    groups = [heap.group for heap in past.heaps] + [step.group for step in past.steps]
    return tuple(sorted({each.owner for each in groups} | {each.owner for each in past.took}))


def _amount(minor: int, currency: str) -> str:
    return _whole(Money(minor, currency)) if minor else safe.ABSENT


def _whole(amount: Money) -> str:
    """Return money whose currency never stands in a line of its own."""
    return tables.money(amount).replace(" ", "\N{NO-BREAK SPACE}")


def _amounts(heaps: Iterable[Heap]) -> str:
    named = [_whole(Money(heap.at_risk_minor, heap.group.currency)) for heap in heaps if heap.at_risk_minor]
    return " and ".join(named) or safe.ABSENT
