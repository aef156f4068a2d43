"""A CSV's bytes as tables of texts, and the lines that are no row of it.

Never guesses a type: every cell is text, an empty one is missing. A file whose lines are all alike is read by
pyarrow; with one ragged line, or one quote out of place, it is read again line by line, so that each reject
has its number.
"""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from recon.model.cells import Arrow
from recon.model.objects import Refusal

Opened = Callable[[], AbstractContextManager[BinaryIO]]  # A file from its beginning, as often as asked.

_MARK = b"\xef\xbb\xbf"  # UTF-8's byte order mark, which spreadsheets write.
_BLOCK = 16 * 2**20  # Bytes that pyarrow reads at a time: a row must fit.
_ROWS = 200_000  # Rows of one table where lines are read one by one.
_SEPARATORS = ",;\t|"
_QUOTE = ord('"')
_NARROWEST = 4  # Columns of a header that a line within a cell is told from prose by.

# Python's own 131,072 characters would refuse, beside one ragged line, what pyarrow reads without it.
csv.field_size_limit(2**31 - 1)


BYTES = "expected UTF-8, found bytes that are none"
"""Why a row is none whose encoding is another."""


@dataclass(frozen=True, slots=True)
class Head:
    """How a CSV begins. names: of its columns, without the blanks around them. skipped: bytes before them."""

    names: list[str]
    separator: str = ","
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Lines:
    """Some rows of a CSV.

    table: columns named by their position, of large_string. numbers: of its rows, from 1, blank lines not
    counted. refusals: lines that are no row, by number. incomplete: a sentence when the end of the file could
    not be read.
    """

    table: Arrow
    numbers: Sequence[int]
    refusals: dict[int, Refusal] = field(default_factory=dict)
    incomplete: str | None = None


def head(content: bytes, known: Collection[str]) -> Head:
    """Return how a CSV begins, from its first bytes.

    known: headers, in lower case, by which a separator is preferred to one that makes more columns.

    Raises:
        ValueError: it has no first line, or it is no text; the message says what was found.
    """
    start = content.removeprefix(_MARK)
    text = start.decode("utf-8", errors="replace")
    skipped, told = 0, ""
    first = text.lstrip("\r\n").partition("\n")[0].strip()
    if first.lower().startswith("sep=") and len(first) == len("sep=;"):  # Spreadsheets' own mark.
        told = first[-1]
        skipped = len(content) - len(start) + text.index(first) + len(first)
        text = text[text.index(first) + len(first) :]
    found = [(each, _first_row(text, each)) for each in (told or _SEPARATORS)]
    separator, names = max(
        found, key=lambda one: (len({name.lower() for name in one[1]} & set(known)), len(one[1]))
    )
    if "\0" in "".join(names):
        raise ValueError("zero bytes, as in UTF-16, a spreadsheet or an archive")
    if "\N{REPLACEMENT CHARACTER}" in "".join(names):
        raise ValueError("a first line that is no UTF-8")
    # Above their header spreadsheets write a line for each row that is empty.
    empty = re.match(rf"([ \t{re.escape(separator)}]*\r?\n)+", text)
    if empty is not None:
        skipped = (skipped or len(content) - len(start)) + empty.end()
    return Head(names, separator, skipped)


def read(opened: Opened, begun: Head, *, whole: bool) -> Iterator[Lines]:
    """Yield the rows below the header in their order; each has as many cells as the header.

    whole: all at once, which is quicker, instead of some at a time.
    """
    done = 0
    try:
        for table in _at_once(opened, begun) if whole else _by_blocks(opened, begun):
            yield Lines(table, range(done + 1, done + table.num_rows + 1))
            done += table.num_rows
    except pa.ArrowInvalid:  # A ragged line, a byte that is no UTF-8, a quote or zero byte out of place.
        yield from _patiently(opened, begun, done)


def places(opened: Opened, begun: Head, numbers: Collection[int]) -> dict[int, int]:
    """Return on which line of the file some rows begin, by their numbers; lines count from 1."""
    wanted = set(numbers)
    found: dict[int, int] = {}
    with opened() as file:
        above = file.read(begun.skipped).count(b"\n")
        for number, begins, _ in _rows(file, begun):
            if number in wanted:
                found[number] = above + begins.start
                if len(found) == len(wanted):
                    break
    return found


def _first_row(text: str, separator: str) -> list[str]:
    """Return the cells of the first line that is not blank."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return [name.strip() for name in next(row for row in rows if "".join(row).strip())]
    except (csv.Error, StopIteration):
        raise ValueError("a first line that cannot be read") from None


def _at_once(opened: Opened, begun: Head) -> Iterator[Arrow]:
    """Yield a CSV as one table of texts.

    Raises:
        pa.ArrowInvalid: a line is not like the others.
    """
    with opened() as file:
        content = file.read()[begun.skipped :]
    _refuse_doubtful(io.BytesIO(content), begun)
    yield pa_csv.read_csv(pa.BufferReader(content), **_options(begun)).slice(1)


def _by_blocks(opened: Opened, begun: Head) -> Iterator[Arrow]:
    """Yield a CSV as tables of texts, some rows each.

    Raises:
        pa.ArrowInvalid: a line is not like the others.
    """
    with opened() as file:
        file.read(begun.skipped)
        _refuse_doubtful(file, begun)
    with opened() as file:
        file.read(begun.skipped)
        first = True
        for batch in pa_csv.open_csv(file, **_options(begun)):
            table = pa.Table.from_batches([batch])
            yield table.slice(1) if first else table
            first = False


def _refuse_doubtful(file: BinaryIO, begun: Head) -> None:
    """Raise where pyarrow would let pass what the other reader refuses, or take lines for one cell."""
    if len(begun.names) == 1:
        raise pa.ArrowInvalid("a single column, in which pyarrow takes a line of blanks for a row")
    mark = file.read(len(_MARK))
    block = (b"" if mark == _MARK else mark) + file.read(_BLOCK) + file.readline(_BLOCK)
    while block:
        if b"\0" in block or _misquoted(block, ord(begun.separator)):
            raise pa.ArrowInvalid("a zero byte, or a quote out of place")
        block = file.read(_BLOCK) + file.readline(_BLOCK)


def _misquoted(block: bytes, separator: int) -> bool:
    """Return whether a quote neither opens nor closes a cell of one line; block: whole lines."""
    letters = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(letters == _QUOTE)
    if not len(quotes):
        return False
    ends = np.append(np.flatnonzero(letters == ord("\n")), len(letters))
    if (np.searchsorted(quotes, ends) % 2).any():  # A cell goes on in the next line.
        return True
    between = np.isin(letters, [separator, ord("\n"), ord("\r")])
    between = np.concatenate([[True], between, [True]])  # As before the first and after the last.
    firsts = np.flatnonzero(np.diff(quotes, prepend=-2) != 1)  # Quotes beside quotes are one run.
    lengths = np.diff(firsts, append=len(quotes))
    before, after = between[quotes[firsts]], between[quotes[firsts] + lengths + 1]
    inside, odd = firsts % 2 == 1, lengths % 2 == 1
    return bool(np.where(inside, odd & ~after, ~before | (~odd & ~after)).any())


def _options(begun: Head) -> dict[str, Any]:
    """Return how pyarrow is to read a CSV: its columns by their places, every cell as text."""
    names = [str(position) for position in range(len(begun.names))]
    return {
        "read_options": pa_csv.ReadOptions(block_size=_BLOCK, column_names=names, encoding="utf8"),
        "parse_options": pa_csv.ParseOptions(
            delimiter=begun.separator, newlines_in_values=True, ignore_empty_lines=True
        ),
        "convert_options": pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), null_values=[""], strings_can_be_null=True
        ),
    }


def _rows(file: BinaryIO, begun: Head) -> Iterator[tuple[int, range, list[str] | str]]:
    """Yield each row's number, the header's being 0, its lines, and its cells or what is wrong with it.

    Bytes that are no UTF-8 come as halves of surrogate pairs.
    """
    encoding = "utf-8" if begun.skipped else "utf-8-sig"
    text = io.TextIOWrapper(file, encoding, errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter=begun.separator, strict=True)
    number = -1
    while True:
        line = reader.line_num + 1
        row: list[str] | str
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # A quote out of place, or one that the end of the file left open.
            row = str(error)
        if isinstance(row, str) or len(row) > 1 or "".join(row).strip():
            number += 1
            yield number, range(line, reader.line_num + 1), row


def _patiently(opened: Opened, begun: Head, done: int) -> Iterator[Lines]:
    """Yield a CSV's readable rows one by one, and the others; done: how many rows were read already."""
    width = len(begun.names)
    rows: dict[int, list[str]] = {}
    refusals: dict[int, Refusal] = {}
    incomplete = None
    with opened() as file:
        file.read(begun.skipped)
        for number, taken, row in _rows(file, begun):
            if number <= done:
                continue
            if isinstance(row, str):
                refusals[number] = Refusal(f"expected a line of CSV, found one that cannot be read: {row}")
                if "unexpected end of data" in row:
                    opens = f"the quote that row {number} opens is never closed"
                    incomplete = f"{opens}, so what follows it was not read"
                elif len(taken) > 1:
                    closes = f"opens is closed {len(taken) - 1} lines below, within a cell"
                    incomplete = f"the quote that row {number} {closes}, so the lines between were not read"
            else:
                reason = _unlike(row, width, begun.separator)
                if reason is None:
                    rows[number] = row
                else:
                    refusals[number] = Refusal(reason)
            if len(rows) >= _ROWS:
                yield _lines(rows, width, refusals, None)
                rows, refusals = {}, {}
    yield _lines(rows, width, refusals, incomplete)


def _lines(
    rows: dict[int, list[str]], width: int, refusals: dict[int, Refusal], incomplete: str | None
) -> Lines:
    """Return rows that were read one by one."""
    turned = zip(*rows.values(), strict=True) if rows else [()] * width
    columns = {str(position): pa.array(cells, pa.large_string()) for position, cells in enumerate(turned)}
    return Lines(pa.table(columns), list(rows), refusals, incomplete)


def _unlike(row: list[str], width: int, separator: str) -> str | None:
    """Return why a line is no row; None if it is one."""
    if len(row) != width:
        return f"expected {width} cells as in the header, found {len(row)}"
    if "\0" in "".join(row):
        return "expected text, found a zero byte"
    inner = (line for cell in row if "\n" in cell for line in cell.split("\n")[1:])
    if width >= _NARROWEST and any(line.count(separator) == width - 1 for line in inner):
        return "expected a cell, found whole rows between its quotes"
    if any("\udc80" <= letter <= "\udcff" for letter in "".join(row)):
        return BYTES
    return None
