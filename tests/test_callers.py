"""Who asks without holding up an event loop, and leaves, or asks where there is no thread and no loop."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from recon.callers import GiveUp, Limit, Threads, awaited, waited
from recon.model.records.guarded import Outcome, OutcomeStatus
from tests.guards import statuses
from tests.loops import in_a_thread


class Work:
    """What a tool does in a thread: it sends unless it is told to give up."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.ready, self.go_on = threading.Event(), threading.Event()

    def __call__(self, give_up: GiveUp, _began: float) -> Outcome:
        self.ready.set()
        assert self.go_on.wait(20)
        if give_up():
            return Outcome(OutcomeStatus.REJECTED, "nobody waits")
        self.sent.append("it")
        return Outcome(OutcomeStatus.DONE, "done")


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads("test")
    yield made
    made.shutdown()


@pytest.fixture
def work() -> Work:
    return Work()


def no_thread(_thread: threading.Thread) -> None:
    """Answer as a machine does that is out of threads."""
    raise RuntimeError("can't start new thread")


@in_a_thread
async def test_what_no_thread_was_found_for_is_not_done_later(
    threads: Threads, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool keeps what it could start no thread for, and the next thread would take it up."""
    work.go_on.set()
    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", no_thread)
        first = await awaited(threads, work, noun="refund")
    second = await awaited(threads, work, noun="refund")
    threads.shutdown()

    assert statuses(first, second) == ["rejected", "done"]
    assert "can start no thread" in first.message
    assert work.sent == ["it"]


@in_a_thread
async def test_what_a_busy_thread_takes_up_meanwhile_is_not_called_unsent(
    threads: Threads, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.go_on.set()
    await awaited(threads, work, noun="refund")
    submit = threads.submit

    def taken_up_and_refused(*asked: object, **more: object) -> None:
        work.ready.clear()
        submit(*asked, **more)  # type: ignore[arg-type]  # as the executor has them
        assert work.ready.wait(20)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "submit", taken_up_and_refused)

    assert statuses(await awaited(threads, work, noun="refund")) == ["pending_unknown"]


@in_a_thread
async def test_what_no_thread_was_free_for_in_its_time_is_not_done_later(
    threads: Threads, work: Work
) -> None:
    """The first takes the only thread, and is unknown; the others never began."""
    threads._max_workers = 1  # noqa: SLF001 -- as many as others need
    limit = Limit(0.1, lambda: Outcome(OutcomeStatus.PENDING_UNKNOWN, "it is late"))
    first = asyncio.create_task(awaited(threads, work, noun="letter", within=limit))
    await asyncio.to_thread(work.ready.wait, 20)
    second = await awaited(threads, work, noun="letter", within=limit)
    third = await asyncio.to_thread(waited, threads, work, noun="letter", within=limit)
    late = await first
    work.go_on.set()
    threads.shutdown()

    assert statuses(late, second, third) == ["pending_unknown", "rejected", "rejected"]
    assert "too many calls of this process are under way" in third.message
    assert work.sent == []


@pytest.mark.parametrize("closes", [True, False], ids=["closed", "cancelled"])
@in_a_thread
async def test_whoever_lets_a_call_go_is_not_sent_for(threads: Threads, work: Work, *, closes: bool) -> None:
    """A coroutine that is closed raises GeneratorExit, one that is cancelled CancelledError."""
    asking = awaited(threads, work, noun="refund")
    if closes:
        asking.send(None)
    else:
        asked = asyncio.create_task(asking)
    await asyncio.to_thread(work.ready.wait, 20)
    if closes:
        asking.close()
    else:
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    work.go_on.set()
    threads.shutdown()

    assert work.sent == []


@pytest.mark.parametrize("sends, status", [(True, "rejected"), (False, "pending_unknown")])
def test_without_asyncio_it_is_refused_and_not_raised(
    threads: Threads, work: Work, *, sends: bool, status: str
) -> None:
    """As trio drives a coroutine."""
    with pytest.raises(StopIteration) as ended:
        awaited(threads, work, noun="refund", sends=sends).send(None)
    outcome: Outcome = ended.value.value

    assert (statuses(outcome), work.ready.is_set()) == ([status], False)
    assert sends is ("outside an event loop of asyncio" in outcome.message)
