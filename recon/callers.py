"""What a guarded tool does for its callers: books of its own, threads, words that are kept; a step of flows.

Never decides whether something is sent: recon/guarding.py does.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Engine

from recon.doors.store.engines import Database
from recon.guarding import Gate
from recon.model import characters
from recon.model.errors import ReconError
from recon.model.records.guarded import Asked, Guarded, Outcome
from recon.model.records.words import IntentStatus
from recon.rules import guarding, outcomes

_THREADS = 32  # Calls at a time of one process; those that wait for another's answer hold one each.
_LONGEST_WORD = 500  # Of what is recorded about a call: enough to find it again.
_CLOSED = "this tool is closed"
_NO_LOOP = "it was asked for outside an event loop of asyncio"
_NO_THREAD = "this process can start no thread for it"

Clock = Callable[[], datetime]
GiveUp = Callable[[], bool]  # Says yes once nobody waits for a call any more.


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def never() -> bool:
    """Return that somebody waits for the call, to its end."""
    return False


def opened(engine: Database | Engine) -> Database:
    """Return the database; an engine's is opened anew: no call is part of a transaction of the host's."""
    if isinstance(engine, Database):
        return engine
    return Database.open(engine.url.render_as_string(hide_password=False))


class Threads(ThreadPoolExecutor):
    """The threads in which asynchronous calls of one tool wait, until it is closed."""

    closed = False

    def __init__(self, name: str) -> None:
        super().__init__(_THREADS, thread_name_prefix=name)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 -- as the executor has it
        """Wait for calls under way; none begins any more."""
        self.closed = True
        super().shutdown(wait, cancel_futures=cancel_futures)


def turned_away(noun: str, why: str = _CLOSED) -> Outcome:
    """Return what a call is told that a tool does not take on, and why."""
    return outcomes.not_by_this(noun, None, why)


async def awaited(
    threads: Threads,
    work: Callable[[GiveUp, float], Outcome],
    *,
    noun: str,
    sends: bool = True,
    began: float | None = None,
) -> Outcome:
    """Return what comes of the work without holding up the event loop.

    work: takes what tells it to give up, and when the caller began to wait, on time.monotonic(): it may have
    to wait for a thread. sends: whether it may send something; what only looks leaves unknown what it cannot
    see. began: where that was before this. Whoever is cancelled hears of it at once, and the work is told to
    give up.
    """
    unknown = outcomes.unknown(noun, None)
    stop, claim = threading.Event(), threading.Lock()
    since = time.monotonic() if began is None else began
    run = partial(_claimed, claim, contextvars.copy_context(), work, stop.is_set, since)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # Another kind of loop drives it, such as trio's, or a person by hand.
        return turned_away(noun, _NO_LOOP) if sends else unknown
    if threads.closed:
        return turned_away(noun) if sends else unknown
    try:
        running = loop.run_in_executor(threads, run)
    except RuntimeError:
        # The process is ending, or may start no more threads. What was queued by then may still be taken up.
        stop.set()
        return turned_away(noun, _NO_THREAD) if sends and claim.acquire(blocking=False) else unknown
    try:
        told = await asyncio.shield(running)
    except BaseException:  # The framework's time-out, a person who closed the window, a coroutine let go.
        stop.set()
        raise
    return told or unknown


def asked(words: Mapping[str, object]) -> Asked:
    """Return who asked for what, as texts that any database keeps."""
    told = {
        name: characters.keepable(str(value))[:_LONGEST_WORD]
        for name, value in words.items()
        if value is not None
    }
    return Asked(told.pop("call_id", None), told.pop("caller", None), told)


def standing(gate: Gate, row: Guarded, noun: str, now: datetime) -> Outcome:
    """Return how a side effect stands, looked up where nobody knows; sends nothing."""
    if guarding.step(row) is guarding.Step.LOOK:
        with suppress(ReconError):  # A run or a person is faster, or the database is away.
            row = gate.look(row)
    if row.status is IntentStatus.DONE:
        return gate.confirm(row, noun)
    if row.status is IntentStatus.FAILED:
        return outcomes.failed(noun, row)
    if row.first_sent_at is None and row.until <= now:
        return outcomes.not_sent(noun, row.key, "nobody has sent it")
    with suppress(ReconError):  # The database is away.
        if gate.may_send_again(row) and not gate.is_switched_off(row):
            return outcomes.absent(noun, row)
    return outcomes.open_still(noun, row)


def _claimed(
    claim: threading.Lock,
    context: contextvars.Context,
    work: Callable[[GiveUp, float], Outcome],
    give_up: GiveUp,
    began: float,
) -> Outcome | None:
    """Return what comes of the work; None where whoever asked was told by then that it is not done."""
    return context.run(work, give_up, began) if claim.acquire(blocking=False) else None
