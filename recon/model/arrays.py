"""Columns of frames as plain arrays: strings as integer codes, times as integer microseconds.

Strings stay in Arrow memory; nothing here makes a Python object per row. A code of -1 is a missing value.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import hashes

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ABSENT = -1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_BEGINNING = 3  # Bytes: ch_, pi_, re_.
_FEW = 8  # Needles are few where the haystack has this many times as many strings.


def microseconds(duration: timedelta) -> int:
    """Return the duration as whole microseconds."""
    return duration // MICROSECOND


def strings(column: pd.Series) -> pa.Array:
    """Return a text column as one Arrow array; missing values are null."""
    array = pa.array(column, type=pa.large_string(), from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def times(column: pd.Series) -> Ints:
    """Return a UTC time column as microseconds since 1970; a missing time is the smallest integer."""
    return column.to_numpy(dtype="datetime64[us]").view(np.int64)


def time(moment: datetime) -> int:
    """Return an aware time as `times` has it."""
    return (moment - EPOCH) // MICROSECOND


def instant(microseconds: int) -> datetime:
    """Return one of `times` as an aware time."""
    return EPOCH + timedelta(microseconds=int(microseconds))


def integers(codes: pa.Array) -> Ints:
    """Return Arrow integers as int64, nulls as -1."""
    return np.asarray(pc.fill_null(codes, ABSENT).cast(pa.int64()))


def encode(*columns: pa.Array) -> tuple[list[Ints], pa.Array]:
    """Return each column as codes into one shared dictionary, and the dictionary."""
    if all(len(column) and _is_blank(column) for column in columns):
        return [np.zeros(len(column), np.int64) for column in columns], pa.array([""], pa.large_string())
    encoded = pa.chunked_array(list(columns), type=pa.large_string()).dictionary_encode()
    if encoded.num_chunks == 0:
        return [np.empty(0, np.int64) for _ in columns], pa.array([], pa.large_string())
    whole = encoded.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    codes = integers(whole.indices)
    bounds = np.cumsum([len(column) for column in columns])[:-1]
    return np.split(codes, bounds), whole.dictionary


def _is_blank(column: pa.Array) -> bool:
    """Return whether every string is there and empty, as accounts are where there is one."""
    bounds = np.frombuffer(column.buffers()[1], np.int64)
    return column.null_count == 0 and bool(bounds[column.offset] == bounds[column.offset + len(column)])


def first_places(column: pa.Array) -> Ints:
    """Return for each string the first position of the same one in its own column, -1 where it is missing."""
    places = np.arange(len(column))
    if column.null_count:
        places[~present(column)] = ABSENT
    several = np.flatnonzero(hashes.repeated(column))
    (codes,), words = encode(column.take(pa.array(several)))
    first = np.empty(len(words), np.int64)
    first[codes[::-1]] = several[::-1]  # The last written stands: the first place.
    places[several] = first[codes]
    return places


def find(needles: pa.Array, haystack: pa.Array) -> Ints:
    """Return for each needle the first position of the same string, -1 where there is none."""
    if len(haystack) == 0 or needles.null_count == len(needles):
        return np.full(len(needles), ABSENT, np.int64)
    if len(needles) * _FEW > len(haystack):
        found = hashes.find(needles, haystack)
        return integers(pc.index_in(needles, value_set=haystack, skip_nulls=True)) if found is None else found
    # Few needles are looked for the other way round, which makes a hash table of them alone.
    found = integers(pc.index_in(haystack, value_set=needles, skip_nulls=True))
    places = np.flatnonzero(found != ABSENT)[::-1]
    first = np.full(len(needles), ABSENT, np.int64)
    first[found[places]] = places  # The last written stands: the first place.
    same = integers(pc.index_in(needles, value_set=needles, skip_nulls=True))
    return np.where(same == ABSENT, ABSENT, first[same])


def may_share(first: pa.Array, second: pa.Array) -> bool:
    """Return whether two columns may have a string in common, from how their strings begin.

    Ids say by their first letters what they are, so this spares a search that finds nothing.
    """
    here, there = (
        pc.unique(pc.binary_slice(column.cast(pa.large_binary()), 0, _BEGINNING)).drop_null()
        for column in (first, second)
    )
    return bool(pc.any(pc.is_in(here, value_set=there)).as_py())


def find_within(
    needles: pa.Array, needle_accounts: Ints, haystack: pa.Array, haystack_accounts: Ints
) -> Ints:
    """Return for each needle the position of the same string of the same account.

    Shape: one position per needle, -1 where there is none; the haystack is unique per account. With one
    account this is `find`.
    """
    if len(haystack) == 0 or len(needles) == 0 or needles.null_count == len(needles):
        return np.full(len(needles), ABSENT, np.int64)
    lowest = min(haystack_accounts.min(), needle_accounts.min())
    highest = max(haystack_accounts.max(), needle_accounts.max())
    if lowest == highest:
        return find(needles, haystack)
    positions = hashes.find(needles, haystack, (needle_accounts, haystack_accounts))
    if positions is not None:
        return positions
    # Strings and accounts are combined into one integer key.
    (codes,), names = encode(haystack)
    wanted = find(needles, names)
    width = int(highest) + 1
    places = pd.Index(codes * width + haystack_accounts).get_indexer(
        pd.Index(np.where(wanted == ABSENT, ABSENT, wanted * width + needle_accounts))
    )
    return np.asarray(places, np.int64)


def isin(column: pa.Array, words: tuple[str, ...]) -> Bools:
    """Return which values are one of the words; a missing value is not."""
    return np.asarray(pc.is_in(column, value_set=pa.array(words, column.type), skip_nulls=True))


def present(column: pa.Array) -> Bools:
    """Return which values are not missing."""
    return np.asarray(pc.is_valid(column))


def group(*columns: Ints) -> Ints:
    """Return a group number per row: equal exactly where every column is equal."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes, uniques = pd.factorize(column)
        numbers = pd.factorize(numbers * (len(uniques) + 1) + codes)[0]
    return numbers
