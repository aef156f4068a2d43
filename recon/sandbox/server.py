"""Serving the street on loopback: in a thread for tests and the demo, or until a signal for people."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Self, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from recon.sandbox import app
from recon.sandbox.wire import TRANSPORT
from recon.sandbox.world import Room, World

HOST = "127.0.0.1"
_START_S = 15.0
_STOP_S = 5.0


class Connection(H11Protocol):
    """An HTTP connection whose application may close it in the middle of anything."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it
        """Hand every request of this connection its transport."""
        super().connection_made(transport)
        inner = cast("ASGIApp", self.app)

        async def with_transport(scope: Scope, receive: Receive, send: Send) -> None:
            scope[TRANSPORT] = transport
            await inner(scope, receive, send)

        self.app = with_transport


class Sandbox:
    """A running sandbox: `with Sandbox.start() as sandbox:` then `sandbox.url` and `sandbox.state`."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self._room = Room(self.url)
        config = uvicorn.Config(
            app.build(self._room),
            http=Connection,
            lifespan="off",
            ws=WebSocketsSansIOProtocol,  # Not its name, which uvicorn looks up in a thread that has begun.
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,  # The real time; app.py dates answers in sandbox time.
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="sandbox", daemon=True
        )

    @classmethod
    def start(cls, port: int = 0) -> Self:
        """A sandbox that already listens, on that port or on a free one.

        Raises:
            OSError: the port is taken. Nothing was started.
        """
        # The protocol is named because asyncio switches Nagle's delay off (40 ms an answer) only where it is.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen(256)
        except OSError:
            listener.close()
            raise
        sandbox = cls(listener)
        sandbox._run()
        return sandbox

    @property
    def state(self) -> World:
        """The present world, to look into."""
        return self._room.world

    def reset(self) -> None:
        """Begin anew, as POST /_sandbox/reset does."""
        self._room.reset()

    def stop(self) -> None:
        """Close every connection and stop serving; once more does nothing."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(_STOP_S)
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise OSError(f"the sandbox did not start on {self.url}")
            time.sleep(0.005)


def serve(port: int) -> None:
    """Serve until SIGINT or SIGTERM; the first line of standard output is `{"url": ...}`.

    Raises:
        OSError: the port is taken. Nothing was printed.
    """
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with Sandbox.start(port) as sandbox:
        sys.stdout.write(json.dumps({"url": sandbox.url}) + "\n")
        sys.stdout.flush()
        ended.wait()
