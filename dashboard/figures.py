"""A row of large numbers, as at the top of the queue."""

from collections.abc import Iterable, Mapping
from typing import Final

import streamlit as st

from dashboard import tables
from recon.model.records.results import Money

COLUMNS: Final = 6  # In a row where there is room.
WIDTH_PIXELS: Final = 130  # A short number under its name; two fit beside each other on a phone.
CHARACTER_PIXELS: Final = 12  # Of a number in this theme's size, the widest digits counted.
PADDING_PIXELS: Final = 36


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
    widest = max((len(value) for _, value in found), default=0)
    width = max(WIDTH_PIXELS, PADDING_PIXELS + CHARACTER_PIXELS * widest)
    with st.grid(COLUMNS, min_column_width=width, gap="small"):
        for label, value in found:
            st.metric(label, value, border=True)
