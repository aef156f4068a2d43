import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from recon.model import arrays

WORDS = st.one_of(st.none(), st.sampled_from("abc"))


@given(needles=st.lists(WORDS, max_size=5), haystack=st.lists(WORDS, max_size=60))
def test_each_needle_is_found_where_it_stands_first(
    needles: list[str | None], haystack: list[str | None]
) -> None:
    found = arrays.find(pa.array(needles, pa.large_string()), pa.array(haystack, pa.large_string()))

    assert found.tolist() == [
        -1 if needle is None or needle not in haystack else haystack.index(needle) for needle in needles
    ]


ENDS = st.lists(st.one_of(st.none(), st.text("ab\u20ac", max_size=5)), max_size=8)


@given(first=ENDS, second=ENDS)
def test_columns_that_share_a_string_are_never_told_apart(
    first: list[str | None], second: list[str | None]
) -> None:
    told = arrays.may_share(pa.array(first, pa.large_string()), pa.array(second, pa.large_string()))

    assert told or not {*first} & {*second} - {None}


def test_columns_of_ids_of_two_sorts_are_told_apart() -> None:
    charges, payments = (pa.array([f"{sort}_1", None], pa.large_string()) for sort in ("ch", "pi"))

    assert not arrays.may_share(charges, payments)
    assert arrays.may_share(charges, charges)
