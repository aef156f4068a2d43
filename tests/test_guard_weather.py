"""Nothing is ever raised into a framework: weather, bugs, hostile words, cancelled tasks."""

import asyncio
import threading
import time
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import func, select

from recon.doors import intents
from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.guard import RefundTool
from recon.model.errors import DatabaseUnavailable
from recon.model.records.words import IntentStatus
from tests.guards import HASTY, LISTS, PATIENT, PAYMENT, REFUNDS, Shop, provider
from tests.loops import in_a_thread
from tests.sandboxes import Street


def test_without_a_database_nothing_is_sent(sandbox: Street, tmp_path: Any) -> None:  # noqa: ANN401  # a path
    sandbox.payment(PAYMENT, 10_000)
    with Database.open(f"sqlite:///{tmp_path / 'none.db'}") as empty:
        tool = RefundTool(empty, provider(sandbox, PATIENT))
        outcome = tool.refund_order("8812", "49.00", "usd", PAYMENT)
        status = tool.check_refund_status("8812")
        tool.close()

    assert str(outcome.status) == "rejected"
    assert "the database in which it is written down does not answer" in outcome.message
    assert str(status.status) == "pending_unknown"
    assert sandbox.requests() == []


def test_a_database_that_others_keep_is_not_waited_for_longer_than_a_call_has(hasty: Shop) -> None:
    name = "recon payment  pi_1"  # Whoever begins to send on the payment holds this; on SQLite, everything.
    alone = select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0)))
    began = time.monotonic()
    with hasty.database.write() as connection:
        if hasty.database.dialect == "postgresql":
            connection.execute(alone)
        outcome = hasty.refund()

    assert time.monotonic() - began < HASTY.deadline_seconds + 2
    assert str(outcome.status) == "rejected"
    assert hasty.posts() == []


def test_a_database_that_goes_away_after_the_send_leaves_the_truth(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = intents.write

    def away(connection: Any, row: Any, **more: Any) -> None:  # noqa: ANN401  # of write
        if row.status is IntentStatus.DONE:
            raise DatabaseUnavailable("gone")
        write(connection, row, **more)

    with monkeypatch.context() as patch:
        patch.setattr(intents, "write", away)
        outcome = shop.refund()
    shop.pass_time(minutes=1)

    assert (str(outcome.status), shop.status(), len(shop.refunds())) == ("done", "pending", 1)
    assert str(shop.refund().status) == "already_done"
    assert len(shop.posts()) == 1


def test_a_database_that_goes_away_while_nobody_knows_says_that_nobody_knows(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")

    def away(*_: object) -> None:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(calls, "note_answer", away)

    assert str(shop.refund().status) == "pending_unknown"
    assert shop.status() == "pending"


@pytest.mark.parametrize("door, where", [(calls, "note"), (intents, "switched_off"), (intents, "blocked")])
def test_a_bug_is_no_exception_and_nothing_is_sent(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, door: ModuleType, where: str
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(door, where, bug)

    assert str(shop.refund().status) == "pending_unknown"
    assert shop.posts() == []


def test_a_bug_in_the_sender_is_unknown_and_looked_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    send = shop.tool._provider.send  # noqa: SLF001 -- where the request leaves

    def bug(*args: Any, **more: Any) -> None:  # noqa: ANN401  # of send
        send(*args, **more)
        raise ZeroDivisionError

    monkeypatch.setattr(shop.tool._provider, "send", bug)  # noqa: SLF001 -- as above

    assert (str(shop.refund().status), len(shop.refunds()), len(shop.posts())) == ("done", 1, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order_id": ""},
        {"order_id": object()},
        {"payment": None},
        {"payment": 10**5000},
        {"currency": "dollars"},
        {"reference": 1.5},
    ],
)
def test_what_a_model_may_send_is_rejected_not_raised(shop: Shop, wrong: dict[str, Any]) -> None:
    asked = {"order_id": "8812", "amount": "1.00", "currency": "usd", "payment": PAYMENT} | wrong

    assert str(shop.tool.refund_order(**asked).status) == "rejected"
    assert shop.posts() == []


def test_hostile_words_about_a_call_are_kept_as_text(shop: Shop) -> None:
    outcome = shop.refund(call_id="a\x00b" + "x" * 9999, caller="\ud800", reason="<script>")

    (call,) = shop.calls()
    assert str(outcome.status) == "done"
    assert (len(call.call_id), call.caller, call.answer) == (500, "\N{REPLACEMENT CHARACTER}", "done")


@in_a_thread
async def test_the_same_without_holding_up_the_loop(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "latency", after_s=0.5)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    counting = asyncio.create_task(count())
    asked = [shop.tool.arefund_order("8812", "49.00", "usd", PAYMENT, call_id=str(each)) for each in range(4)]
    told_by = await asyncio.gather(*asked)
    counting.cancel()

    assert sorted(str(each.status) for each in told_by) == ["already_done"] * 3 + ["done"]
    assert turns > 3
    assert len(shop.posts()) == 1


@in_a_thread
async def test_a_task_that_is_cancelled_before_the_request_left_sends_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go = threading.Event(), threading.Event()
    blocked = intents.blocked

    def slowly(*args: Any) -> object:  # noqa: ANN401  # of blocked
        reached.set()
        go.wait(20)
        return blocked(*args)

    monkeypatch.setattr(intents, "blocked", slowly)
    task = asyncio.create_task(shop.tool.arefund_order("8812", "49.00", "usd", PAYMENT))
    await asyncio.to_thread(reached.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await asyncio.to_thread(shop.close)

    assert (shop.status(), shop.intent().first_sent_at, shop.posts()) == ("pending", None, [])
