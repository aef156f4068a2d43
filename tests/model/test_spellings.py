import pytest

from recon.model import cells, spellings


@pytest.mark.parametrize(
    "text, told",
    [
        ("done", "done"),
        ("done\u200b", "done<U+200B>"),
        ("\u00a0done", "<U+00A0>done"),
        ("d\u043ene", "d<U+043E>ne"),
        ("d\u043ene\u200b", "d<U+043E>ne<U+200B>"),
        ("done\ufe0f", "done<U+FE0F>"),
        ("\x1b[31mdone", "<U+001B>[31mdone"),
        ("\ud83d", "<U+D83D>"),
        ("\u043e\u0436\u0438\u0434\u0430\u0435\u0442", "\u043e\u0436\u0438\u0434\u0430\u0435\u0442"),
        ("r\u00fcckerstattet", "r\u00fcckerstattet"),
    ],
)
def test_what_nobody_sees_or_takes_for_ascii_is_told_by_its_number(text: str, told: str) -> None:
    assert spellings.revealed(text) == told


@pytest.mark.parametrize(
    "value, shown",
    [
        (" two\t words\r\n", "'two words'"),
        ("done\u200b", "'done<U+200B>'"),
        ("a" * 41, f"'{'a' * 40}...'"),
        (f"{'a' * 39}\u200b", f"'{'a' * 39}<U+200B>'"),
        (7, "'7'"),
    ],
)
def test_a_wrong_value_is_shown_so_that_it_is_seen_why_it_is_wrong(value: object, shown: str) -> None:
    assert cells.shown(value) == shown
