import pytest

from recon.model.characters import is_blank, keepable


@pytest.mark.parametrize(
    "text, kept",
    [
        ("", ""),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800", "a\ufffd"),
        ("\udfff\udc00", "\ufffd\ufffd"),
        ("\ud7ff\ue000\U0001f389\n\u202e<!channel>", "\ud7ff\ue000\U0001f389\n\u202e<!channel>"),
    ],
)
def test_only_what_no_database_takes_is_replaced(text: str, kept: str) -> None:
    assert keepable(text) == kept


@pytest.mark.parametrize(
    "text,expected",
    [
        ("", True),
        (" \n\t\u00a0\u3000", True),
        ("\u200b\u2060\ufeff", True),  # No width.
        ("\u202e\x1b\x00\ud800", True),  # Direction, control, and half a pair.
        ("\u3164\uffa0\u115f\u1160\u2800", True),  # Fillers, letters by their category.
        ("\ufe0f\u034f\U000e0100\u180b", True),  # Variation selectors and a joiner, marks by theirs.
        ("\u200b.", False),
        ("\u0301", False),
        ("\U0001f389", False),
    ],
)
def test_a_text_in_which_nobody_sees_anything_is_blank(text: str, expected: bool) -> None:  # noqa: FBT001
    assert is_blank(text) is expected
