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


def threads(name: str) -> ThreadPoolExecutor:
    """Return the threads in which asynchronous calls of one tool wait."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix=name)


def turned_away(noun: str) -> Outcome:
    """Return what a call of a closed tool is told."""
    return outcomes.not_by_this(noun, None, "this tool is closed")


async def awaited(
    pool: ThreadPoolExecutor, work: Callable[[GiveUp, float], Outcome], *, closed: Outcome
) -> Outcome:
    """Return what comes of the work without holding up the event loop.

    work: takes what tells it to give up, and when the caller began to wait, on time.monotonic(): it may have
    to wait for a thread. closed: what is told where there are no threads any more. Whoever is cancelled hears
    of it at once, and the work is told to give up.
    """
    stop = threading.Event()
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    try:
        running = loop.run_in_executor(pool, context.run, work, stop.is_set, time.monotonic())
    except RuntimeError:  # The process is ending.
        return closed
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:  # The framework's time-out, or a person who closed the window.
        stop.set()
        raise


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
    return outcomes.open_still(noun, row)
