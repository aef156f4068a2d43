"""What a source gives while it is read: pieces of rows, and what it tells of itself."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import pandas as pd

from recon.model.disguises import Disguise, Sort
from recon.model.layout import Named
from recon.model.mapping import Side
from recon.model.objects import Refusal
from recon.model.phrases import several


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a source, in order.

    how: how the columns of raw are read. raw: under our names, still as the source has them; its index, named
    "row", counts rows and refusals from 1. refusals: lines and objects that are no row, by number. left_out:
    how many rows the map's filters keep out.
    """

    how: Side
    raw: pd.DataFrame
    refusals: Mapping[int, Refusal] = field(default_factory=dict)
    left_out: int = 0


@dataclass(slots=True)
class Reading:
    """One source on its way.

    side: "intents" or "refunds". told: what a map says of the side. known: headers that are likely, in lower
    case. named: what its columns are called. notes: for people. incomplete: a sentence when it says itself
    that it is only a part. left_out: records that are none of this side's, by what one of them is. rows: how
    many rows there were so far; filtered: those of them that the map's filters keep out. disguised: ids that
    are not what they look like. words: of a status that are none of ours, where no map says what they mean,
    with their counts. places: tells on which lines rows stand; None where it has no lines.
    """

    side: str
    told: Side
    known: frozenset[str]
    named: Named
    notes: list[str] = field(default_factory=list)
    incomplete: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    filtered: int = 0
    disguised: dict[Sort, Disguise] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    places: Callable[[Collection[int]], Mapping[int, int]] | None = None

    def told_left_out(self) -> list[str]:
        """Return how many records of each sort are left out, most first: 2 records of 'customers'."""
        return [
            several(count, what, what.replace(" ", "s ", 1)) for what, count in self.left_out.most_common()
        ]

    def told_filtered(self) -> list[str]:
        """Return how many rows the map's filters keep out, with a doubt where none is left: 2 of 9 rows."""
        if not self.filtered:
            return []
        if self.filtered < self.rows:
            return [f"{self.filtered:,} of {several(self.rows, 'row')} left out by the map's filters"]
        kept = "check that `where` is meant so"
        return [f"all rows ({self.rows:,}) left out by the map's filters: {kept}"]
