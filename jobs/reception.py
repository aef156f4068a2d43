"""Where clicks arrive, whichever way they come: each is acknowledged at once, and worked on after that.

Never touches the database before a click is acknowledged: Slack waits three seconds, and then tells whoever
clicked that it failed.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any, Final

import structlog

from recon.doors.clock import Clock, utc_now
from recon.doors.slack import clicks
from recon.model.errors import Wait
from recon.model.records.clicks import Heard

log = structlog.get_logger("recon")

WORKERS: Final = 4  # Moves at once: each is a few milliseconds of the database, and a second of Slack.
WAITING_LIMIT: Final = 200  # Clicks that wait: more than all the people of a company do in a minute.


@dataclass(frozen=True, slots=True)
class Received:
    """What came.

    answer: goes back with the acknowledgement; None where nothing does. heard: what is to be done, if any.
    """

    answer: Mapping[str, Any] | None = None
    heard: Heard | None = None


class Reception:
    """Takes clicks in, and has them answered by a few workers, a bounded number at a time."""

    def __init__(
        self,
        answer: Callable[[Heard], object],
        *,
        clock: Clock = utc_now,
        workers: int = WORKERS,
        limit: int = WAITING_LIMIT,
    ) -> None:
        self._answer = answer
        self._clock = clock
        self._room = BoundedSemaphore(limit)
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="click")

    def __call__(self, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Take a click in; return what goes back with its acknowledgement.

        Raises:
            Wait: too many wait. Nothing is done, and whoever clicked must not be told that it was heard.
        """
        received = self.read(payload)
        if received.heard is not None and not self.work(received.heard):
            raise Wait("Expected room for another click, found that too many wait.")
        return received.answer

    def read(self, payload: Mapping[str, Any]) -> Received:
        """Return what a payload is; nothing is done about it, and nothing is wrong with what is not ours."""
        try:
            found = clicks.read(payload, now=self._clock())
        except Exception:
            log.exception("bug")
            return Received()
        if isinstance(found, clicks.Flawed):
            return Received(answer=found.answer)
        return Received(heard=found)

    def work(self, heard: Heard, *, first: Callable[[], bool] | None = None) -> bool:
        """Have a click answered soon; return False where too many wait, and say so in the log.

        first: asked before the work; it is left where that says no.
        """
        if not self._room.acquire(blocking=False):
            log.error("busy", verb=heard.button.verb, case_id=heard.button.case_id)
            return False
        self._workers.submit(self._do, heard, first)
        return True

    def close(self) -> None:
        """Return when everything that was taken in is answered."""
        self._workers.shutdown(wait=True)

    def _do(self, heard: Heard, first: Callable[[], bool] | None) -> None:
        try:
            if first is None or first():
                self._answer(heard)
        except Exception:
            log.exception("bug")
        finally:
            self._room.release()
