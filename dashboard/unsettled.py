"""What the provider shows of a stuck intent at this moment, and the two ways to settle it by that.

Says that somebody is being asked while they are; recon/settling.py gives up when nobody would wait longer.
"""

from collections.abc import Callable
from datetime import tzinfo
from typing import Any, Final

import streamlit as st

from dashboard import making, panels, safe, session, times
from recon.desk import CaseView, Desk
from recon.model import subjects, wording
from recon.model.errors import CaseMoved, ReconError
from recon.model.records.proposals import Proposal
from recon.model.records.settlements import Look, Seen
from recon.model.records.words import DEAD, RefundId
from recon.rules import moves
from recon.settling import LOOK_SECONDS

_LIKELY: Final = "likely-{}"  # In this tab's session, for each case.
ASKING: Final = f"Asking the provider, for {LOOK_SECONDS:g} seconds at most…"


def confirm(desk: Desk, *told: Any, **more: Any) -> Proposal | None:  # noqa: ANN401, ARG001 -- as Settling.confirm has it
    """Settle the intent as refunded, and say meanwhile that the provider is being asked."""
    with st.spinner(ASKING):
        return session.settling().confirm(*told, **more)


def refute(desk: Desk, *told: Any, **more: Any) -> Proposal | None:  # noqa: ANN401, ARG001 -- as Settling.refute has it
    """Settle the intent as not refunded, and say meanwhile that the provider is being asked."""
    with st.spinner(ASKING):
        return session.settling().refute(*told, **more)


def approving(desk: Desk, proposal: Proposal) -> Callable[..., None]:
    """Return what makes a proposed move: the provider is asked anew about a stuck intent."""
    if proposal.action not in moves.SETTLEMENTS:
        return desk.approve

    def approve(*told: Any, **more: Any) -> None:  # noqa: ANN401 -- as Settling.approve has it
        with st.spinner(ASKING):
            session.settling().approve(*told, **more)

    return approve


def verdict(view: CaseView, zone: tzinfo) -> str | None:
    """Return whether the case's request may be sent again, with the time in the viewer's zone and in UTC."""
    found = session.settling().retry(view.case)
    if found is None:
        return None
    return wording.retry(found, "" if found.until is None else times.moment(found.until, zone))


def advise(again: str | None) -> None:
    """Say of a verdict that it holds if nothing was refunded; nothing where there is none."""
    if again is not None:
        st.text(safe.text(f"If nothing was refunded: {again[0].lower()}{again[1:]}"))


def seen(view: CaseView) -> RefundId | None:
    """Return the refund that this tab's last look at the provider found for the case; None without one."""
    found: RefundId | None = st.session_state.get(_LIKELY.format(view.case.id))
    return found


def likely(view: CaseView) -> RefundId | None:
    """Return the refund that a look found, else the only live one that the case's evidence names."""
    named = view.case.mismatch.refund_ids
    live = [each.id for each in view.refunds if each.id in named and each.status not in DEAD]
    return seen(view) or (live[0] if len(live) == 1 else None)


def look(view: CaseView, zone: tzinfo, *, action_id: str) -> None:
    """Ask the provider once for as long as the dialog is open, and show what it said."""
    key = f"look-{action_id}"
    if key not in st.session_state:
        try:
            with st.spinner(ASKING):
                st.session_state[key] = session.settling().look(
                    view.case.id,
                    version=view.case.version,
                    operator=session.operator(),
                    action_id=action_id,
                )
        except CaseMoved as moved:
            panels.note("Not asked", str(moved), tone="red", icon=":material/sync_problem:")
            st.button("Read it again", key=making.AGAIN, icon=":material/refresh:")
            return
        except ReconError as error:
            panels.trouble(error)
            return
        st.session_state["seen"] = None  # The case has moved, by this very tab.
    found: Seen | None = st.session_state[key]
    if found is None:
        st.text("This was asked already: what was found is in the story.")
    else:
        st.session_state[_LIKELY.format(view.case.id)] = found.likely
        told, broken = found.look, found.look.failed is not None
        panels.note(
            "Not everything was read" if broken else "Everything was read",
            found.said,
            tone="orange" if broken else "green",
            icon=":material/warning:" if broken else ":material/check_circle:",
        )
        st.caption(f"Asked {times.exact(told.at, zone)}. The next run sees it as well.")
        if not _is_there(view, told):
            advise(verdict(view, zone))
    st.button("Back to the case", key=making.AGAIN, icon=":material/arrow_back:")


def _is_there(view: CaseView, look: Look) -> bool:
    """Return whether a look-up found the intent's own refund, live: there is nothing to send again."""
    side, key = subjects.parted(view.case.subject)
    own = (each for each in look.sightings if side == subjects.INTENT and each.holder == key)
    return any(each.refund.status not in DEAD for each in own)
