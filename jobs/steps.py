"""What the hourly job hears of its run while it goes on: which step began when, and under which fence.

Never changes how the run goes.
"""

import time
from collections.abc import Callable

import structlog

from recon.model.records.runs import Lease

Timer = Callable[[], float]


class Steps:
    """Takes the time of each step, and does something once the run has its lease.

    Every log line from then on carries the fence, until closed.
    """

    def __init__(self, begun: Callable[[], None], *, timer: Timer = time.monotonic) -> None:
        self._begun = begun
        self._timer = timer
        self._marks: list[tuple[str, float]] = []

    def __call__(self, step: str, lease: Lease) -> None:
        """Note that a step begins; the first of them says that this run is the one at work."""
        if not self._marks:
            structlog.contextvars.bind_contextvars(fence=lease.fence)
            self._begun()
        self._marks.append((step, self._timer()))

    def close(self) -> dict[str, float]:
        """Return how many seconds each step took, the last one until now; nothing more is noted."""
        structlog.contextvars.unbind_contextvars("fence")
        ends = [*(at for _, at in self._marks[1:]), self._timer()]
        return {step: round(end - at, 3) for (step, at), end in zip(self._marks, ends, strict=False)}
