"""What every dialog has: a reason to write, the move once it is confirmed, and what came of it or why not."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from dashboard import panels, safe
from recon.model.errors import CaseMoved, ReconError
from recon.model.records.cases import Case

AGAIN: Final = "again"  # The key of the button that is there only after a refusal.
REASON_PIXELS: Final = 110  # Four lines.


def reread() -> None:
    """Show the page anew, where somebody asked for that after a refusal."""
    if st.session_state.get(AGAIN):
        st.rerun()


def reason(action_id: str, case: Case | None = None) -> str:
    """Show where the reason is written, and return it.

    case: the one that it is about, of which nobody types twice what was refused; None where it is several or
    none.
    """
    draft = "" if case is None else str(st.session_state.get(f"draft-{case.id}", ""))
    told = st.text_area(
        "Reason",
        max_chars=safe.TEXT_LIMIT,
        height=REASON_PIXELS,
        key=f"reason-{action_id}",
        value=draft,
    )
    return told or ""


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
