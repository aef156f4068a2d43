"""The revisions of the schema: which one the database is at, and whether this version of recon may use it.

Never writes, and does not load Alembic: every process asks, the tick each minute. migrations.py goes on.
"""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from recon.doors.store import triggers
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError

HERE = Path(__file__).parent / "versions"
# Every revision that this version of recon knows: versions/v0001_first.py is 0001.
KNOWN = frozenset(script.name[1:5] for script in HERE.glob("v[0-9]*.py"))


def head() -> str:
    """Return the newest revision this version of recon knows."""
    return max(KNOWN)


def current(database: Database) -> str | None:
    """Return the database's revision; None before the first upgrade."""
    with database.read() as connection:
        return found_in(connection)


def check(database: Database) -> None:
    """Return if the database is at the newest revision with all its triggers.

    Raises:
        ConfigurationError: It is not; the text says what to run.
    """
    with database.read() as connection:
        found = found_in(connection)
        lacking = triggers.missing(connection) if found == head() else ()
    if found is not None and found not in KNOWN:
        raise unknown(found)
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


def unknown(found: str | None) -> ConfigurationError:
    """Return what to say of a revision that a newer version of recon wrote."""
    return ConfigurationError(
        f"Expected a database at revision {head()} or earlier, found {found}: "
        "it belongs to a newer version of recon."
    )


def found_in(connection: Connection) -> str | None:
    """Return the revision that a connection sees; None before the first upgrade."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found
