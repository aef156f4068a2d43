import pytest

from dashboard import figures

PHONE_PIXELS = (390 - 2 * 15.6 - 15) // 2  # Of one of two figures beside each other, without their frame.


@pytest.mark.parametrize(
    "value, beside",
    [("1,237.25 USD", True), ("415,800 JPY", True), ("8 h 17 min", True), ("12,345,678.90 USD", False)],
)
def test_ordinary_figures_stand_beside_each_other_on_a_phone(value: str, *, beside: bool) -> None:
    assert (figures.PADDING_PIXELS + figures.pixels(value) <= PHONE_PIXELS) == beside


# Measured in a browser: Inter at 600 and 19.5 pixels.
@pytest.mark.parametrize(
    "value, measured",
    [("4,444.44 USD", 136.5), ("1,237.25 USD", 124.2), ("12,345,678.90 USD", 181.6), ("8 h 17 min", 93.3)],
)
def test_no_figure_is_wider_than_it_is_thought_to_be(value: str, measured: float) -> None:
    assert figures.pixels(value) >= measured
