"""What somebody sees at the desk's door: one button that signs them in, or why they do not come in."""

from typing import Final

import streamlit as st

from dashboard import safe, session
from recon.model.records.people import Operator, Refused, Shut

# What Streamlit calls the one provider there is. No underscore: it splits names there.
PROVIDER: Final = "desk"
HEADINGS: Final = {Shut.SIGNED_OUT: "Refund desk", Shut.ENDED: "Sign in again"}


def show(refused: Refused) -> None:
    """Show why somebody does not come in, and the one thing to do about it.

    The page's address stays as it is: signing in leads back to it.
    """
    st.title(HEADINGS.get(refused.why, "No access"))
    st.text(safe.text(refused.sentence))
    if session.mode() == "proxy" and refused.why is Shut.ENDED:
        st.caption("Reload this page: the proxy before the desk signs you in.")
    if session.mode() != "oidc":
        return
    if refused.why in HEADINGS:
        if st.button("Sign in", type="primary", icon=":material/login:"):
            st.login(PROVIDER)
    elif st.button("Sign in as somebody else", icon=":material/switch_account:"):
        _out()


def way_out(operator: Operator) -> None:
    """Show the button that signs somebody out, of every tab and browser, where they signed in here."""
    if session.mode() == "oidc" and st.sidebar.button("Sign out", icon=":material/logout:", type="tertiary"):
        session.desk().sign_out(operator)
        _out()


def _out() -> None:
    st.logout()
    st.stop()  # Else this run would go on for somebody who has left.
