"""One SQLite database put in another's place, under whoever has that one open.

Replacing the file instead would leave its old write-ahead log beside the new one, and SQLite would take the
one for the other's. Never copies anything to or from PostgreSQL.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recon.doors.store.engines import BUSY_SECONDS
from recon.model.errors import ConfigurationError, DatabaseUnavailable

_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def replace(source: Path, target: Path) -> None:
    """Make the target hold what the source holds, all at once; a reader sees the one or the other.

    A target that is no database is removed first.

    Raises:
        ConfigurationError: the target's folder cannot be made or written.
        DatabaseUnavailable: another process keeps the target locked. Nothing was written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not _is_database(target):
            for suffix in _SIDE_FILES:
                target.with_name(target.name + suffix).unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as reading,
            closing(sqlite3.connect(target, timeout=BUSY_SECONDS)) as writing,
        ):
            writing.execute("PRAGMA journal_mode = WAL")
            reading.backup(writing, progress=_within(BUSY_SECONDS))
    except OSError as error:  # A file stands where the folder should, or it may not be written.
        raise ConfigurationError(
            f"Expected to write {target}, found that it cannot be done: {error.strerror}."
        ) from None
    except sqlite3.OperationalError as error:  # Somebody writes for longer than anybody waits.
        raise DatabaseUnavailable(
            f"Expected to replace {target}, found that it cannot be done now: {error}."
        ) from None


def _within(seconds: float) -> Callable[[int, int, int], None]:
    """Return what ends a copy that meets a locked target for longer; by itself it would wait for ever."""
    deadline = time.monotonic() + seconds

    def progress(status: int, _remaining: int, _total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > deadline:
            raise sqlite3.OperationalError("another process keeps it locked")

    return progress


def _is_database(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:  # There is no such file, or it holds something else.
        return False
    return True
