"""The kill switches on the pages: the banner while one is thrown, and the dialog that throws or lifts one."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Final
from uuid import uuid4

import streamlit as st

from dashboard import making, panels, safe, session, times
from recon.model import phrases, registry
from recon.model.errors import ReconError, SwitchMoved
from recon.model.records.tools import Switch, SwitchMove
from recon.switchboard import Switchboard

BANNER_SECONDS: Final = 15.0  # How soon a tab that is only looked at shows a switch that somebody threw.
GOES_ON: Final = "Nothing is sent while it is off; look-ups and runs go on."
VERBS: Final = {SwitchMove.THROWN: "Switch off", SwitchMove.LIFTED: "Switch on again"}
ICONS: Final = {SwitchMove.THROWN: ":material/power_settings_new:", SwitchMove.LIFTED: ":material/power:"}
PURPOSES: Final = {
    SwitchMove.THROWN: GOES_ON,
    SwitchMove.LIFTED: "From then on it sends again. Mend what called it twice first, and look at the cases.",
}
MOVED: Final[Mapping[SwitchMove, str]] = {SwitchMove.THROWN: "Thrown", SwitchMove.LIFTED: "Lifted"}


def board() -> Switchboard:
    """Return this process's switchboard: one for all tabs.

    Raises:
        NotPermitted: as the desk, which is asked first.
        ReconError: the settings or the database cannot be used; the next run tries again.
    """
    session.desk()
    return _opened()


@st.fragment(run_every=BANNER_SECONDS)
def banner() -> None:
    """Show which tools are switched off, if any, and keep that true while the tab stays open."""
    try:
        _warning(board().thrown())
    except ReconError as error:  # The database went away while the tab was open.
        panels.trouble(error)


def said(switch: Switch, zone: tzinfo) -> str:
    """Return who threw a switch, when and why, as text of anybody's."""
    assert switch.moved_at is not None, f"somebody moved the switch of {switch.tool}"
    return f"{switch.tool}, by {switch.moved_by}, {times.moment(switch.moved_at, zone)}: {switch.reason}"


def button(held: Switchboard, switch: Switch) -> None:
    """Show the one move that a switch allows now, to whoever may make it."""
    made = SwitchMove.LIFTED if switch.thrown else SwitchMove.THROWN
    if not held.may(session.operator(), made):
        return
    if st.button(VERBS[made], key=f"{made}-{switch.tool}", icon=ICONS[made], type="secondary"):
        # One action id for as long as the dialog is open: however often its button is pressed, one entry.
        st.dialog(_title(made, switch), width="medium")(ask)(held, switch, made, action_id=f"desk:{uuid4()}")


def ask(held: Switchboard, switch: Switch, made: SwitchMove, *, action_id: str) -> None:
    """Show what a move does and ask why, and make it once it is confirmed."""
    st.text(safe.line(switch.tool))
    st.caption(PURPOSES[made])
    with st.form("lever", border=False, enter_to_submit=False):
        reason = making.reason(action_id)
        pressed = st.form_submit_button(_title(made, switch), type="primary", icon=ICONS[made])
    if not pressed:
        return
    asked = {"operator": session.operator(), "reason": reason, "action_id": action_id}
    try:
        if made is SwitchMove.THROWN:
            held.throw(switch.tool, **asked)  # type: ignore[arg-type]  # as told
        else:
            held.lift(switch.tool, version=switch.version, **asked)  # type: ignore[arg-type]  # as told
    except SwitchMoved as moved:
        panels.note("Not saved", str(moved), tone="red", icon=":material/sync_problem:")
    except ReconError as error:
        panels.trouble(error)
    else:
        st.session_state["said"] = f"{MOVED[made]}. Saved with your reason."
        st.rerun()


def _warning(thrown: Sequence[Switch]) -> None:
    if not thrown:
        return
    which = phrases.several(len(thrown), "tool is", "tools are")
    st.error(f"**{which} switched off.** {GOES_ON}", icon=ICONS[SwitchMove.THROWN])
    for switch in thrown:
        st.text(safe.text(said(switch, session.zone())))


def _title(made: SwitchMove, switch: Switch) -> str:
    """Return what is about to be done; a name that tools.toml would not take may hold anything."""
    return f"{VERBS[made]}: {switch.tool}" if registry.NAME.fullmatch(switch.tool) else VERBS[made]


@st.cache_resource(show_spinner=False)
def _opened() -> Switchboard:
    return Switchboard.open()
