"""A CSV's bytes as a table of texts, and the lines that are no row of it.

Never guesses a type: every cell is text, an empty one is missing. A file whose lines are all alike is read by
pyarrow; one ragged line, and the whole is read again line by line, so that each reject has its number.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv as pa_csv

from recon.model.cells import Arrow
from recon.model.objects import Refusal

_MARK = b"\xef\xbb\xbf"  # UTF-8's byte order mark, which spreadsheets write.
_BLOCK = 16 * 2**20  # Bytes that pyarrow reads at a time: a row must fit.

# Python's own 131,072 characters would refuse, beside one ragged line, what pyarrow reads without it.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class Lines:
    """A CSV without its header.

    table: columns named by their position, of large_string. numbers: of its rows, from 1, blank lines not
    counted. refusals: lines that are no row, by number. incomplete: a sentence when the end of the file could
    not be read.
    """

    table: Arrow
    numbers: Sequence[int]
    refusals: dict[int, Refusal] = field(default_factory=dict)
    incomplete: str | None = None


def header(content: bytes) -> list[str]:
    """Return the names in the first line that is not blank, without the blanks around them.

    Raises:
        ValueError: there is none, or it is no text; the message says what was found.
    """
    start = content[:_BLOCK].removeprefix(_MARK).decode("utf-8", errors="replace")
    try:
        names = next(row for row in csv.reader(io.StringIO(start, newline="")) if "".join(row).strip())
    except (csv.Error, StopIteration):
        raise ValueError("a first line that cannot be read") from None
    if "\0" in "".join(names):
        raise ValueError("zero bytes, as in UTF-16, a spreadsheet or an archive")
    if "\N{REPLACEMENT CHARACTER}" in "".join(names):
        raise ValueError("a first line that is no UTF-8")
    return [name.strip() for name in names]


def read(content: bytes, width: int) -> Lines:
    """Return the rows below the header; each has as many cells as the header."""
    if b"\0" in content:  # pyarrow would let it pass.
        return _patiently(content, width)
    try:
        table = _quickly(content, width)
    except pa.ArrowInvalid:  # A ragged line, a byte that is no UTF-8, an open quote.
        return _patiently(content, width)
    return Lines(table, range(1, table.num_rows + 1))


def _quickly(content: bytes, width: int) -> Arrow:
    """Return a CSV as a table of texts.

    Raises:
        pa.ArrowInvalid: a line is not like the others.
    """
    names = [str(position) for position in range(width)]
    table = pa_csv.read_csv(
        pa.BufferReader(content),
        read_options=pa_csv.ReadOptions(block_size=_BLOCK, column_names=names, encoding="utf8"),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), null_values=[""], strings_can_be_null=True
        ),
    )
    return table.slice(1)


def _patiently(content: bytes, width: int) -> Lines:
    """Return a CSV's readable rows one by one, and the others."""
    text = content.removeprefix(_MARK).decode("utf-8", errors="surrogateescape")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: dict[int, list[str]] = {}
    refusals: dict[int, Refusal] = {}
    incomplete = None
    number = -1  # The header is 0.
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:  # A quote out of place, or one that the end of the file left open.
            number += 1
            refusals[number] = Refusal(f"expected a line of CSV, found one that cannot be read: {error}")
            if "unexpected end of data" in str(error):
                incomplete = (
                    f"the quote that row {number} opens is never closed, so what follows it was not read"
                )
            continue
        if len(row) <= 1 and not "".join(row).strip():
            continue
        number += 1
        reason = _unlike(row, width)
        if reason is not None:
            refusals[number] = Refusal(reason)
        elif number:
            rows[number] = row
    turned = zip(*rows.values(), strict=True) if rows else [()] * width
    columns = {str(position): pa.array(cells, pa.large_string()) for position, cells in enumerate(turned)}
    return Lines(pa.table(columns), list(rows), refusals, incomplete)


def _unlike(row: list[str], width: int) -> str | None:
    """Return why a line is no row; None if it is one."""
    if len(row) != width:
        return f"expected {width} cells as in the header, found {len(row)}"
    if "\0" in "".join(row):
        return "expected text, found a zero byte"
    if any("\udc80" <= letter <= "\udcff" for letter in "".join(row)):
        return "expected UTF-8, found bytes that are none"
    return None
