"""Trends: what waited when, how soon it was answered, how old what waits is, and how much agrees.

Each chart has its numbers in a table beside it, and each currency a chart of its own. Days are UTC's.
"""

from collections.abc import Mapping
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import links, safe, session, trends, words
from recon.model import phrases
from recon.model.records.trends import Past
from recon.model.records.words import Kind
from recon.rules import trends as rules

CHART_PIXELS: Final = 240
TABLE_ROW_PIXELS: Final = 29  # Of one line, and of the heading.
CURRENCIES_SHOWN: Final = 6  # Charts of money; the table has every currency.
EVERY: Final = "all"
KEYS: Final = {name: f"trends-{name}" for name in ("days", "kind", "owner")}


def main() -> None:
    """Show the trends of the days, the kind and the owner that the address asks for."""
    st.title("Trends", anchor=False)
    days = _days()
    every = _past(days)
    kind, owner = _narrowed(every)
    past = rules.only(every, kind=kind, owner=owner)
    if not (every.heaps or every.steps or every.took or every.agreed):
        st.info(f"Nothing waited, and no run was complete, in {days} days.", icon=":material/info:")
        return
    _waiting(past)
    with st.container(border=True):
        st.header("How old what waits is", anchor=False)
        _aging(past)
    with st.container(border=True):
        st.header("How soon it was answered", anchor=False)
        _answers(past)
    with st.container(border=True):
        st.header("How much agreed", anchor=False)
        _agreed(past)


def _past(days: int) -> Past:
    """Read the days once for as long as this person looks at them: a year's entries take some seconds."""
    held = st.session_state.get("snapshot")
    if isinstance(held, Past) and (held.now.date() - held.first).days == days - 1:
        return held
    with st.spinner(f"Reading {days} days…"):
        found = session.incidents().past(days)
    st.session_state["snapshot"] = found
    return found


def _days() -> int:
    asked = next(iter(links.chosen("days")), "")
    known = next((each for each in trends.PERIODS if str(each) == asked), trends.USUAL)
    st.session_state.setdefault(KEYS["days"], known)

    def write() -> None:
        picked = st.session_state[KEYS["days"]]
        links.choose("days", () if picked == trends.USUAL else (str(picked),))

    def shown(each: int) -> str:
        return f":blue[{each} days]" if each == st.session_state.get(KEYS["days"]) else f"{each} days"

    picked = st.segmented_control(
        "Looking back",
        list(trends.PERIODS),
        format_func=shown,
        required=True,
        key=KEYS["days"],
        on_change=write,
    )
    return int(picked or trends.USUAL)


def _narrowed(every: Past) -> tuple[Kind | None, str | None]:
    """Ask for one kind and one owner; each choice stands in the address."""
    with st.grid(2, min_column_width=220, gap="small"):
        kind = _choice("kind", "Kind", [each.value for each in Kind], trends.kinds())
        owner = _choice("owner", "Owner", [each or words.NOBODY for each in trends.owners(every)], {})
    return None if kind is None else Kind(kind), "" if owner == words.NOBODY else owner


def _choice(name: str, label: str, options: list[str], names: Mapping[str, str]) -> str | None:
    asked = next(iter(links.chosen(name)), EVERY)
    if st.session_state.get(KEYS[name], EVERY) not in {EVERY, *options}:
        del st.session_state[KEYS[name]]  # An owner of a longer period.
    st.session_state.setdefault(KEYS[name], asked if asked in options else EVERY)

    def write() -> None:
        picked = st.session_state[KEYS[name]]
        links.choose(name, () if picked in {None, EVERY} else (picked,))

    picked = st.selectbox(
        label,
        [EVERY, *options],
        format_func=lambda each: names.get(each, safe.line(each)),
        key=KEYS[name],
        on_change=write,
    )
    return None if picked in {None, EVERY} else str(picked)


def _waiting(past: Past) -> None:
    days, currencies = rules.waited(past), rules.currencies(past)
    with st.container(border=True):
        st.header("What waited at the end of each day", anchor=False)
        if not any(day.cases for day in days):
            st.caption("Nothing waited on any of these days.")
            return
        drawn, read = st.columns([3, 2], gap="medium")
        with drawn:
            _chart(trends.waiting(days), "area", title="Cases", said="Cases that waited, by day")
            for currency in currencies[:CURRENCIES_SHOWN]:
                name = trends.currency_name(currency)
                frame = trends.at_risk(days, currency)
                _chart(frame, "area", title=f"At risk, {name}", said=f"{name} at risk, by day", whole=False)
        with read:
            _table(trends.by_day(days, currencies), rows=1 + min(len(currencies), CURRENCIES_SHOWN))
        quiet = "" if days[0].cases else "Nothing waited on the days that the table leaves out. "
        st.caption(
            f"{quiet}Days end at midnight UTC; the last is now. A case counts with the amount, kind and "
            "owner it has today: what it was worth then is not written down."
        )


def _aging(past: Past) -> None:
    if not past.heaps:
        st.caption("Nothing waits.")
        return
    frame, table = trends.aging(past)
    drawn, read = st.columns([3, 2], gap="medium")
    with drawn:
        _chart(frame, "bar", title="Cases", said="Cases that wait, by how long ago they were opened")
    with read:
        _table(table)


def _answers(past: Past) -> None:
    for answer, name in trends.ANSWERS.items():
        every = rules.overall(past, answer)
        if every is None:
            st.caption(f"{name}: none in these days.")
            continue
        half, most = (trends.minutes(each) for each in (every.median_minutes, every.ninetieth_minutes))
        st.text(
            f"{name}: {phrases.several(every.cases, 'time')}, half within {half}, nine in ten within {most}."
        )
        kinds, owners = st.columns(2, gap="medium")
        with kinds:
            st.table(trends.speeds(rules.by_kind(past, answer), "Kind", trends.kinds()), hide_index=True)
        with owners:
            found = rules.by_owner(past, answer)
            st.table(trends.speeds(found, "Owner", {"": words.NOBODY}), hide_index=True)
    st.caption(
        "Acknowledged or decided: from when a case was open until a person took it on, resolved or accepted "
        "it. Settled: from when it began to wait until it was resolved, accepted or cleared by a run."
    )


def _agreed(past: Past) -> None:
    frame, table = trends.agreed(past.agreed)
    if frame.empty:
        st.caption("No complete run in these days judged an intent.")
        return
    if len(frame) == 1:  # One day is no line.
        _table(table)
    else:
        drawn, read = st.columns([3, 2], gap="medium")
        with drawn:
            _chart(
                frame,
                "line",
                title="Matched, %",
                said="Share of intents that matched, by day",
                whole=False,
                zero=False,
            )
        with read:
            _table(table)
    st.caption(
        "Of all kinds and owners: of the intents that the day's complete runs judged, those in agreement. A "
        "run looks again at what is open, so that an old case lowers the rate of each."
    )


def _chart(
    frame: pd.DataFrame, mark: str, *, title: str, said: str, whole: bool = True, zero: bool = True
) -> None:
    st.vega_lite_chart(
        frame,
        trends.chart(mark, title=title, whole=whole, zero=zero),
        height=CHART_PIXELS,
        alt=f"{said}. The table beside it has every number.",
    )


def _table(frame: pd.DataFrame, *, rows: int = 1) -> None:
    """Show a table as high as what stands beside it, or lower."""
    limit = CHART_PIXELS * rows
    scrolls = TABLE_ROW_PIXELS * (1 + len(frame)) > limit
    st.table(frame, hide_index=True, height=limit if scrolls else "content")


main()
