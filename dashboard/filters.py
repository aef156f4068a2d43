"""The queue's filters: what the address says, the widgets that change it, and both always the same.

An unknown word in an address filters nothing; a link from an older version must still open.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar

import streamlit as st

from dashboard import links, safe, words
from recon.model.records.queues import WAITING, QueueFilters, QueueSummary
from recon.model.records.words import CaseState, Kind, Severity

SEARCH_LIMIT: Final = 200  # Characters: the longest key we know of fits.
EVERY: Final = "all"  # In the address: no word of this vocabulary is left out, though some are by default.
ANYONE: Final = "anyone"  # What the owner filter says when it filters nothing; in the address it is absent.
KEYS: Final = {name: f"filter-{name}" for name in links.FILTERS}
VIEWS: Final = {"table": "Table", "list": "List"}

Word = TypeVar("Word", bound=StrEnum)


def show(summary: QueueSummary) -> QueueFilters:
    """Show the filters, with how many wait for each word, and return what is asked for."""
    kinds = _words("kind", "Kind", Kind, words.KINDS, counts=summary.kinds)
    with st.grid(2, min_column_width=300, gap="small"):
        severities = _words("severity", "Severity", Severity, words.SEVERITIES, counts=summary.severities)
        states = _words("state", "State", CaseState, words.STATES, default=WAITING)
    with st.grid(3, min_column_width=210, gap="small", vertical_alignment="bottom"):
        owners = _owners(summary)
        search = _search()
        _view()
    return QueueFilters(states=states, kinds=kinds, severities=severities, owners=owners, search=search)


def as_list() -> bool:
    """Return whether the cases are to be shown as a plain list instead of a grid."""
    return links.chosen("view") == ("list",)


def clear() -> None:
    """Forget every filter, in the widgets and in the address."""
    for name, key in KEYS.items():
        if name != "view":
            st.session_state.pop(key, None)
            links.choose(name, ())


def _words(
    name: str,
    label: str,
    vocabulary: type[Word],
    phrases: Mapping[Word, str],
    *,
    counts: Mapping[Word, int] | None = None,
    default: tuple[Word, ...] = (),
) -> tuple[Word, ...]:
    """Show one vocabulary as buttons and return the chosen words, in the vocabulary's order; empty is all."""
    asked = links.chosen(name)
    known = tuple(word for word in vocabulary if word.value in asked)
    options = [word for word in vocabulary if counts is None or counts.get(word) or word in known]
    if not options:
        return ()

    def shown(word: Word) -> str:
        label = phrases[word] if counts is None else f"{phrases[word]} {counts.get(word, 0):,}"
        # The theme's own color of a chosen button is too dim to read on a dark page.
        return f":blue[{label}]" if word in (st.session_state.get(KEYS[name]) or ()) else label

    def write() -> None:
        picked = tuple(st.session_state[KEYS[name]] or ())
        every = (EVERY,) if default and not picked else tuple(word.value for word in picked)
        links.choose(name, () if set(picked) == set(default) else every)

    st.session_state.setdefault(KEYS[name], list(known if known or asked == (EVERY,) else default))
    picked = st.pills(
        label, options, selection_mode="multi", format_func=shown, key=KEYS[name], on_change=write
    )
    return tuple(word for word in vocabulary if word in picked)


def _owners(summary: QueueSummary) -> tuple[str, ...]:
    asked = links.chosen("owner")
    names = sorted({*(name or words.NOBODY for name in summary.owners), *asked[:1]})
    st.session_state.setdefault(KEYS["owner"], asked[0] if asked else ANYONE)

    def shown(name: str) -> str:
        count = summary.owners.get("" if name == words.NOBODY else name, 0)
        return safe.line(name) if name == ANYONE else f"{safe.line(name)} ({count:,})"

    def write() -> None:
        picked = st.session_state[KEYS["owner"]]
        links.choose("owner", () if picked in {None, ANYONE} else (picked,))

    picked = st.selectbox("Owner", [ANYONE, *names], format_func=shown, key=KEYS["owner"], on_change=write)
    if picked in {None, ANYONE}:
        return ()
    return ("" if picked == words.NOBODY else str(picked),)


def _search() -> str:
    asked = links.chosen("text")
    st.session_state.setdefault(KEYS["text"], asked[0] if asked else "")

    def write() -> None:
        typed = st.session_state[KEYS["text"]].strip()
        links.choose("text", (typed,) if typed else ())

    typed = st.text_input(
        "Find exactly",
        max_chars=SEARCH_LIMIT,
        placeholder="case, order, customer, payment, key or refund id",
        key=KEYS["text"],
        on_change=write,
        icon=":material/search:",
    )
    return typed.strip()


def _view() -> None:
    st.session_state.setdefault(KEYS["view"], "list" if as_list() else "table")

    def write() -> None:
        links.choose("view", ("list",) if st.session_state[KEYS["view"]] == "list" else ())

    def shown(view: str) -> str:
        return f":blue[{VIEWS[view]}]" if view == st.session_state[KEYS["view"]] else VIEWS[view]

    st.segmented_control(
        "Show as",
        list(VIEWS),
        format_func=shown,
        required=True,
        key=KEYS["view"],
        on_change=write,
    )
