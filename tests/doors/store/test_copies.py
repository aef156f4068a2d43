import sqlite3
from pathlib import Path

import pytest

from recon.doors.store import copies
from recon.model.errors import ConfigurationError, DatabaseUnavailable


def made(path: Path, words: str) -> Path:
    """A database that holds these words, its write-ahead log in use as ours are."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE notes (word TEXT)")
    connection.executemany("INSERT INTO notes VALUES (?)", [(word,) for word in words.split()])
    connection.commit()
    connection.close()
    return path


def words(connection: sqlite3.Connection) -> str:
    return " ".join(row[0] for row in connection.execute("SELECT word FROM notes"))


def test_the_target_holds_what_the_source_holds(tmp_path: Path) -> None:
    target = tmp_path / "a" / "folder" / "target.db"

    copies.replace(made(tmp_path / "source.db", "one two"), target)

    assert words(sqlite3.connect(target)) == "one two"


def test_who_has_the_target_open_reads_the_old_to_the_end_and_then_the_new(tmp_path: Path) -> None:
    target = made(tmp_path / "target.db", "old")
    reader = sqlite3.connect(target, isolation_level=None)
    reader.execute("BEGIN")
    before = words(reader)

    copies.replace(made(tmp_path / "source.db", "new"), target)

    during = words(reader)
    reader.execute("COMMIT")
    assert (before, during, words(reader)) == ("old", "old", "new")


@pytest.mark.parametrize("content", [b"", b"a text that is longer than a header " * 9])
def test_a_target_that_is_no_database_gives_way(tmp_path: Path, content: bytes) -> None:
    target = tmp_path / "target.db"
    for suffix in ("", "-wal"):
        target.with_name(target.name + suffix).write_bytes(content)

    copies.replace(made(tmp_path / "source.db", "one"), target)

    assert words(sqlite3.connect(target)) == "one"


def test_a_target_that_stays_locked_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "BUSY_SECONDS", 0.1)
    target = made(tmp_path / "target.db", "old")
    writer = sqlite3.connect(target, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")

    with pytest.raises(DatabaseUnavailable, match="another process keeps it locked"):
        copies.replace(made(tmp_path / "source.db", "new"), target)

    writer.execute("COMMIT")
    assert words(sqlite3.connect(target)) == "old"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigurationError, match="cannot be done: "):
        copies.replace(made(tmp_path / "source.db", "one"), tmp_path / "file" / "target.db")
