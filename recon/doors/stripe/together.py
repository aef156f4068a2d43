"""Several readings at a time, handed over one batch after another to whoever saves them.

Threads only read: what they found is used in the thread that asked. Never lets them get far ahead of it.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")
AHEAD = 32  # Pages that wait to be saved: some megabytes. A writer that falls behind stops the readers.
# That an end waits for its readers: a page takes half of one. Whoever presses Ctrl-C, or lost the lease, does
# not wait for a provider that says nothing; such a reader ends with its page, and nobody gets it.
LEAVE_SECONDS = 2.0
BATCH = 8  # Pages in one go, so that one commit serves several where they come fast.


def read(
    readings: Sequence[Callable[[], Iterable[T]]], *, readers: int
) -> Generator[tuple[tuple[int, T], ...], None, None]:
    """Yield what the readings give as it comes, each item with the number of its reading; close it.

    One reading alone needs no thread, nor does one reader. The first error is raised after everything that
    was read; once there is one, no reading is begun or goes on.
    """
    if len(readings) <= 1 or readers == 1:
        yield from (((number, item),) for number, each in enumerate(readings) for item in each())
        return
    crowd = _Crowd(readings, min(readers, len(readings)))
    try:
        yield from crowd.batches()
    finally:
        crowd.end()


class _Ended:
    """A reader has gone."""


class _Crowd(Generic[T]):
    """The readers of some readings, and what they have read."""

    def __init__(self, readings: Sequence[Callable[[], Iterable[T]]], readers: int) -> None:
        self._readings = readings
        self._numbers = iter(range(len(readings)))
        self._turn = threading.Lock()
        self._room = threading.Semaphore(AHEAD)
        self._found: SimpleQueue[tuple[int, T] | BaseException | _Ended] = SimpleQueue()
        self._stop = threading.Event()
        self._readers = [threading.Thread(target=self._read, daemon=True) for _ in range(readers)]
        for reader in self._readers:
            reader.start()

    def batches(self) -> Iterator[tuple[tuple[int, T], ...]]:
        """Yield everything until the last reader has gone, then raise the first error."""
        error: BaseException | None = None
        left = len(self._readers)
        while left:
            batch: list[tuple[int, T]] = []
            for each in self._waiting():
                if isinstance(each, _Ended):
                    left -= 1
                elif isinstance(each, BaseException):
                    error = error or each
                else:
                    batch.append(each)
            if batch:
                yield tuple(batch)
                self._room.release(len(batch))
        if error is not None:
            raise error

    def end(self) -> None:
        """Let no reader begin another page, and wait for those that are at one, but not for long."""
        self._stop.set()
        self._room.release(len(self._readers))
        until = time.monotonic() + LEAVE_SECONDS
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))

    def _waiting(self) -> "Iterator[tuple[int, T] | BaseException | _Ended]":
        """Wait for one, and yield it with those that are there as well."""
        yield self._found.get()
        for _ in range(BATCH - 1):
            try:
                yield self._found.get_nowait()
            except Empty:  # The readers are not that fast.
                return

    def _read(self) -> None:
        try:
            while (number := self._next()) is not None:
                self._read_one(number)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the items are used
            self._stop.set()
            self._found.put(error)
        finally:
            self._found.put(_Ended())

    def _next(self) -> int | None:
        with self._turn:
            return None if self._stop.is_set() else next(self._numbers, None)

    def _read_one(self, number: int) -> None:
        items = iter(self._readings[number]())
        while True:
            self._room.acquire()  # Before it is asked for: what cannot be taken on is not read.
            if self._stop.is_set():
                return
            for item in items:
                self._found.put((number, item))
                break
            else:
                self._room.release()
                return
