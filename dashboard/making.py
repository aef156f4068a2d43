"""What a dialog does once it is confirmed: the move, and then what came of it, or why it was refused."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from dashboard import panels
from recon.model.errors import CaseMoved, ReconError
from recon.model.records.cases import Case

AGAIN: Final = "again"  # The key of the button that is there only after a refusal.


def reread() -> None:
    """Show the page anew, where somebody asked for that after a refusal."""
    if st.session_state.get(AGAIN):
        st.rerun()


def draft(case: Case) -> str:
    """Return what somebody wrote of a case in vain, so that nobody types it twice."""
    return str(st.session_state.get(f"draft-{case.id}", ""))


def make(case: Case, reason: str, act: Callable[[], str]) -> None:
    """Do what was confirmed; close the dialog with what act says of it, or show in it why it was refused."""
    try:
        said = act()
    except CaseMoved as moved:
        st.session_state[f"draft-{case.id}"] = reason
        panels.note("Not saved", str(moved), tone="red", icon=":material/sync_problem:")
        st.button("Read it again", key=AGAIN, icon=":material/refresh:")
    except ReconError as error:
        panels.trouble(error)
    else:
        st.session_state["said"] = said
        st.session_state.pop(f"draft-{case.id}", None)
        st.session_state["seen"] = None
        st.rerun()
