import numpy as np
import pyarrow as pa
import pytest

from recon.model import disguises
from recon.model.disguises import Disguise, Sort


def found(*ids: str | None) -> dict[Sort, Disguise]:
    return disguises.find("id", pa.chunked_array([pa.array(ids, pa.large_string())]), np.arange(len(ids)) + 1)


@pytest.mark.parametrize(
    "text, sort, said",
    [
        ("re_\u200b1", "unseen", "U+200B (zero width space) in 're_<U+200B>1'"),
        ("\ufeffre_1", "unseen", "U+FEFF (zero width no-break space) in '<U+FEFF>re_1'"),
        ("re\u00a01", "unseen", "U+00A0 (no-break space) in 're<U+00A0>1'"),
        ("re\u00ad1\u200b", "unseen", "U+00AD (soft hyphen) in 're<U+00AD>1<U+200B>'"),
        ("re\t1", "unseen", "U+0009 in 're<U+0009>1'"),
        ("re_\u0430", "alike", "U+0430 (cyrillic small letter a) in 're_<U+0430>'"),
        ("re\uff11", "alike", "U+FF11 (fullwidth digit one) in 're<U+FF11>'"),
        ("re\u20111", "alike", "U+2011 (non-breaking hyphen) in 're<U+2011>1'"),
        ("\ufb011", "alike", "U+FB01 (latin small ligature fi) in '<U+FB01>1'"),
        ("a\u00b2", "alike", "U+00B2 (superscript two) in 'a<U+00B2>'"),
        ("caf\u0065\u0301", "alike", "U+0301 (combining acute accent) in 'cafe<U+0301>'"),
        ("re_1\nre_2", "break", "U+000A in 're_1<U+000A>re_2'"),
        ("re_1\u2028re_2", "break", "U+2028 (line separator) in 're_1<U+2028>re_2'"),
        ("a" * 30 + "\u200b" + "b" * 30, "unseen", f"'...{'a' * 20}<U+200B>{'b' * 19}...'"),
    ],
)
def test_an_id_that_is_not_what_it_looks_like_is_shown_with_the_character(
    text: str, sort: str, said: str
) -> None:
    seen = found("re_0", None, text)

    assert {Sort(sort): Disguise(1, 3, "id", text)} == seen
    assert said in disguises.told(Sort(sort), seen[Sort(sort)], None)


@pytest.mark.parametrize(
    "text", ["re_1", "ORD 1-2 (a)", "\u0417\u0430\u043a\u0430\u0437-1", "caf\u00e9", "\u6ce8\u6587-1", "~"]
)
def test_an_id_in_any_script_is_an_id(text: str) -> None:
    assert found(text) == {}


def test_of_several_columns_the_first_row_is_named_and_all_ids_are_counted() -> None:
    first, second = Disguise(2, 7, "key", "k\u200b"), Disguise(1, 3, "payment", "pi\u200b")

    joined = disguises.both(disguises.both(None, first), second)

    assert Disguise(3, 3, "payment", "pi\u200b") == joined
    assert disguises.told(Sort.UNSEEN, joined, 4) == (
        "3 ids hold characters that nobody sees: the first is payment of row 3 (line 4), U+200B (zero width"
        " space) in 'pi<U+200B>'; an id that only looks the same is another one."
    )
