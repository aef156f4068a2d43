import pytest

from dashboard import safe


@pytest.mark.parametrize(
    "value, expected",
    [
        (None, "—"),
        ("", "—"),
        ("order_8812", "order_8812"),
        ("Zoë, 東京 🙂", "Zoë, 東京 🙂"),
        ("49.00\u202e DSU", "49.00[U+202E] DSU"),  # Turns the rest of the line around.
        ("a\u200bb", "a[U+200B]b"),  # Takes no room: two ids that look alike.
        ("a\x1b[31mb\x00", "a[U+001B][31mb[U+0000]"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_text_shows_what_cannot_be_seen(value: object, expected: str) -> None:
    assert safe.text(value) == expected


def test_text_is_cut_at_its_limit_and_says_so() -> None:
    assert safe.text("x" * 2_000) == "x" * 2_000
    assert safe.text("x" * 2_001) == "x" * 2_000 + "…"


def test_a_line_has_no_second_line() -> None:
    assert safe.line("two\nlines") == "two lines"


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_a_cell_is_no_formula_to_a_spreadsheet(value: str) -> None:
    assert safe.cell(value) == "'" + value


def test_a_cell_leaves_an_ordinary_id_alone() -> None:
    assert safe.cell("re_8812") == "re_8812"
