"""What the page on tools shows of calls: frames for its chart, and rows of text."""

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import Final

import pandas as pd

from dashboard import incidents, times
from recon.model import bursts, phrases
from recon.model.records.tools import Burst, Effect, Minute, Repeated, SwitchEntry, Tool, Twins

MINUTES: Final = 60  # Of the chart: the last hour.
FIRST, AGAIN = "First for its key", "Asked again"
# Told apart on a light and on a dark page, and by who sees no red or green.
COLORS: Final = {FIRST: "#5b9ab8", AGAIN: "#c2843b"}
ODD: Final = ("What looks like one intent", "Calls or keys", "What differed")
AGAIN_COLUMNS: Final = ("Intent", "Calls", "What differed", "Account")
MOVES: Final = ("Move", "By", "At", "Reason")
EFFECTS: Final = {
    Effect.READ: "reads: retry freely",
    Effect.IDEMPOTENT: "idempotent: retry with the same arguments",
    Effect.SIDE_EFFECT: "has side effects: only through the guard",
}


def minutes(found: Iterable[Minute], now: datetime, zone: tzinfo) -> pd.DataFrame:
    """Return every minute of the last hour in long form, those without a call too: At, Series, Number."""
    counted = {each.at: (each.first, each.again) for each in found}
    last = now.replace(second=0, microsecond=0)
    rows = []
    for back in range(MINUTES - 1, -1, -1):
        at = last - timedelta(minutes=back)
        label = incidents.label(at, timedelta(minutes=1), zone)
        first, again = counted.get(at, (0, 0))
        rows += [(label, FIRST, first), (label, AGAIN, again)]
    return pd.DataFrame(rows, columns=["At", "Series", "Number"])


def table(found: Iterable[Minute], zone: tzinfo) -> list[tuple[object, ...]]:
    """Return the minutes that have a call, the latest first, as rows for reading."""
    return [
        (incidents.label(each.at, timedelta(minutes=1), zone), f"{each.first:,}", f"{each.again:,}")
        for each in reversed(tuple(found))
    ]


def odd(found: Burst) -> list[tuple[object, ...]]:
    """Return what a burst is about: a row for each thing, the largest first."""
    return [*map(_twins, found.twins), *map(_repeated, found.repeated)]


def again(found: Iterable[Repeated]) -> list[tuple[object, ...]]:
    """Return the intents that were asked for again."""
    return [(each.key, f"{each.calls:,}", _differed(each), each.account) for each in found]


def moves(found: Iterable[SwitchEntry], zone: tzinfo) -> list[tuple[object, ...]]:
    """Return the moves of a switch, in their order."""
    return [(each.move.capitalize(), each.actor, times.moment(each.at, zone), each.reason) for each in found]


def facts(tool: Tool) -> tuple[tuple[str, object], ...]:
    """Return what tools.toml says of a tool; what it does not say is left out."""
    found: tuple[tuple[str, object], ...] = (
        ("What calling it does", EFFECTS[tool.effect]),
        ("Its key is made of", ", ".join(tool.key)),
        ("The same key always has", ", ".join(map(bursts.field, tool.fingerprint))),
        ("A repeat is declared by", tool.repeat),
        ("An unknown outcome", ("is looked up" if tool.finder else "waits for a person") if tool.key else ""),
    )
    return tuple(fact for fact in found if fact[1])


def _twins(found: Twins) -> tuple[object, ...]:
    same = ", ".join(f"{name} {value}" for name, value in bursts.alike(found.same))
    return (same, phrases.several(len(found.keys), "key"), ", ".join(found.keys))


def _repeated(found: Repeated) -> tuple[object, ...]:
    return (found.key, phrases.several(found.calls, "call"), _differed(found))


def _differed(found: Repeated) -> str:
    return ", ".join(map(bursts.field, found.drifted)) or "nothing"
