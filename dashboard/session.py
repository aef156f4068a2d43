"""Who is at the desk, and the desk itself: what every page starts from.

Roles are not checked here: the desk reads them at each action. What may be asked at all in local mode is.
"""

from datetime import UTC, tzinfo
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import streamlit as st

from recon.desk import Desk
from recon.incidents import Incidents
from recon.model.errors import NotPermitted
from recon.model.records.people import Operator

# What a proxy adds: in local mode nobody may reach the desk through one.
FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")


def desk() -> Desk:
    """Return this process's desk: one for all tabs, as it keeps nothing of anybody's.

    Raises:
        NotPermitted: in local mode the desk is for this machine only, and this request is not from it.
        ReconError: the settings or the database cannot be used; the next run tries again.
    """
    refused = refusal()
    if refused is not None:
        raise NotPermitted(refused)
    return _opened()


def incidents() -> Incidents:
    """Return this process's view of the past; raises as `desk`, which is asked first."""
    desk()
    return _past()


def operator() -> Operator:
    """Return who sits here: in local mode whoever uses this machine, by the name the settings give."""
    return desk().local_operator()


def zone() -> tzinfo:
    """Return the viewer's time zone, UTC where the browser names none that we know."""
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name and name != "UTC" else UTC
    except (ValueError, OSError):  # A name that the browser made up, or no time zones on this machine.
        return UTC


def refusal() -> str | None:
    """Return why local mode does not answer this request, None when all is well.

    It holds also for a server that was started without the launcher: bound to every interface, reached by
    another name, or through a proxy.
    """
    address = st.get_option("server.address")
    if not _loopback(address):
        return (
            "The desk in local mode listens on 127.0.0.1 only, and this server listens on "
            f"{address or 'every interface'}: start it with recon dashboard."
        )
    host = st.context.headers.get("Host")
    name = urlsplit(f"//{host}").hostname if host else None
    if host and not _loopback(name):
        return "The desk in local mode answers to the names of this machine's loopback only."
    if any(header in st.context.headers for header in FORWARDED):
        return "The desk in local mode is not to be reached through a proxy."
    return None


@st.cache_resource(show_spinner=False)
def _past() -> Incidents:
    return Incidents.open()


@st.cache_resource(show_spinner=False)
def _opened() -> Desk:
    return Desk.open()


def _loopback(name: object) -> bool:
    if name == "localhost":
        return True
    try:
        return ip_address(str(name)).is_loopback
    except ValueError:  # Another name, or none.
        return False
