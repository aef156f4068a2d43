"""Room for the connections of a database: so many at a time, and none that two processes share.

A process that forks hands down what it has open. Two that speak on one line get each other's answers; and the
child of a SQLite file's user believes that it holds the locks that its parent had, so that the parent deletes
the log in which the child writes. So what is open is given back before a fork, and both begin anew. Source:
https://www.sqlite.org/howtocorrupt.html, carrying an open database connection across a fork.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

from sqlalchemy import Engine
from sqlalchemy.pool import Pool

from recon.model.errors import DatabaseUnavailable

_CONNECTIONS = 15  # SQLAlchemy's own number for a pool, those included that it opens beyond its size.
# That a fork waits for other threads: no transaction of the guard's takes as long, unless it waits itself.
_FORK_SECONDS = 5.0


class Rooms:
    """How many connections of some engines are in use; shared by threads, and not by processes."""

    def __init__(self, *engines: Engine) -> None:
        self._engines = engines
        self._held: list[threading.BoundedSemaphore] = []
        self._furnish()
        with _lock:
            _every.add(self)

    @contextmanager
    def taken(self, engine: Engine, wait_seconds: float) -> Iterator[None]:
        """Have room for one more connection.

        Raises:
            DatabaseUnavailable: there is none for so long, or none that this process may have.
        """
        room = self._rooms[engine]
        if not room.acquire(timeout=wait_seconds):
            raise DatabaseUnavailable("Expected a free connection to the database, found none.")
        try:
            if _shared and _place(engine) in _shared:
                raise DatabaseUnavailable(
                    "Expected a SQLite file that no thread used while this process was forked, found one in "
                    "use, whose locks nobody can tell apart now: start this process again."
                )
            yield
        finally:
            room.release()

    def leave(self, until: float) -> None:
        """Wait until nobody is in, let nobody in, and give back every connection.

        until: on time.monotonic(); where somebody is still in then, nothing is given back.
        """
        rooms = [room for room in set(self._rooms.values()) for _ in range(_CONNECTIONS)]
        self._held = [room for room in rooms if room.acquire(timeout=max(0.0, until - time.monotonic()))]
        self._is_empty = len(self._held) == len(rooms)
        if self._is_empty:
            for engine in self._engines:
                engine.dispose()

    def return_to(self) -> None:
        """Let others in again: this is the process that was there before."""
        for room in self._held:
            room.release()
        self._held = []

    def begin_anew(self) -> None:
        """Let others in: this is the new process, in which nobody is."""
        for engine in self._engines:
            _kept.append(engine.pool)
            engine.dispose(close=False)
            if not self._is_empty and engine.dialect.name == "sqlite":
                _shared.add(_place(engine))
        self._held = []
        self._furnish()

    def _furnish(self) -> None:
        rooms = {each.pool: threading.BoundedSemaphore(_CONNECTIONS) for each in self._engines}
        self._rooms = {each: rooms[each.pool] for each in self._engines}
        self._is_empty = False


_lock = threading.Lock()
_every: WeakSet[Rooms] = WeakSet()
_kept: list[Pool] = []  # The parent's: to close one, or to forget it, would act on the parent's lines.
_shared: set[str] = set()  # SQLite files of which a parent had connections in use at the fork.


def _place(engine: Engine) -> str:
    return os.path.realpath(str(engine.url.database))


def _before() -> None:
    _lock.acquire()
    until = time.monotonic() + _FORK_SECONDS
    for each in _every:
        each.leave(until)


def _in_parent() -> None:
    for each in _every:
        each.return_to()
    _lock.release()


def _in_child() -> None:
    for each in _every:
        each.begin_anew()
    _lock.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
