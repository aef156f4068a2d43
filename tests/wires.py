"""A local server that answers from a script, for what no well-behaved server would do on the wire."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Act = Callable[[socket.socket], None]


@dataclass
class Wire:
    """A running script: each connection reads one request and does the next act; the last act repeats."""

    acts: list[Act]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def wire(*acts: Act) -> Iterator[Wire]:
    """Serve the acts on loopback, one request a connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    script = Wire(list(acts), url=f"http://127.0.0.1:{listener.getsockname()[1]}")
    thread = threading.Thread(target=_serve, args=(listener, script), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.ended.set()
        # Linux wakes an accept by shutdown, not by close.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def answers(status: str, body: str, *headers: str) -> Act:
    """Return an act that sends a whole answer."""
    return sends(status, body.encode(), *headers)


def sends(status: str, content: bytes, *headers: str) -> Act:
    """Return an act that sends a whole answer of any bytes."""
    head = "\r\n".join(
        (f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close", *headers)
    )
    return lambda connection: connection.sendall(f"{head}\r\n\r\n".encode() + content)


def cuts(body: str, *, missing: int = 10) -> Act:
    """Return an act that promises more body than it sends."""
    content = body.encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(content) + missing}\r\n\r\n"
    return lambda connection: connection.sendall(head.encode() + content)


def closes(connection: socket.socket) -> None:
    """End the connection without a word."""
    connection.shutdown(socket.SHUT_RDWR)


def resets(connection: socket.socket) -> None:
    """Reset the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drips(body: str, *, pause_seconds: float) -> Act:
    """Return an act that sends the body a byte at a time."""

    def drip(connection: socket.socket) -> None:
        content = body.encode()
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode())
        waiting = threading.Event()
        for byte in content:
            connection.sendall(bytes([byte]))
            waiting.wait(pause_seconds)

    return drip


def drips_headers(*, pause_seconds: float) -> Act:
    """Return an act that begins a header and never ends it, a byte at a time."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
        waiting = threading.Event()
        for _ in range(round(10 / pause_seconds)):
            connection.sendall(b"x")
            waiting.wait(pause_seconds)

    return drip


def hangs(connection: socket.socket) -> None:
    """Say nothing until the other side gives up."""
    connection.settimeout(10)
    connection.recv(1)


def _serve(listener: socket.socket, script: Wire) -> None:
    while not script.ended.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:  # The listener was closed: the test is over.
            return
        with connection:
            connection.settimeout(10)
            request = _request(connection)
            script.requests.append(request)
            act = script.acts.pop(0) if len(script.acts) > 1 else script.acts[0]
            try:
                act(connection)
            except OSError:  # The client went away, which many a test is about.
                continue


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
