"""The shop of the adapters' tests. What both databases do alike is seen at the guard; here it is SQLite."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from tests.adapters.hosts import Host
from tests.guards import HASTY, a_shop
from tests.sandboxes import Street


@pytest.fixture
def database_url(sqlite_template: Path, tmp_path: Path) -> str:
    """Return the URL of a migrated, empty database."""
    shutil.copyfile(sqlite_template, tmp_path / "recon.db")
    return f"sqlite:///{tmp_path / 'recon.db'}"


@pytest.fixture
def host(database: Database, sandbox: Street) -> Iterator[Host]:
    """Yield a host whose tool does not wait long."""
    with a_shop(database, sandbox, settings=HASTY) as shop:
        yield Host(shop)
