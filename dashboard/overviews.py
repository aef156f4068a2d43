"""How recon itself goes, for the pages that show it: one overview for all tabs."""

import streamlit as st

from dashboard import session
from recon.overview import Overview


def overview() -> Overview:
    """Return this process's overview.

    Raises:
        NotPermitted: as the desk, which is asked first.
        ReconError: the settings or the database cannot be used; the next run tries again.
    """
    session.desk()
    return _opened()


@st.cache_resource(show_spinner=False)
def _opened() -> Overview:
    return Overview.open()
