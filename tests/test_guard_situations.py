"""What went wrong elsewhere, played on the sandbox: at most one live refund for each intent, come what may.

The situations are those that others reported; each runs on SQLite and on PostgreSQL.
"""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.guards import HASTY, PAYMENT, REFUNDS, Shop, callers, eventually, lasting, statuses
from tests.loops import in_a_thread


@pytest.mark.parametrize("fault", ["drop_after", "cut_body_after", "html_200_after", "500_after"])
def test_the_provider_commits_and_the_answer_is_lost(shop: Shop, fault: str) -> None:
    shop.street.fault(REFUNDS, fault)

    first, second = shop.refund(), shop.refund()

    assert statuses(first, second) == ["done", "already_done"]
    assert first.refund_id == second.refund_id == shop.refunds()[0].id
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_three_calls_with_three_ids_and_three_wordings_are_one_refund(shop: Shop) -> None:
    words = ["customer unhappy", "Item broken", "fraudulent"]
    outcomes = [
        shop.refund(call_id=f"call_{number}", caller="agent", reason=said)
        for number, said in enumerate(words)
    ]

    assert statuses(*outcomes) == ["done", "already_done", "already_done"]
    assert len({each.intent_key for each in outcomes}) == 1
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)
    assert [call.call_id for call in shop.calls()] == ["call_0", "call_1", "call_2"]
    assert len(shop.calls()) - 1 == 2  # What the alert counts.
    assert shop.posts()[0]["form"]["reason"] == "requested_by_customer"


def test_another_conversation_asks_for_the_same_refund(shop: Shop) -> None:
    shop.refund(caller="thread 1")
    shop.pass_time(days=3)
    other = shop.another().refund_order("8812", Decimal(49), "USD", PAYMENT, caller="thread 2")

    assert (str(other.status), len(shop.refunds())) == ("already_done", 1)


def test_two_equal_partial_refunds_with_different_references_are_two(shop: Shop) -> None:
    outcomes = [shop.refund(reference=line) for line in ("line 1", "line 2", "line 1")]

    assert statuses(*outcomes) == ["done", "done", "already_done"]
    assert len(shop.refunds()) == 2


def test_two_processes_at_once_while_the_provider_holds_the_first(database_url: str, shop: Shop) -> None:
    shop.street.fault(REFUNDS, "latency", after_s=2)
    call = {"order_id": "8812", "amount": "49.00", "currency": "usd", "payment": PAYMENT}
    started = callers(database_url, shop.street, [{"now": shop.now.isoformat(), "calls": [call]}] * 2)

    told = [json.loads(each.communicate(timeout=60)[0])[0] for each in started]

    assert sorted(each["status"] for each in told) == ["already_done", "done"]
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_whoever_waits_in_vain_says_within_its_own_deadline_that_nobody_knows(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "latency", after_s=7)
    slow = hasty.another(replace(HASTY, deadline_seconds=20.0, send_timeout_seconds=15.0))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(slow.refund_order, "8812", "49.00", "usd", PAYMENT)
        eventually(hasty.posts)
        loser = hasty.another().refund_order("8812", "49.00", "usd", PAYMENT)
        waited = not running.done()

        assert (str(loser.status), waited) == ("pending_unknown", True)
        assert str(running.result().status) == "done"
    assert (len(hasty.refunds()), len(hasty.posts())) == (1, 1)


def test_eighteen_calls_at_once_from_several_processes_are_one_refund(database_url: str, shop: Shop) -> None:
    call = {"order_id": "8812", "amount": "49.00", "currency": "usd", "payment": PAYMENT}
    asked = [{"now": shop.now.isoformat(), "calls": [call] * 6}] * 3
    started = callers(database_url, shop.street, asked)

    told = [each for one in started for each in json.loads(one.communicate(timeout=90)[0])]

    assert len(told) == 18
    assert sorted(each["status"] for each in told) == ["already_done"] * 17 + ["done"]
    assert (len(shop.refunds()), len(shop.posts()), len(shop.calls())) == (1, 1, 18)


def test_two_intents_on_a_payment_that_holds_one_of_them(shop: Shop) -> None:
    tools = [shop.another(), shop.another()]
    with ThreadPoolExecutor(2) as threads:
        running = [
            threads.submit(tool.refund_order, order, "60.00", "usd", PAYMENT)
            for tool, order in zip(tools, ("1", "2"), strict=True)
        ]
        outcomes = [each.result() for each in running]

    assert sorted(statuses(*outcomes)) == ["done", "rejected"]
    assert sum(each.amount_minor for each in shop.refunds()) == 6000
    assert sorted(shop.status(order) for order in ("1", "2")) == ["done", "failed"]


def test_the_process_is_killed_after_the_provider_committed(database_url: str, shop: Shop) -> None:
    shop.street.fault(REFUNDS, "hang_after")
    call = {"order_id": "8812", "amount": "49.00", "currency": "usd", "payment": PAYMENT}
    (process,) = callers(database_url, shop.street, [{"now": shop.now.isoformat(), "calls": [call]}])
    eventually(lambda: shop.posts() and shop.refunds())
    process.kill()
    process.communicate()
    assert (shop.status(), shop.intent().first_sent_at) == ("pending", shop.now)

    shop.pass_time(seconds=46)
    outcome = shop.refund()

    assert (str(outcome.status), outcome.refund_id) == ("already_done", shop.refunds()[0].id)
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_a_call_that_lasts_longer_than_a_lease_is_not_overtaken(hasty: Shop) -> None:
    """A sender whose lease lapsed in its hands writes nothing, and whoever took over only looks."""
    hasty.street.fault(REFUNDS, "latency", after_s=2)
    slow = hasty.another(replace(HASTY, deadline_seconds=10.0, send_timeout_seconds=8.0))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(slow.refund_order, "8812", "49.00", "usd", PAYMENT)
        eventually(hasty.posts)
        hasty.now += HASTY.lease
        second = hasty.another().refund_order("8812", "49.00", "usd", PAYMENT)
        first = running.result()

    assert len(hasty.posts()) == 1
    assert {str(second.status), str(first.status)} <= {"already_done", "done", "pending_unknown"}
    assert str(lasting(hasty, passes=1).status) == "already_done"
    assert (len(hasty.refunds()), hasty.row().fence >= 2) == (1, True)


@in_a_thread
async def test_a_task_is_cancelled_after_the_request_left(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "latency", after_s=1)
    task = asyncio.create_task(shop.tool.arefund_order("8812", "49.00", "usd", PAYMENT))
    await asyncio.to_thread(eventually, shop.posts)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (shop.status(), shop.intent().first_sent_at) == ("pending", shop.now)
    await asyncio.to_thread(eventually, lambda: shop.status() == "done")
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_what_interrupts_a_sender_leaves_a_row_that_says_so_and_the_sweeper_settles_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = shop.tool._provider.send  # noqa: SLF001 -- where the request leaves

    def interrupted(*args: object, **more: object) -> object:
        send(*args, **more)  # type: ignore[arg-type]  # as it was called
        raise KeyboardInterrupt

    monkeypatch.setattr(shop.tool._provider, "send", interrupted)  # noqa: SLF001 -- as above
    with pytest.raises(KeyboardInterrupt):
        shop.refund()
    assert shop.status() == "pending_unknown"

    settled = shop.tool.settle()

    assert (settled.looked, settled.done, shop.status()) == (1, 1, "done")
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_a_500_and_the_refund_appears_later(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "500_then_appears", after_s=90)

    first = shop.refund()
    shop.pass_time(seconds=61)
    early = shop.tool.settle()
    shop.pass_time(seconds=61)
    late = shop.tool.settle()

    assert str(first.status) == "pending_unknown"
    assert ((early.done, early.unknown), (late.done, late.unknown)) == ((0, 1), (1, 0))
    assert str(shop.refund().status) == "already_done"
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)
