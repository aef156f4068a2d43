"""The first rows of a file as it has them, each field under the name by which a map can name it.

Never reads a file, and never judges a cell: numbers stay exact, and what cannot be opened stays a text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recon.model import values

LONGEST = 1000
"""Characters of a cell that are looked at: an id, an amount or a time is shorter, and of a note more says no
more."""

_DEPTH = 4  # Steps of a path: what is deeper is somebody's document, not a field of a refund.
_NAMES = 500  # Names of one sample: more is a table of data that was turned on its side.
_PLAIN = re.compile(r"[^.\[\]]+")
_KEYED = "key"  # Shops keep fields as [{"key": ..., "value": ...}].


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file.

    headers: its columns or fields. columns: by header, or by path into cells that hold objects, one cell for
    each row, of a text its first LONGEST characters, None where a row has none. rows: how many were looked
    at. whole: they are all. objects: they are the provider's refunds, as its API gives them.
    """

    name: str
    headers: tuple[str, ...]
    columns: Mapping[str, Sequence[object]] = field(default_factory=dict)
    rows: int = 0
    whole: bool = True
    objects: bool = False

    def filled(self, name: str) -> list[object]:
        """Return the cells of a column that hold something."""
        return [cell for cell in self.columns.get(name, ()) if cell is not None and cell != ""]


def of(
    name: str, rows: Iterable[Mapping[str, object]], *, whole: bool = True, objects: bool = False
) -> Sample:
    """Return rows as a sample."""
    listed = list(rows)
    headers = dict.fromkeys(header for row in listed for header in row)
    columns: dict[str, list[object]] = {}
    for position, row in enumerate(listed):
        for path, cell in _fields(row):
            if path not in columns and len(columns) < _NAMES:
                columns[path] = [None] * len(listed)
            if path in columns:
                columns[path][position] = cell
    there = sum(any(cell is not None for cell in row.values()) for row in listed)
    return Sample(name, tuple(headers), columns, there, whole, objects)


def _fields(row: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield each field of a row with the path that names it."""
    for header, cell in row.items():
        if _PLAIN.fullmatch(header):
            yield from _leaves(header, cell, 1)
        elif header:  # A column without a name cannot be named.
            yield header, _cut(cell)


def _leaves(path: str, cell: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield what a cell holds, each with its path."""
    opened = _opened(cell)
    if isinstance(opened, Mapping) and depth < _DEPTH:
        for name, inner in opened.items():
            below = _below(path, name)
            if below is not None:
                yield from _leaves(below, inner, depth + 1)
    elif isinstance(opened, list) and depth < _DEPTH:
        for item in opened:
            if isinstance(item, Mapping) and isinstance(item.get(_KEYED), str) and "value" in item:
                below = _below(path, f"{_KEYED}={item[_KEYED]}")
                if below is not None:
                    yield from _leaves(f"{below}.value", item["value"], depth + 1)
    elif not isinstance(opened, Mapping | list):
        yield path, _cut(opened)


def _cut(cell: object) -> object:
    """Return a cell without the blanks around it, of a text its first characters."""
    trimmed = values.trimmed(cell)
    return trimmed[:LONGEST] if isinstance(trimmed, str) else trimmed


def _opened(cell: object) -> object:
    """Return the object or the list that a text holds; anything else as it is."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(("{", "[")):
        return cell
    try:
        found = values.parsed(cell)
    except (ValueError, RecursionError):  # A text that only begins like one, or one that was cut off.
        return cell
    return found if isinstance(found, Mapping | list) else cell


def _below(path: str, name: str) -> str | None:
    """Return the path of a field; None where no path can spell its name."""
    if _PLAIN.fullmatch(name) and "=" not in name:
        return f"{path}.{name}"
    return f"{path}[{name}]" if name and not set(name) & set("[]") else None
