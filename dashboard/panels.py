"""The parts that pages are put together from: headings of ours, facts of others, what is wrong.

Whatever came from a database goes through st.text; only phrases of ours are markdown.
"""

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Final

import streamlit as st

from dashboard import safe, session, tables, times, words
from recon.desk import Freshness
from recon.model import phrases
from recon.model.errors import ReconError, Wait
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.results import Mismatch
from recon.model.records.words import CaseState, Certainty, Role

FRESH_SECONDS: Final = 60.0  # The line counts in minutes.

OVER: Final = frozenset({CaseState.RESOLVED, CaseState.CLEARED})

Fact = tuple[str, object]


def trouble(error: ReconError) -> None:
    """Show what went wrong and what to do, in the error's own sentence."""
    heading = "Try again in a moment" if isinstance(error, Wait) else "Not possible as things are"
    note(heading, str(error), tone="red", icon=":material/error:")


def note(heading: str, sentence: str, *, tone: words.Color, icon: str) -> None:
    """Show a heading of ours over a sentence that may hold other people's words."""
    with st.container(border=True, gap="xsmall"):
        st.badge(heading, icon=icon, color=tone)
        st.text(safe.text(sentence))


def facts(pairs: Iterable[Fact], *, columns: int = 4, width: int = 150) -> None:
    """Show labels of ours over values of anybody's, as many in a row as fit."""
    with st.grid(columns, min_column_width=width, gap="small") as grid:
        for label, value in pairs:
            with grid.cell(), st.container(gap=None):
                st.caption(label)
                st.text(safe.line(value))


def badges(case: Case) -> None:
    """Show where a case stands, how soon somebody must look and how sure it is: in words, then color."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.badge(words.STATES[case.state], icon=":material/flag:", color=words.STATE_COLORS[case.state])
        severity = case.severity
        st.badge(
            f"{words.SEVERITIES[severity]} severity",
            icon=words.SEVERITY_ICONS[severity],
            color=words.SEVERITY_COLORS[severity],
        )
        if case.mismatch.certainty is Certainty.PROBABLE:
            st.badge("Probable", icon=":material/help:", color="gray")


def risk(case: Case) -> str:
    """Return what is at risk, or what was until the case was answered or cleared."""
    at_risk = case.mismatch.at_risk
    amount = tables.money(at_risk) if at_risk.amount_minor else "nothing"
    return f"{amount} at risk" if case.state not in OVER else f"{amount} was at risk"


def particulars(mismatch: Mismatch, zone: tzinfo) -> tuple[Fact, ...]:
    """Return what is known of a mismatch beside both its sides; what has no value is left out."""
    found: tuple[Fact, ...] = (
        ("Disagreeing since", times.moment(mismatch.since, zone)),
        ("How sure", words.CERTAINTIES[mismatch.certainty]),
        ("At the provider", mismatch.finding and words.FINDINGS[mismatch.finding]),
        ("Direction", mismatch.direction and words.DIRECTIONS[mismatch.direction]),
        ("Likely cause", mismatch.diagnosis),
        ("Order", mismatch.order_id),
        ("Customer", mismatch.customer_id),
        ("Payment", mismatch.payment),
        ("Tool", mismatch.tool),
        ("Team", mismatch.team),
        ("Reason given", mismatch.reason),
        ("Beyond what should stand", ", ".join(mismatch.extra_refund_ids)),
    )
    return tuple(fact for fact in found if fact[1])


def sidebar(operator: Operator) -> None:
    """Show who sits at the desk and what that allows."""
    with st.sidebar.container(gap=None):
        st.text(safe.line(operator.name))
        role = "viewer: may read, not act" if operator.role is Role.VIEWER else operator.role
        st.caption(f"{role} · local mode" if operator.since is None else role)


@st.fragment(run_every=FRESH_SECONDS)
def live_freshness() -> None:
    """Show the freshness line and keep it true while the tab stays open."""
    try:
        freshness(session.desk().freshness(), session.zone())
    except ReconError as error:  # The database went away while the tab was open.
        trouble(error)


def freshness(state: Freshness, zone: tzinfo) -> None:
    """Show when the last complete run was and what it covered; in red what makes the page untrustworthy."""
    if state.complete is None:
        _never(state)
        return
    line = f"Last complete run {times.ago(state.complete.finished_at, state.now)}, covered to "
    line += _covered(state.complete.as_of, state.now, zone)
    if not state.stale and not state.incomplete:
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            st.badge("Up to date", icon=":material/check_circle:", color="green")
            st.caption(line)
        return
    st.error(f"**{_warning(state)}** {line}.", icon=":material/error:")
    for reading in state.unread:
        name = reading.account or "the platform's own account"
        why = phrases.why_unread(reading.account, reading.error or "not read to its end")
        st.text(safe.text(f"{name}: {why}"))


def _never(state: Freshness) -> None:
    if state.last is None:
        st.error("**No run yet.** Nothing was compared: start one with `recon run`.", icon=":material/error:")
        return
    st.error(
        f"**No run was complete yet.** The latest ended {times.ago(state.last.finished_at, state.now)}: what "
        "is missing below may only not have been read.",
        icon=":material/error:",
    )


def _warning(state: Freshness) -> str:
    if state.stale:
        return f"Stale: no complete run for more than {times.span(state.stale_after)}."
    assert state.last is not None
    latest = times.ago(state.last.finished_at, state.now)
    return f"Incomplete: the latest run, {latest}, could not read everything; nothing was cleared."


def _covered(at: datetime, now: datetime, zone: tzinfo) -> str:
    same_day = at.astimezone(zone).date() == now.astimezone(zone).date()
    if not same_day:
        return times.moment(at, zone)
    there = at.astimezone(zone)
    utc = times.clock(at)
    return f"{utc} UTC" if there.utcoffset() == at.utcoffset() else f"{there:%H:%M} ({utc} UTC)"
