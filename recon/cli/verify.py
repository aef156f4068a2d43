"""`recon verify`: whether the audit trail is as it was written."""

import typer

from recon.cli import exits

SHOWN = 20  # Sentences: one broken chain is enough to ask why; the count says how many there are.


def verify() -> None:
    """Check every chain of entries and every case against its last entry; exit 1 when one does not fit."""
    from recon.doors import config
    from recon.doors.store import cases, migrations
    from recon.doors.store.engines import Database

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        migrations.check(database)
        wrong = cases.verify(database)
    for sentence in wrong[:SHOWN]:
        print(sentence)
    if len(wrong) > SHOWN:
        print(f"And {len(wrong) - SHOWN} more.")
    if wrong:
        raise typer.Exit(exits.FOUND)
    print("Every chain of entries fits, and every case is as its last entry left it.")
