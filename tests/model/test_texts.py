import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import texts

CELLS = st.lists(st.one_of(st.none(), st.text(" ab\u20ac\t\u00a0\u3000", max_size=4)), max_size=6)
KINDS = (
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.dictionary(pa.int32(), pa.string()),
)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(parts=st.lists(CELLS, max_size=3), skipped=st.integers(0, 2))
def test_texts_of_any_type_lose_the_blanks_around_them_and_nothing_else(
    kind: pa.DataType, parts: list[list[str | None]], skipped: int
) -> None:
    chunks = [pa.array(part, pa.string()) for part in parts]
    column = pa.chunked_array(
        [chunk.dictionary_encode() if pa.types.is_dictionary(kind) else chunk.cast(kind) for chunk in chunks],
        kind,
    ).slice(skipped)

    plain = texts.plain(column)

    assert plain.type == pa.large_string()
    cells = [cell for part in parts for cell in part][skipped:]
    assert plain.to_pylist() == [None if cell is None else cell.strip() for cell in cells]
