"""What a guarded tool does for its callers: books of its own, threads, words that are kept; a step of flows.

Never decides whether something is sent: recon/guarding.py does.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Engine

from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.guarding import Gate
from recon.model import characters, forks
from recon.model.errors import DatabaseUnavailable, ReconError
from recon.model.records.guarded import Asked, Guarded, Outcome
from recon.model.records.words import IntentStatus
from recon.rules import guarding, outcomes

_THREADS = 32  # Calls at a time of one process; those that wait for another's answer hold one each.
_LONGEST_WORD = 500  # Of what is recorded about a call: enough to find it again.
_LAST_WORD_SECONDS = 1.0  # What ends in time has its own words, and writes them down first.
_CLOSED = "this tool is closed"
_NO_LOOP = "it was asked for outside an event loop of asyncio"
_NO_THREAD = "this process can start no thread for it"
_NO_TURN = "too many calls of this process are under way"

GiveUp = Callable[[], bool]  # Says yes once nobody waits for a call any more.
# Takes that, and when the caller began to wait, on time.monotonic(): it may have to wait for a thread.
Work = Callable[[GiveUp, float], Outcome]


def never() -> bool:
    """Return that somebody waits for the call, to its end."""
    return False


def opened(engine: Database | Engine) -> Database:
    """Return the database; an engine's is opened anew: no call is part of a transaction of the host's."""
    if isinstance(engine, Database):
        return engine
    return Database.open(engine.url.render_as_string(hide_password=False))


def ready(url: str, *, wait_seconds: float) -> Database:
    """Return the database of a URL, having seen that the guard's tables are there; one that is away may be.

    It keeps no connection, so that a host may fork after it.

    Raises:
        ConfigurationError: they are missing, or of another version; or it refuses us.
    """
    database = Database.open(url)
    try:
        with suppress(DatabaseUnavailable), database.read(wait_seconds=wait_seconds) as connection:
            calls.check(connection)
    finally:
        database.close()
    return database


@dataclass(frozen=True, slots=True)
class Limit:
    """How long somebody waits, and what they are told then of what is still under way."""

    seconds: float
    late: Callable[[], Outcome]


class Threads(ThreadPoolExecutor):
    """The threads in which calls of one tool are made, until it is closed."""

    closed = False

    def __init__(self, name: str) -> None:
        super().__init__(_THREADS, thread_name_prefix=name)
        self._name = name
        forks.follow(self)

    def renew(self) -> None:
        """Begin without a thread: those of the parent make its calls, and are not here."""
        super().__init__(_THREADS, thread_name_prefix=self._name)
        if self.closed:
            super().shutdown()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 -- as the executor has it
        """Wait for calls under way; none begins any more."""
        self.closed = True
        super().shutdown(wait, cancel_futures=cancel_futures)


def turned_away(noun: str, why: str = _CLOSED) -> Outcome:
    """Return what a call is told that a tool does not take on, and why."""
    return outcomes.not_by_this(noun, None, why)


async def awaited(
    threads: Threads,
    work: Work,
    *,
    noun: str,
    sends: bool = True,
    began: float | None = None,
    within: Limit | None = None,
) -> Outcome:
    """Return what comes of the work without holding up the event loop.

    sends: whether it may send something; what only looks leaves unknown what it cannot see. began: when the
    caller began to wait, on time.monotonic(), where that was before this. within: as waited has it; None
    waits to its end. Whoever is cancelled hears of it at once, and the work is told to give up.
    """
    unknown = outcomes.unknown(noun, None)
    turn = _Turn(work, time.monotonic() if began is None else began)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # Another kind of loop drives it, such as trio's, or a person by hand.
        return turned_away(noun, _NO_LOOP) if sends else unknown
    if threads.closed:
        return turned_away(noun) if sends else unknown
    try:
        running = loop.run_in_executor(threads, turn)
    except RuntimeError:  # The process is ending, or may start no more threads.
        return turned_away(noun, _NO_THREAD) if turn.let_go() and sends else unknown
    try:
        await asyncio.wait({running}, timeout=None if within is None else turn.left(within.seconds))
    except BaseException:  # The framework's time-out, a person who closed the window, a coroutine let go.
        turn.stop.set()
        raise
    if within is None or running.done():
        return running.result() or unknown
    return turned_away(noun, _NO_TURN) if turn.let_go() else within.late()


def waited(threads: Threads, work: Work, *, noun: str, within: Limit) -> Outcome:
    """Return what comes of the work, or what is told once its time is over; it goes on by itself then."""
    turn = _Turn(work, time.monotonic())
    if threads.closed:
        return turned_away(noun)
    try:
        running = threads.submit(turn)
    except RuntimeError:  # As above.
        return turned_away(noun, _NO_THREAD) if turn.let_go() else within.late()
    try:
        done, _ = wait([running], timeout=turn.left(within.seconds))
    except BaseException:  # Ctrl-C.
        turn.stop.set()
        raise
    if done:
        return running.result() or within.late()
    return turned_away(noun, _NO_TURN) if turn.let_go() else within.late()


def asked(words: Mapping[str, object]) -> Asked:
    """Return who asked for what, as texts that any database keeps."""
    told = {name: _word(value) for name, value in words.items() if value is not None}
    return Asked(told.pop("call_id", None), told.pop("caller", None), told)


def standing(gate: Gate, row: Guarded, noun: str, now: datetime, *, until: float) -> Outcome:
    """Return how a side effect stands, looked up where nobody knows; sends nothing.

    until: when whoever asks has waited long enough, on the gate's timer.

    Raises:
        ReconError: the database is away, and nobody can say what was told of what was never sent.
    """
    if guarding.step(row) is guarding.Step.LOOK:
        with suppress(ReconError):  # A run or a person is faster, or the database is away.
            row = gate.look(row, until=until)
    if row.status is IntentStatus.DONE:
        return gate.confirm(row, noun, until=until)
    if row.status is IntentStatus.FAILED:
        return outcomes.failed(noun, row)
    unsent = row.first_sent_at is None and row.until <= now
    if (unsent or row.status is IntentStatus.CANCELLED) and gate.was_kept_back(row):
        return outcomes.kept_back(noun, row.key)
    if unsent:
        return outcomes.not_sent(noun, row.key, "nobody has sent it")
    with suppress(ReconError):  # The database is away.
        if gate.may_send_again(row) and not gate.is_switched_off(row):
            return outcomes.absent(noun, row)
    return outcomes.open_still(noun, row)


def _word(value: object) -> str:
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's object does when it is asked for its text
        text = "something that cannot be written"
    return characters.keepable(text)[:_LONGEST_WORD]


class _Turn:
    """One call's turn in a thread, which comes once, or never where it was let go before."""

    def __init__(self, work: Work, began: float) -> None:
        self.stop = threading.Event()
        self._began = began
        self._claim = threading.Lock()
        self._run = partial(contextvars.copy_context().run, work, self.stop.is_set, began)

    def __call__(self) -> Outcome | None:
        """Return what comes of the work; None where it was let go."""
        return self._run() if self._claim.acquire(blocking=False) else None

    def let_go(self) -> bool:
        """Return whether it has not come and never will, for all that a pool still keeps it."""
        self.stop.set()
        return self._claim.acquire(blocking=False)

    def left(self, seconds: float) -> float:
        """Return how long to wait for it that may take so long, and a moment more to write it down."""
        return max(0.0, self._began + seconds + _LAST_WORD_SECONDS - time.monotonic())
