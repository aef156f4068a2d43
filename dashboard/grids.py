"""Rows of text as a grid, or the same as a plain list for small screens and for who does not use a mouse."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import asked, links, safe

ROW_PIXELS: Final = 33  # Of a grid at this theme's size.
ROWS_SHOWN: Final = 14  # Before a grid scrolls: the buttons below it stay in sight.
KEY: Final = "rows-shown-as"


def as_list() -> bool:
    """Ask how rows are to be shown, and return whether as a plain list."""
    view()
    return asked.as_list()


def view() -> None:
    """Ask whether rows are to be shown as a grid or as a plain list; the address remembers the choice."""
    now = "list" if asked.as_list() else "table"

    def write() -> None:
        links.choose("view", (st.session_state[KEY],))

    def shown(each: str) -> str:
        # The theme's own color of a chosen button is too dim to read on a dark page.
        return f":blue[{asked.VIEWS[each]}]" if each == now else asked.VIEWS[each]

    st.session_state[KEY] = now
    st.segmented_control(
        "Show as",
        list(asked.VIEWS),
        format_func=shown,
        required=True,
        key=KEY,
        on_change=write,
        label_visibility="collapsed",
    )


def chosen() -> Mapping[str, tuple[str, ...]]:
    """Return what a link to another page says of it, so that it looks the same there."""
    found = links.chosen("view")
    return {"view": found} if found else {}


def frame(rows: Sequence[Sequence[object]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as text that may be looked at, whoever wrote it: one row each, in the same order."""
    return pd.DataFrame(
        [[safe.cell(value) for value in row] for row in rows], columns=list(columns), dtype="str"
    )


def height(rows: int) -> int:
    """Return how high a grid of so many rows is, in pixels."""
    return ROW_PIXELS * (min(rows, ROWS_SHOWN) + 1) + 3


def show(rows: Sequence[Sequence[object]], columns: Sequence[str], *, alt: str, listed: bool) -> None:
    """Show rows under the names of their columns; in a list the first column heads the others.

    alt: what they are, for who does not see the grid.
    """
    if not listed:
        st.dataframe(frame(rows, columns), hide_index=True, height=height(len(rows)), alt=alt)
        return
    for row in rows:
        named = zip(columns[1:], row[1:], strict=True)
        with st.container(border=True, gap="xxsmall"):
            st.text(safe.line(row[0]))
            with st.container(horizontal=True, gap="xsmall"):
                for name, value in named:
                    if value not in {None, ""}:
                        st.text(f"{name}: {safe.line(value)}")
