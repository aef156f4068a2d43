"""Raw rows on their way into a frame, column by column, with what is wrong with which row kept beside them.

Never drops a row in silence: a row with a problem becomes a Reject that says all of its problems in one
sentence.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recon.model import cells, money
from recon.model.cells import Arrow, Cells, Mask
from recon.model.records.results import Reject
from recon.model.records.words import AccountId

_WORDS_SHOWN = 6  # A vocabulary longer than this is not spelled out in a message.


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one column, and in which rows.

    expected: what should be there; None means that the cell is missing. secret: the cell is an amount, of
    which only the sort is told. found: said instead of what the cell holds.
    """

    column: str
    rows: Mask
    expected: str | None
    secret: bool = False
    found: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are fit to be judged. rows: the number of each row of the frame in the source."""

    frame: pd.DataFrame
    rows: NDArray[np.int64]


class Sheet:
    """A raw frame and what has been found wrong with it so far."""

    def __init__(self, raw: pd.DataFrame) -> None:
        self._raw = raw
        self._size = len(raw)
        self._problems: list[Problem] = []

    def text(self, column: str, *, needed: bool = False) -> Arrow:
        """Return a column of texts."""
        return self._kept(column, self._read(column, cells.texts, pa.large_string()), "text", needed=needed)

    def instant(self, column: str, *, needed: bool = False) -> Arrow:
        """Return a column of times."""
        read = self._read(column, cells.instants, cells.INSTANT)
        return self._kept(column, read, "an ISO 8601 time with its zone, or Unix seconds", needed=needed)

    def flag(self, column: str) -> Arrow:
        """Return a column of truth values; a missing one is false."""
        kept = self._kept(column, self._read(column, cells.flags, pa.bool_()), "true or false", needed=False)
        return filled(kept, value=False)

    def word(self, column: str, words: tuple[str, ...], *, mapped_in: str = "") -> Arrow:
        """Return a column in which each text is one of the words.

        mapped_in: the setting in which a person maps words of theirs to these; "" where there is none.
        """
        read = self._read(column, cells.texts, pa.large_string())
        other = f", or a word that {mapped_in} maps to one" if mapped_in else ""
        return self._kept(column, _known(read, words), f"one of {', '.join(words)}{other}", needed=True)

    def currency(self) -> Arrow:
        """Return the currencies, in lower case; each is one of the provider's."""
        read = self._read("currency", cells.texts, pa.large_string())
        lower = Cells(_lowered(read.values), read.bad)
        known = _known(lower, tuple(money.EXPONENTS))
        return self._kept("currency", known, "a currency code of the provider's, such as usd", needed=True)

    def amount(self, currency: Arrow) -> Arrow:
        """Return the amounts in minor units, from amount_minor or from amount in major units."""
        read = _from_zero(self._read("amount_minor", cells.integers, pa.int64()))
        if "amount" not in self._raw:
            return self._kept(
                "amount_minor", read, "a whole number of minor units from 0", needed=True, secret=True
            )
        minor = self._kept(
            "amount_minor", read, "a whole number of minor units from 0", needed=False, secret=True
        )
        raw = self._read("amount", cells.numerals, pa.large_string())
        major = self._kept("amount", raw, "a decimal number of major units", needed=False, secret=True)
        scaled, lost = _scaled(major, currency)
        self._note("amount", lost, "0 or more, with no more decimals than its currency has", secret=True)
        self._note("amount", self._nowhere(raw, read), None)
        differ = cells.flags_of(pc.not_equal(minor, scaled))
        if differ.any():
            self._problems.append(
                Problem("amount", differ, "the same money as amount_minor", found="that the two disagree")
            )
        return pc.coalesce(minor, scaled)

    def divided(
        self, columns: Mapping[str, Arrow], *, source: str, key: str, names: Iterable[str]
    ) -> tuple[Table, list[Reject]]:
        """Return the rows without a problem as a frame, and the others as rejects in source order."""
        rows = self._row_numbers()
        wrong = self._wrong()
        if wrong is None:
            frame = pd.DataFrame({name: cells.series(column) for name, column in columns.items()}, copy=False)
            return Table(frame, rows), []
        fine = pa.array(~wrong)
        kept = {name: cells.series(column.filter(fine)) for name, column in columns.items()}
        positions = np.flatnonzero(wrong)
        taken = {
            name: columns[name].take(pa.array(positions)).to_pylist() for name in (key, "account", *names)
        }
        reasons = self._reasons(positions)
        rejects = [
            Reject(
                source=source,
                row=int(rows[position]),
                id=taken[key][index],
                reason=reasons[index],
                account=AccountId(taken["account"][index] or ""),
                names=tuple(dict.fromkeys(word for name in names if (word := taken[name][index]))),
            )
            for index, position in enumerate(positions)
        ]
        return Table(pd.DataFrame(kept, copy=False), rows[~wrong]), rejects

    def _read(self, column: str, reader: Callable[[pd.Series], Cells], kind: Arrow) -> Cells:
        """Return a column as it was read; one that the source does not have is all missing."""
        return reader(self._raw[column]) if column in self._raw else cells.absent(self._size, kind)

    def _kept(self, column: str, read: Cells, expected: str, *, needed: bool, secret: bool = False) -> Arrow:
        """Return the values after noting which rows are bad, and missing where the column is needed."""
        self._note(column, read.bad, expected, secret=secret)
        if needed:
            self._note(column, read.missing, None)
        return read.values

    def _note(self, column: str, rows: Mask | None, expected: str | None, *, secret: bool = False) -> None:
        """Remember a problem, if there is one."""
        if rows is not None and rows.any():
            self._problems.append(Problem(column, rows, expected, secret))

    def _nowhere(self, major: Cells, minor: Cells) -> Mask | None:
        """Return the rows that have neither amount."""
        if major.missing is None or minor.missing is None:
            return None
        return major.missing & minor.missing

    def _wrong(self) -> Mask | None:
        """Return the rows with any problem; None means that there are none."""
        wrong: Mask | None = None
        for problem in self._problems:
            wrong = cells.either(wrong, problem.rows)
        return wrong

    def _row_numbers(self) -> NDArray[np.int64]:
        """Return each row's number in the source."""
        if self._raw.index.name == "row":
            return self._raw.index.to_numpy(dtype="int64")
        return np.arange(1, self._size + 1, dtype="int64")

    def _reasons(self, positions: NDArray[np.int64]) -> list[str]:
        """Return one sentence for each of some rows, with everything that is wrong with it."""
        parts: list[list[str]] = [[] for _ in positions]
        for problem in self._problems:
            raw = self._raw.get(problem.column)
            for index in np.flatnonzero(problem.rows[positions]):
                parts[index].append(_told(problem, None if raw is None else raw.iloc[positions[index]]))
        return ["; ".join(part) for part in parts]


def latest(columns: Mapping[str, Arrow]) -> datetime | None:
    """Return the latest time in any of the columns; None where there is none."""
    times = (pc.max(column).as_py() for column in columns.values() if column.type == cells.INSTANT)
    return max((time.astimezone(UTC) for time in times if time is not None), default=None)


def filled(column: Arrow, value: object) -> Arrow:
    """Return a column with its missing cells taken from a value or another column."""
    return pc.coalesce(column, value) if column.null_count else column


def marked(flag: Arrow, column: Arrow, words: tuple[str, ...]) -> Arrow:
    """Return a flag that is also true where a text is one of the words."""
    return pc.or_(flag, pc.is_in(column, value_set=pa.array(words, pa.large_string())))


def _told(problem: Problem, value: object) -> str:
    """Return one problem of one row in words."""
    if problem.expected is None:
        return f"{problem.column} is missing"
    found = problem.found or (_sort(value) if problem.secret else cells.shown(value))
    return f"{problem.column} must be {problem.expected}; found {found}"


def _sort(value: object) -> str:
    """Return what sort of thing stands where an amount should; amounts are nobody's to read in a log."""
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    if isinstance(value, float | np.floating):
        return "a binary floating-point number"
    text = str(value).strip()
    digits = text.lstrip("+-").replace(".", "", 1)
    if not (digits.isascii() and digits.isdecimal()):
        return "a text that is no plain number" if any(map(str.isdecimal, text)) else cells.shown(value)
    if text.startswith("-"):
        return "a negative number"
    whole, _, fraction = text.partition(".")
    if len(whole) >= len(str(money.LARGEST_MINOR)) - 1:
        return "a number that is too large"
    return "a number with a fraction" if fraction.strip("0") else "a number written with a sign"


def _known(read: Cells, words: tuple[str, ...]) -> Cells:
    """Return texts with a null and a mark for each that is none of the words."""
    found = pc.unique(read.values)
    if set(found.to_pylist()) <= {None, *words}:
        return read
    fits = pc.is_in(read.values, value_set=pa.array(words, pa.large_string()))
    wrong = cells.flags_of(pc.and_(pc.invert(fits), pc.is_valid(read.values)))
    return Cells(
        pc.if_else(fits, read.values, pa.scalar(None, pa.large_string())), cells.either(read.bad, wrong)
    )


def _lowered(column: Arrow) -> Arrow:
    """Return texts in lower case, untouched where they are already."""
    found = [text for text in pc.unique(column).to_pylist() if text is not None]
    return column if all(text == text.lower() for text in found) else pc.utf8_lower(column)


def _from_zero(read: Cells) -> Cells:
    """Return whole numbers with a null and a mark for each negative one."""
    least = pc.min(read.values).as_py()
    if least is None or least >= 0:
        return read
    fits = pc.greater_equal(read.values, 0)
    values = pc.if_else(fits, read.values, pa.scalar(None, pa.int64()))
    return Cells(values, cells.either(read.bad, cells.flags_of(pc.invert(fits))))


def _scaled(major: Arrow, currency: Arrow) -> tuple[Arrow, Mask | None]:
    """Return decimal texts as minor units, and the rows whose currency cannot hold theirs."""
    values = pa.nulls(len(major), pa.int64())
    lost: Mask | None = None
    for exponent in sorted(set(money.EXPONENTS.values())):
        codes = [code for code, decimals in money.EXPONENTS.items() if decimals == exponent]
        mine = pc.is_in(currency, value_set=pa.array(codes, pa.large_string()))
        if not pc.any(mine).as_py():
            continue
        texts = pc.if_else(mine, major, pa.scalar(None, pa.large_string()))
        parts = pc.extract_regex(texts, f"^(?P<whole>[0-9]+)\\.?(?P<part>[0-9]{{0,{exponent}}})0*$")
        part = pc.utf8_rpad(pc.struct_field(parts, "part"), exponent, "0")
        minor = cells.integers(cells.series(_beside(pc.struct_field(parts, "whole"), part)))
        values = pc.coalesce(values, minor.values)
        unread = cells.flags_of(pc.and_(pc.is_valid(texts), pc.is_null(minor.values)))
        lost = cells.either(lost, unread)
    return values, lost


def _beside(first: Arrow, second: Arrow) -> Arrow:
    """Return two columns of texts written one after the other."""
    return pc.binary_join_element_wise(first, second, pa.scalar("", pa.large_string()))
