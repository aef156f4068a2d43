"""What tests of the command share: a town whose books it reads, as a process in an environment of its own."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from tests.hours import Town, a_town
from tests.sandboxes import STRIPE_KEY, Street

ROOT = Path(__file__).parents[2]
SECONDS = 100  # A command that takes longer on a busy machine hangs.


@pytest.fixture
def town(database: Database, sandbox: Street, tmp_path: Path) -> Town:
    """A town, and a configuration that gives its cases an owner."""
    (tmp_path / "recon.toml").write_text("")
    (tmp_path / "owners.toml").write_text(
        '[[rules]]\nname = "everything"\nowner = "Payments on call"\ntarget = "#payments"\n'
    )
    return a_town(database, sandbox)


@pytest.fixture
def environ(town: Town, database_url: str, tmp_path: Path) -> dict[str, str]:
    """The variables that name the town's configuration, database and provider."""
    return {
        **os.environ,
        "RECON_CONFIG": str(tmp_path),
        "RECON_DATABASE_URL": database_url,
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": town.street.url,
    }


def recon(environ: Mapping[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, as a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        order = {
            "environ": dict(environ),
            "options": options,
            "cwd": os.fspath(ROOT),
            "stdout": os.fspath(out),
            "stderr": os.fspath(err),
            "seconds": SECONDS,
        }
        prompt = _prompt()
        assert prompt.stdin is not None
        assert prompt.stdout is not None
        prompt.stdin.write(json.dumps(order) + "\n")
        prompt.stdin.flush()
        code = int(prompt.stdout.readline())
        return subprocess.CompletedProcess(options, code, out.read_text(), err.read_text())


@functools.cache
def _prompt() -> "subprocess.Popen[str]":
    """Return this worker's own process that has loaded the command; it ends when its input does."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cli.prompt"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
