"""The schema's history: which version the database is at, and the way to the newest.

The revisions are in versions/, shipped with the package; no alembic.ini is needed. Never changes a row that a
person or a run wrote.
"""

from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import RevisionStep
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from recon.doors.store import triggers
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError
from recon.model.rights import leases

HERE = Path(__file__).parent
UPGRADE_LOCK = 7_214_663_501  # Any number that no other program locks: two upgrades go one after the other.


def head() -> str:
    """Return the newest revision this version of recon knows."""
    newest = _scripts().get_current_head()
    assert newest is not None, "the package ships at least one revision"
    return newest


def current(database: Database) -> str | None:
    """Return the database's revision; None before the first upgrade."""
    with database.read() as connection:
        return _current(connection)


def upgrade(database: Database) -> None:
    """Bring the schema to the newest revision and make its triggers anew; twice is as good as once.

    Raises:
        ConfigurationError: The database is at a revision this version does not know. Nothing was written.
    """
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK})
        triggers.lift(connection)
        _run(connection)
        triggers.install(connection)
        left = triggers.missing(connection)
        assert not left, f"expected every trigger after an upgrade, found {left} missing"


def check(database: Database) -> None:
    """Return if the database is at the newest revision with all its triggers.

    Raises:
        ConfigurationError: It is not; the text says what to run.
    """
    with database.read() as connection:
        found = _current(connection)
        lacking = triggers.missing(connection) if found == head() else ()
    if found is not None and found not in _known():
        raise _newer(found)
    if found != head():
        raise ConfigurationError(
            f"Expected the database at revision {head()}, found {found or 'none'}: run recon db upgrade."
        )
    if lacking:
        raise ConfigurationError(
            f"Expected all triggers, found these missing: {', '.join(lacking)}: run recon db upgrade, "
            "and find out who dropped them: what was written meanwhile was not seen."
        )


def ready(url: str) -> Database:
    """Return the database of a URL, open and at the newest revision with all its triggers.

    Raises:
        ConfigurationError: It is not, or the URL cannot be used; the text says what to run.
        DatabaseUnavailable: It cannot be reached now.
    """
    database = Database.open(url)
    check(database)
    return database


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(HERE))


def _known() -> frozenset[str]:
    """Return every revision that this version of recon knows."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def _newer(found: str | None) -> ConfigurationError:
    return ConfigurationError(
        f"Expected a database at revision {head()} or earlier, found {found}: "
        "it belongs to a newer version of recon."
    )


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _run(connection: Connection) -> None:
    scripts = _scripts()

    def steps(revision: object, _: MigrationContext) -> list[RevisionStep]:
        return scripts._upgrade_revs("head", revision)  # type: ignore[arg-type]  # noqa: SLF001 -- as alembic.command does

    try:
        with EnvironmentContext(Config(), scripts, fn=steps) as environment:
            environment.configure(
                connection=connection, target_metadata=leases.metadata, transactional_ddl=False
            )
            environment.run_migrations()
    except CommandError:
        # A revision that a newer version of recon wrote.
        raise _newer(_current(connection)) from None
