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
