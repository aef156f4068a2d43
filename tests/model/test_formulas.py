import pytest

from recon.model import formulas


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_what_begins_like_a_formula_is_made_text(start: str) -> None:
    assert formulas.defused(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"


@pytest.mark.parametrize("text", ["", "re_8812", "1=1", "order -1", "'=1", "\u2014", "a\n=1"])
def test_anything_else_stays_as_it_is(text: str) -> None:
    assert formulas.defused(text) == text
