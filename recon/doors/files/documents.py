"""JSON and JSON lines as rows of ours: flat rows, or the provider's own objects in any of their wrappings.

Never guesses: numbers stay exact, and an object that is no row is a refusal with its number.
"""

import bisect
import itertools
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from recon.doors.files.pieces import Piece, Reading
from recon.doors.files.sources import Source
from recon.model import cells, layout, mapping, objects, values
from recon.model.columns import INTENTS
from recon.model.errors import UnusableInput
from recon.model.layout import Layout
from recon.model.mapping import Column
from recon.model.objects import Opened, Refusal
from recon.model.phrases import listed

_MARK = "\ufeff"  # The byte order mark, of which a file that was put together may have two.
_VALUES = 10_000  # JSON values that are turned into one piece.


def json(source: Source, reading: Reading) -> Iterator[Piece]:
    """Yield the rows of a JSON file: one object, an array of them, or a list page.

    Raises:
        UnusableInput: it is no JSON of this side.
    """
    value = whole(source, [reading.side])
    if not isinstance(value, Mapping | list):
        raise UnusableInput(
            f"{source.label} must hold an object or an array of them; found {cells.shown(value)}."
        )
    items = value if isinstance(value, list) else [value]
    yield from pieces(source, reading, lambda: items)


def whole(source: Source, sides: Iterable[str]) -> object:
    """Return the value of a JSON file; of an object that is only a wrapping, the list under a side's name.

    Raises:
        UnusableInput: it is no JSON.
    """
    try:
        value = values.parsed(source.content().decode().lstrip(_MARK))
    except (ValueError, RecursionError) as error:  # No JSON, no UTF-8, or nested beyond reason.
        raise UnusableInput(f"{source.label} must be a JSON file: {error}.") from None
    except MemoryError:  # Its values take several times the room of its text.
        raise source.too_large() from None
    if not isinstance(value, Mapping) or "object" in value:
        return value
    return next((value[side] for side in sides if isinstance(value.get(side), list)), value)


def json_lines(source: Source, reading: Reading) -> Iterator[Piece]:
    """Yield the rows of a file with one JSON value on each line.

    Raises:
        UnusableInput: it holds nothing of this side.
    """
    rows, at = array("q"), array("q")
    reading.places = lambda numbers: {
        number: at[bisect.bisect_right(rows, number) - 1] for number in numbers if rows
    }
    once = iter([by_line(source, at)])
    yield from pieces(source, reading, lambda: next(once, None) or by_line(source, array("q")), starts=rows)


def by_line(source: Source, at: "array[int]") -> Iterator[object]:
    """Yield the value of each line that is not blank; a refusal for one that cannot be read.

    at: takes the number of each of these lines.

    Raises:
        UnusableInput: there is none.
    """
    with source.opened() as file:
        for number, line in enumerate(file, start=1):
            content = line.removeprefix(_MARK.encode()) if number == 1 else line
            if content.strip():
                at.append(number)
                try:
                    yield values.parsed(content.decode().lstrip(_MARK))
                except (ValueError, RecursionError):  # Cut off, or no JSON at all.
                    yield Refusal("expected a line of JSON, found one that cannot be read")
    if not at:
        raise source.empty()


def pieces(
    source: Source,
    reading: Reading,
    items: Callable[[], Iterable[object]],
    *,
    starts: "array[int] | None" = None,
) -> Iterator[Piece]:
    """Yield parsed JSON values as rows.

    items: gives all values from the first, each time that it is called. starts: takes the number that each
    value's first row gets.

    Raises:
        UnusableInput: there are none of this side among them.
    """
    reading.named.noun = "field"
    count, foreign, refused = 0, 0, None
    planned: Layout | None = None
    number, remaining = 1, iter(items())
    while some := list(itertools.islice(remaining, _VALUES)):
        opened = _opened(reading, some, number, starts)
        number = opened.next
        count, foreign = count + len(opened.rows), foreign + len(opened.foreign)
        refused = refused or next(iter(opened.refusals.values()), None)
        reading.notes += opened.notes
        reading.left_out += opened.left_out
        reading.incomplete = reading.incomplete or opened.incomplete
        if planned is None and (opened.foreign or reading.told.columns or reading.told.filters):
            # What a field means hangs on the names of all rows, also of those that are still to come.
            planned = _planned(reading, [opened] if len(some) < _VALUES else _all(reading, items))
        yield _piece(reading, opened, planned or Layout())
    _check(source, reading, rows=count, foreign=foreign, refused=refused)


def _check(source: Source, reading: Reading, *, rows: int, foreign: int, refused: Refusal | None) -> None:
    """Refuse a source in which there is nothing of its side, or not what the map names."""
    if not rows and refused is not None:
        raise UnusableInput(f"{source.label} holds no {reading.side}: {refused.reason}.")
    if not rows and reading.left_out:
        found = listed(reading.told_left_out())
        raise UnusableInput(
            f"{source.label} holds no {reading.side}, only {found}: export refunds or refund.* events."
        )
    if not rows:
        return
    if foreign == rows:
        layout.check(reading.named, reading.side, reading.told)
        planned = layout.of(reading.named.names, reading.side, reading.told)
        reading.notes += layout.notes(reading.named.names, reading.side, planned)
    else:
        if not foreign:
            reading.named.advice = f"these are the provider's own objects, which need no [{reading.side}]"
        layout.check_map(reading.named, reading.told)


def _opened(
    reading: Reading, items: Iterable[object], number: int, starts: "array[int] | None" = None
) -> Opened:
    """Return some values opened into rows, of which the first gets a number."""
    opener = objects.open_intents if reading.side == INTENTS else objects.open_refunds
    told = reading.told.columns
    named = (source for ours in objects.ROW_WORDS & told.keys() for source in told[ours].needs)
    opened = Opened(start=number, words=objects.ROW_WORDS.union(mapping.steps(each)[0] for each in named))
    for item in items:
        if starts is not None:
            starts.append(opened.next)
        opener(item, opened)
    return opened


def _all(reading: Reading, items: Callable[[], Iterable[object]]) -> Iterator[Opened]:
    """Yield all values opened, some at a time."""
    remaining = iter(items())
    while some := list(itertools.islice(remaining, _VALUES)):
        yield _opened(reading, some, 1)


def _planned(reading: Reading, everything: Iterable[Opened]) -> Layout:
    """Return how all rows are read, after noting what they call their fields.

    Only rows that are nobody's objects tell which tool wrote them; an object beside them does not.
    """
    flat: dict[str, None] = {}
    for opened in everything:
        for number, each in opened.sources.items():
            reading.named.names.update(dict.fromkeys(each))
            if number in opened.foreign:
                flat.update(dict.fromkeys(each))
    return layout.of(reading.named.names, reading.side, reading.told, flat=flat)


def _piece(reading: Reading, opened: Opened, planned: Layout) -> Piece:
    """Return opened objects under our names: what the map finds in them, before what was made of them."""
    mapped = {ours: column for ours, column in planned.side.columns.items() if ours in reading.told.columns}
    filters, empty = planned.side.filters, reading.told.empty
    kept: dict[int, Mapping[str, object]] = {}
    for number, source in opened.sources.items():
        if filters and not all(layout.lets(each, _field(source, each.column, "")) for each in filters):
            continue
        if number in opened.foreign:
            kept[number] = _fields(source, planned.side.columns, empty)
        elif mapped:
            kept[number] = {**opened.rows[number], **_fields(source, mapped, empty, there=True)}
        else:
            kept[number] = opened.rows[number]
    numbers = pd.Index(np.fromiter(kept, dtype="int64", count=len(kept)), name="row")
    held = _turned(list(kept.values()))
    raw = pd.DataFrame(held, copy=False) if held else pd.DataFrame(index=numbers)
    raw.index = numbers
    return Piece(planned.side, raw, opened.refusals, left_out=len(opened.sources) - len(kept))


def _turned(rows: Sequence[Mapping[str, object]]) -> dict[str, pd.Series]:
    """Return rows as columns of Python objects, without those in which no row holds anything."""
    found: dict[str, pd.Series] = {}
    for ours in dict.fromkeys(name for row in rows for name in row):
        column = [None if (cell := row.get(ours)) is None else values.trimmed(cell) for row in rows]
        if any(cell is not None for cell in column):
            found[ours] = pd.Series(column, dtype=object)
    return found


def _fields(
    source: Mapping[str, object], told: Mapping[str, Column], empty: Collection[str], *, there: bool = False
) -> dict[str, object]:
    """Return a row of ours out of an object; there: only what the object holds something for."""
    found: dict[str, object] = {}
    for ours, column in told.items():
        for part, sources in _asked(ours, column):
            cells_ = (_field(source, theirs, ours) for theirs in sources)
            held = (cell for cell in cells_ if not cells.is_missing(cell) and cell not in empty)
            value = next(held, None if sources else column.missing)
            if value is not None or not there:
                found[part] = value
    return found


def _asked(ours: str, column: Column) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Return the raw columns that one of ours is made of, each with where it may come from."""
    if not column.sums:
        return [(ours, column.sources)]
    return [(part, (source,)) for part, source in zip(mapping.parts(ours, column), column.sums, strict=True)]


def _field(source: Mapping[str, object], theirs: str, ours: str) -> object:
    """Return a field by its name or by a path; of an expanded object, its id."""
    located = mapping.located(source.keys(), theirs)
    if located is None:
        return None
    value = values.walked(source[located[0]], located[1])
    return value.get("id") if ours in layout.EXPANDED and isinstance(value, Mapping) else value
