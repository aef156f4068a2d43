"""Nagle's delay, switched off for everybody who connects to this server.

asyncio does so only for sockets that name their protocol, and the one that Streamlit listens on names none.
With it an answer's second part waits for the browser to confirm the first, which takes it 40 ms: each of a
page's hundred small files, and each click.
"""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_OPEN: Final = Path("/dev/fd")  # The files that the process which reads it has open; Windows has none.
_INTERNET: Final = {socket.AF_INET, socket.AF_INET6}


def switch_off() -> int:
    """Let all that is accepted from now on send at once; return on how many sockets this process listens."""
    numbers = [int(each.name) for each in _OPEN.iterdir()] if _OPEN.is_dir() else []
    return sum(_switched_off(each) for each in numbers)


def _switched_off(number: int) -> bool:
    with suppress(OSError):  # It was the folder's own, and is closed by now.
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            with socket.socket(fileno=os.dup(number)) as found:
                return found.family in _INTERNET and _told(found)
    return False


def _told(found: socket.socket) -> bool:
    """Tell a socket that listens; what it accepts takes that over."""
    listens = bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    if listens:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listens
