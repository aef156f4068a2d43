"""The dashboard as its launcher serves it, and a browser as a person has it: for tests and for pictures."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from recon.cli.dashboard import serving
from recon.model.settings import DashboardSettings

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


@contextmanager
def served(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Serve the dashboard on a free port, with these settings over the shell's, and give its address.

    folder: where it runs and writes its log.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            serving(DashboardSettings(), port),
            cwd=folder,
            env=os.environ | environment,
            stdout=log,
            stderr=log,
        )
        try:
            _await(f"http://127.0.0.1:{port}/_stcore/health", process, folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the machine's Chromium."""
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=SECONDS):  # noqa: S310 -- http on loopback, a few lines above
                return
        except (urllib.error.URLError, ConnectionError):  # Not listening yet.
            time.sleep(0.1)
    pytest.fail(f"The dashboard did not answer within {SECONDS} s: {log.read_text()}")
