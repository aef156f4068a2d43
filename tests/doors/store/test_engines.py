from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import StatementError

from recon.doors.store.engines import Database, reading_only
from recon.model.errors import ConfigurationError, DatabaseUnavailable
from recon.model.tables import leases
from tests.builders import NOON

ROW = {"name": "hour", "holder": "ada", "fence": 1, "expires_at": NOON}


def test_a_write_commits_at_its_end(database: Database) -> None:
    with database.write() as connection:
        connection.execute(insert(leases).values(ROW))

    with database.read() as connection:
        assert dict(connection.execute(select(leases)).mappings().one()) == ROW


def test_a_write_that_fails_leaves_nothing(database: Database) -> None:
    def half(connection: Connection) -> None:
        connection.execute(insert(leases).values(ROW))
        raise InterruptedError

    with pytest.raises(InterruptedError), database.write() as connection:
        half(connection)

    with database.read() as connection:
        assert connection.execute(select(leases)).all() == []


def test_a_reading_sees_one_snapshot(database: Database) -> None:
    with database.read() as connection:
        before = connection.execute(select(leases)).all()
        with database.write() as other:
            other.execute(insert(leases).values(ROW))
        after = connection.execute(select(leases)).all()

    assert before == after == []


def test_a_naive_time_is_a_bug(database: Database) -> None:
    with pytest.raises((AssertionError, StatementError), match="aware"), database.write() as connection:
        connection.execute(insert(leases).values(ROW | {"expires_at": datetime(2026, 3, 6)}))  # noqa: DTZ001 -- the point


def test_times_come_back_aware_to_the_microsecond(database: Database) -> None:
    at = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    with database.write() as connection:
        connection.execute(insert(leases).values(ROW | {"expires_at": at}))

    with database.read() as connection:
        assert connection.scalar(select(leases.c.expires_at)) == at


@pytest.mark.parametrize(
    "url, found",
    [
        ("mysql://root:hunter2@db/recon", "one of the kind 'mysql'"),
        ("hunter2", "found something else"),
        ("sqlite://", "without one"),
        ("sqlite:///:memory:", "without one"),
    ],
)
def test_a_url_of_another_kind_is_refused_without_being_shown(url: str, found: str) -> None:
    with pytest.raises(ConfigurationError, match=found) as refusal:
        Database.open(url)

    assert "hunter2" not in str(refusal.value)


def test_a_server_that_is_not_there_is_said_in_one_sentence_without_its_password() -> None:
    with (
        Database.open("postgres://ada:hunter2@127.0.0.1:1/recon") as database,
        pytest.raises(DatabaseUnavailable) as refusal,
        database.read(),
    ):
        pass

    assert str(refusal.value) == "Expected PostgreSQL to answer, found that nothing listens there."
    assert refusal.value.__cause__ is None


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError, match="cannot be made"):
        Database.open(f"sqlite:///{tmp_path}/file/deeper/recon.db")


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "recon.db").write_text("key,amount\n" * 100)

    with (
        Database.open(f"sqlite:///{tmp_path}/recon.db") as database,
        pytest.raises(DatabaseUnavailable, match="the file is no SQLite database"),
        database.read(),
    ):
        pass


def test_a_database_without_tables_says_which_command_helps(empty_database_url: str) -> None:
    with (
        Database.open(empty_database_url) as database,
        pytest.raises(ConfigurationError, match="run recon db upgrade"),
        database.read() as connection,
    ):
        connection.execute(select(leases))


def test_somebody_elses_database_cannot_be_written(database: Database, database_url: str) -> None:
    with reading_only(database_url) as connection:
        assert connection.execute(select(leases)).all() == []

    with (
        pytest.raises(DatabaseUnavailable, match="cannot be written"),
        reading_only(database_url) as connection,
    ):
        connection.execute(insert(leases).values(ROW))


def test_somebody_elses_missing_file_is_not_made(tmp_path: Path) -> None:
    with (
        pytest.raises(DatabaseUnavailable, match="cannot be opened"),
        reading_only(f"sqlite:///{tmp_path}/none.db") as connection,
    ):
        connection.execute(text("SELECT 1"))

    assert not (tmp_path / "none.db").exists()
