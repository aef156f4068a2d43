"""What a proposed map makes of the first rows: each as the file has it, and as the diff would take it.

Never judges a row: that was done when they were read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from recon.model import layout, money, phrases
from recon.model.dtypes import KEYS, OURS
from recon.model.mapping import Column, Map
from recon.model.records.results import Money
from recon.model.samples import LONGEST, Sample

ROWS = 5  # A person reads them one by one.


@dataclass(frozen=True, slots=True)
class Pair:
    """One row. before, after: by our column, as texts; what a row has not is left out."""

    before: Mapping[str, str]
    after: Mapping[str, str]


def pairs(
    sample: Sample, side: str, told: Map, frame: pd.DataFrame, *, is_decided: bool = True
) -> tuple[Pair, ...]:
    """Return the first rows that stand; frame: of the side, as the file was read with the map.

    is_decided: which currency amounts are in; else none is shown.
    """
    how = layout.of(sample.headers, side, told.side(side)).side.columns
    key = KEYS[side]
    places: dict[str, int] = {}
    for number in range(len(next(iter(sample.columns.values()), ()))):
        cell = _cell(sample, how.get(key), number)
        if cell is not None:
            places.setdefault(cell, number)
    found = []
    shown = frame.head(ROWS).astype(object)
    for values in shown.where(shown.notna(), None).to_dict("records"):
        row = {str(ours): value for ours, value in values.items()}
        place = places.get(str(row[key])[:LONGEST])
        before = {} if place is None else _before(sample, how, place)
        found.append(Pair(before, _after(side, row, is_decided=is_decided)))
    return tuple(found)


def _before(sample: Sample, how: Mapping[str, Column], place: int) -> dict[str, str]:
    """Return the cells of a row by our columns."""
    cells = {ours: _cell(sample, column, place) for ours, column in how.items()}
    return {ours: cell for ours, cell in cells.items() if cell is not None}


def _cell(sample: Sample, column: Column | None, place: int) -> str | None:
    """Return what a row has for a column of ours, the parts of a sum with a plus between them."""
    if column is None:
        return None
    held = [sample.columns[source][place] for source in column.needs if source in sample.columns]
    there = [str(cell) for cell in held if cell is not None]
    if not there:
        return None
    return " + ".join(there) if column.sums else there[0]


def _after(side: str, row: Mapping[str, object], *, is_decided: bool) -> dict[str, str]:
    """Return what the diff takes, by our columns; the amount in major units, with its currency if decided."""
    found = {ours: _text(row[ours]) for ours in OURS[side] if ours in row}
    amount = row["amount_minor"]
    assert isinstance(amount, int), "a frame's dtype"
    found["amount_minor"] = money.written(Money(amount, str(row["currency"])))
    if not is_decided:
        found["amount_minor"], _, _ = found["amount_minor"].rpartition(" ")
        del found["currency"]
    return {ours: text[:LONGEST] for ours, text in found.items() if text}


def _text(value: object) -> str:
    """Return a cell of a frame as text; "" where there is nothing to see."""
    if isinstance(value, datetime):
        return phrases.iso(value)
    return "" if value is None or value is False else str(value)
