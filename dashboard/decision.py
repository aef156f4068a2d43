"""What an operator may do to a case: a button for each move, a dialog that asks what it takes, and the desk.

A click names the version that was looked at and one action id for as long as its dialog is open, so that
nothing is overwritten and nothing happens twice.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, Literal
from uuid import uuid4

import streamlit as st

from dashboard import afterwards, approval, making, panels, safe, session, tables, times, unsettled, words
from recon.desk import CaseView, Desk
from recon.model.records.proposals import Proposal
from recon.model.records.queues import WAITING
from recon.model.records.words import Action, CaseState, IntentKey, RefundId, Resolution
from recon.rules import moves

ID_LIMIT: Final = 500  # Characters of a key or an id: the provider's longest.

VERBS: Final = {
    Action.ACKNOWLEDGED: "Acknowledge",
    Action.LOOKED: "Look again now",
    Action.CONFIRMED: "Confirm as refunded",
    Action.REFUTED: "Confirm as not refunded",
    Action.RESOLVED: "Resolve",
    Action.ADOPTED: "Adopt the refund",
    Action.LINKED: "Link a refund",
    Action.UNLINKED: "Take a link back",
    Action.ACCEPTED: "Accept until a date",
    Action.SNOOZED: "Snooze",
    Action.ASSIGNED: "Assign",
    Action.REOPENED: "Reopen",
    Action.COMMENTED: "Comment",
}
ICONS: Final = {
    Action.ACKNOWLEDGED: ":material/front_hand:",
    Action.LOOKED: ":material/travel_explore:",
    Action.CONFIRMED: ":material/price_check:",
    Action.REFUTED: ":material/money_off:",
    Action.RESOLVED: ":material/check:",
    Action.ADOPTED: ":material/note_add:",
    Action.LINKED: ":material/link:",
    Action.UNLINKED: ":material/link_off:",
    Action.ACCEPTED: ":material/event_available:",
    Action.SNOOZED: ":material/snooze:",
    Action.ASSIGNED: ":material/person_add:",
    Action.REOPENED: ":material/undo:",
    Action.COMMENTED: ":material/chat:",
}
PURPOSES: Final = {
    Action.ACKNOWLEDGED: "You take it on: it is not announced to its owner again while nothing changes.",
    Action.LOOKED: "The provider is asked, and only asked, what it shows of the payment at this moment.",
    Action.CONFIRMED: "The provider is asked for this refund first. If it is live, of the same payment and "
    "amount, and nobody else's, the intent becomes done.",
    Action.REFUTED: "The provider is asked for all refunds of the payment first. If none is or may be this "
    "intent's, the intent becomes failed.",
    Action.RESOLVED: "You settle it. A run that finds other evidence, or still finds it, opens it again.",
    Action.ADOPTED: "The refund was meant: it becomes an intent of ours, and the next run clears this case.",
    Action.LINKED: "You say which intent of this account the refund belongs to; the next run judges the two.",
    Action.UNLINKED: "The refund belongs again to whom its keys name or who recorded it, or to nobody. A run "
    "that finished an intent by this link has recorded it: link the refund to its true intent next.",
    Action.ACCEPTED: "You live with it as it is. It is open again on that day, or when its evidence changes.",
    Action.SNOOZED: "It stays yours, and comes back on that day or with other evidence.",
    Action.ASSIGNED: "Somebody else answers it; the rules in owners.toml leave it to them from now on.",
    Action.REOPENED: "You take the decision back: it waits for somebody again.",
    Action.COMMENTED: "Written into the story; the case stays as it is.",
}
# Needed now and then: they stand behind the others, and are no crowd of buttons beside them.
RARE: Final = frozenset({Action.LINKED, Action.UNLINKED, Action.ACCEPTED, Action.SNOOZED, Action.ASSIGNED})
# What these buttons say in full: beside a comment or a date the amount would read as if it were sent.
PLAIN: Final = {Action.COMMENTED: "Save the comment", Action.ACCEPTED: VERBS[Action.ACCEPTED]}
MISSING: Final = {
    "code": "Say how it was settled.",
    "until": "Choose a date.",
    "owner": "Choose an owner.",
    "intent_key": "Name the intent by its key.",
    "refund_id": "Name the refund by its id.",
}
MOVES: Final[Mapping[Action, Callable[..., Proposal | None]]] = {
    Action.ACKNOWLEDGED: Desk.acknowledge,
    Action.CONFIRMED: unsettled.confirm,
    Action.REFUTED: unsettled.refute,
    Action.RESOLVED: Desk.resolve,
    Action.ADOPTED: Desk.adopt,
    Action.LINKED: Desk.link,
    Action.UNLINKED: Desk.unlink,
    Action.ACCEPTED: Desk.accept,
    Action.SNOOZED: Desk.snooze,
    Action.ASSIGNED: Desk.assign,
    Action.REOPENED: Desk.reopen,
    Action.COMMENTED: Desk.comment,
}

Asked = Mapping[str, object]
Style = Literal["primary", "secondary", "tertiary"]


def show(desk: Desk, view: CaseView, zone: tzinfo) -> None:
    """Show what was decided, and the moves that this operator may make."""
    st.header("Decide", anchor=False)
    afterwards.show(desk, view)
    _standing(desk, view, zone)
    approval.show(desk, view, zone)
    if not view.moves:
        st.caption("You may read this case. Acting on it needs the role operator.")
        return
    primary = _next(view)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for move in sorted(view.moves, key=lambda each: (each is not primary, each in RARE)):
            style: Style = "primary" if move is primary else "tertiary" if move in RARE else "secondary"
            _button(desk, view, move, zone, style=style)
    if view.seconded:
        approval.explain(desk, view)
    st.caption("Every move needs a reason, and is kept with your name in the story.")


def _next(view: CaseView) -> Action | None:
    """Return the move that stands out; None where nothing is to be done next, or an approval is."""
    approving = view.proposal is not None and view.unapprovable is None
    if approving or view.unjudged is not None or view.case.state not in WAITING:
        return None
    if Action.LOOKED in view.moves:
        found = Action.CONFIRMED in view.moves and unsettled.seen(view) is not None
        return Action.CONFIRMED if found else Action.LOOKED
    return next((move for move in view.moves if move is not Action.COMMENTED), None)


def ask(desk: Desk, view: CaseView, move: Action, zone: tzinfo, *, action_id: str) -> None:
    """Show what a move asks, and make it once it is confirmed."""
    making.reread()
    kind, amount = words.KINDS[view.case.mismatch.kind], tables.money(view.case.mismatch.at_risk)
    st.text(f"{kind}, {panels.risk(view.case)}, case {view.case.id}.")
    st.caption(PURPOSES[move])
    if move is Action.LOOKED:
        unsettled.look(view, zone, action_id=action_id)
        return
    verdict = unsettled.verdict(view, zone) if move is Action.REFUTED else None
    unsettled.advise(verdict)
    with st.form("decision", border=False, enter_to_submit=False):
        asked = _asked(desk, view, move, zone)
        reason = making.reason(action_id, view.case)
        label = _verb(view, move, PLAIN.get(move, f"{VERBS[move]} {amount}"))
        pressed = st.form_submit_button(label, type="primary", icon=ICONS[move])
    if not pressed:
        return
    lacking = next((name for name, value in asked.items() if not value), None)
    if lacking is not None:
        st.warning(MISSING[lacking], icon=":material/edit:")
        return

    def act() -> str:
        proposed = MOVES[move](
            desk,
            view.case.id,
            version=view.case.version,
            reason=reason,
            operator=session.operator(),
            action_id=action_id,
            **asked,
        )
        if proposed is not None:
            return f"Proposed: {VERBS[move]}. Another person must approve it; until then nothing is decided."
        judged = " The next run judges it." if move in moves.CLAIMS else ""
        after = f" {verdict}" if verdict is not None else ""
        return f"{words.ACTIONS[move]}. Saved with your reason.{judged}{after}"

    making.make(view.case, reason, act)


def plain(desk: Desk, move: Action, zone: tzinfo) -> Asked:
    """Show what a move takes whatever case it is about; return what was said so far, by the desk's names."""
    if move is Action.RESOLVED:
        return {"code": _resolution()}
    if move in {Action.ACCEPTED, Action.SNOOZED}:
        return {"until": _until(desk.now(), zone)}
    if move is Action.ASSIGNED:
        owners = {f"{each.name} ({each.target})": each for each in desk.owners()}
        named = st.selectbox("Owner", list(owners), index=None, placeholder="Choose one", key="owner")
        return {"owner": None if named is None else owners[named]}
    return {}


def _standing(desk: Desk, view: CaseView, zone: tzinfo) -> None:
    case, waits = view.case, view.unjudged
    if waits is not None and case.state not in panels.OVER:
        sentence = f"{words.ACTIONS[waits.action]} by {waits.actor}, {times.moment(waits.at, zone)}: "
        sentence += "the next run judges it anew."
        panels.note("Waits for the next run", sentence, tone="blue", icon=":material/schedule:")
        if waits.action is Action.REFUTED and (verdict := unsettled.verdict(view, zone)) is not None:
            st.text(verdict)
    if case.state is CaseState.RESOLVED and case.resolution:
        st.caption(f"Resolved as: {words.RESOLUTIONS[case.resolution]}.")
    if case.accepted_until is not None:
        st.caption(f"Accepted until {times.moment(case.accepted_until, zone)}.")
    if case.snoozed_until is not None and case.snoozed_until > desk.now():
        st.caption(f"Snoozed until {times.moment(case.snoozed_until, zone)}.")


def _button(desk: Desk, view: CaseView, move: Action, zone: tzinfo, *, style: Style) -> None:
    clicked = st.button(
        _verb(view, move, VERBS[move]),
        key=f"open-{move}",
        icon=ICONS[move],
        type=style,
    )
    if clicked:
        title = f"{_verb(view, move, VERBS[move])} · {tables.money(view.case.mismatch.at_risk)}"
        # One action id for as long as the dialog is open: however often its button is pressed, one entry.
        # A look moves the case at once, also where its dialog is closed by its corner.
        dialog = st.dialog(title, width="medium", on_dismiss="rerun" if move is Action.LOOKED else "ignore")
        dialog(ask)(desk, view, move, zone, action_id=f"desk:{uuid4()}")


def _verb(view: CaseView, move: Action, label: str) -> str:
    """Return what a button of this move says: who cannot make it alone proposes it."""
    return f"Propose: {label}" if move in view.seconded else label


def _asked(desk: Desk, view: CaseView, move: Action, zone: tzinfo) -> Asked:
    """Show what a move takes beside a reason; return what was said so far, by the desk's own names."""
    if move is Action.LINKED:
        return _link(view)
    if move is Action.CONFIRMED:
        found = unsettled.likely(view)
        typed = st.text_input("Id of the refund", value=found or "", max_chars=ID_LIMIT, key="refund")
        if found is not None:
            st.caption("As it was found. Confirm it by this id, or type another.")
        return {"refund_id": RefundId(typed.strip())}
    if move is Action.UNLINKED:
        linked = {each.id: f"{each.id} → {each.operator_key}" for each in view.refunds if each.operator_key}
        chosen = st.selectbox(
            "Link", list(linked), format_func=lambda named: safe.line(linked[named]), key="linked"
        )
        return {"refund_id": chosen}
    return plain(desk, move, zone)


def _resolution() -> Resolution | None:
    return st.selectbox(
        "How was it settled?",
        list(Resolution),
        index=None,
        format_func=words.RESOLUTIONS.__getitem__,
        placeholder="Choose one",
        key="resolution",
    )


def _until(now: datetime, zone: tzinfo) -> datetime | None:
    """Return the beginning of the day that was chosen, in the viewer's zone."""
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    chosen: date | None = st.date_input(
        "Until", value=None, min_value=tomorrow, format="YYYY-MM-DD", key="until"
    )
    return None if chosen is None else datetime.combine(chosen, time.min, zone)


def _link(view: CaseView) -> Asked:
    """Return the refund and the intent; the one that the case is about is known."""
    side, _, named = view.case.subject.partition(":")
    label = "Key of the intent" if side == "refund" else "Id of the refund"
    typed = st.text_input(label, max_chars=ID_LIMIT, key="link").strip()
    if side == "refund":
        return {"refund_id": RefundId(named), "intent_key": IntentKey(typed)}
    return {"refund_id": RefundId(typed), "intent_key": IntentKey(named)}
