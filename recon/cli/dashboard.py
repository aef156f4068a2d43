"""`recon dashboard`: serve the operator's desk on this machine.

Local mode knows no sign-in: whoever reaches the port acts as the operator that the settings name. So it
listens on loopback or not at all.
"""

import os
import socket
import sys
from importlib.resources import files
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Annotated

import typer

from recon.model.errors import ConfigurationError
from recon.model.settings import DashboardSettings


def dashboard(
    port: Annotated[
        int | None,
        typer.Option(help="Listen on this port instead of the one in recon.toml.", min=1, max=65535),
    ] = None,
) -> None:
    """Open the operator's desk on this machine: the queue, each case, and what to do about it."""
    from recon.doors import config

    settings = config.load().dashboard
    command = serving(settings, port)
    _refuse_taken(settings.address, port or settings.port)
    os.execv(command[0], command)  # noqa: S606 -- this process becomes the server, and takes its signals


def serving(settings: DashboardSettings, port: int | None = None) -> list[str]:
    """Return the command that serves the desk.

    Raises:
        ConfigurationError: local mode would listen beyond loopback, or Streamlit is not installed. Nothing
            was started.
    """
    if settings.mode != "local":
        raise ConfigurationError(f"Expected dashboard.mode to be local, found {settings.mode!r}.")
    if not _loopback(settings.address):
        raise ConfigurationError(
            "The dashboard in local mode listens on loopback only, because whoever reaches it acts as the "
            f"operator: expected dashboard.address to be 127.0.0.1, found {settings.address!r}."
        )
    if find_spec("streamlit") is None:
        raise ConfigurationError(
            "The dashboard needs Streamlit, which is not installed: pip install 'refund-recon[dashboard]'."
        )
    app = str(files("dashboard") / "app.py")
    options = {"address": settings.address, "port": port or settings.port, "headless": "true"}
    flags = [flag for name, value in options.items() for flag in (f"--server.{name}", str(value))]
    return [sys.executable, "-m", "streamlit", "run", app, *flags]


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


def _loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:  # A host name: what it stands for may change.
        return False
