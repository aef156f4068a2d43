from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import stripe

from recon.sandbox.server import Sandbox
from tests.sandbox.clients import provider
from tests.sandboxes import Street

# The command as `recon sandbox` runs it, whatever else is registered.
COMMAND = (
    "from recon.cli import app, main, sandbox\napp.app.command('sandbox')(sandbox.sandbox)\nmain.main()\n"
)


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "sandbox", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_where_it_listens_serves_and_ends_quietly(number: signal.Signals) -> None:
    with command() as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        answered = requests.get(f"{url}/v1/refunds", auth=("sk_test_x", ""), timeout=5).json()

        process.send_signal(number)
        out, err = process.communicate(timeout=10)

    assert url.startswith("http://127.0.0.1:")
    assert answered["data"] == []
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken_is_one_sentence_and_exit_2() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with command("--port", str(port)) as process:
            out, err = process.communicate(timeout=20)

    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    assert f"127.0.0.1:{port}" in err
    assert "--port" in err


def test_the_sandbox_listens_on_loopback_only() -> None:
    with Sandbox.start() as running:
        assert running.url == f"http://127.0.0.1:{running.port}"
        with socket.socket() as other, pytest.raises(OSError, match="refused"):
            other.connect(("127.0.0.2", running.port))


def test_it_ends_at_once_though_a_request_hangs() -> None:
    with Sandbox.start() as running:
        street = Street(running)
        street.fault("GET /v1/refunds", "hang_before")
        with pytest.raises(stripe.APIConnectionError):
            provider(street, timeout_s=0.2).v1.refunds.list()
        with socket.create_connection(("127.0.0.1", running.port)) as hanging:
            street.fault("GET /v1/refunds", "hang_before")
            hanging.sendall(b"GET /v1/refunds HTTP/1.1\r\nHost: x\r\n\r\n")
            street.requests()

            running.stop()
            hanging.settimeout(5)

            assert hanging.recv(100) == b""
    with pytest.raises(requests.ConnectionError):
        requests.get(running.url, timeout=2)


def test_two_sandboxes_know_nothing_of_each_other() -> None:
    with Sandbox.start() as one, Sandbox.start() as two:
        Street(one).payment("pi_1", 100)

        assert provider(Street(one)).v1.payment_intents.retrieve("pi_1").amount == 100
        with pytest.raises(stripe.InvalidRequestError):
            provider(Street(two)).v1.payment_intents.retrieve("pi_1")


def test_a_request_body_has_a_limit(sandbox: Street) -> None:
    with pytest.raises(requests.ConnectionError):
        requests.post(f"{sandbox.url}/v1/refunds", data=b"a" * 1_000_001, auth=("sk_test_x", ""), timeout=5)

    assert sandbox.requests() == []


def test_every_answer_is_dated_in_sandbox_time(sandbox: Street) -> None:
    sandbox.set_time("2026-03-06T17:00:00Z")

    answers = [
        requests.get(f"{sandbox.url}{path}", auth=("sk_test_x", ""), timeout=5)
        for path in ("/v1/account", "/api/auth.test", "/slack", "/_sandbox/clock")
    ]

    assert [answer.headers["date"][:22] for answer in answers] == ["Fri, 06 Mar 2026 17:00"] * 4
