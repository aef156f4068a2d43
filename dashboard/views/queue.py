"""The queue: what is at risk, how much waits, and the cases themselves, most urgent first.

The page that a person looks at stands still until they ask for another: a row that moved under the pointer
would open the wrong case.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final
from uuid import uuid4

import streamlit as st

from dashboard import (
    asked,
    figures,
    filters,
    grids,
    leads,
    links,
    panels,
    safe,
    session,
    several,
    tables,
    times,
    words,
)
from recon.desk import Desk
from recon.model import phrases
from recon.model.errors import ReconError
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.queues import WAITING, Cursor, QueueFigures, QueueFilters, QueuePage, QueueSummary
from recon.model.records.words import CaseState

ORDER: Final = "most severe first, then longest waiting"
NEWS_SECONDS: Final = 60.0
NEWS_AGE: Final = timedelta(seconds=NEWS_SECONDS / 2)  # Less than the pause: each look is a new one.


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look at the queue saw. before: where each page up to this one begins, the first at None."""

    id: str
    at: datetime
    filters: QueueFilters
    before: tuple[Cursor | None, ...]
    page: QueuePage
    summary: QueueSummary
    figures: QueueFigures


def main() -> None:
    """Show money at risk, the filters with their counts, and one page of cases."""
    desk, zone = session.desk(), session.zone()
    st.title("Queue", anchor=False)
    links.choose("case", ())  # Left there by the way back from one.
    if st.session_state.pop(
        "answered", False
    ):  # A decision about several cases was made from this page of it.
        st.session_state.pop("snapshot", None)
    held = st.session_state.get("snapshot")
    filtered, step = asked.queue(), st.session_state.pop("step", 0)
    if held is None or held.filters != filtered:
        held = _begun(desk, filtered, held.summary if held else _summary(desk))
    elif step:
        held = _turned(desk, held, step)
    _money(held)
    leads.burst(zone)
    operator = session.operator()
    filters.show(held.summary, operator=operator, zone=zone)
    _news(held)
    if not held.page.cases:
        _nothing(desk, held)
        return
    choosing = _tools(desk, held, operator)
    chosen = (
        _list(held, zone, choosing=choosing) if asked.as_list() else _table(held, zone, choosing=choosing)
    )
    if choosing:
        several.choices(desk, chosen, zone)
    _pager(held)


def _begun(desk: Desk, filtered: QueueFilters, summary: QueueSummary) -> Snapshot:
    """Read the first page, and how much the filters let through; without any, the summary tells that."""
    page = desk.queue(filtered)
    if filtered == QueueFilters():
        figures = QueueFigures(summary.waiting, summary.at_risk, summary.oldest_opened_at)
    else:
        figures = desk.figures(filtered)
    return _kept(Snapshot(uuid4().hex, desk.now(), filtered, (None,), page, summary, figures))


def _look(desk: Desk, held: Snapshot, before: tuple[Cursor | None, ...]) -> Snapshot:
    """Read another page of the same."""
    page = desk.queue(held.filters, after=before[-1])
    return _kept(replace(held, id=uuid4().hex, at=desk.now(), before=before, page=page))


def _kept(found: Snapshot) -> Snapshot:
    """Keep what was read for as long as this person looks at it."""
    st.session_state["snapshot"] = found
    return found


@st.fragment(run_every=NEWS_SECONDS)
def _news(held: Snapshot) -> None:
    """Say that the queue has moved on since this page of it was read, and offer to read it anew."""
    try:
        now = _summary(session.desk(), younger_than=NEWS_AGE)
    except ReconError:  # The database is away: the line above the page says so.
        return
    if now == held.summary:
        return
    more = now.waiting - held.summary.waiting
    said = f"{more} new since you looked." if more > 0 else "The queue has moved since you looked."
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(said, icon=":material/sync:", color="orange")
        if st.button("Refresh", key="refresh", icon=":material/refresh:"):
            st.session_state.pop("snapshot", None)
            st.rerun()


def _summary(desk: Desk, *, younger_than: timedelta = timedelta(0)) -> QueueSummary:
    """Return what waits, read again unless this tab has it so young: it counts every case, at each click."""
    known: tuple[datetime, QueueSummary] | None = st.session_state.get("latest")
    if known is None or desk.now() - known[0] >= younger_than:
        known = (desk.now(), desk.summary())
        st.session_state["latest"] = known
    return known[1]


def _money(held: Snapshot) -> None:
    """Show what is at risk first, each currency by itself, then how many cases and how old."""
    found, opened = held.figures, held.figures.oldest_opened_at
    oldest = safe.ABSENT if opened is None else times.span(held.at - opened)
    waits = set(held.filters.states or CaseState) <= set(WAITING)
    figures.show(
        [
            *figures.money("At risk" if waits else "At risk when found", found.at_risk),
            ("Waiting cases" if waits else "Cases", f"{found.cases:,}"),
            ("Oldest waits" if waits else "Oldest", oldest),
        ]
    )
    if held.filters != QueueFilters():
        in_all = phrases.several(held.summary.waiting, "case waits", "cases wait")
        st.caption(f"Of what the filters let through; in all, {in_all}.")


def _tools(desk: Desk, held: Snapshot, operator: Operator) -> bool:
    """Show what can be done with the cases as a whole; return whether several are being chosen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        choosing = desk.may_act(operator) and st.toggle("Choose several", key="choosing")
        if st.button("Export as CSV", key="export", icon=":material/download:", type="tertiary"):
            st.dialog("Export as CSV")(several.export)(desk, held.filters)
    return choosing


def _table(held: Snapshot, zone: tzinfo, *, choosing: bool) -> Sequence[Case]:
    """Show the page as a grid; choosing a row opens its case, or ticks it where several are being chosen."""
    cases = held.page.cases
    chosen = st.dataframe(
        tables.queue(cases, held.at, zone),
        hide_index=True,
        height=grids.height(len(cases)),
        on_select="rerun",
        selection_mode="multi-row" if choosing else "single-row",
        key=f"grid-{held.id}-{choosing}",
        column_config=tables.queue_columns(held.at, zone),
        alt=f"{len(cases)} cases, {ORDER}. The same as a plain list of links: choose List.",
    )
    rows = [row for row in chosen.selection.rows if row < len(cases)]
    if rows and not choosing:
        st.switch_page("views/case.py", query_params=links.case(cases[rows[0]].id))
    return [cases[row] for row in sorted(rows)]


def _list(held: Snapshot, zone: tzinfo, *, choosing: bool) -> Sequence[Case]:
    """Show the page as plain links, for small screens and for who does not use a mouse."""
    chosen = []
    for case in held.page.cases:
        with st.container(border=True, gap="xsmall"):
            if choosing and st.checkbox(f"Choose {case.id}", key=f"choose-{held.id}-{case.id}"):
                chosen.append(case)
            st.page_link(
                "views/case.py",
                label=f"**{words.KINDS[case.mismatch.kind]} · {tables.money(case.mismatch.at_risk)}**",
                query_params=links.case(case.id),
            )
            panels.badges(case)
            if case.snoozed_until is not None and tables.asleep(case, held.at):
                until = times.moment(case.snoozed_until, zone)
                st.badge(f"Snoozed until {until}", icon=":material/snooze:", color="gray")
            named = [name for name in (tables.subject(case), case.mismatch.customer_id) if name]
            st.text(safe.line(" · ".join([*named, tables.owner(case)])))
            opened = f"{times.short(case.opened_at, held.at, zone)} {times.zone_name(held.at, zone)}"
            st.caption(f"{case.id} · opened {opened}")
    return chosen


def _pager(held: Snapshot) -> None:
    """Show the ways to the pages beside this one; the run that a click begins shows it at once."""
    first, last = len(held.before) == 1, held.page.next is None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        back, on = ":material/chevron_left:", ":material/chevron_right:"
        st.button("Previous", key="newer", icon=back, disabled=first, on_click=_step, args=(-1,))
        st.button("Next", key="older", icon=on, disabled=last, on_click=_step, args=(1,))
        number = len(held.page.cases)
        cases = f"{number} {'case' if number == 1 else 'cases'}"
        tick = "" if asked.as_list() else " Tick a row to open its case."
        if st.session_state.get("choosing"):
            tick = ""
        st.caption(f"Page {len(held.before)}, {cases}, {ORDER}; {times.clock(held.at)} UTC.{tick}")


def _step(step: int) -> None:
    """Note which way somebody goes; what can fail is for the run, which says so in a sentence."""
    st.session_state["step"] = step


def _turned(desk: Desk, held: Snapshot, step: int) -> Snapshot:
    """Return the page after this one, or before it; this one where there is none."""
    if step > 0 and held.page.next is not None:
        return _look(desk, held, (*held.before, held.page.next))
    if step < 0 and len(held.before) > 1:
        return _look(desk, held, held.before[:-1])
    return held


def _nothing(desk: Desk, held: Snapshot) -> None:
    """Say what is fine, that nobody knows whether it is, or that the filters are too narrow."""
    if held.filters != QueueFilters():
        _narrow(held.filters)
        return
    fresh = desk.freshness()
    if fresh.complete is None or fresh.stale or fresh.incomplete:
        known = "no run has read everything yet" if fresh.complete is None else "what came since is not known"
        st.info(f"No case waits, but {known}.", icon=":material/info:")
        return
    st.success(
        "Nothing waits for anybody: every mismatch that the runs found is answered or has cleared.",
        icon=":material/check_circle:",
    )


def _narrow(asked_for: QueueFilters) -> None:
    """Say that nothing fits, and what to try: an id of a case that was answered is in no queue."""
    searched = asked_for.search
    said = " The search takes a whole id, as it is written." if searched else ""
    st.info(f"No case fits these filters.{said}", icon=":material/filter_alt_off:")
    with st.container(horizontal=True, gap="small"):
        if searched and asked_for != QueueFilters(states=(), search=searched):
            st.button("Search in every state", key="everywhere", on_click=filters.everywhere)
        st.button("Clear the filters", key="clear", on_click=filters.clear)


main()
