"""A process that was forked from one that asked the provider before."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recon.doors.stripe.asking import Asking
from recon.doors.stripe.wire import Client
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings, Secret
from tests.sandboxes import STRIPE_KEY

LONGEST_SECONDS = 20  # After which a process that hangs is killed.


@pytest.fixture
def lines() -> Iterator[tuple[str, list[int]]]:
    """The address of a server, and the line on which each request came."""
    seen: list[int] = []

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # A line serves more than one request.

        def do_GET(self) -> None:
            seen.append(self.client_address[1])
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    serving.join()
    server.server_close()


def forked(work: Callable[[], object]) -> int:
    """Return how a process ended that was forked from this one and did that."""
    child = os.fork()
    if not child:
        signal.alarm(LONGEST_SECONDS)
        ended = 1
        try:
            work()
            ended = 0
        finally:
            os._exit(ended)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def settings(url: str) -> ProviderSettings:
    return ProviderSettings(api_key=Secret(STRIPE_KEY), base_url=url)


def test_it_asks_on_a_line_of_its_own(lines: tuple[str, list[int]]) -> None:
    """On its parent's it would read what the parent was answered."""
    url, seen = lines
    client = Client(settings(url))

    def ask() -> None:
        client.request("get", url, {})

    ask()
    ended = forked(ask)
    ask()
    first, forks, last = seen

    assert (ended, forks == first, last == first) == (0, False, True)
    client.close()  # type: ignore[no-untyped-call]  # the SDK left it without types


def test_it_does_not_wait_for_a_thread_that_counted_at_the_fork(lines: tuple[str, list[int]]) -> None:
    url, _ = lines
    asking = Asking(settings(url), sleep=time.sleep, clock=time.monotonic)

    def count() -> None:
        asking._shared("/v1/refunds", AccountId(""))  # noqa: SLF001 -- what each question begins with

    with asking._lock:  # noqa: SLF001 -- as a thread has it for a moment
        ended = forked(count)

    assert ended == 0
