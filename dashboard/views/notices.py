"""The notices: what was told to whom, and what has not been delivered, which comes first.

A message is shown as it was read out. Never sends one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from html import unescape
from typing import Final

import streamlit as st

from dashboard import figures, links, overviews, safe, session, times, words
from recon.model import phrases
from recon.model.records.histories import NoticeFilters, NoticesPage
from recon.model.records.notices import Notice
from recon.model.records.words import CaseId, NoticeState
from recon.overview import Outstanding, Overview

FIRST: Final = 10  # Undelivered notices shown above all others; the state's filter shows every one.
CASES_SHOWN: Final = 10  # Links of one notice; a surge names hundreds.
CASE_ID: Final = re.compile(r"C-[A-Z2-7]{10}")  # What a link's label may be: nothing of a stranger's.
ANYBODY: Final = "anybody"
UNDELIVERED: Final = tuple(state for state in NoticeState if state is not NoticeState.SENT)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look saw. before: below which id each page up to this one begins, the first at None."""

    filters: NoticeFilters
    before: tuple[int | None, ...]
    page: NoticesPage
    first: NoticesPage


def main() -> None:
    """Show what is not delivered, then what was told, newest first."""
    books, zone = overviews.overview(), session.zone()
    st.title("Notices", anchor=False)
    outstanding = books.outstanding()
    _standing(outstanding, books.now())
    asked = _filters(books)
    held = st.session_state.get("snapshot")
    if held is None or held.filters != asked:
        held = _look(books, asked, (None,))
    if held.first.notices:
        st.header("Not delivered", anchor=False)
        _shown(held.first.notices, books.now(), zone)
        if held.first.next is not None:
            st.caption(f"The latest {len(held.first.notices)}: choose a state to see every one.")
    if held.page.notices:
        if not asked.states:
            st.header("Told", anchor=False)
        _shown(held.page.notices, books.now(), zone)
    elif not held.first.notices:
        _nothing(asked)
    _pager(books, held)


def _look(books: Overview, asked: NoticeFilters, before: tuple[int | None, ...]) -> Snapshot:
    """Read one page and keep it for as long as this person looks at it."""
    every = asked.states or (NoticeState.SENT,)
    page = books.notices(_with(asked, every), below=before[-1])
    first = NoticesPage((), None)
    if not asked.states and before == (None,):
        first = books.notices(_with(asked, UNDELIVERED), limit=FIRST)
    found = Snapshot(asked, before, page, first)
    st.session_state["snapshot"] = found
    return found


def _with(asked: NoticeFilters, states: tuple[NoticeState, ...]) -> NoticeFilters:
    return NoticeFilters(states, asked.targets, asked.verbs)


def _standing(found: Outstanding, now: datetime) -> None:
    """Show how much is not delivered, how long the oldest has waited, and what to do about it."""
    on_the_way = sum(found.states[state] for state in UNDELIVERED if state is not NoticeState.UNDELIVERABLE)
    given_up = found.states[NoticeState.UNDELIVERABLE]
    figures.show(
        [
            ("On their way", f"{on_the_way:,}"),
            ("Late", f"{found.late:,}"),
            ("Oldest waits", safe.ABSENT if found.since is None else times.span(now - found.since)),
            ("Given up", f"{given_up:,}"),
        ]
    )
    if not found.slack:
        st.warning(
            "No message is sent: `SLACK_BOT_TOKEN` is not set. Notices wait in the database.",
            icon=":material/warning:",
        )
    elif not on_the_way and not given_up:
        st.success("Everything that was to be told is delivered.", icon=":material/check_circle:")


def _filters(books: Overview) -> NoticeFilters:
    """Show the filters, which the address remembers, and return what is asked for."""
    with st.grid(2, min_column_width=400, gap="small"):
        states = _several(
            "state", "State", {state.value: words.NOTICE_STATES[state] for state in NoticeState}
        )
        verbs = _several("kind", "Kind of message", words.VERBS)
        targets = _target(books.targets())
    return NoticeFilters(tuple(map(NoticeState, states)), targets, verbs)


def _several(name: str, label: str, phrases_of: Mapping[str, str]) -> tuple[str, ...]:
    """Show one vocabulary as buttons and return the chosen words; none is all."""
    key = f"notices-{name}"
    st.session_state.setdefault(key, [word for word in phrases_of if word in links.chosen(name)])

    def shown(word: str) -> str:
        # The theme's own color of a chosen button is too dim to read on a dark page.
        chosen = word in (st.session_state.get(key) or ())
        return f":blue[{phrases_of[word]}]" if chosen else phrases_of[word]

    def write() -> None:
        links.choose(name, tuple(st.session_state[key] or ()))

    picked = st.pills(
        label,
        list(phrases_of),
        selection_mode="multi",
        format_func=shown,
        key=key,
        on_change=write,
        wrap=True,
    )
    return tuple(word for word in phrases_of if word in picked)


def _target(names: tuple[str, ...]) -> tuple[str, ...]:
    asked = links.chosen("to")[:1]
    st.session_state.setdefault("notices-to", asked[0] if asked else ANYBODY)

    def write() -> None:
        picked = st.session_state["notices-to"]
        links.choose("to", () if picked in {None, ANYBODY} else (picked,))

    options = [ANYBODY, *sorted({*names, *asked})]
    picked = st.selectbox("Told to", options, format_func=safe.line, key="notices-to", on_change=write)
    return () if picked in {None, ANYBODY} else (str(picked),)


def _clear() -> None:
    for name in ("state", "kind", "to"):
        st.session_state.pop(f"notices-{name}", None)
        links.choose(name, ())


def _shown(found: Iterable[Notice], now: datetime, zone: tzinfo) -> None:
    for notice in found:
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
                state = notice.state
                st.badge(
                    words.NOTICE_STATES[state],
                    icon=words.NOTICE_ICONS[state],
                    color=words.NOTICE_COLORS[state],
                )
                st.text(safe.line(notice.target))
                st.caption(
                    f"{words.VERBS.get(notice.verb, 'Message')} · {times.moment(notice.created_at, zone)}"
                )
            st.text(safe.text(unescape(notice.message.text)))
            st.text(safe.text(_fate(notice, now, zone)))
            _cases(notice.case_ids)


def _fate(notice: Notice, now: datetime, zone: tzinfo) -> str:
    """Return how its delivery stands, as one or two sentences."""
    tries = phrases.several(notice.attempts, "attempt")
    because = f": {notice.error}" if notice.error else ""
    again = times.moment(notice.next_at, zone)
    match notice.state:
        case NoticeState.SENT:
            at = times.moment(notice.sent_at, zone) if notice.sent_at else "at a time that is not known"
            return f"Sent {at}, {tries}."
        case NoticeState.WAITING:
            until = f"Waits until {again}" if notice.next_at > now else f"Could have gone since {again}"
            return f"{until}, {tries} so far{because}"
        case NoticeState.SENDING:
            held = notice.claimed_until is not None and notice.claimed_until > now
            return (
                f"Being sent now, {tries}." if held else f"Its sender went silent: looked for next, {tries}."
            )
        case NoticeState.UNKNOWN:
            return f"Nobody knows whether Slack has it: it is looked for at {again}, {tries}{because}"
        case NoticeState.UNDELIVERABLE:
            return f"Given up after {tries}{because or ', for a reason that was not kept.'}"


def _cases(ids: tuple[CaseId, ...]) -> None:
    """Show links to the cases that a notice tells of."""
    if not ids:
        return
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for each in ids[:CASES_SHOWN]:
            if CASE_ID.fullmatch(each):
                st.page_link("views/case.py", label=each, query_params={"case": each})
            else:
                st.text(safe.line(each))
        if len(ids) > CASES_SHOWN:
            st.caption(f"and {len(ids) - CASES_SHOWN:,} more cases")


def _nothing(asked: NoticeFilters) -> None:
    """Say what is fine, or that the filters are too narrow."""
    if asked != NoticeFilters():
        st.info("No notice fits these filters.", icon=":material/filter_alt_off:")
        st.button("Clear the filters", key="clear", on_click=_clear)
        return
    st.info("Nothing was told yet: owners hear of a case when a run opens it.", icon=":material/info:")


def _pager(books: Overview, held: Snapshot) -> None:
    first, last = len(held.before) == 1, held.page.next is None
    if first and last:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        newer = st.button("Newer", key="newer", icon=":material/chevron_left:", disabled=first)
        older = st.button("Older", key="older", icon=":material/chevron_right:", disabled=last)
        shown = phrases.several(len(held.page.notices), "notice")
        st.caption(f"Page {len(held.before)}, {shown}, newest first.")
    if older and held.page.next is not None:
        _look(books, held.filters, (*held.before, held.page.next))
        st.rerun()
    if newer and not first:
        _look(books, held.filters, held.before[:-1])
        st.rerun()


main()
