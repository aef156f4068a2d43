"""A warm process that bears runs of the hourly job, each a process of its own that may die or stop anywhere.

Started as `python -m tests.nursery`, it takes one JSON line per order and answers with one when the child has
ended or stopped. Forking a process that has loaded everything makes a run cost what it does, not what its
imports do; counting statements instead of seconds lets a seed repeat a death exactly.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, Self

from sqlalchemy import Engine, event

from jobs import hourly
from recon.doors.store.engines import Database

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class End:
    """How a child ended. code: None where it stopped; negative is the signal that ended it.

    statements, writes: what it had done when it ended by itself, for choosing where the next one dies.
    """

    code: int | None
    statements: int = 0
    writes: int = 0


class Nursery:
    """The other end: `with Nursery(environ) as nursery: nursery.run()`."""

    def __init__(self, environ: Mapping[str, str], log: Path) -> None:
        self._log = log.open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.nursery"],
            env={**os.environ, **environ},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def run(self, *, kill_at: int = 0, stop_at: int = 0) -> End:
        """Bear a run; it is killed before its kill_at-th statement, or stops before its stop_at-th write."""
        self.begin(kill_at=kill_at, stop_at=stop_at)
        return self.ended()

    def begin(self, *, kill_at: int = 0, stop_at: int = 0) -> None:
        """Bear a run, and do not wait for it."""
        self._order({"kill_at": kill_at, "stop_at": stop_at})

    def go_on(self) -> End:
        """Let the child that stopped go on."""
        self._order({"go_on": True})
        return self.ended()

    def ended(self) -> End:
        """Wait until the child has ended or stopped."""
        line = _open(self._process.stdout).readline()
        assert line, "the nursery died"
        return End(**json.loads(line))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _open(self._process.stdin).close()
        self._process.wait(timeout=30)
        _open(self._process.stdout).close()
        self._log.close()

    def _order(self, order: Mapping[str, object]) -> None:
        stdin = _open(self._process.stdin)
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()


def _open(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def main() -> None:
    """Take orders until there are no more."""
    child, told = 0, 0
    for line in sys.stdin:
        order = json.loads(line)
        if "go_on" in order:
            os.kill(child, signal.SIGCONT)
        else:
            told, telling = os.pipe()
            child = os.fork()
            if not child:
                _live(order, telling)
            os.close(telling)
        sys.stdout.write(json.dumps(_end(child, told)) + "\n")
        sys.stdout.flush()


def _end(child: int, told: int) -> dict[str, Any]:
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return {"code": None}
    with os.fdopen(told) as pipe:
        numbers = json.loads(pipe.read() or "{}")
    return {"code": os.waitstatus_to_exitcode(status), **numbers}


def _live(order: Mapping[str, int], telling: int) -> None:
    """Be the job, and end as it does, or before."""
    statements, writes = count(1), count(1)
    seen = {"statements": 0, "writes": 0}

    def die(*_: object) -> None:
        seen["statements"] = next(statements)
        if seen["statements"] == order["kill_at"]:
            os.kill(os.getpid(), signal.SIGKILL)

    # A commit counts, too: what is killed before it has said everything and kept nothing.
    event.listen(Engine, "before_cursor_execute", die)
    event.listen(Engine, "commit", die)
    Database.write = _stopping(Database.write, order["stop_at"], writes, seen)  # type: ignore[method-assign]
    code = hourly.main()
    os.write(telling, json.dumps(seen).encode())
    os._exit(code)


def _stopping(write: Callable[..., Any], stop_at: int, writes: Iterator[int], seen: dict[str, int]) -> Any:  # noqa: ANN401  # a method
    @contextmanager
    def writing(self: Database) -> Iterator[Any]:
        seen["writes"] = next(writes)
        if seen["writes"] == stop_at:  # Outside of any transaction: a stopped one would lock everybody out.
            os.kill(os.getpid(), signal.SIGSTOP)
        with write(self) as connection:
            yield connection

    return writing


if __name__ == "__main__":
    main()
