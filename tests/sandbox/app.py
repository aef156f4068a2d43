"""An app of Slack's as its own library makes one: it listens on a socket and writes down what it hears."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.sandbox.clients import slack
from tests.sandboxes import Street

APP_TOKEN = "xapp-sandbox"

Answer = Callable[[SocketModeRequest], dict[str, Any] | None]


class App:
    """A connected SocketModeClient. heard: every request, as it came; hellos: one a connection."""

    def __init__(self, client: SocketModeClient) -> None:
        self.client = client
        self.heard: queue.Queue[SocketModeRequest] = queue.Queue()
        self.hellos: queue.Queue[str] = queue.Queue()


@contextmanager
def listening(street: Street, answer: Answer | None = None) -> Iterator[App]:
    """An app that acknowledges everything, with what `answer` says."""
    client = SocketModeClient(APP_TOKEN, web_client=slack(street, token="xoxb-sandbox"), concurrency=2)
    app = App(client)

    def hear(listener: BaseSocketModeClient, request: SocketModeRequest) -> None:
        content = None if answer is None else answer(request)
        listener.send_socket_mode_response(SocketModeResponse(request.envelope_id, content))
        app.heard.put(request)

    def greet(message: str) -> None:
        if '"hello"' in message:
            app.hellos.put(message)

    client.socket_mode_request_listeners.append(hear)
    client.on_message_listeners.append(greet)
    client.connect()
    try:
        app.hellos.get(timeout=10)
        yield app
    finally:
        client.close()


def link(street: Street) -> str:
    """The address of a new connection."""
    return str(slack(street).apps_connections_open(app_token=APP_TOKEN)["url"])


@contextmanager
def connected(street: Street) -> Iterator[Connection]:
    """A bare connection that has read its hello."""
    with connect(link(street), proxy=None, open_timeout=10) as connection:
        connection.recv(timeout=10)
        yield connection


@dataclass
class Inbox:
    """What an app's address was sent, and what it answers."""

    status: int = 200
    content: str = ""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@contextmanager
def inbox(status: int = 200, content: str = "") -> Iterator[Inbox]:
    """An address on loopback that answers everything the same."""
    found = Inbox(status, content)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.got.append((dict(self.headers), body))
            self.send_response(found.status)
            self.end_headers()
            self.wfile.write(found.content.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  named by the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/slack?x=1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
