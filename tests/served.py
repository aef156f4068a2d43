"""The dashboard as its launcher serves it, and a browser as a person has it: for tests and for pictures."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from recon.cli import dashboard
from recon.doors import config

CHROMIUM = os.environ.get("RECON_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 30  # For a server to answer or a page to settle on a busy machine.


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path, environment: Mapping[str, str], *, port: int | None = None) -> Iterator[str]:
    """Serve the dashboard as its launcher does, and give its address on loopback.

    folder: where it runs and writes its log. environment: over the shell's. port: None is any that is free.
    """
    port, environ = port or free_port(), os.environ | environment
    settings = config.load(environ)
    command = dashboard.serving(settings.dashboard, port)
    with running(command, folder, port, dashboard.environment(settings, environ)) as address:
        yield address


@contextmanager
def running(
    command: Sequence[str], folder: Path, port: int, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a Streamlit server in a folder, which takes its log too, and give its address once it answers."""
    log = folder / f"server-{port}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=written, stderr=written)
        try:
            answered(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


def listening(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server of ours listens on a port of loopback, as `answered`."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            with socket.create_connection(("127.0.0.1", port), SECONDS):
                return
        except ConnectionError:  # Not yet.
            time.sleep(0.1)
    pytest.fail(f"Nobody listens on port {port} within {SECONDS} s: {log.read_text()}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the machine's Chromium."""
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def answered(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server of ours answers at an address; fail where it ends, or is not there in time."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=SECONDS):  # noqa: S310 -- http on loopback
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):  # Not listening, or busy beginning.
            time.sleep(0.1)
    pytest.fail(f"{url} did not answer within {SECONDS} s: {log.read_text()}")
