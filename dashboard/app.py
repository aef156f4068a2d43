"""The desk's router: what every page shows around itself, and what anybody sees when a door is shut.

Started by `recon dashboard`. Never shows a traceback: an error of ours is a sentence that says what to do.
The pages are in views/, because Streamlit runs the files of a folder named pages without their router when a
server's first visitor asks for one.
"""

from pathlib import Path

import streamlit as st

from dashboard import entrance, levers, panels, session
from recon.model.errors import ReconError
from recon.model.records.people import Operator, Refused

HERE = Path(__file__).parent
SIDEBAR_PIXELS = 200  # As narrow as it can be: the queue needs the rest.


def main() -> None:
    """Show the page that the address names, or why nothing can be shown."""
    st.set_page_config(
        page_title="Refund desk",
        page_icon=str(HERE / "static" / "mark.svg"),
        layout="wide",
        initial_sidebar_state=SIDEBAR_PIXELS,
    )
    st.logo(str(HERE / "static" / "logo.svg"), icon_image=str(HERE / "static" / "mark.svg"), size="large")
    st.html(HERE / "static" / "desk.css")
    pages = [
        st.Page("views/queue.py", title="Queue", icon=":material/inbox:", default=True),
        st.Page("views/case.py", title="Case", icon=":material/description:"),
        st.Page("views/incident.py", title="Incident", icon=":material/crisis_alert:"),
        st.Page("views/trends.py", title="Trends", icon=":material/trending_up:"),
        st.Page("views/runs.py", title="Runs", icon=":material/history:"),
        st.Page("views/notices.py", title="Notices", icon=":material/campaign:"),
        st.Page("views/owners.py", title="Owners", icon=":material/group:"),
        st.Page("views/tools.py", title="Tools", icon=":material/power_settings_new:"),
    ]
    visitor = _visitor()
    # Declared for everybody: else Streamlit lays "Page not found" over the way in.
    page = st.navigation(pages, position="sidebar" if isinstance(visitor, Operator) else "hidden")
    if isinstance(visitor, Refused):
        entrance.show(visitor)
        return
    if isinstance(visitor, ReconError):
        panels.trouble(visitor)
        return
    try:
        panels.sidebar(visitor)
        entrance.way_out(visitor)
        levers.banner()
        panels.live_freshness()
        _arrive(page.url_path)
        page.run()
    except ReconError as error:
        # The database is away or not upgraded, or the settings are wrong.
        panels.trouble(error)


def _visitor() -> Operator | Refused | ReconError:
    """Return who is here, why they do not come in, or why that cannot be said."""
    try:
        return session.arrival()
    except ReconError as error:
        return error


def _arrive(path: str) -> None:
    """Remember which page this tab shows: a page that is opened anew reads anew."""
    if st.session_state.get("page") != path:
        st.session_state["page"] = path
        for name in ("snapshot", "seen"):
            st.session_state.pop(name, None)


main()
