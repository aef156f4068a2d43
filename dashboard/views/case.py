"""One case: what is wrong and what it costs, both its sides next to each other, what to do, and its story.

What moves the case is in dashboard/decision.py, and goes through the desk.
"""

from datetime import tzinfo
from typing import Final

import streamlit as st

from dashboard import (
    asking,
    compare,
    decision,
    leads,
    links,
    panels,
    relatives,
    safe,
    session,
    story,
    times,
    words,
)
from recon.desk import CaseView
from recon.model.records.cases import BY_HAND, JOB, Owner

ID_LIMIT: Final = 40  # Characters: an id has twelve; whatever is pasted around it is cut.


def main() -> None:
    """Show the case that the address names."""
    desk, zone = session.desk(), session.zone()
    st.page_link("views/queue.py", label="Queue", icon=":material/arrow_back:", query_params=links.filters())
    named = st.query_params.get("case", "")
    view = desk.case(named, operator=session.operator())
    if view is None:
        _find(named)
        return
    _moved_meanwhile(view, zone)
    _headline(view)
    _ownership(view, zone)
    with st.container(border=True):
        decision.show(desk, view, zone)
    with st.container(border=True):
        st.header("Both sides", anchor=False)
        compare.show(view, zone)
        relatives.at_provider(view)
    with st.container(border=True):
        st.header("Evidence", anchor=False)
        panels.facts(panels.particulars(view.case.mismatch, zone), columns=5, width=140)
    if view.around.calls:
        with st.container(border=True):
            asking.show(view, zone)
    with st.container(border=True):
        story.show(view, zone)
    with st.container(border=True):
        relatives.show(view, zone)


def _find(named: str) -> None:
    """Say that there is no such case, if one was named, and ask for one."""
    st.title("No such case" if named else "Find a case", anchor=False)
    if named:
        st.text(f"No case has the id {safe.line(named)}.")
    with st.form("find", border=False):
        typed = st.text_input(
            "Case id", max_chars=ID_LIMIT, placeholder="C-…", help="As in a message or the queue."
        )
        if st.form_submit_button("Open", icon=":material/search:") and typed.strip():
            st.switch_page("views/case.py", query_params=links.case(typed.strip()))


def _headline(view: CaseView) -> None:
    mismatch = view.case.mismatch
    st.title(f"{words.KINDS[mismatch.kind]} · {panels.risk(view.case)}", anchor=False)
    panels.badges(view.case)
    st.text(safe.text(mismatch.why))
    leads.beside(view.case)


def _ownership(view: CaseView, zone: tzinfo) -> None:
    case = view.case
    owner = case.owner
    with st.container(border=True):
        panels.facts(
            [
                ("Owner", owner.name if owner else "nobody yet"),
                ("Given by", _giver(owner) if owner else None),
                ("Case", case.id),
                ("Account", case.account or "the platform's own"),
                ("Opened", times.moment(case.opened_at, zone)),
                ("Last moved", times.moment(case.updated_at, zone)),
            ],
            columns=6,
            width=140,
        )


def _giver(owner: Owner) -> str:
    """Return which rule, or who, made somebody the owner."""
    by_hand = owner.rule.startswith(BY_HAND)
    return owner.rule.removeprefix(BY_HAND) if by_hand else f"the rule {owner.rule}"


def _moved_meanwhile(view: CaseView, zone: tzinfo) -> None:
    """Say what somebody else did since this tab last showed the case."""
    seen = st.session_state.get("seen")
    st.session_state["seen"] = (view.case.id, view.case.version)
    if seen is None or seen[0] != view.case.id or seen[1] >= view.case.version or not view.entries:
        return
    latest = view.entries[-1]
    who = "A run" if latest.actor == JOB else latest.actor
    deed = words.ACTIONS[latest.action].split(":")[0].lower()
    sentence = f"{who}: {deed}, {times.moment(latest.at, zone)}. What you see now is the case after that."
    panels.note("Moved since you last looked", sentence, tone="orange", icon=":material/sync:")


main()
