"""`recon dashboard`: serve the operator's desk.

Local mode knows no sign-in: whoever reaches the port acts as the operator that the settings name. So it
listens on loopback or not at all. In the other modes people sign in, and nothing is served where they could
not.
"""

import os
import socket
import sys
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlsplit

import typer

from recon.cli import extras
from recon.model import addresses
from recon.model.errors import ConfigurationError
from recon.model.settings import DashboardSettings, Settings

# Characters of one header, for the WebSocket's library: its own limit of 8 KB is less than the cookies of a
# sign-in with many groups, or of a proxy, and such a page stays blank.
_LINE = "65536"
_HTTP = 80  # The port of an address that names none.


def dashboard(
    port: Annotated[
        int | None,
        typer.Option(help="Listen on this port instead of the one in recon.toml.", min=1, max=65535),
    ] = None,
) -> None:
    """Open the operator's desk on this machine: the queue, each case, and what to do about it."""
    from recon.admission import Admission

    settings = Admission.open().settings
    command = serving(settings.dashboard, port)
    _refuse_taken(settings.dashboard.address, port or settings.dashboard.port)
    if (said := elsewhere(settings.dashboard, port)) is not None:
        typer.echo(f"recon: {said}", err=True)
    # This process becomes the server, and takes its signals.
    os.execve(command[0], command, environment(settings, os.environ))  # noqa: S606


def serving(settings: DashboardSettings, port: int | None = None) -> list[str]:
    """Return the command that serves the desk.

    Raises:
        ConfigurationError: Streamlit is not installed. Nothing was started.
    """
    with extras.needed("The dashboard", "dashboard"):
        if find_spec("streamlit") is None:
            raise ModuleNotFoundError(name="streamlit")
    app = str(files("dashboard") / "served.py")
    options = {"address": settings.address, "port": port or settings.port, "headless": "true"}
    if settings.mode != "local":
        options["allowedHosts"] = urlsplit(settings.url).hostname or ""
    flags = [flag for name, value in options.items() for flag in (f"--server.{name}", str(value))]
    return [sys.executable, "-m", "streamlit", "run", app, *flags]


def environment(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the server: the shell's, and what Streamlit reads only there."""
    secret = settings.sign_in.cookie_secret
    ours = {"WEBSOCKETS_MAX_LINE_LENGTH": _LINE} | dict(environ)
    # One that is made anew at each start would end every sign-in that is under way.
    return ours | ({"STREAMLIT_SERVER_COOKIE_SECRET": secret.reveal()} if secret else {})


def elsewhere(settings: DashboardSettings, port: int | None = None) -> str | None:
    """Return where messages send people instead, in a sentence; None where they are sent here.

    Where people sign in, and where the address has a name, a proxy may lead from there to any port.
    """
    address, here = urlsplit(settings.url), port or settings.port
    ours = settings.mode == "local" and addresses.loopback(address.hostname)
    if not ours or (address.port or _HTTP) == here:
        return None
    return (
        f"links in messages lead to {settings.url}, and the desk is on port {here}: where that is to last, "
        "set dashboard.url and dashboard.port in recon.toml."
    )


def _refuse_taken(address: str, port: int) -> None:
    """Refuse a port that somebody listens on already, as the other commands say it."""
    family, kind, protocol, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # As the server: what has ended is free.
        try:
            tried.bind(where)
        except OSError as taken:
            reason = (taken.strerror or str(taken)).lower()
            raise ConfigurationError(
                f"Expected to listen on {address}:{port}, found {reason}: choose another --port."
            ) from taken
