"""What was just done to a case, and the ways on: to take the decision back, and to the queue's next case.

It stands where the decision was made, in sight also on a phone.
"""

from typing import Final

import streamlit as st

from dashboard import asked, links, panels, session, tables
from recon.desk import CaseView, Desk
from recon.model.errors import ReconError
from recon.model.records.words import Action

UNDOABLE: Final = frozenset({Action.RESOLVED, Action.ACCEPTED})  # A case is reopened from these.
WHY: Final = "Undone right after it was decided."


def show(desk: Desk, view: CaseView) -> None:
    """Say what was just done or refused here, once, and offer what comes next; nothing where nothing was."""
    refused = st.session_state.pop("refused", None)
    if refused is not None:
        panels.note("Not undone", refused, tone="red", icon=":material/sync_problem:")
    said = st.session_state.pop("said", None)
    if said is None:
        return
    st.success(said, icon=":material/check_circle:")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if view.entries[-1].action in UNDOABLE and Action.REOPENED in view.moves:
            st.button("Undo", key="undo", icon=":material/undo:", on_click=_undo, args=(desk, view))
        _following(desk, view)


def _following(desk: Desk, view: CaseView) -> None:
    """Link to the case behind this one in the queue that the address asks for."""
    case = desk.following(asked.queue(), view.case)
    if case is None:
        st.caption("No other case waits in this queue.")
        return
    st.page_link(
        "views/case.py",
        label=f"Next case: {tables.kind(case)} · {tables.money(case.mismatch.at_risk)}",
        icon=":material/arrow_forward:",
        query_params=links.case(case.id),
    )


def _undo(desk: Desk, view: CaseView) -> None:
    """Take back what was decided last; pressed twice, it is done once."""
    try:
        desk.reopen(
            view.case.id,
            version=view.case.version,
            reason=WHY,
            operator=session.operator(),
            action_id=f"undo:{view.entries[-1].action_id}",
        )
    except ReconError as error:  # Somebody moved it meanwhile, or they may no longer act.
        st.session_state["refused"] = str(error)
        return
    st.session_state["said"] = "Undone: it waits for somebody again."
    st.session_state["seen"] = None
