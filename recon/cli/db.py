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
    """Check revision, triggers and the chains of entries; exit 2 and say what is wrong if anything is."""
    from recon.doors.store import cases, migrations
    from recon.model.errors import ConfigurationError

    with _database() as database:
        migrations.check(database)
        wrong = cases.verify(database)
    if wrong:
        more = f" And {len(wrong) - 1} more." if len(wrong) > 1 else ""
        raise ConfigurationError(f"The books of cases do not fit together: {wrong[0]}{more}")
    print("The database is up to date, and every chain of entries fits.")


def _database() -> "Database":
    from recon.doors import config
    from recon.doors.store.engines import Database

    return Database.open(config.load().database_url.reveal())
