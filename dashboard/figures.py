"""A row of large numbers, as at the top of the queue."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final

import streamlit as st

from dashboard import tables
from recon.model.records.results import Money

COLUMNS: Final = 6  # In a row where there is room.
WIDTH_PIXELS: Final = 130  # A short number under its name; two fit beside each other on a phone.
# Of a number in this theme's size, measured: amounts of four digits stand two beside each other on a phone.
ODD_PIXELS: Final = {"1": 9, ",": 6.5, ".": 6.5, " ": 5, "M": 18.5, "W": 20, "m": 18}
DIGIT_PIXELS, LETTER_PIXELS = 13, 14.5
PADDING_PIXELS: Final = 32


def money(label: str, at_risk: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return sums as `show` takes them, each currency by itself: of several, each is named with its own.

    at_risk: minor units by currency.
    """
    names = {currency: label if len(at_risk) == 1 else f"{label}, {currency.upper()}" for currency in at_risk}
    told = ((names[each], tables.money(Money(at_risk[each], each))) for each in sorted(at_risk))
    return tuple(told) or ((label, "nothing"),)


def show(pairs: Iterable[tuple[str, str]]) -> None:
    """Show numbers under names of ours, as many in a row as fit, none of them cut."""
    found = tuple(pairs)
    widest = max((pixels(value) for _, value in found), default=0)
    width = max(WIDTH_PIXELS, PADDING_PIXELS + ceil(widest))
    with st.grid(COLUMNS, min_column_width=width, gap="small"):
        for label, value in found:
            st.metric(label, value, border=True)


def pixels(value: str) -> float:
    """Return how wide a number is at most."""
    return sum(ODD_PIXELS.get(each, DIGIT_PIXELS if each.isdigit() else LETTER_PIXELS) for each in value)
