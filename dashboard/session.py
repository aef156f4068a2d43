"""Who is at the desk, and the desk itself: what every page starts from.

Whoever asks for either is looked at anew, by what they came in with and by the database, because a tab may be
older than a decision about them. Roles are not checked here: the desk reads them at each action.
"""

from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard import doorway
from recon.admission import Admission
from recon.desk import Desk
from recon.incidents import Incidents
from recon.model.errors import NotPermitted
from recon.model.records.people import Operator, Refused, Shut
from recon.settling import Settling

UNSERVED: Final = Refused(
    Shut.UNPROVED,
    "Nobody looks at who asks this server: people sign in where recon dashboard serves the desk.",
)


def desk() -> Desk:
    """Return this process's desk: one for all tabs, as it keeps nothing of anybody's.

    Raises:
        NotPermitted: whoever asks does not come in; the text says why.
        ReconError: the settings or the database cannot be used; the next run tries again.
    """
    operator()
    return _opened()


def incidents() -> Incidents:
    """Return this process's view of the past; raises as `desk`, which is asked first."""
    desk()
    return _past()


def settling() -> Settling:
    """Return what settles stuck intents in this process; raises as `desk`, which is asked first."""
    desk()
    return _settling()


def operator() -> Operator:
    """Return who sits here; raises as `desk`."""
    found = arrival()
    if isinstance(found, Refused):
        raise NotPermitted(found.sentence)
    return found


def arrival() -> Operator | Refused:
    """Return who sits here as they stand now, or why they do not come in.

    On this machine that is whoever uses it, by the name that the settings give.

    Raises:
        ReconError: the settings or the database cannot be used; the next run tries again.
    """
    if mode() == "local":
        refused = doorway.away(st.get_option("server.address"), st.context.headers)
        return Refused(Shut.UNPROVED, refused) if refused else _opened().local_operator()
    found = _signed_in()
    return found if isinstance(found, Refused) else _opened().standing(found)


def mode() -> str:
    """Return the way in: local, oidc or proxy."""
    return _door().mode


def zone() -> tzinfo:
    """Return the viewer's time zone, UTC where the browser names none that we know."""
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name and name != "UTC" else UTC
    except (ValueError, OSError):  # A name that the browser made up, or no time zones on this machine.
        return UTC


def _signed_in() -> Operator | Refused:
    door = doorway.STANDING.admission
    if door is None:
        return UNSERVED
    if door.mode == "oidc":
        return door.by_claims(st.user.to_dict())
    vouched = doorway.vouched()
    return UNSERVED if vouched is None else door.admitted(vouched)


def _door() -> Admission:
    return doorway.STANDING.admission or _settled()


@st.cache_resource(show_spinner=False)
def _settled() -> Admission:
    return Admission.open()


@st.cache_resource(show_spinner=False)
def _past() -> Incidents:
    return Incidents.open()


@st.cache_resource(show_spinner=False)
def _settling() -> Settling:
    return Settling.open()


@st.cache_resource(show_spinner=False)
def _opened() -> Desk:
    return Desk.open()
