"""Texts found by their hashes are those that are found by comparing all of them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import arrays, hashes

# Around the eight bytes of a word, with what is not one byte a letter, and with zeros, which pad a word.
LENGTHS = (0, 1, 7, 8, 9, 15, 16, 17, 31)
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["", "\0", "\0\0", "a", "a\0", "€", "re_1", "re_2"]),
    st.builds(lambda letter, length: letter * length, st.sampled_from("ab\0"), st.sampled_from(LENGTHS)),
    st.text("ab", min_size=6, max_size=18),
)
COLUMNS = st.lists(TEXTS, max_size=40)


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.large_string())


@given(needles=COLUMNS, haystack=COLUMNS, skipped=st.integers(0, 3))
def test_each_text_is_found_where_it_stands_first(
    needles: list[str | None], haystack: list[str | None], skipped: int
) -> None:
    found = hashes.find(texts(*needles)[skipped:], texts(*haystack)[skipped:])

    wanted, there = needles[skipped:], haystack[skipped:]
    assert found is not None
    assert found.tolist() == [
        -1 if needle is None or needle not in there else there.index(needle) for needle in wanted
    ]


@given(
    needles=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=9),
    haystack=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=9, unique=True),
)
def test_each_text_is_found_within_its_account(
    needles: list[tuple[str, int]], haystack: list[tuple[str, int]]
) -> None:
    numbers = tuple(np.array([each for _, each in side], np.int64) for side in (needles, haystack))
    wanted, there = (texts(*(text for text, _ in side)) for side in (needles, haystack))

    found = hashes.find(wanted, there, within=(numbers[0], numbers[1]))

    assert found is not None
    assert found.tolist() == [haystack.index(each) if each in haystack else -1 for each in needles]


def test_many_texts_are_told_apart() -> None:
    numbers = np.random.default_rng(7).permutation(200_000)
    ids = pa.array(numbers).cast(pa.large_string())

    found = hashes.find(ids, ids)

    assert found is not None
    assert (found == np.arange(len(numbers))).all()
    assert not hashes.repeated(ids).any()


@pytest.mark.parametrize("odd", [0, 1 << 63])
def test_texts_that_share_a_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch, odd: int) -> None:
    monkeypatch.setattr(hashes, "_ODD", np.uint64(odd))
    needles, haystack = texts("one", None, "six", "two", "ten"), texts("two", "one", "two", "ten")
    accounts = np.array([0, 0, 1, 1, 1]), np.array([1, 0, 0, 1])

    assert hashes.find(needles, haystack) is None
    assert arrays.find(needles, haystack).tolist() == [1, -1, -1, 0, 3]
    assert arrays.find_within(needles, accounts[0], haystack, accounts[1]).tolist() == [1, -1, -1, 0, 3]
    assert arrays.first_places(haystack).tolist() == [0, 1, 0, 3]


def test_accounts_that_share_a_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "_ODD", np.uint64(0))
    needles, haystack, accounts = texts("one"), texts("one", "one"), (np.array([0]), np.array([1, 0]))

    assert hashes.find(needles, haystack, accounts) is None
    assert arrays.find_within(needles, accounts[0], haystack, accounts[1]).tolist() == [1]


def test_a_search_that_takes_too_long_is_given_up_for_a_slower_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "_ROUNDS", 1)
    crowd = texts(*map(str, range(200)))

    assert hashes.find(crowd, crowd) is None
    assert arrays.find(crowd, crowd).tolist() == list(range(200))


@given(column=COLUMNS)
def test_what_is_said_to_be_there_once_is(column: list[str | None]) -> None:
    may = hashes.repeated(texts(*column)).tolist()

    assert may == [text is not None and column.count(text) > 1 for text in column]


@given(column=COLUMNS)
def test_each_text_has_the_place_of_the_first_like_it(column: list[str | None]) -> None:
    places = arrays.first_places(texts(*column)).tolist()

    assert places == [-1 if text is None else column.index(text) for text in column]


@given(first=st.lists(st.sampled_from(["", "a", None]), max_size=4), second=st.lists(st.just(""), max_size=4))
def test_one_account_and_several_are_told_by_the_same_codes(
    first: list[str | None], second: list[str]
) -> None:
    codes, words = arrays.encode(texts(*first), texts(*second))

    told = [[None if code == -1 else words[int(code)].as_py() for code in side] for side in codes]
    assert told == [first, second]
