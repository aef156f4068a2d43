"""The tool as plain functions: what the host says, what the model says, and what is told of either."""

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from recon.adapters.functions import Refunds
from recon.guard import Outcome
from recon.model.records.payables import Payable
from tests.adapters.hosts import ARGUMENTS, Host, naive
from tests.guards import HASTY, LISTS, ORDER, PAYMENT, REFUNDS, statuses
from tests.loops import in_a_thread


def both(refunds: Refunds, *asked: Any) -> list[Outcome]:  # noqa: ANN401  # what a model may send
    """What a plain call is told, and an asynchronous one after it."""
    return [refunds.refund(*asked), asyncio.run(answered(refunds.arefund(*asked)))]


async def answered(asking: Coroutine[Any, Any, Outcome]) -> Outcome:
    """What is told, if ever anything is."""
    done, _ = await asyncio.wait([asyncio.ensure_future(asking)], timeout=20)
    assert done, "no answer ever came"
    return done.pop().result()


def test_a_retry_is_one_refund_and_every_spelling_of_an_order_is_the_books_one(host: Host) -> None:
    """A model writes #8812 the second time; what makes the key is what the books call the order."""
    refund_order, check_refund_status = Refunds(host.shop.tool, host.lookup).functions()
    host.shop.street.fault(REFUNDS, "drop_after")
    first = refund_order(ORDER, "49.00", "broken")
    second = refund_order(f"#{ORDER}", "49.00", "It was broken when it came.")
    seen = check_refund_status(f" {ORDER}\u200b")

    assert [each["status"] for each in (first, second, seen)] == ["done", "already_done", "already_done"]
    assert len(host.shop.refunds()) == 1
    assert [reason for _, _, reason in host.said()] == ["broken", "It was broken when it came."]


def test_the_tool_before_it_refunds_twice(host: Host) -> None:
    refund_order = naive(host.shop.street)
    host.shop.street.fault(REFUNDS, "drop_after")
    with pytest.raises(Exception, match="connect"):
        refund_order(ORDER, "49.00", "broken")
    refund_order(ORDER, "49.00", "broken")

    assert len(host.shop.refunds()) == 2


@in_a_thread
async def test_asynchronous_functions_and_books_do_the_same(host: Host) -> None:
    refund_order, check_refund_status = Refunds(host.shop.tool, host.alookup).afunctions()
    told = await asyncio.gather(*(refund_order(ORDER, "49.00", str(number)) for number in range(4)))
    seen = await check_refund_status(ORDER)

    assert sorted(str(each["status"]) for each in told) == ["already_done"] * 3 + ["done"]
    assert (seen["status"], len(host.shop.refunds())) == ("already_done", 1)


def breaks(_order: str) -> Payable:
    raise KeyError("no such order, says the shop's code")


def stops(_order: str) -> Payable:
    """What a look-up does that says next() of nothing; a thread does not hand that on."""
    raise StopIteration


async def looks_for_what_was_cancelled(_order: str) -> Payable:
    """A task of the shop's own was cancelled; whoever asks was not."""
    inner = asyncio.ensure_future(asyncio.sleep(60))
    inner.cancel()
    await inner
    raise AssertionError


LOOKUPS: list[tuple[Callable[[str], Any], str, str]] = [
    (breaks, "the order cannot be looked up", "pending_unknown"),
    (stops, "the order cannot be looked up", "pending_unknown"),
    (looks_for_what_was_cancelled, "the order cannot be looked up", "pending_unknown"),
    (lambda _: None, "found none that is called 8812", "rejected"),
    (lambda _: {"payment": PAYMENT}, "the order cannot be looked up", "pending_unknown"),
    (lambda _: Payable(ORDER, "no payment", "usd"), "payment must be the provider's id", "rejected"),
    (lambda _: Payable(ORDER, PAYMENT, "pounds"), "currency must be", "rejected"),
    (lambda _: Payable("", PAYMENT, "usd"), "order_id must say", "rejected"),
]


@pytest.mark.parametrize("lookup, why, status", LOOKUPS, ids="abcdefgh")
def test_what_the_books_do_not_say_is_a_stable_refusal(
    host: Host, lookup: Callable[[str], Any], why: str, status: str
) -> None:
    refunds = Refunds(host.shop.tool, lookup)
    first, second = both(refunds, ORDER, "49.00", "broken")
    seen = refunds.status(ORDER)

    assert first == second
    assert (str(first.status), why in first.message) == ("rejected", True)
    # What the model did not say, it cannot correct.
    assert ("hand it over to a person" in first.message) is (" must" in why)
    assert "Correct it" not in first.message or "found none that is called" in why
    assert (str(seen.status), host.shop.posts()) == (status, [])


@pytest.mark.parametrize(
    "asked",
    [
        (None, "49.00"),
        ("", "49.00"),
        (["8812"], "49.00"),
        ("8\x0012", "49.00"),
        (ORDER, 49.0),
        (ORDER, True),
        (ORDER, None),
        (ORDER, "-49.00"),
        (ORDER, "49.001"),
        (ORDER, {"value": 49}),
        (ORDER, 10**400),
    ],
    ids="abcdefghijk",
)
def test_whatever_a_model_sends_is_refused_and_not_raised(host: Host, asked: tuple[Any, Any]) -> None:
    refunds = Refunds(host.shop.tool, host.lookup)

    assert statuses(*both(refunds, *asked, object())) == ["rejected", "rejected"]
    assert host.shop.posts() == []


def test_asynchronous_books_serve_no_plain_call(host: Host) -> None:
    refunds = Refunds(host.shop.tool, host.alookup)

    assert "the order cannot be looked up" in refunds.refund(ORDER, "49.00").message
    assert (host.asked, host.shop.posts()) == ([], [])


def test_the_books_may_be_an_object_that_is_called(host: Host) -> None:
    class Books:
        async def __call__(self, order_id: str) -> Payable | None:
            return host.lookup(order_id)

    assert statuses(asyncio.run(Refunds(host.shop.tool, Books()).arefund(ORDER, "49.00"))) == ["done"]


@in_a_thread
async def test_whoever_is_cancelled_while_the_books_are_read_sent_nothing(host: Host) -> None:
    reading = asyncio.Event()

    async def slow(_order: str) -> Payable | None:
        reading.set()
        await asyncio.Event().wait()
        return None

    asked = asyncio.create_task(Refunds(host.shop.tool, slow).arefund(ORDER, "49.00"))
    await reading.wait()
    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (host.shop.posts(), host.shop.calls()) == ([], [])


@in_a_thread
async def test_books_that_are_read_slowly_hold_up_no_event_loop(host: Host) -> None:
    """A plain look-up waits here for what only the turning loop brings."""
    turned = threading.Event()

    def slow(order_id: str) -> Payable | None:
        assert turned.wait(5)
        return host.lookup(order_id)

    asked = asyncio.create_task(Refunds(host.shop.tool, slow).arefund(ORDER, "49.00"))
    asyncio.get_running_loop().call_later(0.05, turned.set)

    assert statuses(await asked) == ["done"]


@pytest.mark.parametrize("asynchronous", [True, False])
@in_a_thread
async def test_the_time_of_a_call_begins_with_its_look_up(host: Host, *, asynchronous: bool) -> None:
    """Books that take longer than the framework waits: nothing is sent for whoever asked again by then."""
    tool = host.shop.another(replace(HASTY, deadline_seconds=0.3, send_timeout_seconds=0.2))
    reading = threading.Event()

    async def aslow(order_id: str) -> Payable | None:
        await asyncio.Event().wait()
        return host.lookup(order_id)

    def slow(order_id: str) -> Payable | None:
        reading.wait(0.5)
        return host.lookup(order_id)

    refunds = Refunds(tool, aslow if asynchronous else slow)
    told = [await answered(refunds.arefund(ORDER, "49.00"))]
    if not asynchronous:
        told.append(await asyncio.to_thread(refunds.refund, ORDER, "49.00"))

    assert {*statuses(*told)} == {"rejected"}
    assert "the order cannot be looked up" in told[0].message
    assert asynchronous or "there was no time left to send it" in told[1].message
    assert host.shop.posts() == []


@in_a_thread
async def test_a_status_that_is_looked_up_slowly_holds_up_no_event_loop(host: Host) -> None:
    refunds = Refunds(host.shop.tool, host.lookup)
    host.shop.street.fault(REFUNDS, "drop_after")
    host.shop.street.fault(LISTS, "500_before")
    await refunds.arefund(ORDER, "49.00")
    host.shop.street.fault(LISTS, "latency", after_s=0.3)
    asked = asyncio.create_task(refunds.astatus(ORDER))
    ended: list[bool] = []
    asyncio.get_running_loop().call_later(0.05, lambda: ended.append(asked.done()))

    assert statuses(await asked) == ["already_done"]
    assert ended == [False]


def test_threads_of_one_decision_are_one_refund(host: Host) -> None:
    refunds = Refunds(host.shop.tool, host.lookup)
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda number: refunds.refund(**{**ARGUMENTS, "reason": f"{number}"}), range(6)))

    assert sorted(statuses(*told)) == ["already_done"] * 5 + ["done"]
    assert len(host.shop.refunds()) == 1


def test_a_framework_reads_names_arguments_and_what_they_mean(host: Host) -> None:
    refunds = Refunds(host.shop.tool, host.lookup)
    functions: list[Callable[..., object]] = [*refunds.functions(), *refunds.afunctions()]

    assert [each.__name__ for each in functions] == ["refund_order", "check_refund_status"] * 2
    assert [list(inspect.signature(each).parameters) for each in functions[:2]] == [
        ["order_id", "amount", "reason"],
        ["order_id"],
    ]
    assert "as text: 49.00" in str(functions[0].__doc__)


def test_an_answer_that_is_lost_with_the_look_up_is_unknown_to_the_model_too(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "drop_after")
    host.shop.street.fault(LISTS, "500_before", times=9)
    refund_order, check_refund_status = Refunds(host.shop.tool, host.lookup).functions()
    told, seen = refund_order(**ARGUMENTS), check_refund_status(ORDER)

    assert [told["status"], seen["status"]] == ["pending_unknown", "pending_unknown"]


def test_the_bare_install_wraps_a_function() -> None:
    frameworks = ("langgraph", "langchain_core", "agents", "openai", "mcp", "pandas", "streamlit", "typer")
    command = (
        f"import sys, recon.adapters.functions; print([name for name in {frameworks} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
