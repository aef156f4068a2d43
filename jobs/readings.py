"""The metrics for whoever asks over HTTP: read anew, one reading at a time, and never waited for long.

Never keeps what it read: the next one who asks gets what stands then.
"""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread

from jobs import vitals
from recon.doors.pulse import Sample

# Half of the 10 s that Prometheus waits for an answer unless told otherwise. A reading takes milliseconds.
LIMIT_SECONDS = 5.0

Read = Callable[[], tuple[Sample, ...]]


class Readings:
    """Reads on a thread of its own, so that a database that hangs is said to be away and holds nobody up.

    Those who ask while a reading goes on get its result: they do not add another to what hangs.
    """

    def __init__(self, read: Read, *, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._read = read
        self._limit_seconds = limit_seconds
        self._lock = Lock()
        self._reading: Future[tuple[Sample, ...]] | None = None

    def __call__(self) -> tuple[Sample, ...]:
        """Return the metrics, or only that the database cannot be read."""
        with self._lock:
            if self._reading is None or self._reading.done():
                self._reading = Future()
                Thread(target=self._fill, args=(self._reading,), daemon=True).start()
            reading = self._reading
        try:
            return reading.result(self._limit_seconds)
        except TimeoutError:
            return (vitals.away(),)

    def _fill(self, reading: Future[tuple[Sample, ...]]) -> None:
        try:
            reading.set_result(self._read())
        except BaseException as bug:  # noqa: BLE001 - whoever asked is shown it
            reading.set_exception(bug)
