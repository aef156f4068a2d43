"""The process in which runs of the hourly job are born, each a process of its own that may die anywhere.

Started as `python -m tests.cradle` by tests/nursery.py: one JSON line per order, one in answer when the child
has ended or stopped. Forking a process that has loaded everything, and has one thread, makes a run cost what
it does and not what its imports do. A child's time is the sandbox's, and runs on when it sleeps instead of
letting anybody wait. Never decides where a child dies.
"""

import json
import os
import select
import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

_sleep = time.sleep
BLINK_SECONDS = 0.2  # A pause up to this long is slept: pacing, not waiting for better weather.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class Clock:
    """The sandbox's time as a child has it: real time goes on, a long sleep moves both ahead at once.

    jumps: what the child alone believes beside, which is what a wrong clock is.
    """

    base: datetime = field(default_factory=datetime.now)
    started: float = field(default_factory=time.monotonic)
    ahead: timedelta = timedelta(0)
    patience_seconds: float = BLINK_SECONDS
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, base: str) -> None:
        """Be this time now."""
        self.base, self.started = datetime.fromisoformat(base), time.monotonic()

    def now(self) -> datetime:
        """Return the time."""
        return self.base + timedelta(seconds=time.monotonic() - self.started) + self.ahead

    def jump(self, seconds: float) -> None:
        """Be wrong from now on."""
        with self.lock:
            self.ahead += timedelta(seconds=seconds)

    def sleep(self, seconds: float) -> None:
        """Sleep a blink, or let the time be later everywhere."""
        if seconds <= self.patience_seconds:
            _sleep(seconds)
            return
        sent = json.dumps({"advance_s": seconds}).encode()
        address = f"{os.environ['RECON_STRIPE_BASE_URL']}/_sandbox/clock"
        with _OPENER.open(urllib.request.Request(address, data=sent), timeout=10):  # noqa: S310  # loopback
            self.jump(seconds)


CLOCK = Clock()
# Before the product is loaded: its functions take the sleep they use as a default.
time.sleep = CLOCK.sleep  # type: ignore[assignment]  # no SupportsIndex

from sqlalchemy import Engine, event, update  # noqa: E402  # as above

from jobs import hourly, post  # noqa: E402  # as above
from jobs.shift import work  # noqa: E402  # as above
from recon import delivery  # noqa: E402  # as above
from recon.doors.slack.posts import Slack  # noqa: E402  # as above
from recon.doors.store import cases, closure, leases, outbox, reading, remains  # noqa: E402  # as above
from recon.doors.store.engines import Database  # noqa: E402  # as above
from recon.model import tables  # noqa: E402  # as above
from recon.model.records.runs import Lease  # noqa: E402  # as above

# Jobs that only deliver, and how long of the child's own time: nobody waits for it. A turn never waits long.
DELIVERIES = {"deliver": timedelta(minutes=30), "turn": timedelta(0)}


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
                os.close(told)
                _live(order, telling)
            os.close(telling)
        sys.stdout.write(json.dumps(_end(child, told, order.get("kill_after", 0.0))) + "\n")
        sys.stdout.flush()


def _end(child: int, told: int, kill_after: float) -> dict[str, Any]:
    """Wait for the child's end or stop; kill it where its time is over."""
    if kill_after and not select.select([told], [], [], kill_after)[0]:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return {"code": None}
    with os.fdopen(told) as pipe:
        numbers = json.loads(pipe.read() or "{}")
    return {"code": os.waitstatus_to_exitcode(status), **numbers}


def _live(order: dict[str, Any], telling: int) -> None:
    """Be the job, and end as it does, or before."""
    CLOCK.begin(order["now"])
    seen = _Seen(order)
    # A commit counts, too: what is killed before it has said everything and kept nothing.
    event.listen(Engine, "before_cursor_execute", seen.statement)
    event.listen(Engine, "commit", seen.statement)
    Database.write = seen.stopping(Database.write)  # type: ignore[method-assign]
    reading.read = seen.reading(reading.read)
    hourly.utc_now = CLOCK.now  # type: ignore[attr-defined]  # the job's own clock
    SABOTAGE[order["sabotage"]]()
    _die_at_slack(order)
    if order["wait"]:
        CLOCK.patience_seconds = order["wait"]
    started = time.monotonic()
    budget = DELIVERIES.get(order["job"])
    code = _deliver(budget) if budget is not None else hourly.main(timedelta(seconds=order["wait"]))
    numbers = {"statements": seen.statements, "writes": seen.writes, "read_at": seen.read_at}
    os.write(telling, json.dumps(numbers | {"seconds": time.monotonic() - started}).encode())
    os._exit(code)


def _deliver(budget: timedelta) -> int:
    """Deliver what a run left, as the tick does."""

    def task(database: Database, settings: Any) -> int:  # noqa: ANN401  # what work gives
        return int(not post.deliver(database, settings, clock=CLOCK.now, budget=budget).complete)

    return work("deliver", task)


def _die_at_slack(order: dict[str, Any]) -> None:
    """Let a child die before or after one of its calls to Slack."""
    when, _, name = order["dies"].partition(" ")
    if not name:
        return
    ask, calls = getattr(Slack, name), count(1)

    def asking(*told: Any, **more: Any) -> Any:  # noqa: ANN401  # as the real one
        dies = next(calls) == order["dies_at"]
        if dies and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = ask(*told, **more)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(Slack, name, asking)


class _Seen:
    """What a child has done so far, and what is to happen to it where."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._counts: tuple[Iterator[int], Iterator[int]] = (count(1), count(1))
        self.statements = self.writes = self.read_at = 0

    def statement(self, *_: object) -> None:
        """Count a statement or commit that is about to be."""
        self.statements = number = next(self._counts[0])
        if number == self._order["kill_at"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self._order["jump_at"]:
            CLOCK.jump(self._order["jump_seconds"])

    def stopping(self, write: Callable[..., Any]) -> Any:  # noqa: ANN401  # a method
        """Return the method that counts, and may stop, a write before it begins."""

        @contextmanager
        def writing(database: Database) -> Iterator[Any]:
            self.writes = number = next(self._counts[1])
            if number == self._order["stop_at"]:  # Outside of any transaction: it would lock everybody out.
                os.kill(os.getpid(), signal.SIGSTOP)
            with write(database) as connection:
                yield connection

        return writing

    def reading(self, read: Callable[..., Any]) -> Callable[..., Any]:
        """Return the reading after which a child may stop: what happens then, this run has not seen."""

        def reading_then(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # as reading.read has it
            snapshot = read(*arguments, **options)
            self.read_at = self.statements
            if self._order["stop_when_read"]:
                os.kill(os.getpid(), signal.SIGSTOP)
            return snapshot

        return reading_then


def _mark_at_save() -> None:
    """Take the mark when a run saves, not when it reads: what happened in between is never looked at."""
    save = cases.save_run

    def saving_late(database: Database, lease: Lease, saving: cases.Saving) -> cases.Saved:
        with database.read() as connection:
            mark = closure.mark(connection)
        return save(database, lease, replace(saving, run=replace(saving.run, mark=mark)))

    cases.save_run = saving_late


def _mark_before_save() -> None:
    """Forget what was touched as soon as it was read: a run that dies before its save takes it along."""
    read = reading.read

    def reading_once(database: Database, **options: Any) -> reading.Snapshot:  # noqa: ANN401  # as it is
        snapshot = read(database, **options)
        with database.write() as connection:
            remains.prune_touches(connection, snapshot.mark)  # What the save does, too early.
        return snapshot

    reading.read = reading_once


def _watermark_before_pages() -> None:
    """Move the watermarks before a page was read: a pull that breaks off takes the rest along."""
    take = leases.take

    def taking(database: Database, name: str, holder: str, *, now: datetime, duration: timedelta) -> Lease:
        lease = take(database, name, holder, now=now, duration=duration)
        with database.write() as connection:
            moved = update(tables.accounts).where(tables.accounts.c.watermark_at.is_not(None))
            connection.execute(moved.values(watermark_at=now, events_at=now))
        return lease

    leases.take = taking


def _no_look_up() -> None:
    """Send what is unknown again at once, as if an error were a failure."""
    delivery._Sender._look = delivery._Sender._send  # type: ignore[assignment,method-assign]  # noqa: SLF001


def _no_aim() -> None:
    """Do not write down where a message goes before it is sent."""
    outbox.aim = lambda *_, **__: True


SABOTAGE: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "mark_at_save": _mark_at_save,
    "mark_before_save": _mark_before_save,
    "watermark_before_pages": _watermark_before_pages,
    "no_look_up": _no_look_up,
    "no_aim": _no_aim,
}


if __name__ == "__main__":
    main()
