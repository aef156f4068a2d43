"""Raw columns read as a map says: words, signs, separators, formats and zones that are not ours.

Never guesses: a cell that is not written as the map says is marked, whatever else it may look like.
"""

import re
from collections.abc import Iterable
from datetime import UTC, tzinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import cells, mapping
from recon.model.cells import INSTANT, Arrow, Cells, Mask
from recon.model.mapping import Case, Column, Sign

_TEXT = pa.large_string()
BEHIND = (r"^\((.*)\)$", r"^([^-]*)-$")
"""How bookkeepers write -49.00: (49.00) and 49.00-."""


def without(raw: pd.Series, empty: Iterable[str]) -> pd.Series:
    """Return a raw column in which each cell that is one of some words is missing."""
    words = tuple(empty)
    if not words:
        return raw
    if raw.dtype == object:
        return raw.map(lambda cell: None if isinstance(cell, str) and cell in words else cell)
    column = pa.array(raw, from_pandas=True)
    if not cells.is_text(column.type):
        return raw
    column = column.cast(_TEXT)
    held = pc.is_in(column, value_set=pa.array(words, _TEXT))
    return cells.series(pc.if_else(held, _nothing(_TEXT), column), index=raw.index)


def texts(raw: pd.Series, how: Column) -> Cells:
    """Return a column of texts in the map's case, in our words."""
    read = cells.texts(_spelled(raw) if how.words else raw)
    values = read.values
    if how.case != Case.KEPT:
        values = pc.utf8_lower(values) if how.case == Case.LOWER else pc.utf8_upper(values)
    if how.words:
        values = _translated(values, how)
    if how.missing is not None:
        values = _filled(values, read.bad, how.missing)
    return Cells(values, read.bad)


def numerals(raw: pd.Series, how: Column) -> Cells:
    """Return a column of plain decimal texts, from separators and a sign as the map says."""
    styled = (how.decimal, how.thousands) != (".", "")
    if not styled and how.sign == Sign.POSITIVE:
        return cells.numerals(raw)  # Numbers need no text.
    read = cells.texts(_spelled(raw, how.decimal))
    values, bad = read.values, read.bad
    if how.sign != Sign.POSITIVE:
        for pattern in BEHIND:
            values = pc.replace_substring_regex(values, pattern, r"-\1")
    fits = pc.match_substring_regex(values, f"^-?{styled_as(how.decimal, how.thousands)}$")
    values, bad = _only(values, fits, bad)
    if how.thousands:
        values = pc.replace_substring(values, how.thousands, "")
    if how.decimal != ".":
        values = pc.replace_substring(values, how.decimal, ".")
    return _signed(values, bad, how.sign)


def styled_as(decimal: str, thousands: str) -> str:
    """Return the pattern of an amount without its sign; `part` is what stands behind the decimal mark."""
    mark, between = re.escape(decimal), re.escape(thousands)
    grouped = f"[0-9]{{1,3}}({between}[0-9]{{2,3}})*{between}[0-9]{{3}}|" if thousands else ""
    return f"({grouped}[0-9]+)({mark}(?P<part>[0-9]*))?"


def integers(raw: pd.Series, how: Column) -> Cells:
    """Return a column of int64, from separators and a sign as the map says."""
    if (how.decimal, how.thousands, how.sign) == (".", "", Sign.POSITIVE):
        return cells.integers(raw)
    return cells.integers_of(numerals(raw, how))


def instants(raw: pd.Series, how: Column, zone: str) -> Cells:
    """Return a column of times as the map formats them; zone: of those that say none, "" for no zone."""
    ticks = mapping.EPOCHS.get(how.format)
    if ticks is not None:
        return _counted(raw, 1_000_000 // ticks)
    if how.format != mapping.ISO:
        return _patterned(raw, how.format, zone)
    column = cells.plain(raw) if zone else None
    if column is not None and pa.types.is_timestamp(column.type) and column.type.tz is None:
        return _naive(column, mapping.zone_of(zone))
    return cells.instants(zoned(raw, mapping.zone_of(zone)) if zone else raw)


def zoned(raw: pd.Series, zone: tzinfo) -> pd.Series:
    """Return a column in which every time without a zone has this one; one that it has twice stays without.

    A date alone is its midnight.
    """
    column = cells.plain(raw)
    if column is None:
        alone = [cell if isinstance(cell, str) else None for cell in raw]
        found = zoned(pd.Series(alone, raw.index, dtype="str"), zone)
        return pd.Series(
            [there if isinstance(cell, str) else cell for cell, there in zip(raw, found, strict=True)],
            raw.index,
            dtype=object,
        )
    if not cells.is_text(column.type):
        return raw
    column = column.cast(_TEXT)
    if zone is UTC:
        column = pc.replace_substring_regex(column, cells.ZONELESS_TIME, r"\1Z")
        return cells.series(pc.replace_substring_regex(column, cells.DATE, r"\1T00:00Z"), index=raw.index)
    bare = pc.match_substring_regex(column, f"{cells.ZONELESS_TIME}|{cells.DATE}")
    if not pc.any(bare).as_py():
        return raw
    text: pd.Series = cells.series(pc.if_else(bare, column, _nothing(_TEXT)))
    found = _localised(pd.to_datetime(text, format="ISO8601", errors="coerce"), zone)
    told = pc.strftime(pa.array(found, INSTANT, from_pandas=True), "%Y-%m-%dT%H:%M:%SZ")
    return cells.series(pc.coalesce(told, column), index=raw.index)


def _naive(column: Arrow, zone: tzinfo) -> Cells:
    """Return times from those of a zone; what its clocks show twice or never, and no calendar has, is bad."""
    near = cells.within(column)
    told = pd.Series(near.values.cast(pa.timestamp("us")).to_pandas())
    values = pa.array(_localised(told, zone), INSTANT, from_pandas=True)
    lost = cells.flags_of(pc.and_(pc.is_null(values), pc.is_valid(near.values)))
    return cells.within(values, cells.either(near.bad, lost if lost.any() else None))


def _patterned(raw: pd.Series, pattern: str, zone: str) -> Cells:
    """Return times from texts of a pattern of strptime's."""
    read = cells.texts(raw)
    text = cells.series(read.values)
    if "z" in mapping.directives(pattern):
        found = pd.to_datetime(text, format=pattern, errors="coerce", utc=True)
    else:
        found = _localised(pd.to_datetime(text, format=pattern, errors="coerce"), mapping.zone_of(zone))
    values = pa.array(found.dt.as_unit("us"), INSTANT, from_pandas=True)
    lost = cells.flags_of(pc.and_(pc.is_null(values), pc.is_valid(read.values)))
    return cells.within(values, cells.either(read.bad, lost if lost.any() else None))


def _localised(naive: pd.Series, zone: tzinfo) -> pd.Series:
    """Return times of a zone in UTC; what the zone's clocks show twice or never is missing."""
    localised = naive.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    in_utc: pd.Series = localised.dt.tz_convert("UTC").dt.as_unit("us")
    return in_utc


def _counted(raw: pd.Series, microseconds: int) -> Cells:
    """Return times from whole numbers of ticks since 1970."""
    whole = cells.integers(raw)
    limit = (2**63 - 1) // microseconds
    # The least int64 has no absolute value.
    near = pc.and_(pc.less_equal(whole.values, limit), pc.greater_equal(whole.values, -limit))
    values, bad = _only(whole.values, near, whole.bad, pa.int64())
    return cells.within(pc.multiply(values, microseconds).cast(INSTANT), bad)


def _spelled(raw: pd.Series, decimal: str = ".") -> pd.Series:
    """Return a column with its truth values as true and false, and its exact numbers as texts."""
    if raw.dtype == object:
        return raw.map(lambda cell: _told(cell, decimal))
    column = cells.plain(raw)
    if column is None or not (pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type)):
        return raw
    told = column.cast(_TEXT)
    return cells.series(told if decimal == "." else pc.replace_substring(told, ".", decimal), raw.index)


def _told(cell: object, decimal: str) -> object:
    """Return one cell of Python's as the text that a map speaks of."""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):
        read = cells.numerals(pd.Series([cell], dtype=object)).values[0].as_py()
        return cell if read is None else read.replace(".", decimal)
    return cell


def _translated(values: Arrow, how: Column) -> Arrow:
    """Return texts with their words for ours; words of which the map says nothing stay."""
    encoded = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    encoded = encoded.dictionary_encode()
    words = [how.words.get(word, word) for word in encoded.dictionary.to_pylist()]
    return pa.array(words, _TEXT).take(encoded.indices)


def _filled(values: Arrow, bad: Mask | None, missing: str) -> Arrow:
    """Return texts with what stands where a cell is missing, but not where it is bad."""
    if values.null_count == 0:
        return values
    if bad is None:
        return pc.fill_null(values, missing)
    return pc.if_else(pa.array(bad), values, pc.fill_null(values, missing))


def _signed(values: Arrow, bad: Mask | None, sign: Sign) -> Cells:
    """Return decimal texts without the sign that the map says they have."""
    if sign == Sign.POSITIVE:
        return Cells(values, bad)
    if sign == Sign.NEGATIVE:
        values, bad = _only(values, pc.match_substring_regex(values, r"^-|^0+(\.0*)?$"), bad)
    return Cells(pc.utf8_ltrim(values, "-"), bad)


def _only(values: Arrow, fits: Arrow, bad: Mask | None, kind: Arrow = _TEXT) -> tuple[Arrow, Mask | None]:
    """Return the values that fit, and the mask with the others marked."""
    if pc.all(fits).as_py() is not False:
        return values, bad
    wrong = cells.flags_of(pc.invert(fits))
    return pc.if_else(fits, values, _nothing(kind)), cells.either(bad, wrong)


def _nothing(kind: Arrow) -> Arrow:
    """Return a missing cell."""
    return pa.scalar(None, kind)
