"""Databases for months: one template a process, a fresh copy a month, in memory where the system has it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from recon.doors.store import migrations
from recon.doors.store.engines import Database
from tests import databases

NUMBERS = count(1)


class Stage:
    """Where fresh databases come from."""

    def __init__(self, home: Path, kind: str) -> None:
        self._home, self._kind = home, kind
        self._server = databases.served(home / "server") if kind == "postgres" else None
        self._template = home / "template.db"
        if self._server is None:
            with Database.open(f"sqlite:///{self._template}") as database:
                migrations.upgrade(database)

    @contextmanager
    def fresh(self) -> Iterator[Database]:
        """Yield a migrated, empty database that nobody needs afterwards."""
        if self._server is None:
            place = self._home / f"{next(NUMBERS)}.db"
            shutil.copyfile(self._template, place)
            with Database.open(f"sqlite:///{place}") as database:
                yield database
            for each in self._home.glob(f"{place.name}*"):
                each.unlink()
            return
        with databases.copied(self._server) as url, Database.open(url) as database:
            yield database

    def close(self) -> None:
        """Stop the server, where there is one."""
        if self._server is not None:
            self._server.cleanup()


@contextmanager
def stage(kind: str) -> Iterator[Stage]:
    """Yield a stage in a folder of its own."""
    in_memory = databases.MEMORY.is_dir() and os.access(databases.MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(
        dir=databases.MEMORY if in_memory else None, prefix="recon-month-"
    ) as home:
        built = Stage(Path(home), kind)
        try:
            yield built
        finally:
            built.close()
