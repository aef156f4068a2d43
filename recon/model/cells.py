"""A raw column read as texts, whole numbers, times or flags, all rows at once, and which of them cannot be.

Never guesses and never raises on data: what a cell should not hold is marked, and its row is somebody else's
to reject.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recon.model import spellings

Mask = NDArray[np.bool_]
Arrow = Any  # A pyarrow Array or ChunkedArray; pyarrow ships no types.

INSTANT = pa.timestamp("us", "UTC")
SHOWN = 40  # Characters of a wrong value that a message shows: enough to find it, too few to leak a record.
# Decimal digits beyond which a number is refused unread: an int64 has 19, and 1E+999999 written out is a
# megabyte.
_DIGITS = 40
_BLANKS = re.compile(r"[ \t\r\n]+")
_LARGEST_EXACT_FLOAT = 2.0**53
_WHOLE = r"^-?[0-9]+(\.0*)?$"
_DECIMAL = r"^-?[0-9]+(\.[0-9]*)?$"
# Zone and seconds are asked for; a comma, a week date or a lone date are not read as a time.
ZONELESS_TIME = r"^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)$"
ZONED_TIME = rf"{ZONELESS_TIME[:-1]} ?(Z|z|UTC|[+-]\d{{2}}(:?\d{{2}})?)$"
DATE = r"^(\d{4}-\d{2}-\d{2})$"
# Unix seconds from 1973 to 2286. Eight digits are a date without dashes, thirteen are milliseconds: neither
# is guessed.
UNIX = r"^[0-9]{9,10}(\.0*)?$"
# The years 2 to 9998: what Python's datetime holds after a grace is added or taken away. Ticks by unit.
_FIRST_SECOND, _LAST_SECOND = -62_104_060_800, 253_370_764_799
_SPAN = {
    "s": (_FIRST_SECOND, _LAST_SECOND),
    "ms": (_FIRST_SECOND * 10**3, _LAST_SECOND * 10**3),
    "us": (_FIRST_SECOND * 10**6, _LAST_SECOND * 10**6),
    "ns": (-(2**63), 2**63 - 1),  # Ends in the year 2262 by itself.
}
_FLAGS = {
    "true": True,
    "t": True,
    "yes": True,
    "1": True,
    "false": False,
    "f": False,
    "no": False,
    "0": False,
}


@dataclass(frozen=True, slots=True)
class Cells:
    """A column as it was read.

    values: one per row, null where the cell is missing or bad. bad: the rows whose cell holds something else;
    None means that there are none.
    """

    values: Arrow
    bad: Mask | None = None

    @property
    def missing(self) -> Mask | None:
        """Return the rows whose cell is empty; None means that there are none."""
        if self.values.null_count == 0:
            return None
        nulls: Mask = flags_of(pc.is_null(self.values))
        return nulls if self.bad is None else nulls & ~self.bad


def flags_of(mask: Arrow) -> Mask:
    """Return an Arrow mask as a numpy one; null counts as false."""
    filled = pc.fill_null(mask, fill_value=False)
    result: Mask = (
        filled.to_numpy(zero_copy_only=False) if isinstance(filled, pa.Array) else filled.to_numpy()
    )
    return result


def absent(rows: int, kind: Arrow) -> Cells:
    """Return a column that the source does not have."""
    return Cells(pa.nulls(rows, kind))


def texts(raw: pd.Series) -> Cells:
    """Return a column of texts; whole numbers become their digits, an empty text is a missing one."""
    column = plain(raw)
    if column is None:
        read = [_text(value) for value in raw]
        return _from_python(
            read, [value is None and not is_missing(cell) for value, cell in zip(read, raw, strict=True)]
        )
    kind = column.type
    if pa.types.is_integer(kind):
        return Cells(column.cast(pa.large_string()))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        whole = integers(raw)
        return Cells(whole.values.cast(pa.large_string()), whole.bad)
    if not is_text(kind):
        return Cells(pa.nulls(len(raw), pa.large_string()), _some(flags_of(pc.is_valid(column))))
    return Cells(_without_empty(column.cast(pa.large_string())))


def integers(raw: pd.Series) -> Cells:
    """Return a column of int64, negative ones included; an integral decimal such as 4900.0 is whole."""
    column = plain(raw)
    if column is None:
        return integers_of(numerals(raw))
    kind = column.type
    if pa.types.is_signed_integer(kind):
        return Cells(column.cast(pa.int64()))
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            whole = (np.abs(values) <= _LARGEST_EXACT_FLOAT) & (values == np.trunc(values))
        exact = np.where(whole, values, 0).astype("int64")
        return Cells(pa.array(exact, mask=~whole), _some(~whole & ~np.isnan(values)))
    return integers_of(numerals(raw))


def numerals(raw: pd.Series) -> Cells:
    """Return a column of plain decimal texts, in which a float stands only if it is a whole number."""
    column = plain(raw)
    if column is None:
        read = [_numeral(value) for value in raw]
        cells = _from_python(
            read, [value is None and not is_missing(cell) for value, cell in zip(read, raw, strict=True)]
        )
        return _matching(cells, _DECIMAL)
    kind = column.type
    if pa.types.is_floating(kind):
        whole = integers(raw)
        return Cells(whole.values.cast(pa.large_string()), whole.bad)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or is_text(kind):
        return _matching(Cells(_without_empty(column.cast(pa.large_string()))), _DECIMAL)
    return Cells(pa.nulls(len(raw), pa.large_string()), _some(flags_of(pc.is_valid(column))))


def instants(raw: pd.Series) -> Cells:
    """Return a column of times, from ISO 8601 with a zone, Unix seconds, or times with a zone."""
    column = plain(raw)
    if column is None:
        read = [_instant_text(value) for value in raw]
        bad = [value is None and not is_missing(cell) for value, cell in zip(read, raw, strict=True)]
        return _instants_of(_from_python(read, bad))
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return within(column)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        whole = integers(raw)
        return _instants_of(Cells(whole.values.cast(pa.large_string()), whole.bad))
    if not is_text(kind):
        return Cells(pa.nulls(len(raw), INSTANT), _some(flags_of(pc.is_valid(column))))
    return _instants_of(Cells(_without_empty(column.cast(pa.large_string()))))


def flags(raw: pd.Series) -> Cells:
    """Return a column of truth values, from booleans or the words true, false, yes, no, 1 and 0."""
    column = plain(raw)
    if column is not None and pa.types.is_boolean(column.type):
        return Cells(column)
    read = [None if is_missing(cell) else _FLAGS.get(str(cell).lower()) for cell in raw]
    bad = [value is None and not is_missing(cell) for value, cell in zip(read, raw, strict=True)]
    return Cells(pa.array(read, pa.bool_()), _some(np.array(bad, dtype=bool)))


def series(values: Arrow, index: pd.Index | None = None) -> pd.Series:
    """Return an Arrow column as a pandas one of the frames' dtypes, by no way of Python objects."""
    kind = values.type
    if pa.types.is_large_string(kind):
        text = pd.StringDtype("pyarrow", na_value=np.nan)
        return pd.Series(pd.arrays.ArrowStringArray(values, dtype=text), index=index)  # type: ignore[call-arg]
    result = values.to_pandas()
    return pd.Series(result.to_numpy() if kind != INSTANT else result.array, index=index)


def shown(value: object) -> str:
    """Return a wrong value as a message shows it: quoted, cut, and with what nobody sees by its number."""
    text = _BLANKS.sub(" ", str(value)).strip(" ")
    told = spellings.revealed(text[:SHOWN])
    return f"'{told}...'" if len(text) > SHOWN else f"'{told}'"


def plain(raw: pd.Series) -> Arrow | None:
    """Return the column as Arrow; None where it holds Python objects that must be looked at one by one."""
    if isinstance(raw.dtype, pd.CategoricalDtype):
        return plain(raw.astype(raw.cat.categories.dtype))
    if raw.dtype == object:
        if pd.api.types.infer_dtype(raw, skipna=True) not in {"string", "empty"}:
            return None
        return pa.array(raw.where(raw.notna(), None), pa.large_string())
    column = pa.array(raw, from_pandas=True)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def is_text(kind: Arrow) -> bool:
    """Return whether an Arrow type is text, or holds nothing at all."""
    return bool(pa.types.is_large_string(kind) or pa.types.is_string(kind) or pa.types.is_null(kind))


def is_missing(value: object) -> bool:
    """Return whether a cell is empty: None, NaN of pandas' own making, NaT or an empty text."""
    return (
        value is None
        or value is pd.NA  # Compared with anything, it is neither true nor false.
        or value is pd.NaT
        or (isinstance(value, str) and value == "")
        or (
            isinstance(value, float) and value != value  # noqa: PLR0124 - NaN is what differs from itself.
        )
    )


def _without_empty(column: Arrow) -> Arrow:
    """Return texts with null for each empty one."""
    empty = pc.equal(column, "")
    if not pc.any(empty).as_py():
        return column
    return pc.if_else(empty, pa.scalar(None, pa.large_string()), column)


def _from_python(values: list[str | None], bad: list[bool]) -> Cells:
    """Return texts that were read one by one."""
    return Cells(pa.array(values, pa.large_string()), _some(np.array(bad, dtype=bool)))


def _some(mask: Mask) -> Mask | None:
    """Return the mask, or None where it marks nothing."""
    return mask if mask.any() else None


def either(first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the rows that one of two masks marks; None means that there are none."""
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _matching(cells: Cells, pattern: str) -> Cells:
    """Return texts with null and a mark for each that does not match."""
    fits = pc.match_substring_regex(cells.values, pattern)
    if pc.all(fits).as_py() is not False:
        return cells
    wrong = flags_of(pc.invert(fits))
    return Cells(pc.if_else(fits, cells.values, pa.scalar(None, pa.large_string())), either(cells.bad, wrong))


def integers_of(cells: Cells) -> Cells:
    """Return decimal texts as int64; those with a fraction or too many digits are bad."""
    whole = _matching(cells, _WHOLE)
    digits = pc.replace_substring_regex(whole.values, r"\.0*$", "")
    try:
        return Cells(digits.cast(pa.int64()), whole.bad)
    except pa.ArrowInvalid:  # At least one is beyond int64.
        read = [None if text is None or abs(int(text)) >= 2**63 else int(text) for text in _short(digits)]
        values = pa.array(read, pa.int64())
        lost = flags_of(pc.and_(pc.is_null(values), pc.is_valid(digits)))
        return Cells(values, either(whole.bad, _some(lost)))


def _short(digits: Arrow) -> list[str | None]:
    """Return texts of digits, those with too many of them as one that is surely too large."""
    return [text if text is None or len(text) <= _DIGITS else "9" * _DIGITS for text in digits.to_pylist()]


def _instants_of(cells: Cells) -> Cells:
    """Return times from ISO 8601 texts with a zone and from Unix seconds."""
    seconds = pc.match_substring_regex(cells.values, UNIX)
    if pc.any(seconds).as_py():
        return _mixed_instants(cells, seconds)
    iso = _matching(cells, ZONED_TIME)
    try:
        return within(iso.values.cast(INSTANT), iso.bad)
    except pa.ArrowInvalid:  # No such day, more than six decimals, or a spelling that only pandas reads.
        text = series(pc.replace_substring_regex(iso.values, r"(\.\d{6})\d+", r"\1"))
        text = text.str.replace(r" ?UTC$", "Z", regex=True)
        values = pa.array(
            pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce").dt.as_unit("us"), INSTANT
        )
        lost = flags_of(pc.and_(pc.is_null(values), pc.is_valid(iso.values)))
        return within(values, either(iso.bad, _some(lost)))


def _mixed_instants(cells: Cells, seconds: Arrow) -> Cells:
    """Return times from a column of which some cells are Unix seconds."""
    nothing = pa.scalar(None, pa.large_string())
    unix = integers_of(Cells(pc.if_else(seconds, cells.values, nothing)))
    rest = _instants_of(Cells(pc.if_else(seconds, nothing, cells.values), cells.bad))
    counted = pc.multiply(unix.values, 1_000_000).cast(INSTANT)
    return Cells(pc.coalesce(counted, rest.values), rest.bad)


def within(column: Arrow, bad: Mask | None = None) -> Cells:
    """Return times with a null and a mark for each that Python's datetime, a grace added, cannot hold."""
    ticks = column.cast(pa.int64())
    span = pc.min_max(ticks).as_py()
    first, last = _SPAN[column.type.unit]
    if span["min"] is None or (first <= span["min"] and span["max"] <= last):
        return Cells(column.cast(INSTANT, safe=False), bad)
    near = pc.and_(pc.greater_equal(ticks, first), pc.less_equal(ticks, last))
    kept = pc.if_else(near, column, pa.scalar(None, column.type))
    return Cells(kept.cast(INSTANT, safe=False), either(bad, _some(flags_of(pc.invert(near)))))


def _text(value: object) -> str | None:
    """Return one cell as text; None where it is missing or no text."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool | np.bool_):
        return None
    return _whole(value)


def _whole(value: object) -> str | None:
    """Return a whole number's digits; None for anything else."""
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        exact = float(value)
        return str(int(exact)) if abs(exact) <= _LARGEST_EXACT_FLOAT and exact.is_integer() else None
    if (
        isinstance(value, Decimal)
        and value.is_finite()
        and abs(value.adjusted()) < _DIGITS
        and value == int(value)
    ):
        return str(int(value))
    return None


def _numeral(value: object) -> str | None:
    """Return one cell as a plain decimal text; None where it is missing or no exact number."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _DIGITS:
        return format(value, "f") if len(value.as_tuple().digits) < _DIGITS else None
    return _text(value)


def _instant_text(value: object) -> str | None:
    """Return one cell as the text of a time; None where it is missing or no time with a zone."""
    if isinstance(value, datetime):  # A pandas Timestamp is one.
        return None if value.tzinfo is None else value.isoformat()
    return _text(value)
