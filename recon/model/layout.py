"""Which columns of a table are ours, by what its headers give away and what a map says.

Never guesses beyond `columns.recognise`, and never reads a file: cells come from whoever has them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import cells, columns, fitting, mapping
from recon.model.cells import Arrow, Mask
from recon.model.errors import UnusableInput
from recon.model.mapping import NOTHING, Column, Filter, Side
from recon.model.phrases import several

EXPANDED = frozenset({"payment_intent", "charge", "payment"})
"""Columns whose ids may come as the object itself."""

_HEADERS_SHOWN = 6
_TEXT = pa.large_string()
_PADDING = r"\.0+$"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is read.

    side: each of our columns that the table has, with the headers and paths that it has, and the zone of
    times without one. tool: what made the table, as its headers say; None where they do not.
    """

    side: Side = NOTHING
    tool: str | None = None

    @property
    def heads(self) -> Mapping[str, str]:
        """Return the headers or paths that are read, with the column of ours that each is for."""
        told = {source: ours for ours, column in self.side.columns.items() for source in column.needs}
        return {**{each.column: "" for each in self.side.filters}, **told}


@dataclass(slots=True)
class Named:
    """What a source calls its columns, and its word for a column.

    noun: "column" or "field". advice: ends what is said where its columns are not those; "" for nothing.
    """

    label: str
    noun: str = "column"
    names: dict[str, None] = field(default_factory=dict)
    advice: str = ""

    @property
    def found(self) -> str:
        """Return its first headers for a message, and what to do if they are others."""
        return f"{found(self.names)}{'; ' if self.advice else ''}{self.advice}"


def of(names: Collection[str], side: str, told: Side, *, flat: Collection[str] | None = None) -> Layout:
    """Return how a table with these headers is read; what it has not is left out.

    flat: those of them that rows have which are nobody's objects, of which the rest are; None means all.
    """
    known = columns.recognise(names if flat is None else flat, side)
    mapped = {ours: there for ours, column in told.columns.items() if (there := _there(names, column))}
    plain = columns.unmapped(known.columns, {ours: column.needs for ours, column in mapped.items()})
    found = {ours: Column(_as_sources(names, ours, theirs), guessed=True) for ours, theirs in plain.items()}
    zone = told.zone or ("UTC" if known.zoneless_utc else "")
    filters = tuple(each for each in told.filters if mapping.located(names, each.column))
    return Layout(Side({**found, **mapped}, filters, told.empty, zone, told.unanswered), known.tool)


def check(source: Named, side: str, told: Side) -> None:
    """Refuse a source that lacks what the map names, or that is not what it is said to be.

    Raises:
        UnusableInput: with what was found, and what to do.
    """
    check_map(source, told)
    names = tuple(source.names)
    advice = columns.mistaken(names, side)
    if advice is not None and not told.columns:
        raise UnusableInput(f"{source.label} holds no {side}: {advice}.")
    layout = of(names, side, told)
    _check_answered(side, layout)
    if not set(columns.NEEDED[side]) & set(layout.side.columns):
        raise UnusableInput(
            f"{source.label} has none of the columns that {side} need ({', '.join(columns.NEEDED[side])});"
            f" {source.found}; name them with --columns, which `recon map` helps to write."
        )


def _check_answered(side: str, layout: Layout) -> None:
    """Refuse a map that still asks for a column without which no row can be judged.

    Raises:
        UnusableInput: with everything that the map asks.
    """
    lacking = set(_lacking_needed(side, layout))
    if any(lacking.intersection(each.names) for each in layout.side.unanswered):
        raise UnusableInput(f"{_asked(side, layout)}: take the # off one answer of each.")


def _asked(side: str, layout: Layout) -> str:
    """Return what the map still asks of a side, beginning with its file's name."""
    asked = layout.side.unanswered
    listed = ", ".join(f"{each.names[0]} on line {each.line}" for each in asked)
    return f"{asked[0].file} still has {several(len(asked), 'question')} for [{side}] ({listed})"


def _lacking_needed(side: str, layout: Layout) -> list[str]:
    """Return the needed columns that a table does not have; one amount is enough."""
    there = set(layout.side.columns)
    if there & {"amount_minor", "amount"}:
        there |= {"amount_minor", "amount"}
    return [name for name in columns.NEEDED[side] if name not in there]


def check_map(source: Named, told: Side) -> None:
    """Refuse a source that lacks what the map names.

    Raises:
        UnusableInput: with what was found.
    """
    names = tuple(source.names)
    lacking = next(_lacking(names, told), None)
    if lacking is not None:
        raise UnusableInput(
            f"{source.label} has no {source.noun} {lacking!r}, which the column map names; {source.found}."
        )


def notes(names: Collection[str], side: str, layout: Layout) -> list[str]:
    """Return what a person should know of how a table is read, and which needed columns it has not at all."""
    told = []
    if layout.tool is not None:
        zone = ", times without a zone as UTC" if layout.side.zone == "UTC" else ""
        told.append(f"read as a table of {layout.tool}: amount in minor units{zone}.")
    for head in (column.sources[0] for column in layout.side.columns.values() if column.guessed):
        twin = next((name for name in names if name != head and name.lower() == head.lower()), None)
        if twin is not None:
            both = f"{cells.shown(head)} and {cells.shown(twin)}"
            told.append(f"{both} differ in nothing but capitals; the first is read.")
    if layout.side.unanswered:
        told.append(f"{_asked(side, layout)}, of which nothing is known until one answer has no # before it.")
    lacking = ", ".join(_lacking_needed(side, layout))
    if lacking:
        called = lacking.replace("amount_minor, amount", "amount_minor or amount")
        told.append(
            f"no column is called {called}, which {side} need; {found(tuple(names))};"
            " --columns MAP.toml says which of them is meant, and recon map proposes one."
        )
    return told


def found(names: Iterable[str]) -> str:
    """Return a file's first headers for a message."""
    listed = ", ".join(cells.shown(name) for name in [*names][:_HEADERS_SHOWN]) or "no header"
    return f"its first headers are {listed}"


def raw(layout: Layout, at: Callable[[str, str], pd.Series], index: pd.Index) -> pd.DataFrame:
    """Return a table's cells under our names, still as the source has them.

    at: the cells at a header or path, for a column of ours.
    """
    held: dict[str, pd.Series] = {}
    for ours, column in layout.side.columns.items():
        if column.sums:
            for part, source in zip(mapping.parts(ours, column), column.sums, strict=True):
                held[part] = fitting.without(at(source, ours), layout.side.empty)
        elif not column.sources:
            held[ours] = cells.series(pa.repeat(pa.scalar(column.missing, _TEXT), len(index)))
        else:
            told = [fitting.without(at(source, ours), layout.side.empty) for source in column.sources]
            held[ours] = told[0] if len(told) == 1 else _first(told)
    frame = pd.DataFrame({name: column.array for name, column in held.items()}, copy=False)
    return frame.set_axis(index) if len(frame.columns) else pd.DataFrame(index=index)


def kept(layout: Layout, at: Callable[[str, str], pd.Series], rows: int) -> Mask | None:
    """Return which rows the filters let through; None where that is all of them."""
    mask: Mask = np.ones(rows, dtype=bool)
    for each in layout.side.filters:
        found_ = at(each.column, "")
        column = cells.plain(found_)
        if column is None:
            listed = np.fromiter((_lists(each, cell) for cell in found_), dtype=bool, count=rows)
        else:
            words = [*map(_unpadded, each.words)] if _is_fraction(column.type) else each.words
            text = pc.fill_null(_written(column, each), "")
            listed = cells.flags_of(pc.is_in(text, value_set=pa.array(words, _TEXT)))
        mask &= listed if each.keep else ~listed
    return None if mask.all() else mask


def lets(each: Filter, cell: object) -> bool:
    """Return whether a filter lets one cell of Python's through."""
    return _lists(each, cell) == each.keep


def _lists(each: Filter, cell: object) -> bool:
    """Return whether one cell of Python's is one of a filter's words."""
    text = "" if cells.is_missing(cell) else str(cell).strip()
    if isinstance(cell, Decimal | float):
        return _unpadded(text) in map(_unpadded, each.words)
    return (text.lower() if isinstance(cell, bool | np.bool_) else text) in each.words


def _written(column: Arrow, each: Filter) -> Arrow:
    """Return a column's cells as they are written, numbers without zeros behind the point.

    Raises:
        UnusableInput: nobody can tell how they are.
    """
    kind = column.type
    simple = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_date, cells.is_text)
    if not (_is_fraction(kind) or any(is_one(kind) for is_one in simple)):
        raise UnusableInput(
            f"The map filters by {each.column!r}, which must hold texts, numbers, dates or truth values;"
            f" it is a column of {kind}."
        )
    text = column.cast(_TEXT)
    return pc.replace_substring_regex(text, _PADDING, "") if _is_fraction(kind) else text


def _is_fraction(kind: Arrow) -> bool:
    """Return whether an Arrow type is one of numbers that may have a fraction."""
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _unpadded(text: str) -> str:
    """Return a number as it is written without zeros behind the point."""
    return re.sub(_PADDING, "", text)


def _there(names: Collection[str], column: Column) -> Column | None:
    """Return a column with the sources that a table has; None where it has none of those it needs."""
    if column.sums:
        return column if all(mapping.located(names, source) for source in column.sums) else None
    if not column.sources:
        return column
    sources = tuple(source for source in column.sources if mapping.located(names, source))
    return replace(column, sources=sources) if sources else None


def _lacking(names: Collection[str], told: Side) -> Iterator[str]:
    """Yield what a map names and a table has not."""
    for column in told.columns.values():
        if column.needs and _there(names, column) is None:
            yield next(source for source in column.needs if not mapping.located(names, source))
    for each in told.filters:
        if not mapping.located(names, each.column):
            yield each.column


def _as_sources(names: Collection[str], ours: str, theirs: str) -> tuple[str, ...]:
    """Return a recognised header, and beside an intent key's own the one in the metadata."""
    inner = f"metadata.{columns.METADATA_KEY}"
    if ours == "intent_key" and theirs != inner and mapping.located(names, inner):
        return theirs, inner
    return (theirs,)


def _first(candidates: list[pd.Series]) -> pd.Series:
    """Return for each row the first cell that holds something."""
    plain = [cells.plain(fitting.without(each, ("",))) for each in candidates]
    texts = [each.cast(_TEXT) for each in plain if each is not None and cells.is_text(each.type)]
    if len(texts) == len(plain):
        return cells.series(pc.coalesce(*texts))
    chosen = [
        next((cell for cell in row if not cells.is_missing(cell)), None)
        for row in zip(*candidates, strict=True)
    ]
    return pd.Series(chosen, dtype=object)
