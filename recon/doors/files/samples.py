"""The first rows of a file, to look at before anybody says how to read it.

Never reads more of a large file than it must, and never changes one.
"""

import itertools
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from recon.doors.files import documents, nested, sources, tables
from recon.doors.files.formats import FileFormat
from recon.doors.files.pieces import Reading
from recon.doors.files.sources import Source
from recon.model import dtypes, lines, objects, samples
from recon.model.columns import LIKELY, REFUNDS
from recon.model.errors import UnusableInput
from recon.model.layout import Named
from recon.model.mapping import NOTHING
from recon.model.objects import Opened
from recon.model.samples import Sample

ROWS = 5000  # Enough for the words and formats of a file that one program wrote.
_LINES = 4 * ROWS  # Where cells have lines of their own, so that a row ends within them.
_ROW_WORDS = frozenset({"id", "key", "amount", "amount_minor", "total", "object"})  # A wrapping has none.
_LINE_BYTES = 2**20  # A longer line is no row of a table that a person would map by hand.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a file, in a file of its own. whole: there is no more. label: how it was named."""

    path: Path
    format: FileFormat
    label: str
    whole: bool


@contextmanager
def excerpt(named: str, format_: FileFormat | None = None) -> Iterator[Excerpt]:
    """Return the beginning of a file, or of the first that fits a pattern, for as long as it is looked at.

    Raises:
        UnusableInput: nothing is there, or it cannot be read.
    """
    source = sources.resolve([named], format_)[0]
    with tempfile.TemporaryDirectory(prefix="recon-") as folder:
        path = Path(folder) / Path(source.name).name.removesuffix(".gz")
        copy = _copied_lines if source.format in {FileFormat.CSV, FileFormat.JSONL} else _copied
        yield Excerpt(path, source.format, source.label, copy(source, path))


def read(beginning: Excerpt) -> Sample:
    """Return the first rows of a file as it has them.

    Raises:
        UnusableInput: it holds no rows, or objects of the provider's that are no refunds.
    """
    source = Source(beginning.path, beginning.label, beginning.path.name, beginning.format)
    if beginning.format == FileFormat.CSV:
        return _of_items(source, _csv_rows(source), whole=beginning.whole)
    if beginning.format == FileFormat.PARQUET:
        with tables.readable(source):
            rows = pq.ParquetFile(source.path).read().to_pylist()
        return _of_items(source, rows, whole=beginning.whole)
    return _of_items(source, _json_items(source), whole=beginning.whole)


def _copied_lines(source: Source, path: Path) -> bool:
    """Copy the first lines, up to the end of a row; return whether they are all."""
    with source.opened() as file, path.open("wb") as copy:
        quotes = 0
        for number in range(_LINES):
            line = file.readline(_LINE_BYTES)
            if not line:
                return True
            copy.write(line)
            quotes += line.count(b'"')
            if number >= ROWS and (quotes % 2 == 0 or source.format != FileFormat.CSV):
                break
        return not file.read(1)


def _copied(source: Source, path: Path) -> bool:
    """Copy a document, or the first rows of a table; return whether that is all of it."""
    if source.format == FileFormat.JSON:
        path.write_bytes(source.content())
        return True
    with tables.readable(source), source.opened() as content:
        file = pq.ParquetFile(pa.BufferReader(content.read()) if source.packed else source.path)
        first = next(file.iter_batches(ROWS), None)
        table = file.schema_arrow.empty_table() if first is None else pa.Table.from_batches([first])
        pq.write_table(table, path)
        return bool(file.metadata.num_rows <= ROWS)


def _csv_rows(source: Source) -> list[Mapping[str, object]]:
    """Return the rows of a CSV."""
    known = frozenset(name.lower() for side in dtypes.OURS for name in (*dtypes.OURS[side], *LIKELY[side]))
    begun = tables.beginning(source, known)
    advice = tables.below_a_title(source)
    if advice:
        raise UnusableInput(f"{source.label} has other lines above its header: {advice}.")
    found: list[Mapping[str, object]] = []
    for some in lines.read(source.opened, begun, whole=True):
        columns = [some.table.column(position).to_pylist() for position in range(len(begun.names))]
        found += [dict(zip(begun.names, row, strict=True)) for row in zip(*columns, strict=True)]
    if not found:
        return [dict.fromkeys(begun.names)]
    return found


def _json_items(source: Source) -> Iterable[object]:
    """Return the values of a JSON file, or of each line of one that has one on each."""
    if source.format == FileFormat.JSONL:
        return documents.by_line(source, array("q"))
    value = documents.whole(source, dtypes.OURS)
    return value if isinstance(value, list) else [value]


def _of_items(source: Source, items: Iterable[object], *, whole: bool) -> Sample:
    """Return values as a sample: rows as they are, or the refunds in the provider's objects."""
    listed = [_unwrapped(item) for item in itertools.islice(items, ROWS)]
    opened = Opened()
    for item in listed:
        objects.open_refunds(item, opened)
    if not opened.sources:
        refused = next(iter(opened.refusals.values()), None)
        reason = f": {refused.reason}" if refused is not None else ""
        raise UnusableInput(f"{source.label} holds no rows to map{reason}.")
    _check_wrapping(source, [*opened.sources.values()])
    theirs = [number for number in opened.sources if number not in opened.foreign]
    return samples.of(source.name, opened.sources.values(), whole=whole, objects=bool(theirs))


def _check_wrapping(source: Source, rows: list[Mapping[str, object]]) -> None:
    """Refuse a single object that is only the wrapping of a list of rows."""
    lists = [name for name, value in rows[0].items() if isinstance(value, list) and value]
    if len(rows) == 1 and len(lists) == 1 and not _ROW_WORDS & set(rows[0]):
        raise UnusableInput(
            f"{source.label} is one object, whose rows are in its {lists[0]!r:.40}: keep that list alone, as"
            f" jq '.{lists[0]:.40}' does."
        )


def _unwrapped(item: object) -> object:
    """Return the object that a row of a table holds, where an extract tool keeps it in one cell."""
    if not isinstance(item, Mapping):
        return item
    reading = Reading(REFUNDS, NOTHING, frozenset(), Named(""))
    inner = nested.inner([*item], reading)
    return next(iter(nested.items({name: pa.array([item[name]]) for name in inner}))) if inner else item
