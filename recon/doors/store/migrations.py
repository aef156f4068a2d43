"""The schema's way to the newest revision.

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

from recon.doors.store import revisions, triggers
from recon.doors.store.engines import Database
from recon.model.rights import leases

HERE = Path(__file__).parent
UPGRADE_LOCK = 7_214_663_501  # Any number that no other program locks: two upgrades go one after the other.


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


def _run(connection: Connection) -> None:
    scripts = ScriptDirectory(str(HERE))

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
        raise revisions.unknown(revisions.found_in(connection)) from None
