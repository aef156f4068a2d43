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
    from recon.doors.store import migrations

    with _database() as database:
        before = migrations.current(database)
        migrations.upgrade(database)
    if before == migrations.head():
        print(f"The database is at revision {before} already; its triggers were made anew.")
    else:
        print(f"The database is at revision {migrations.head()} now; it was at {before or 'none'}.")


@app.command()
def current() -> None:
    """Print the database's revision."""
    from recon.doors.store import migrations

    with _database() as database:
        print(migrations.current(database) or "none")


@app.command()
def check() -> None:
    """Check revision and triggers; exit 2 and say what is wrong. recon verify checks the entries."""
    from recon.doors.store import migrations

    with _database() as database:
        migrations.check(database)
    print(f"The database is up to date, at revision {migrations.head()} with all its triggers.")


def _database() -> "Database":
    from recon.doors import config
    from recon.doors.store.engines import Database

    return Database.open(config.load().database_url.reveal())
