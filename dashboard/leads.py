"""The ways to an incident: from the queue's top, and from a case to what else began beside it."""

from datetime import datetime, tzinfo
from time import monotonic
from typing import Final

import streamlit as st

from dashboard import incidents, session, words
from recon.model.errors import ReconError
from recon.model.records.cases import Case
from recon.model.records.words import Kind

SEVERAL: Final = 3  # Fewer in one burst are cases, and no incident yet.
KEPT_SECONDS: Final = 30.0  # Runs come by the hour, clicks by the second.


def burst(zone: tzinfo) -> None:
    """Link to the densest burst of the latest day on which customers were refunded twice, if it is one."""
    try:
        found = _latest()
    except ReconError:  # The database is away: the line above the page says so.
        return
    if len(found) < SEVERAL:
        return
    kind, begun = words.KINDS[Kind.DUPLICATE].lower(), found[0].astimezone(zone)
    label = f"Incident: {kind}, {len(found):,} cases on {begun.day} {begun:%b}"  # On a phone more is cut.
    st.page_link("views/incident.py", label=label, icon=":material/crisis_alert:")


def beside(case: Case) -> None:
    """Link to what else of the case's kind began within the hour."""
    st.page_link(
        "views/incident.py",
        label="Others like it within the hour",
        icon=":material/crisis_alert:",
        query_params=incidents.beside(case),
    )


def _latest() -> tuple[datetime, ...]:
    """Return when each case of it began, looked for again where this tab has not just done so."""
    known: tuple[float, tuple[datetime, ...]] | None = st.session_state.get("burst")
    if known is None or monotonic() - known[0] >= KEPT_SECONDS:
        known = (monotonic(), session.incidents().burst(Kind.DUPLICATE))
        st.session_state["burst"] = known
    return known[1]
