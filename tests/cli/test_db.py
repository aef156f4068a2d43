import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from recon.cli.db import app
from recon.doors.store import revisions
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError


def said(url: str, *words: str) -> str:
    """What `recon db WORDS` prints."""
    done = CliRunner().invoke(app, words, env={"RECON_DATABASE_URL": url}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output.strip()


def test_upgrade_says_from_where_to_where(empty_database_url: str) -> None:
    head = revisions.head()

    assert said(empty_database_url, "current") == "none"
    assert said(empty_database_url, "upgrade") == f"The database is at revision {head} now; it was at none."
    assert said(empty_database_url, "upgrade").startswith(f"The database is at revision {head} already")
    assert said(empty_database_url, "current") == head
    assert said(empty_database_url, "check").startswith("The database is up to date")


def test_check_refuses_a_database_without_tables(empty_database_url: str) -> None:
    with pytest.raises(ConfigurationError, match="run recon db upgrade"):
        said(empty_database_url, "check")


def test_check_refuses_a_database_without_a_trigger(database: Database, database_url: str) -> None:
    on_table = " ON entries" if database.dialect == "postgresql" else ""
    with database.write() as connection:
        connection.execute(text(f"DROP TRIGGER entries_kept{on_table}"))

    with pytest.raises(ConfigurationError, match="entries_kept"):
        said(database_url, "check")
