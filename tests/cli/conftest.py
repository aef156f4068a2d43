"""What tests of the command share: a town whose books it reads, as a process in an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from tests.hours import Town, a_town
from tests.sandboxes import STRIPE_KEY, Street

ROOT = Path(__file__).parents[2]


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


def recon(environ: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "recon.cli.main", *options],
        env=environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
