"""Amounts of a sheet: whole minor units out of what a source writes, and what to say where there are none.

Never rounds, and never shows an amount: they are nobody's to read in a log.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import cells, fitting, money, signs
from recon.model.cells import Arrow, Cells, Mask
from recon.model.mapping import MARKS, Column, Sign
from recon.model.values import Unreadable

NEGATIVE = "a negative number"
SEPARATED = "a number with separators"
SIGNED = "a number with a currency beside it"
"""Sorts of amounts that a map may say a source has."""
MAJOR = (
    "one among numbers with decimals, as major units have; if it is of those, a map for --columns says so by"
    ' amount = "amount", else by amount_minor = "amount"'
)
"""Sort of an amount of which nobody said that its unit is the minor one."""

_ZEROS = r"\.0{2,3}$"  # The decimals of a currency, where an amount in major units is whole.
_FRACTION = r"\.[0-9]*[1-9]"
_LARGEST_PART = 2**60  # Of a sum: eight of them are still an int64.

# Digits with something between them that is no decimal point, or not only that.
_GROUPED = re.compile(
    rf"[-+]?(\d{{1,3}}([{re.escape(MARKS.replace('.', ''))}]\d{{2,3}})+(\.\d*)?"
    r"|\d{1,3}(\.\d{3})+,\d*|\d+,\d+|\d{1,3}(\.\d{3}){2,})"
)


def added(parts: Sequence[Cells]) -> Cells:
    """Return the sum of whole numbers, row by row; an empty cell adds nothing, and all empty are missing."""
    if len(parts) == 1:
        return parts[0]
    bad: Mask | None = None
    total = pa.nulls(len(parts[0].values), pa.int64())
    for part in parts:
        near = pc.less(pc.abs(part.values), _LARGEST_PART // len(parts))
        far = cells.flags_of(pc.invert(near))
        bad = cells.either(bad, cells.either(part.bad, far if far.any() else None))
        values = pc.if_else(near, part.values, pa.scalar(None, pa.int64()))
        total = pc.if_else(pc.is_null(total), values, pc.add(pc.fill_null(total, 0), pc.fill_null(values, 0)))
    return Cells(total if bad is None else pc.if_else(pa.array(bad), pa.scalar(None, pa.int64()), total), bad)


def written_as(how: Column) -> str:
    """Return how a map says that amounts are written, to end what is expected; "" where it says nothing."""
    told = []
    if how.decimal != ".":
        told.append(f"{how.decimal!r} before its decimals")
    if how.thousands:
        told.append(f"{how.thousands!r} between its thousands")
    if how.sign == Sign.NEGATIVE:
        told.append("a minus before it")
    if how.currency_sign:
        told.append("no other currency than its row's beside it")
    return f", written with {' and '.join(told)} as the map says" if told else ""


def numerals(raw: pd.Series, how: Column, currency: Arrow) -> Cells:
    """Return amounts as plain decimal texts, without the signs and codes beside them where a map says so.

    currency: of each row. Another one's sign stays where it is, so that nobody takes it for an amount.
    """
    if not how.currency_sign:
        return fitting.numerals(raw, how)
    codes = currency.to_pylist()
    bare = [
        _bare(cell, code) if isinstance(cell, str) else cell for cell, code in zip(raw, codes, strict=True)
    ]
    return fitting.numerals(pd.Series(bare, raw.index, dtype=raw.dtype), how)


def sorts(how: Column, raw: pd.Series | None, currency: Arrow) -> Callable[[object], str]:
    """Return what says what sort of thing a cell of a column is; currency: of each row.

    A number that only its minus keeps from being what the map says is a negative one.
    """
    lowest = re.compile(f"-{fitting.styled_as(how.decimal, how.thousands)}")

    @functools.cache
    def codes() -> Mapping[str, Mapping[str, None]]:
        """Return the currencies of the rows that hold each text."""
        found: dict[str, dict[str, None]] = {}
        for cell, code in zip(() if raw is None else raw, currency.to_pylist(), strict=True):
            if isinstance(cell, str) and code:
                found.setdefault(cell, {})[code] = None
        return found

    def told(value: object) -> str:
        text = str(value).strip()
        number, beside = signs.split(text) if how.currency_sign else (text, ())
        for pattern in fitting.BEHIND:
            number = re.sub(pattern, r"-\1", number)
        there = codes().get(value, ()) if beside and isinstance(value, str) else ()
        other = [code for code in there if not _agree(beside, code)]
        if other:
            return f"one with {cells.shown(beside[0])} beside it where the currency is {' or '.join(other)}"
        return NEGATIVE if isinstance(value, str) and lowest.fullmatch(number) else sort(value)

    return told


def _bare(text: str, code: str | None) -> str:
    """Return an amount without what stands beside it, unless that is another currency."""
    number, beside = signs.split(text)
    return number if code is None or _agree(beside, code) else text


def _agree(beside: Iterable[str], code: str) -> bool:
    """Return whether each of some signs may be a currency's."""
    return all(code in signs.currencies(sign) for sign in beside)


def sort(value: object) -> str:  # noqa: PLR0911 - a list of sorts.
    """Return what sort of thing stands where an amount should; amounts are nobody's to read in a log."""
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    if isinstance(value, Unreadable):
        return value.what
    if isinstance(value, float | np.floating):
        return "a binary floating-point number"
    text = str(value).strip()
    digits = text.lstrip("+-").replace(".", "", 1)
    if not (digits.isascii() and digits.isdecimal()):
        if _GROUPED.fullmatch(text):
            return SEPARATED
        if isinstance(value, str) and signs.split(text)[1]:
            return SIGNED
        return "a text that is no plain number" if any(map(str.isdecimal, text)) else cells.shown(value)
    if text.startswith("-"):
        return NEGATIVE
    whole, _, fraction = text.partition(".")
    if len(whole) >= len(str(money.LARGEST_MINOR)) - 1:
        return "a number that is too large"
    return "a number with a fraction" if fraction.strip("0") else "a number written with a sign"


def major_among(raw: pd.Series, how: Column) -> Mask | None:
    """Return which whole cells of a column, read as minor units only for its name, look like major units.

    Two or three decimals are a currency's, also where they are zeros; one cell with a fraction tells of all
    that stand beside it, of which a spreadsheet drops the zeros. None where there are none.
    """
    if not how.guessed or [name.lower() for name in how.sources] != ["amount"]:
        return None
    column = cells.plain(raw)
    if column is not None and pa.types.is_integer(column.type):
        return None
    read = cells.numerals(raw)
    is_float = column is not None and pa.types.is_floating(column.type)
    fractions = is_float and read.bad is not None
    fractions = fractions or pc.any(pc.match_substring_regex(read.values, _FRACTION)).as_py()
    major = cells.flags_of(pc.is_valid(cells.integers(raw).values))
    if not fractions:
        major = major & cells.flags_of(pc.match_substring_regex(read.values, _ZEROS))
    return major if major.any() else None


def among(ids: Arrow) -> Mask | None:
    """Return which ids are decimal numbers while others are not; None where all are alike."""
    if not any(_holds_point(chunk) for chunk in (ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids])):
        return None
    decimal = cells.flags_of(pc.match_substring_regex(ids, r"^[-+]?[0-9]+[.,][0-9]+$"))
    there = len(ids) - ids.null_count
    return decimal if 0 < decimal.sum() < there else None


def from_zero(read: Cells) -> Cells:
    """Return whole numbers with a null and a mark for each negative one."""
    least = pc.min(read.values).as_py()
    if least is None or least >= 0:
        return read
    fits = pc.greater_equal(read.values, 0)
    values = pc.if_else(fits, read.values, pa.scalar(None, pa.int64()))
    return Cells(values, cells.either(read.bad, cells.flags_of(pc.invert(fits))))


def scaled(major: Cells, currency: Arrow) -> Cells:
    """Return decimal texts as minor units; those that their currency cannot hold are bad."""
    values = pa.nulls(len(major.values), pa.int64())
    lost: Mask | None = None
    for exponent in sorted(set(money.EXPONENTS.values())):
        codes = [code for code, decimals in money.EXPONENTS.items() if decimals == exponent]
        mine = pc.is_in(currency, value_set=pa.array(codes, pa.large_string()))
        if not pc.any(mine).as_py():
            continue
        texts = pc.if_else(mine, major.values, pa.scalar(None, pa.large_string()))
        parts = pc.extract_regex(texts, f"^(?P<whole>[0-9]+)\\.?(?P<part>[0-9]{{0,{exponent}}})0*$")
        part = pc.utf8_rpad(pc.struct_field(parts, "part"), exponent, "0")
        minor = cells.integers(cells.series(_beside(pc.struct_field(parts, "whole"), part)))
        values = pc.coalesce(values, minor.values)
        unread = cells.flags_of(pc.and_(pc.is_valid(texts), pc.is_null(minor.values)))
        lost = cells.either(lost, unread if unread.any() else None)
    return Cells(values, lost)


def _beside(first: Arrow, second: Arrow) -> Arrow:
    """Return two columns of texts written one after the other."""
    return pc.binary_join_element_wise(first, second, pa.scalar("", pa.large_string()))


def _holds_point(ids: Arrow) -> bool:
    """Return whether some text may hold a point or a comma; quick, and to be sure."""
    content = ids.buffers()[2] if len(ids) else None
    if content is None:
        return False
    letters = content.to_pybytes()
    return b"." in letters or b"," in letters
