from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doctor.clinic import Clinic, a_clinic
from tests.sandboxes import Street


@pytest.fixture
def clinic(database_url: str, sandbox: Street, tmp_path: Path) -> Clinic:
    """An installation on each database that lacks nothing but intents and runs."""
    return a_clinic(database_url, sandbox, tmp_path)


@pytest.fixture
def clinic_on(sandbox: Street, tmp_path: Path) -> Callable[[str], Clinic]:
    """An installation on a database that the test chooses."""
    return lambda url: a_clinic(url, sandbox, tmp_path)


@pytest.fixture
def small(sqlite_template: Path, sandbox: Street, tmp_path: Path) -> Clinic:
    """The same on a copy of the SQLite template, for what has nothing to do with databases."""
    file = tmp_path / "small.db"
    file.write_bytes(sqlite_template.read_bytes())
    return a_clinic(f"sqlite:///{file}", sandbox, tmp_path)
