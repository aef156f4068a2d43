import pytest

from recon.model.characters import keepable


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
