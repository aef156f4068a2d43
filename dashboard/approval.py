"""What waits for a second person on a case, and what this one may do about it: approve, decline, take back.

Whether they may is decided by the desk at the click; a page only does not offer what would be refused.
"""

from datetime import tzinfo
from enum import StrEnum
from typing import Final
from uuid import uuid4

import streamlit as st

from dashboard import making, panels, safe, session, tables, times, unsettled
from recon.desk import CaseView, Desk
from recon.model import wishes
from recon.model.records.proposals import Proposal
from recon.rules import proposals


class Answer(StrEnum):
    """What can be done about a proposal."""

    APPROVE = "approve"
    DECLINE = "decline"
    TAKE_BACK = "take_back"


VERBS: Final = {
    Answer.APPROVE: "Approve",
    Answer.DECLINE: "Decline",
    Answer.TAKE_BACK: "Take it back",
}
ICONS: Final = {
    Answer.APPROVE: ":material/done_all:",
    Answer.DECLINE: ":material/close:",
    Answer.TAKE_BACK: ":material/undo:",
}
PURPOSES: Final = {
    Answer.APPROVE: "The move is made as it was proposed, with both names in the story.",
    Answer.DECLINE: "Nothing is decided: the case stays as it is.",
    Answer.TAKE_BACK: "Nothing is decided: the case stays as it is, and anything else can be proposed.",
}
SAID: Final = {
    Answer.APPROVE: "Approved, and done as it was proposed.",
    Answer.DECLINE: "Declined. The case stays as it is.",
    Answer.TAKE_BACK: "Taken back. The case stays as it is.",
}


def show(desk: Desk, view: CaseView, zone: tzinfo) -> None:
    """Show what is proposed, by whom and why, with a button for each answer that this operator may give."""
    proposal = view.proposal
    if proposal is None:
        return
    by, at = proposal.proposed_by, times.moment(proposal.proposed_at, zone)
    sentence = f"{wishes.of(proposal)}. Proposed by {by}, {at}: {proposal.reason}"
    panels.note("Waits for a second person", sentence, tone="orange", icon=":material/group:")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for answer in answers(desk, view, proposal):
            _button(desk, view, answer)
    if view.unapprovable is not None:
        st.text(safe.text(view.unapprovable))


def explain(desk: Desk, view: CaseView) -> None:
    """Say that this case takes two people, and where that protects nobody."""
    amount = tables.money(view.case.mismatch.at_risk)
    st.caption(f"A case with {amount} at risk takes two people: one proposes, and another approves.")
    if not desk.vouched:
        st.caption(
            "Nobody signs in at this desk: a name proves nothing here, and only people to whom the database "
            "gives the role approver can approve. Let people sign in before you rely on it."
        )


def answers(desk: Desk, view: CaseView, proposal: Proposal) -> tuple[Answer, ...]:
    """Return what this operator may do about it."""
    if view.unapprovable is None:
        return (Answer.APPROVE, Answer.DECLINE)
    operator = session.operator()
    own = proposals.same_person(proposal.proposed_by, operator.name)
    return (Answer.TAKE_BACK,) if own and desk.may_act(operator) else ()


def ask(desk: Desk, view: CaseView, answer: Answer, *, action_id: str) -> None:
    """Show what is proposed once more, ask why it is answered so, and answer it once that is confirmed."""
    making.reread()
    proposal = view.proposal
    assert proposal is not None, "only what waits is answered"
    wish = wishes.of(proposal)
    st.text(safe.text(f"{wish}. {panels.risk(view.case)}, case {view.case.id}."))
    st.caption(PURPOSES[answer])
    with st.form("answer", border=False, enter_to_submit=False):
        reason = making.reason(action_id, view.case)
        amount = tables.money(view.case.mismatch.at_risk)
        label = f"{VERBS[answer]} · {amount}" if answer is Answer.APPROVE else VERBS[answer]
        pressed = st.form_submit_button(label, type="primary", icon=ICONS[answer])
    if not pressed:
        return

    def act() -> str:
        move = desk.decline if answer is not Answer.APPROVE else unsettled.approving(desk, proposal)
        move(
            view.case.id,
            proposal_id=proposal.id,
            version=view.case.version,
            reason=reason,
            operator=session.operator(),
            action_id=action_id,
        )
        return SAID[answer]

    making.make(view.case, reason, act)


def _button(desk: Desk, view: CaseView, answer: Answer) -> None:
    clicked = st.button(
        VERBS[answer],
        key=f"open-{answer}",
        icon=ICONS[answer],
        type="primary" if answer is Answer.APPROVE else "secondary",
    )
    if clicked:
        title = f"{VERBS[answer]} · {tables.money(view.case.mismatch.at_risk)}"
        # One action id for as long as the dialog is open: however often it is pressed, one entry.
        st.dialog(title, width="medium")(ask)(desk, view, answer, action_id=f"desk:{uuid4()}")
