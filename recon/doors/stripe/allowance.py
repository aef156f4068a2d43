"""How often the provider may be asked, and how much waiting an account is worth; shared by all readers.

Clock and sleep are handed in. Never asks anything by itself.
"""

import threading
from collections.abc import Callable

_BURST_SECONDS = 0.2  # Of the allowance at once: with 20 a second never more than 25 in any one, the limit.


class Allowance:
    """So many requests a second and no more, whoever asks; what nobody took is soon gone."""

    def __init__(
        self, per_second: float, *, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._interval = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = clock()  # When the next request is due, were they spread evenly.

    def take(self) -> None:
        """Return when one more request may be sent."""
        with self._lock:
            now = self._clock()
            wait = self._next - _BURST_SECONDS - now
            self._next = max(self._next, now) + self._interval
        if wait > 0:
            self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Let nobody ask for that long: the provider said that it was too much."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds + _BURST_SECONDS)


class Patience:
    """How many more times an account is asked again in one run, and how many seconds it is waited for."""

    def __init__(self, retries: int, seconds: float) -> None:
        self._lock = threading.Lock()
        self._retries = retries
        self._seconds = seconds

    def spend(self, seconds: float) -> bool:
        """Take one retry after that pause; return whether there was one left."""
        with self._lock:
            if self._retries < 1 or self._seconds < seconds:
                return False
            self._retries -= 1
            self._seconds -= seconds
            return True
