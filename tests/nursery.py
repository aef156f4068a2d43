"""The other end of tests/cradle.py: runs of the hourly job as processes that die or stop where they are told.

Counting statements instead of seconds lets a seed repeat a death exactly; a death by time reaches what says
nothing to the database: the network, and the arithmetic.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Fate:
    """What is to happen to a child.

    kill_at: the statement before which it is killed; kill_after: seconds after which it is. stop_at: the
    write before which it stops; stop_when_read: it stops having read what it judges. jump_at: the statement
    at which its clock jumps by jump_seconds. sabotage: the safeguard it does without. 0 and "" are none.
    wait: seconds that it waits for another run, by everybody's clock. dies: "before" or "after" and what is
    asked of Slack then, as "after post"; dies_at: which of those calls it is.
    """

    kill_at: int = 0
    kill_after: float = 0.0
    stop_at: int = 0
    stop_when_read: bool = False
    jump_at: int = 0
    jump_seconds: float = 0.0
    sabotage: str = ""
    job: str = "hourly"
    wait: int = 0
    dies: str = ""
    dies_at: int = 1


@dataclass(frozen=True, slots=True)
class End:
    """How a child ended. code: None where it stopped; negative is the signal that ended it.

    statements, writes, seconds: what it had done when it ended by itself, for choosing where the next one
    dies. read_at: the statements before it had read what it judges.
    """

    code: int | None
    statements: int = 0
    writes: int = 0
    read_at: int = 0
    seconds: float = 0.0


class Nursery:
    """`with Nursery(environ, log, time=...) as nursery: nursery.run()`. time: what the sandbox's time is."""

    def __init__(self, environ: Mapping[str, str], log: Path, *, time: Callable[[], str]) -> None:
        self._environ, self._time = {**os.environ, **environ}, time
        self._log = log.open("w", encoding="utf-8")
        self._process: subprocess.Popen[str] | None = None

    def run(self, fate: Fate = Fate()) -> End:  # frozen
        """Bear a run, and wait until it has ended or stopped."""
        self.begin(fate)
        return self.ended()

    def begin(self, fate: Fate = Fate()) -> None:  # frozen
        """Bear a run, and do not wait for it."""
        self._order({"now": self._time(), **asdict(fate)})

    def go_on(self) -> End:
        """Let the child that stopped go on."""
        self._order({"go_on": True})
        return self.ended()

    def ended(self) -> End:
        """Wait until the child has ended or stopped."""
        line = _open(self._cradle().stdout).readline()
        assert line, "the cradle broke"
        return End(**json.loads(line))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            _open(self._process.stdin).close()
            self._process.wait(timeout=30)
            _open(self._process.stdout).close()
        self._log.close()

    def _order(self, order: Mapping[str, object]) -> None:
        stdin = _open(self._cradle().stdin)
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()

    def _cradle(self) -> "subprocess.Popen[str]":
        """Return the process, started when it is first needed."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cradle"],
                env=self._environ,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
            )
        return self._process


def _open(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
