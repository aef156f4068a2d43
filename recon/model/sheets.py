"""Raw rows on their way into a frame, column by column, with what is wrong with which row kept beside them.

Never drops a row in silence: a row with a problem becomes a Reject that says all of its problems in one
sentence.
"""

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recon.model import amounts, cells, clocks, fitting, mapping, money
from recon.model.cells import Arrow, Cells, Mask
from recon.model.mapping import Column
from recon.model.records.results import Reject
from recon.model.records.words import AccountId

AN_AMOUNT = "which looks like an amount: a cell may have slipped into another column"

_PLAIN = Column()
_FLAGS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one column, and in which rows.

    column: ours. raw: the raw column that holds the cells. expected: what should be there; None means that
    the cell is missing. sort: says what a cell holds.
    """

    column: str
    raw: str
    rows: Mask
    expected: str | None
    sort: Callable[[object], str] = cells.shown


@dataclass(frozen=True, slots=True)
class Part:
    """What one raw frame of a source gave.

    columns: ours, one cell for each row that is fit to be judged. rows: their numbers in the source. rejects:
    the other rows, in source order. strangers: by column, words that a map has no word for, with their
    counts. latest: the latest time in any row, also in a rejected one.
    """

    source: str
    columns: Mapping[str, Arrow]
    rows: NDArray[np.int64]
    rejects: Sequence[Reject] = ()
    strangers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are fit to be judged.

    rows: the number of each row of the frame in its source. starts: where in the frame the rows of each
    source begin, in order.
    """

    frame: pd.DataFrame
    rows: NDArray[np.int64]
    starts: Sequence[tuple[int, str]]

    def source(self, position: int) -> str:
        """Return which source a row of the frame is of."""
        return self.starts[bisect.bisect_right(self.starts, position, key=lambda start: start[0]) - 1][1]


def table(parts: Sequence[Part]) -> Table:
    """Return the rows of several parts of the same columns as one, in their order."""
    if len(parts) == 1:
        columns = parts[0].columns
    else:
        columns = {
            name: pa.chunked_array([one for part in parts for one in _chunks(part.columns[name])], first.type)
            for name, first in parts[0].columns.items()
        }
    frame = pd.DataFrame({name: cells.series(column) for name, column in columns.items()}, copy=False)
    ends = np.cumsum([len(part.rows) for part in parts])
    starts = [(int(end) - len(part.rows), part.source) for end, part in zip(ends, parts, strict=True)]
    return Table(frame, np.concatenate([part.rows for part in parts]), starts)


class Sheet:
    """A raw frame and what has been found wrong with it so far.

    how: how each of our columns is read; one that is not named is read as it is. zone: of times without one.
    """

    def __init__(self, raw: pd.DataFrame, how: Mapping[str, Column] | None = None, zone: str = "") -> None:
        self._raw = raw
        self._how = how or {}
        self._zone = zone
        self._size = len(raw)
        self._problems: list[Problem] = []
        self.strangers: dict[str, dict[str, int]] = {}
        """By column, the words that a map with words for it does not know, with their counts."""

    def text(self, column: str, *, needed: bool = False, words: tuple[str, ...] = ()) -> Arrow:
        """Return a column of texts; words: those that a map with words of its own may lead to."""
        read = self._texts(column)
        if words:
            self._meet(column, read, words)
        return self._kept(column, read, "text", needed=needed)

    def key(self, column: str) -> Arrow:
        """Return a column of ids, each of which is needed; an amount among ids is none."""
        read = self._texts(column)
        amount = amounts.among(read.values)
        if amount is not None:
            self._note(column, amount, "an id", sort=lambda value: f"{cells.shown(value)}, {AN_AMOUNT}")
            read = Cells(
                pc.if_else(pa.array(amount), pa.scalar(None, pa.large_string()), read.values),
                cells.either(read.bad, amount),
            )
            self._note(column, read.missing, None)
            return read.values
        return self._kept(column, read, "text", needed=True)

    def instant(self, column: str, *, needed: bool = False) -> Arrow:
        """Return a column of times."""
        how, zone = self._as(column), self._as(column).zone or self._zone
        read = self._read(column, lambda raw: fitting.instants(raw, how, zone), cells.INSTANT)
        self._note(
            column, read.bad, clocks.expected(how, zone), sort=lambda value: clocks.found(value, how, zone)
        )
        if needed:
            self._note(column, read.missing, None)
        return read.values

    def flag(self, column: str) -> Arrow:
        """Return a column of truth values; a missing one is false."""
        if self._as(column).words or self._as(column).missing is not None:
            read = self._texts(column)
            self._meet(column, read, _FLAGS)
            flags = cells.flags(cells.series(read.values))
            read = Cells(flags.values, cells.either(read.bad, flags.bad))
        else:
            read = self._read(column, cells.flags, pa.bool_())
        return filled(self._kept(column, read, "true or false", needed=False), value=False)

    def word(self, column: str, words: tuple[str, ...], *, mapped_in: str = "") -> Arrow:
        """Return a column in which each text is one of the words.

        mapped_in: the setting in which a person maps words of theirs to these; "" where there is none.
        """
        read = self._texts(column)
        self._meet(column, read, words)
        other = f", or a word that {mapped_in} maps to one" if mapped_in else ""
        return self._kept(column, _known(read, words), f"one of {', '.join(words)}{other}", needed=True)

    def currency(self) -> Arrow:
        """Return the currencies, in lower case; each is one of the provider's."""
        read = self._texts("currency")
        lower = Cells(_lowered(read.values), read.bad)
        self._meet("currency", lower, tuple(money.EXPONENTS))
        known = _known(lower, tuple(money.EXPONENTS))
        return self._kept("currency", known, "a currency code of the provider's, such as usd", needed=True)

    def amount(self, currency: Arrow) -> Arrow:
        """Return the amounts in minor units, from amount_minor or from amount in major units."""
        minor = amounts.added([self._minor(part) for part in self._parts("amount_minor")])
        if "amount" not in self._raw and not self._as("amount").sums:
            self._note("amount_minor", minor.missing, None)
            return minor.values
        majors = [self._major(part, currency) for part in self._parts("amount")]
        major = amounts.added([scaled for _, scaled in majors])
        self._note("amount", _nowhere([*(read for read, _ in majors), minor]), None)
        differ = cells.flags_of(pc.not_equal(minor.values, major.values))
        if differ.any():
            expected = "the same money as amount_minor"
            self._note("amount", differ, expected, sort=lambda _: "that the two disagree")
        return pc.coalesce(minor.values, major.values)

    def divided(
        self,
        columns: Mapping[str, Arrow],
        *,
        source: str,
        key: str,
        names: Sequence[str],
        payments: Sequence[str],
    ) -> Part:
        """Return the rows without a problem, and the others as rejects in source order.

        key, names, payments: the columns of a reject's id, of what it names and of what it is on.
        """
        rows, wrong, last = self._row_numbers(), self._wrong(), latest(columns)
        if wrong is None:
            return Part(source, columns, rows, (), self.strangers, last)
        fine = pa.array(~wrong)
        kept = {name: column.filter(fine) for name, column in columns.items()}
        positions = np.flatnonzero(wrong)
        taken = {
            name: columns[name].take(pa.array(positions)).to_pylist()
            for name in (key, "account", *names, *payments)
        }
        reasons = self._reasons(positions)
        rejects = [
            Reject(
                source=source,
                row=int(rows[position]),
                id=taken[key][index],
                reason=reasons[index],
                account=AccountId(taken["account"][index] or ""),
                names=_told_in(taken, names, index),
                payments=_told_in(taken, payments, index),
            )
            for index, position in enumerate(positions)
        ]
        return Part(source, kept, rows[~wrong], rejects, self.strangers, last)

    def _as(self, column: str) -> Column:
        """Return how a column is read."""
        return self._how.get(column, _PLAIN)

    def _parts(self, column: str) -> tuple[str, ...]:
        """Return the raw columns that a column of ours is made of."""
        return mapping.parts(column, self._as(column))

    def _texts(self, column: str) -> Cells:
        """Return a column as texts, in our words as far as they are mapped."""
        how = self._as(column)
        if column not in self._raw and how.missing is not None:
            return Cells(pa.repeat(pa.scalar(how.missing, pa.large_string()), self._size))
        return self._read(column, lambda raw: fitting.texts(raw, how), pa.large_string())

    def _minor(self, part: str) -> Cells:
        """Return one raw column of whole minor units after noting which rows are bad."""
        how = self._as("amount_minor")
        read = amounts.from_zero(self._read(part, lambda raw: fitting.integers(raw, how), pa.int64()))
        expected = f"a whole number of minor units from 0{amounts.written_as(how)}"
        self._note("amount_minor", read.bad, expected, sort=amounts.sort, raw=part)
        major = amounts.major_among(self._raw[part], how) if part in self._raw else None
        if major is None:
            return read
        self._note("amount_minor", major, expected, sort=lambda _: amounts.MAJOR, raw=part)
        return Cells(read.values, cells.either(read.bad, major))

    def _major(self, part: str, currency: Arrow) -> tuple[Cells, Cells]:
        """Return one raw column of decimals, and as minor units, after noting which rows are bad."""
        how = self._as("amount")
        read = self._read(part, lambda raw: amounts.numerals(raw, how, currency), pa.large_string())
        told, sort = amounts.written_as(how), amounts.sorts(how, self._raw.get(part), currency)
        self._note("amount", read.bad, f"a decimal number of major units{told}", sort=sort, raw=part)
        scaled = amounts.scaled(read, currency)
        expected = f"0 or more, with no more decimals than its currency has{told}"
        self._note("amount", scaled.bad, expected, sort=sort, raw=part)
        return read, scaled

    def _meet(self, column: str, read: Cells, words: tuple[str, ...]) -> None:
        """Count the words that are none of ours, where a map gives our words to theirs."""
        if self._as(column).words:
            counted = pc.value_counts(read.values).to_pylist()
            strange = {each["values"]: each["counts"] for each in counted if each["values"] is not None}
            self.strangers[column] = {word: count for word, count in strange.items() if word not in words}

    def _read(self, column: str, reader: Callable[[pd.Series], Cells], kind: Arrow) -> Cells:
        """Return a column as it was read; one that the source does not have is all missing."""
        return reader(self._raw[column]) if column in self._raw else cells.absent(self._size, kind)

    def _kept(self, column: str, read: Cells, expected: str, *, needed: bool) -> Arrow:
        """Return the values after noting which rows are bad, and missing where the column is needed."""
        self._note(column, read.bad, expected)
        if needed:
            self._note(column, read.missing, None)
        return read.values

    def _note(
        self,
        column: str,
        rows: Mask | None,
        expected: str | None,
        *,
        sort: Callable[[object], str] = cells.shown,
        raw: str = "",
    ) -> None:
        """Remember a problem, if there is one."""
        if rows is not None and rows.any():
            self._problems.append(Problem(column, raw or column, rows, expected, sort))

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
            raw = self._raw.get(problem.raw)
            name = self._named(problem)
            for index in np.flatnonzero(problem.rows[positions]):
                value = None if raw is None else _cell(raw, positions[index])
                parts[index].append(_told(problem, name, value))
        return ["; ".join(part) for part in parts]

    def _named(self, problem: Problem) -> str:
        """Return what a message calls the column of a problem."""
        how = self._as(problem.column)
        theirs = how.needs
        if how.sums and problem.raw != problem.column:
            theirs = (how.sums[self._parts(problem.column).index(problem.raw)],)
        return named(problem.column, theirs)


def named(column: str, theirs: Sequence[str]) -> str:
    """Return what a message calls a column: our name, and the source's where it has another."""
    if tuple(theirs) in {(), (column,)}:
        return column
    return f"{column} (column {' or '.join(map(cells.shown, theirs))})"


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


def _chunks(column: Arrow) -> Sequence[Arrow]:
    """Return the chunks of a column, whether it has several or not."""
    chunks: Sequence[Arrow] = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return chunks


def _told_in(taken: Mapping[str, Sequence[str | None]], names: Iterable[str], index: int) -> tuple[str, ...]:
    """Return what one row has in some columns, each once."""
    return tuple(dict.fromkeys(word for name in names if (word := taken[name][index])))


def _cell(raw: pd.Series, position: int) -> object:
    """Return one raw cell, to be shown."""
    try:
        return raw.iloc[position]
    except (OverflowError, ValueError):  # A time beyond the years that Python's calendar has.
        return "a time beyond any calendar"


def _told(problem: Problem, name: str, value: object) -> str:
    """Return one problem of one row in words."""
    if problem.expected is None:
        return f"{name} is missing"
    return f"{name} must be {problem.expected}; found {problem.sort(value)}"


def _nowhere(read: Sequence[Cells]) -> Mask | None:
    """Return the rows in which every one of some columns is missing."""
    masks = [each.missing for each in read]
    if any(mask is None for mask in masks):
        return None
    nowhere: Mask = np.logical_and.reduce(np.array(masks))
    return nowhere


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
