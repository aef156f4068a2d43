"""What a file that is no table as it stands seems to be: below a title, or in another encoding.

Never reads a file, and never takes it for what it seems to be: a person is told what to do.
"""

import csv
import io
import itertools
import shlex

_LINES = 12  # A title, a period and a blank line or two: what stands lower is a row.
_SEPARATORS = ",;\t|"
_NARROWEST = 3  # Cells of a header: any sentence has a comma.
_LONGEST = 60  # Characters of a name.
_BYTES = 1000  # In UTF-16 every other byte of most languages is zero.
_BESIDE = frozenset('{}[]":=')  # Of values, as JSON has them, and of no name.


def header_line(content: bytes) -> int | None:
    """Return the line, from 1, on which the header of a CSV seems to stand below a title; None for none.

    Less than half of its cells hold something in the lines above it, and the line below it has as many.
    """
    lines = content.decode("utf-8-sig", errors="replace").split("\n")[:_LINES]
    for separator in _SEPARATORS:
        rows = [_cells(line, separator) for line in lines]
        for place, (row, below) in enumerate(itertools.pairwise(rows)):
            filled = max((sum(map(bool, above)) for above in rows[:place]), default=0)
            if 0 < filled < len(row) / 2 and len(below) == len(row) and _are_names(row):
                return place + 1
    return None


def rewriting(content: bytes, name: str) -> str:
    """Return how a file becomes UTF-8, which it is not, by how it begins; "" where nobody can tell."""
    begun = content[:_BYTES]
    if begun.startswith((b"\xff\xfe", b"\xfe\xff")) or begun.count(0) > len(begun) / 3:
        return _rewritten("UTF-16", "a spreadsheet", name)
    if b"\0" in content:  # An archive, as .xlsx is one.
        return ""
    return _rewritten("WINDOWS-1252", "a program of Windows", name)


def _rewritten(encoding: str, wrote: str, name: str) -> str:
    """Return what makes UTF-8 of a file."""
    return f"if {wrote} wrote it, iconv -f {encoding} -t UTF-8 {shlex.quote(name)} > utf8.csv makes it UTF-8"


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line."""
    try:
        return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=separator), [])]
    except csv.Error:  # A quote out of place, or a zero byte.
        return []


def _are_names(row: list[str]) -> bool:
    """Return whether all cells of a row could be names of columns."""
    return len(row) >= _NARROWEST and len(set(row)) == len(row) and all(map(_is_name, row))


def _is_name(cell: str) -> bool:
    """Return whether a cell could be the name of a column: mostly letters, and nothing of a value."""
    letters = sum(map(str.isalpha, cell))
    return letters > len(cell) / 2 and len(cell) <= _LONGEST and not _BESIDE & set(cell)
