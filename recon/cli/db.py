"""`recon db`: the database's schema, seen and brought up to date."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from recon.doors.store.engines import Database

app = typer.Typer(
    name="db", help="Look after the database's schema: upgrade, current, check.", no_args_is_help=True
)


@app.command()
def upgrade() -> None:
    """Bring the database to this version's schema, and make its triggers anew; twice is as good as once."""
    from recon.doors.store import migrations, revisions

    with _database() as database:
        before = revisions.current(database)
        migrations.upgrade(database)
    if before == revisions.head():
        print(f"The database is at revision {before} already; its triggers were made anew.")
    else:
        print(f"The database is at revision {revisions.head()} now; it was at {before or 'none'}.")


@app.command()
def current() -> None:
    """Print the database's revision."""
    from recon.doors.store import revisions

    with _database() as database:
        print(revisions.current(database) or "none")


@app.command()
def check() -> None:
    """Check revision and triggers; exit 2 and say what is wrong. recon verify checks the entries."""
    from recon.doors.store import revisions

    with _database() as database:
        revisions.check(database)
    print(f"The database is up to date, at revision {revisions.head()} with all its triggers.")


def _database() -> "Database":
    from recon.doors import config
    from recon.doors.store.engines import Database

    return Database.open(config.load().database_url.reveal())
