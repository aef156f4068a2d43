"""How long a thread waits for PostgreSQL: a server that is frozen, or gone without a word, is hung up on.

The server's own limits end what takes too long; they end nothing where the server itself stands still.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Line(threading.local):
    """Until when this thread waits, on the monotonic clock."""

    until: float = math.inf


_line = _Line()


@contextmanager
def within(until: float) -> Iterator[None]:
    """Let what this thread waits for come by then; what is late is hung up on.

    until: on time.monotonic().
    """
    before = _line.until
    _line.until = min(before, until)
    try:
        yield
    finally:
        _line.until = before


def connecting(longest_seconds: int) -> Callable[..., Any]:
    """Return what opens such connections, as the driver does; each within that time as well.

    Needs the driver, which is an extra.
    """
    import psycopg  # noqa: PLC0415 -- as above

    class Impatient(psycopg.Connection[Any]):
        """A connection that is closed when its server says nothing in time."""

        def wait(self, *about: Any, **more: Any) -> Any:  # noqa: ANN401 -- as psycopg has it
            """Return what comes, or hang up."""
            if _line.until == math.inf:
                return super().wait(*about, **more)
            left = max(_line.until - time.monotonic(), 0.0)
            try:
                return super().wait(*about, **{"timeout": left, **more})
            except psycopg.OperationalError:
                if time.monotonic() >= _line.until:  # Nobody knows what it still has to say.
                    self.pgconn.finish()
                raise

    def connect(*about: Any, **named: Any) -> Any:  # noqa: ANN401 -- as psycopg has it
        left = _line.until - time.monotonic()
        if left <= 0:
            raise psycopg.OperationalError("timeout expired")
        if left < longest_seconds:
            named["connect_timeout"] = max(1, int(left))
        return Impatient.connect(*about, **named)

    return connect
