"""One case: what is wrong and what it costs, both its sides next to each other, what to do, and its story.

Everything that moves the case goes through the desk; a click names the version that was looked at, so that
nothing is overwritten and nothing happens twice.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Final
from uuid import uuid4

import streamlit as st

from dashboard import compare, links, panels, safe, session, tables, times, words
from recon.desk import CaseView, Desk
from recon.model.errors import CaseMoved, ReconError
from recon.model.records.cases import JOB, Case, Entry
from recon.model.records.words import Action, CaseState, Resolution

STORY_LIMIT: Final = 50  # Entries shown at once; the older ones are behind a button.
ID_LIMIT: Final = 40  # Characters: an id has twelve; whatever is pasted around it is cut.
REASON_PIXELS: Final = 110  # Four lines.

OVER: Final = frozenset({CaseState.RESOLVED, CaseState.CLEARED})

VERBS: Final = {Action.ACKNOWLEDGED: "Acknowledge", Action.RESOLVED: "Resolve", Action.COMMENTED: "Comment"}
ICONS: Final = {
    Action.ACKNOWLEDGED: ":material/front_hand:",
    Action.RESOLVED: ":material/check:",
    Action.COMMENTED: ":material/chat:",
}
PURPOSES: Final = {
    Action.ACKNOWLEDGED: "You take it on: it is not announced to its owner again while nothing changes.",
    Action.RESOLVED: "You settle it. A run that finds other evidence, or still finds it, opens it again.",
    Action.COMMENTED: "Written into the story; the case stays as it is.",
}


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
    sides, decide = st.columns([7, 3], gap="small")
    with sides, st.container(border=True):
        st.header("Both sides", anchor=False)
        compare.show(view, zone)
    with decide, st.container(border=True):
        _decide(desk, view)
    with st.container(border=True):
        st.header("Evidence", anchor=False)
        panels.facts(panels.particulars(view.case.mismatch, zone), columns=5, width=140)
    with st.container(border=True):
        _story(view, zone)


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
    st.title(f"{words.KINDS[mismatch.kind]} · {_risk(view.case)}", anchor=False)
    panels.badges(view.case)
    st.text(safe.text(mismatch.why))


def _risk(case: Case) -> str:
    """Return what is at risk, or what was until the case was answered or cleared."""
    at_risk = case.mismatch.at_risk
    amount = tables.money(at_risk) if at_risk.amount_minor else "nothing"
    return f"{amount} at risk" if case.state not in OVER else f"{amount} was at risk"


def _ownership(view: CaseView, zone: tzinfo) -> None:
    case = view.case
    owner = case.owner
    with st.container(border=True):
        panels.facts(
            [
                ("Owner", owner.name if owner else "nobody yet"),
                ("Chosen by", owner.rule if owner else None),
                ("Case", case.id),
                ("Account", case.account or "the platform's own"),
                ("Opened", times.moment(case.opened_at, zone)),
                ("Last moved", times.moment(case.updated_at, zone)),
            ],
            columns=6,
            width=140,
        )


def _moved_meanwhile(view: CaseView, zone: tzinfo) -> None:
    """Say what was just done here, or what somebody else did since this tab last showed the case."""
    said = st.session_state.pop("said", None)
    seen = st.session_state.get("seen")
    st.session_state["seen"] = (view.case.id, view.case.version)
    if said is not None:
        st.success(said, icon=":material/check_circle:")
        return
    if seen is None or seen[0] != view.case.id or seen[1] >= view.case.version or not view.entries:
        return
    latest = view.entries[-1]
    who = "A run" if latest.actor == JOB else latest.actor
    deed = words.ACTIONS[latest.action].split(":")[0].lower()
    sentence = f"{who}: {deed}, {times.moment(latest.at, zone)}. What you see now is the case after that."
    panels.note("Moved since you last looked", sentence, tone="orange", icon=":material/sync:")


def _decide(desk: Desk, view: CaseView) -> None:
    st.header("Decide", anchor=False)
    if view.case.state is CaseState.RESOLVED and view.case.resolution:
        st.caption(f"Resolved as: {words.RESOLUTIONS[view.case.resolution]}.")
    if not view.moves:
        st.caption("You may read this case. Acting on it needs the role operator.")
        return
    primary = next((move for move in view.moves if move is not Action.COMMENTED), None)
    for move in view.moves:
        if move not in VERBS:
            continue
        clicked = st.button(
            VERBS[move],
            key=f"open-{move}",
            icon=ICONS[move],
            type="primary" if move is primary else "secondary",
            width="stretch",
        )
        if clicked:
            _dialog(desk, view, move)
    st.caption("Every move needs a reason, and is kept with your name in the story.")


def _dialog(desk: Desk, view: CaseView, move: Action) -> None:
    amount = tables.money(view.case.mismatch.at_risk)
    title = f"{VERBS[move]} · {amount}"
    # One action id for as long as the dialog is open: however often the button is pressed, it is one entry.
    st.dialog(title, width="medium")(_confirm)(desk, view, move, amount, action_id=f"desk:{uuid4()}")


def _confirm(desk: Desk, view: CaseView, move: Action, amount: str, *, action_id: str) -> None:
    if st.session_state.get("again"):  # The button below, which is there only after a refusal.
        st.rerun()
    st.text(f"{words.KINDS[view.case.mismatch.kind]}, {_risk(view.case)}, case {view.case.id}.")
    st.caption(PURPOSES[move])
    with st.form("decision", border=False, enter_to_submit=False):
        code = _resolution() if move is Action.RESOLVED else None
        draft = st.session_state.get(f"draft-{view.case.id}", "")
        reason = st.text_area(
            "Reason", max_chars=safe.TEXT_LIMIT, height=REASON_PIXELS, key=f"reason-{action_id}", value=draft
        )
        label = f"{VERBS[move]} {amount}" if move is not Action.COMMENTED else "Save the comment"
        pressed = st.form_submit_button(label, type="primary", icon=ICONS[move])
    if not pressed:
        return
    if move is Action.RESOLVED and code is None:
        st.warning("Say how it was settled.", icon=":material/edit:")
        return
    try:
        _act(desk, view, move, code, reason=reason or "", action_id=action_id)
    except CaseMoved as moved:
        st.session_state[f"draft-{view.case.id}"] = reason  # Nobody types it twice.
        panels.note("Not saved", str(moved), tone="red", icon=":material/sync_problem:")
        st.button("Read it again", key="again", icon=":material/refresh:")
    except ReconError as error:
        panels.trouble(error)
    else:
        st.session_state["said"] = f"{words.ACTIONS[move]}. Saved with your reason."
        st.session_state.pop(f"draft-{view.case.id}", None)
        st.session_state["seen"] = None
        st.rerun()


def _resolution() -> Resolution | None:
    return st.selectbox(
        "How was it settled?",
        list(Resolution),
        index=None,
        format_func=words.RESOLUTIONS.__getitem__,
        placeholder="Choose one",
        key="resolution",
    )


def _act(
    desk: Desk, view: CaseView, move: Action, code: Resolution | None, *, reason: str, action_id: str
) -> None:
    operator = session.operator()
    case_id, version = view.case.id, view.case.version
    if move is Action.RESOLVED:
        assert code is not None
        desk.resolve(
            case_id, version=version, code=code, reason=reason, operator=operator, action_id=action_id
        )
        return
    moves: Mapping[Action, Callable[..., object]] = {
        Action.ACKNOWLEDGED: desk.acknowledge,
        Action.COMMENTED: desk.comment,
    }
    moves[move](case_id, version=version, reason=reason, operator=operator, action_id=action_id)


def _story(view: CaseView, zone: tzinfo) -> None:
    st.header("Story", anchor=False)
    entries = list(reversed(view.entries))
    every = len(entries) <= STORY_LIMIT or st.toggle(f"All {len(entries)} entries", key="every-entry")
    for entry in entries if every else entries[:STORY_LIMIT]:
        _entry(entry, zone)


def _entry(entry: Entry, zone: tzinfo) -> None:
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            if entry.actor == JOB:
                st.badge(words.ACTIONS[entry.action], icon=":material/smart_toy:", color="gray")
                st.text("recon, in a run")
            else:
                st.badge(words.ACTIONS[entry.action], icon=":material/person:", color="blue")
                st.text(safe.line(entry.actor))
            st.caption(times.moment(entry.at, zone))
        if entry.from_state is not None and entry.from_state is not entry.to_state:
            st.caption(f"{words.STATES[entry.from_state]} → {words.STATES[entry.to_state]}")
        if entry.resolution is not None:
            st.caption(words.RESOLUTIONS[entry.resolution])
        st.text(safe.text(entry.reason))


main()
