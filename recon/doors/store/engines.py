"""The way into the database: a reading and a writing engine over SQLite or PostgreSQL.

A SQLite read that turns into a write fails at once whatever the busy timeout, and a write lock taken by every
transaction would lock readers out: so there are two engines. Never holds a transaction open by itself, and
never shows a URL: it may hold a password.
"""

import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, Pool

from recon.doors.store import impatience
from recon.doors.store.rooms import Rooms
from recon.model.errors import ConfigurationError, DatabaseUnavailable, ReconError

BUSY_SECONDS = 30  # Longer than any write of ours; a person who waits longer has given up.
_AGAIN_SECONDS = 0.01  # A switch to write-ahead logging is done in a hundredth of a second.
CONNECT_SECONDS = 10  # A database that takes longer to answer is down for an hourly job.
# How PostgreSQL's client notices within a minute that the way to its server is gone; by itself it waits two
# hours for an answer that a firewall has swallowed, and jobs and desk with it. Source:
# https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-KEEPALIVES
LIVELY = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_GRACE_SECONDS = 1.0  # A server's own word that it takes too long is better than none.
_PATIENCE = "recon_wait_seconds"  # What an execution option is called that says how long to wait.
WRITING = "BEGIN IMMEDIATE"  # How a transaction begins that takes SQLite's write lock at once.
# After which a connection is asked whether it is alive; a call of the guard uses it twice, and more often.
_IDLE_SECONDS = 1.0
_RESTS_SINCE = "recon_rests_since"
KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
EXPECTED = "sqlite:///FILE or postgresql://USER@HOST/NAME"
# PostgreSQL's states that say the schema is not ours: undefined table; undefined column, function.
NO_TABLE = "42P01"
SCHEMA_STATES = {"42703", "42883"}
FORBIDDEN = "42501"  # As above: insufficient privilege.
# What SQLAlchemy calls the errors of a server or of the way to it; any other kind is a bug of ours.
CONNECTION_ERRORS = {"OperationalError", "InterfaceError", "InternalError", "DatabaseError"}
# What the servers say, in words that name no host, user or password. First what a person must put right.
WRONG_WORDS = {
    "password authentication failed": "it refused the user or the password",
    "no password supplied": "it wants a password",
    "does not exist": "it has no such database or user",
    "permission denied": "the user may not do that there",
    "invalid connection option": "the URL has an option that it does not know",
    "connection is bad: invalid": "the URL has a port or an option that it cannot use",
    "file is not a database": "the file is no SQLite database",
    "malformed": "the file is damaged",
}
# Then what may pass by itself.
PASSING_WORDS = {
    "connection refused": "nothing listens there",
    "no such file or directory": "nothing listens there",
    "could not translate host name": "the host name is unknown",
    "name or service not known": "the host name is unknown",
    "timeout": "it did not answer in time",
    "database is locked": "another process keeps it locked",
    "unable to open database file": "the file cannot be opened",
    "readonly database": "it cannot be written",
    "read-only transaction": "it cannot be written",
    "disk is full": "the disk is full",
    "no space left": "the disk is full",
    "disk i/o error": "the disk does not answer",
    "too many clients": "it has too many connections",
    "remaining connection slots": "it has too many connections",
    "deadlock detected": "two writers met; one had to give way",
}


class Database:
    """One database, open for reading and for writing; shared by threads, closed at the end."""

    def __init__(self, reader: Engine, writer: Engine) -> None:
        self._reader = reader
        self._writer = writer
        self.dialect = writer.dialect.name
        self._rooms = Rooms(reader, writer)  # The pool's own patience is one for all.

    @classmethod
    def open(cls, url: str, *, make_folder: bool = True) -> Self:
        """Return the database behind a URL; connects only when it is first used.

        make_folder: for a SQLite file, where there is none.

        Raises:
            ConfigurationError: The URL names no SQLite file and no PostgreSQL database.
        """
        parsed = _parse(url)
        if parsed.get_backend_name() == "sqlite":
            if make_folder:
                _make_folder(parsed)
            return cls(_sqlite_engine(parsed, "BEGIN"), _sqlite_engine(parsed, WRITING))
        writer = _postgresql_engine(parsed)
        # One snapshot for everything that one reading reads.
        return cls(writer.execution_options(isolation_level="REPEATABLE READ"), writer)

    @contextmanager
    def read(self, *, wait_seconds: float | None = None) -> Iterator[Connection]:
        """Yield a connection that sees one snapshot; nothing is kept of it.

        wait_seconds: as for writing.

        Raises:
            DatabaseUnavailable: It cannot be reached or read now.
            ConfigurationError: It refuses us, or its tables are not this version's.
        """
        with (
            _plain_errors(self.dialect),
            self._connected(self._reader, wait_seconds) as connection,
            connection.begin() as reading,
        ):
            yield connection
            reading.rollback()

    @contextmanager
    def write(self, *, wait_seconds: float | None = None) -> Iterator[Connection]:
        """Yield a connection whose transaction commits at the end, or leaves nothing.

        wait_seconds: how long each statement may wait for others, and on PostgreSQL take at all, a free
        connection included and a second at least; a second later PostgreSQL is hung up on. None lets it wait
        for BUSY_SECONDS, and take as long as it needs.

        Raises:
            DatabaseUnavailable: It cannot be reached or written now. Unless the connection broke while it
                committed, nothing was written.
            ConfigurationError: It refuses us, or its tables are not this version's. Nothing was written.
        """
        with (
            _plain_errors(self.dialect),
            self._connected(self._writer, wait_seconds) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _connected(self, engine: Engine, wait_seconds: float | None) -> Iterator[Connection]:
        """Yield a connection whose next transaction waits no longer than what is left of that."""
        began = time.monotonic()
        with self._rooms.taken(engine, BUSY_SECONDS if wait_seconds is None else wait_seconds):
            if wait_seconds is None:
                with engine.connect() as connection:
                    yield connection
            else:
                # By itself a server ends a statement in time; one that is frozen does nothing by itself.
                until = began + max(wait_seconds, 1.0) + _GRACE_SECONDS
                with impatience.within(until), engine.connect() as connection:
                    left = wait_seconds - (time.monotonic() - began)
                    yield connection.execution_options(**{_PATIENCE: left})

    def close(self) -> None:
        """Give back every connection."""
        self._reader.dispose()
        self._writer.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _milliseconds(connection: Connection) -> int | None:
    """Return how long a transaction that begins may wait; None where nobody said."""
    seconds: float | None = connection.get_execution_options().get(_PATIENCE)
    # Whole seconds, so that the calls of one process hardly ever tell a connection something new.
    return None if seconds is None else 1000 * max(1, int(min(seconds, BUSY_SECONDS)))


@contextmanager
def reading_only(url: str) -> Iterator[Connection]:
    """Yield a connection to somebody else's database, which it cannot write to.

    Raises:
        ConfigurationError: The URL names no SQLite file and no PostgreSQL database, or it refuses us.
        DatabaseUnavailable: It cannot be reached or read now.
    """
    parsed = _parse(url)
    dialect = parsed.get_backend_name()
    if dialect == "sqlite":
        read_only = {"mode": "ro", "uri": "true"}
        parsed = parsed.set(database=f"file:{quote(str(parsed.database))}", query=read_only)
        engine = create_engine(parsed, hide_parameters=True, poolclass=NullPool)
    else:
        engine = _postgresql_engine(parsed, poolclass=NullPool)
        engine = engine.execution_options(postgresql_readonly=True)
    with _plain_errors(dialect), engine.connect() as connection:
        yield connection


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # No URL at all, or a port that is no number.
        raise _unusable() from None
    backend = parsed.get_backend_name()
    if backend in {"postgres", "postgresql"}:
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ConfigurationError(f"Expected a database URL ({EXPECTED}), found one of the kind {backend!r}.")
    if parsed.host or parsed.username or parsed.password:
        raise ConfigurationError(
            "Expected a SQLite file (sqlite:///FILE, with three slashes), found a URL with a host."
        )
    if not parsed.database or parsed.database == ":memory:":
        raise ConfigurationError("Expected a SQLite file (sqlite:///FILE), found a URL without one.")
    return parsed.set(drivername="sqlite")


def _unusable() -> ConfigurationError:
    return ConfigurationError(f"Expected a database URL ({EXPECTED}), found something else.")


def _make_folder(url: URL) -> None:
    assert url.database is not None
    try:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # The parent is a file, or may not be written.
        raise ConfigurationError(
            f"Expected a folder for the SQLite database, found that it cannot be made: {error.strerror}."
        ) from None


def _sqlite_engine(url: URL, begin: str) -> Engine:
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # The driver begins nothing by itself.
        if begin == WRITING:  # The file keeps it; who only looks at one that is not ours leaves it as it is.
            _keep_a_log(connection)
        for pragma in (
            "synchronous = FULL",  # What was committed survives a power cut.
            "foreign_keys = ON",
            "recursive_triggers = ON",  # INSERT OR REPLACE fires the delete triggers.
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        patience = _milliseconds(connection) or 1000 * BUSY_SECONDS
        if (
            connection.info.get(_PATIENCE, 1000 * BUSY_SECONDS) != patience
        ):  # The file's own lock is not asked for.
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {patience}")
            connection.info[_PATIENCE] = patience
        connection.exec_driver_sql(begin)

    return engine


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Switch a new file to write-ahead logging, in which readers and the writer do not wait for another.

    Of several that open it at once all but one are refused at once, whatever the busy timeout.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _postgresql_engine(url: URL, poolclass: type[Pool] | None = None) -> Engine:
    try:
        engine = create_engine(
            url,
            hide_parameters=True,
            poolclass=poolclass,
            connect_args={"connect_timeout": CONNECT_SECONDS, **LIVELY},
        )
    except ArgumentError:  # A second look at the URL: its query names a port that is no number, say.
        raise _unusable() from None
    except ImportError:
        # The base install is the guarded tool on SQLite.
        raise ConfigurationError(
            "Expected the PostgreSQL driver, found none: install refund-recon[postgres]."
        ) from None

    connecting = impatience.connecting(CONNECT_SECONDS)

    @event.listens_for(engine, "do_connect")
    def connect(_: object, __: object, told: Any, named: Any) -> DBAPIConnection:  # noqa: ANN401 -- anything
        found: DBAPIConnection = connecting(*told, **named)
        return found

    @event.listens_for(engine, "checkin")
    def rest(_: object, record: ConnectionPoolEntry) -> None:
        record.info[_RESTS_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, record: ConnectionPoolEntry, _: object) -> None:
        """Replace every connection of the pool where this one is gone: the server began anew."""
        if time.monotonic() - record.info.get(_RESTS_SINCE, math.inf) < _IDLE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error:  # As above, or an administrator ended it.
            raise InvalidatePoolError from None

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        # For this transaction only: a pooler in between hands the session to somebody else after it.
        # Plans are made anew: one that was made while a table was empty scans it still when it has grown.
        patience = _milliseconds(connection)
        limits = {"lock_timeout": patience or 1000 * BUSY_SECONDS, "plan_cache_mode": "force_custom_plan"}
        if patience is not None:
            limits["statement_timeout"] = patience
        told = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.items())
        connection.exec_driver_sql(f"SELECT {told}")

    return engine


@contextmanager
def _plain_errors(dialect: str) -> Iterator[None]:
    try:
        yield
    except PoolTimeout:
        # Every connection of this process is taken.
        raise DatabaseUnavailable(f"Expected a free connection to {KINDS[dialect]}, found none.") from None
    except DBAPIError as error:
        plain = _plain(dialect, error)
        if plain is None:
            raise
        raise plain from None


def _plain(dialect: str, error: DBAPIError) -> ReconError | None:
    """Return what to tell a person, without host, user or password; None for a bug of ours."""
    said = str(error.orig).lower()
    state = getattr(error.orig, "sqlstate", None)
    kind = KINDS[dialect]
    if state == NO_TABLE or "no such table" in said:
        return ConfigurationError(
            f"Expected recon's tables in {kind}, found none or not all: run recon db upgrade."
        )
    if state in SCHEMA_STATES or "no such column" in said:
        return ConfigurationError(f"Expected recon's tables in {kind}, found others: run recon db upgrade.")
    reported = type(error).__name__ in CONNECTION_ERRORS
    if not reported and state != FORBIDDEN and "invalid connection option" not in said:
        return None
    for words, sort in ((WRONG_WORDS, ConfigurationError), (PASSING_WORDS, DatabaseUnavailable)):
        for sign, reason in words.items():
            if sign in said:
                return sort(f"Expected {kind} to answer, found that {reason}.")
    return DatabaseUnavailable(f"Expected {kind} to answer, found that it broke the connection off.")
