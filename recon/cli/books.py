"""The database of a command that works on what is there. Never makes one, or a folder for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recon.model.errors import ConfigurationError

if TYPE_CHECKING:
    from recon.doors.store.engines import Database
    from recon.model.settings import Settings


@contextmanager
def opened(settings: "Settings") -> "Iterator[Database]":
    """Open the database, and see that it is of this version.

    Raises:
        ConfigurationError: it is not there, or of another version. Nothing was made.
        DatabaseUnavailable: it cannot be reached now.
    """
    from recon.doors.store import checkup, revisions
    from recon.doors.store.engines import Database

    url = settings.database_url.reveal()
    with Database.open(url, make_folder=False) as database:
        # A SQLite file that is opened is made. A URL that names no file has been refused by now.
        file = checkup.file(url)
        if file is not None and not file.exists():
            raise ConfigurationError(f"There is no database yet at {file}: recon db upgrade makes it.")
        revisions.check(database)
        yield database
