from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.rules.mapping import amounts

TABLE: list[tuple[Sequence[object], tuple[str, str], int, int]] = [
    # cells, decimal and thousands, with decimals, below zero
    (["49.00", "5.5", "7"], (".", ""), 2, 0),
    (["49,00", "5,5"], (",", ""), 2, 0),
    (["1,234.50", "49.00"], (".", ","), 2, 0),
    (["1.234,50", "49,00"], (",", "."), 2, 0),
    (["1 234,50", "9,00"], (",", " "), 2, 0),
    (["1'234.50"], (".", "'"), 1, 0),
    (["4900", "500"], (".", ""), 0, 0),
    (["4900.0", "500.0"], (".", ""), 0, 0),  # Minor units that went through a float.
    ([4900, Decimal("5.00")], (".", ""), 1, 0),
    (["-49.00", "(5.00)", "7.00-"], (".", ""), 3, 3),
    (["1,234,567"], (".", ","), 0, 0),
    (["12,34,567.00"], (".", ","), 1, 0),
]


@pytest.mark.parametrize("cells, style, decimals, negative", TABLE)
def test_the_style_that_reads_all_is_found(
    cells: Sequence[object], style: tuple[str, str], decimals: int, negative: int
) -> None:
    seen = amounts.look(cells)

    assert (seen.read, seen.count) == (len(cells), len(cells))
    assert (seen.decimal, seen.thousands) == style
    assert (seen.decimals, seen.negative) == (decimals, negative)


@pytest.mark.parametrize(
    "cells, either",
    [
        (["1,234", "5,000"], (".", ",")),
        (["1.234", "5.000"], (",", ".")),
        (["1.234", "5.00"], None),
        (["1,234", "12,34"], None),
        (["1,234,000"], None),
        (["1.234", "0.5"], None),
        (["1234"], None),
    ],
)
def test_a_lone_mark_before_three_digits_may_be_either(
    cells: list[str], either: tuple[str, str] | None
) -> None:
    assert amounts.look(cells).either == either


def test_what_is_no_amount_is_not_read() -> None:
    seen = amounts.look(["49.00 items", "n/a", True, "5.00"])

    assert (seen.read, seen.count) == (1, 3)


@given(st.lists(st.decimals(-(10**9), 10**9, places=2).map(str), min_size=1))
def test_plain_decimals_are_all_read(cells: list[str]) -> None:
    seen = amounts.look(cells)

    assert (seen.read, seen.decimal, seen.thousands, seen.decimals) == (len(cells), ".", "", len(cells))
