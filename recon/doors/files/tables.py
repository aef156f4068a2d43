"""CSV and Parquet as rows of ours: every cell as its file holds it, under our names.

Never passes a cell through Python where a whole column can be taken, and never guesses a type.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recon.doors.files import documents, nested
from recon.doors.files.pieces import Piece, Reading
from recon.doors.files.sources import Source
from recon.model import cells, layout, lines, mapping, openings, texts, values
from recon.model.errors import UnusableInput
from recon.model.layout import Layout
from recon.model.lines import Head
from recon.model.objects import Refusal

_FEW_WORDS = ("account", "currency", "status", "tool", "team", "reason")  # Read as dictionaries: quicker.
_AGAIN = "expected a row, found a second header"
_OTHERWISE = " whose columns are in another order, so what follows it may be misread"
_ROWS = 200_000  # Rows of one piece of a large Parquet file.


def csv(source: Source, reading: Reading) -> Iterator[Piece]:
    """Yield the rows of a CSV, every cell as text.

    Raises:
        UnusableInput: it is no CSV of this side.
    """
    try:
        yield from _csv(source, reading)
    except MemoryError:  # Pyarrow's is one too.
        raise source.too_large() from None


def beginning(source: Source, known: frozenset[str]) -> Head:
    """Return how a CSV begins; known: headers that are likely, in lower case.

    Raises:
        UnusableInput: it is empty, or no CSV.
    """
    content = source.beginning()
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise source.empty()
    try:
        found = lines.head(content, known)
        # A file that was put together may begin with two byte order marks.
        return replace(found, names=[name.lstrip("\ufeff").strip() for name in found.names])
    except ValueError as error:
        found_ = "; ".join(filter(None, [f"found {error}", _rewriting(source, content)]))
        raise UnusableInput(f"{source.label} must be a CSV in UTF-8 with a header line; {found_}.") from None


def _rewriting(source: Source, content: bytes) -> str:
    """Return how a CSV becomes UTF-8; "" where it has no file of its own, or nobody can tell."""
    return "" if source.packed or source.keeper else openings.rewriting(content, source.label)


def below_a_title(source: Source) -> str:
    """Return what to do with a CSV whose header seems to stand below a title; "" where it does not."""
    line = openings.header_line(source.beginning())
    return "" if line is None else f"line {line} seems to be its header: take away the lines above it"


def _csv(source: Source, reading: Reading) -> Iterator[Piece]:
    """Yield the rows of a CSV."""
    begun = beginning(source, reading.known)
    names, inner = begun.names, nested.inner(begun.names, reading)
    reading.named.advice = below_a_title(source)
    if inner:

        def objects() -> Iterator[object]:
            for some in lines.read(source.opened, begun, whole=not source.is_large()):
                yield from nested.items(_held(some.table, names, inner))
                yield from some.refusals.values()

        yield from documents.pieces(source, reading, objects)
        return
    read = lines.read(source.opened, begun, whole=not source.is_large())
    planned = _planned(names, reading)
    wanted = _wanted(source, names, planned)
    reading.places = lambda numbers: lines.places(source.opened, begun, numbers)
    foreign = False
    for some in read:
        reading.incomplete = reading.incomplete or some.incomplete
        held = _held(some.table, names, wanted)
        refusals, again = dict(some.refusals), _headers_again(held)
        foreign = foreign or any(refusal.reason == lines.BYTES for refusal in refusals.values())
        for position, same in again.items():
            refusals[some.numbers[position]] = Refusal(_AGAIN if same else f"{_AGAIN}{_OTHERWISE}")
        yield _piece(held, planned, pd.Index(some.numbers, name="row"), refusals, list(again), trimmed=True)
    how = _rewriting(source, b"") if foreign else ""
    reading.notes += [f"rows are rejected that are no UTF-8; {how}."] if how else []


def _held(table: Any, names: Sequence[str], wanted: Sequence[str]) -> Mapping[str, Any]:  # noqa: ANN401 - pyarrow ships no types.
    """Return some columns of a CSV's table, whose columns are named by their place."""
    return {name: table.column(names.index(name)) for name in wanted}


def parquet(source: Source, reading: Reading) -> Iterator[Piece]:
    """Yield the rows of a Parquet file, only the columns that are ours, as Arrow holds them.

    Raises:
        UnusableInput: it is no Parquet file of this side.
    """
    with readable(source):
        with source.opened() as file:
            content = pa.BufferReader(file.read()) if source.packed else source.path
            if not source.packed and not file.read(1):
                raise source.empty()
        yield from _row_groups(source, content, reading)


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """Say of a Parquet file what pyarrow finds wrong with it, whatever that is.

    Raises:
        UnusableInput: it is none, or it is damaged.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or "it is no Parquet file, or cut off"
        raise UnusableInput(f"{source.label} cannot be read: {reason}.") from None
    except MemoryError:  # Pyarrow has one of its own, which is an ArrowException too.
        raise source.too_large() from None
    except UnicodeDecodeError:  # Of a name; texts are looked at as values are.
        raise UnusableInput(f"{source.label} holds a name or text that is no UTF-8: is it damaged?") from None
    except OverflowError:  # In a list of columns, or within an object.
        raise UnusableInput(f"{source.label} holds a time beyond the years 1 to 9999.") from None
    except pa.ArrowException:
        raise UnusableInput(
            f"{source.label} must be a Parquet file; found something else, or one that is cut off."
        ) from None


def _row_groups(source: Source, content: object, reading: Reading) -> Iterator[Piece]:
    """Yield a Parquet file's rows, all at once where memory allows."""
    file = pq.ParquetFile(content)
    names = file.schema_arrow.names
    inner = nested.inner(names, reading)
    if inner:

        def objects() -> Iterator[object]:
            for batch in file.iter_batches(_ROWS, columns=list(inner)):
                yield from nested.items({name: batch.column(name) for name in inner})

        yield from documents.pieces(source, reading, objects)
        return
    planned = _planned(names, reading)
    wanted = _wanted(source, names, planned)
    strings = [name for name in wanted if pa.types.is_string(file.schema_arrow.field(name).type)]
    there = planned.side.columns
    few = [name for name in strings if any(name in there[word].needs for word in _FEW_WORDS if word in there)]
    file = pq.ParquetFile(content, metadata=file.metadata, read_dictionary=few)
    if not source.is_large():
        tables = iter([file.read(columns=wanted)])
    else:
        tables = (pa.Table.from_batches([each]) for each in file.iter_batches(_ROWS, columns=wanted))
    done = 0
    for table in tables:
        held = {name: table.column(name) for name in wanted}
        index = pd.RangeIndex(done + 1, done + table.num_rows + 1, name="row")
        done += table.num_rows
        yield _piece(held, planned, index, {}, [], trimmed=False)


def _planned(names: list[str], reading: Reading) -> Layout:
    """Return how a table is read, after seeing that it can be."""
    reading.named.names.update(dict.fromkeys(names))
    layout.check(reading.named, reading.side, reading.told)
    planned = layout.of(names, reading.side, reading.told)
    reading.notes += layout.notes(names, reading.side, planned)
    return planned


def _wanted(source: Source, names: list[str], planned: Layout) -> list[str]:
    """Return the headers that are to be read, each of which the table has once."""
    heads = (mapping.located(names, each) for each in planned.heads)
    wanted = sorted({head[0] for head in heads if head is not None})
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        raise UnusableInput(
            f"{source.label} has the column {twice[0]!r} twice, so nobody can say which one counts."
        )
    return wanted


def _headers_again(held: Mapping[str, Any]) -> Mapping[int, bool]:
    """Return the places of rows that are a header once more, as where files were put together.

    Of each whether its columns are in the order of the first header.
    """
    names = {name: _plain(pa.array([name], pa.large_string()))[0].as_py() for name in held}
    any_name = pa.array(sorted(set(names.values())), pa.large_string())
    places: Any = None  # Of the rows whose cells were all headers so far; in the beginning of all.
    same = np.ones(0, bool)
    # The column whose cells are the shortest leaves the fewest rows for the least work.
    for name, column in sorted(held.items(), key=lambda each: each[1].nbytes):
        cells_ = _plain(column if places is None else column.take(pa.array(places)))
        found = cells.flags_of(pc.is_in(cells_, value_set=any_name))
        mine = cells.flags_of(pc.equal(cells_, names[name]))
        places, same = (
            (np.flatnonzero(found), mine[found]) if places is None else (places[found], (same & mine)[found])
        )
        if not len(places):
            break
    return {} if places is None else dict(zip(places.tolist(), same.tolist(), strict=True))


def _plain(cells_: Any) -> Any:  # noqa: ANN401 - pyarrow ships no types.
    """Return cells as headers are compared: a file that was put behind another begins with its own mark."""
    return pc.utf8_lower(pc.utf8_trim(cells_, "\ufeff \t"))


def _piece(
    held: Mapping[str, Any],
    planned: Layout,
    index: pd.Index,
    refusals: Mapping[int, Refusal],
    without: Sequence[int],
    *,
    trimmed: bool,
) -> Piece:
    """Return some rows of a table under our names, without those that are none or that a filter keeps out."""
    known: dict[tuple[str, bool], pd.Series] = {}

    def at(theirs: str, ours: str) -> pd.Series:
        expanded = ours in layout.EXPANDED
        if (theirs, expanded) not in known:
            known[theirs, expanded] = _column(held, theirs, expanded=expanded, trimmed=trimmed)
        return known[theirs, expanded]

    raw = layout.raw(planned, at, index)
    mask = layout.kept(planned, at, len(index))
    if mask is None and not without:
        return Piece(planned.side, raw, refusals)
    keep = np.ones(len(index), dtype=bool) if mask is None else mask
    lost = np.zeros(len(index), dtype=bool)
    lost[list(without)] = True
    return Piece(planned.side, raw[keep & ~lost], refusals, left_out=int((~keep & ~lost).sum()))


def _column(held: Mapping[str, Any], theirs: str, *, expanded: bool, trimmed: bool) -> pd.Series:
    """Return a column by its header or by a path; of an expanded object, its id."""
    head, path = mapping.located(held, theirs) or (theirs, ())
    column = held[head]
    if path:
        return _by_path(column, path)
    if trimmed:
        return pd.Series(pd.arrays.ArrowExtensionArray(pc.utf8_trim_whitespace(column)))
    if expanded and pa.types.is_struct(column.type):
        return _by_path(column, ("id",))
    plain = texts.plain(column)
    if texts.is_bytes(plain):
        return pd.Series([values.decoded(cell) for cell in plain.to_pylist()], dtype=object)
    if pa.types.is_large_string(plain.type) and texts.holds_zero(plain):
        return pd.Series([values.trimmed(cell) for cell in plain.to_pylist()], dtype=object)
    return pd.Series(pd.arrays.ArrowExtensionArray(plain))


def _by_path(column: Any, path: tuple[str, ...]) -> pd.Series:  # noqa: ANN401 - pyarrow ships no types.
    """Return what each cell, a struct or JSON text, holds at a path."""
    return pd.Series(
        [values.trimmed(values.walked(value, path)) for value in column.to_pylist()], dtype=object
    )
