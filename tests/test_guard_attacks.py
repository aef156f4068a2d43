"""What was tried against the guarded tool and got through once: each stays found."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import stripe

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.doors.stripe import wire
from recon.guard import Guard, RefundTool
from recon.model.errors import ConfigurationError, DatabaseUnavailable
from recon.model.records.provider import Intent
from recon.model.records.words import IntentKey, IntentStatus
from recon.rules import keys
from tests.builders import an_intent
from tests.guards import (
    HASTY,
    LISTS,
    MINUTE,
    ORDER,
    PATIENT,
    PAYMENT,
    REFUNDS,
    Shop,
    key_of,
    provider,
    statuses,
)
from tests.loops import in_a_thread


def theirs(shop: Shop, **said: Any) -> Intent:  # noqa: ANN401  # of Intent
    """Write an intent as the company's own code does, under the tool's key."""
    intent = an_intent(
        key=IntentKey(key_of()),
        order_id=ORDER,
        payment=PAYMENT,
        amount_minor=4900,
        refund_id=None,
        created_at=shop.now,
        updated_at=shop.now,
    )
    written = replace(intent, **said)
    with shop.database.write() as connection:
        assert intents.put(connection, written)
    return written


def away(*_: object, **__: object) -> None:
    raise DatabaseUnavailable("gone")


def test_a_cancelled_intent_that_was_sent_is_looked_up_before_it_is_sent(shop: Shop) -> None:
    sent_at = shop.now
    intent = theirs(shop, status=IntentStatus.CANCELLED, first_sent_at=sent_at)
    provider(shop.street, PATIENT).create(intent, intent.key)
    shop.pass_time(hours=25)

    assert str(shop.refund().status) == "already_done"
    assert len(shop.refunds()) == 1


def test_a_database_that_goes_away_while_another_call_sends_is_no_refusal(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(shop)
    read, asked = intents.read, []

    def breaks(*about: Any) -> Any:  # noqa: ANN401  # of read
        asked.append(about)
        return read(*about) if len(asked) == 1 else away()

    monkeypatch.setattr(intents, "read", breaks)

    assert str(shop.refund().status) == "pending_unknown"


def test_a_database_that_goes_away_before_a_second_request_is_no_refusal(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    shop.pass_time(minutes=2)
    shop.refund()
    shop.pass_time(minutes=2)
    monkeypatch.setattr(intents, "switched_off", away)

    assert str(shop.refund().status) == "pending_unknown"


def held(shop: Shop) -> None:
    """Let another call enter, and not send yet."""
    found = keys.refund(order_id=ORDER, amount="49.00", currency="usd", payment=PAYMENT)
    assert isinstance(found, keys.Business)
    wanted = shop.tool._wanted(found, None)  # noqa: SLF001 -- as a call makes it
    with shop.database.write() as connection:
        intents.enter(connection, wanted, "another", now=shop.now, until=shop.now + MINUTE)


@pytest.mark.parametrize("name", ["8812\u200b", "\ufeff8812", "8812\u2060", "8812\ufe0f", "\u200e8812 "])
def test_what_nobody_sees_at_a_name_makes_no_second_refund(shop: Shop, name: str) -> None:
    shop.refund()
    shop.refund(name)

    assert len(shop.refunds()) == 1


def test_the_status_of_an_order_is_found_under_each_coding_of_its_name(shop: Shop) -> None:
    shop.refund("cafe\u0301")

    assert str(shop.tool.check_refund_status("cafe\u0301").status) == "already_done"
    assert str(shop.tool.check_refund_status(" caf\u00e9 ").status) == "already_done"


@pytest.mark.parametrize("order", [10**5000, object(), None, "", "a\x00b", 1.5], ids="abcdef")
def test_the_status_of_what_is_no_order_is_never_raised(shop: Shop, order: Any) -> None:  # noqa: ANN401  # what a model may send
    assert str(shop.tool.check_refund_status(order).status) in {"rejected", "pending_unknown"}


def test_the_status_of_what_a_call_is_at_work_on_is_not_that_nothing_was_done(shop: Shop) -> None:
    held(shop)

    assert str(shop.tool.check_refund_status(ORDER).status) == "pending_unknown"
    shop.pass_time(minutes=2)
    assert str(shop.tool.check_refund_status(ORDER).status) == "rejected"


def another(shop: Shop) -> RefundTool:
    """Return another tool of the same operation."""
    reached = provider(shop.street, PATIENT)
    told = {"tool": "refund_now", "operation": "refund_order"}
    shop.tools.append(RefundTool(shop.database, reached, lambda: shop.now, **told))  # type: ignore[arg-type]  # texts
    return shop.tools[-1]


@pytest.mark.parametrize("fault", [None, "drop_after", "403"])
def test_two_tools_of_one_operation_are_one(shop: Shop, fault: str | None) -> None:
    if fault:
        shop.street.fault(REFUNDS, fault)
    if fault == "drop_after":
        shop.street.fault(LISTS, "500_before")
    shop.refund()
    other = another(shop)
    told = other.refund_order(ORDER, "49.00", "usd", PAYMENT)
    stands = other.check_refund_status(ORDER)

    assert str(told.status) == ("done" if fault == "403" else "already_done")
    assert str(stands.status) == "already_done"
    assert len(shop.refunds()) == 1


@pytest.mark.parametrize("first", [True, False])
def test_the_switch_of_either_tool_of_an_operation_stops_it(shop: Shop, *, first: bool) -> None:
    shop.street.fault(REFUNDS, "403")
    tools = [shop.tool, another(shop)]
    tools[first].refund_order(ORDER, "49.00", "usd", PAYMENT)
    shop.throw()

    assert str(tools[not first].refund_order(ORDER, "49.00", "usd", PAYMENT).status) == "disabled"
    assert shop.refunds() == ()


def test_one_decision_of_any_tool_has_one_key(database: Database) -> None:
    guarded = Guard("send_parcel", lambda key, _: key, engine=database)
    asked: list[Mapping[str, str | int]] = [
        {"order": "1", "part": "2"},
        {"order": "1 ", "part": 2},
        {"order": "\u200b1", "part": "2"},
    ]
    told = [guarded.call(fields, {}, noun="parcel") for fields in asked]

    assert statuses(*told) == ["done", "already_done", "already_done"]


@pytest.mark.parametrize("made", [17, None, "17"])
def test_what_a_sender_returns_is_kept_as_text(
    database: Database,
    made: Any,  # noqa: ANN401  # what a function may return
) -> None:
    guarded = Guard("send_parcel", lambda *_: made, engine=database)
    told = [guarded.call({"order": "1"}, {}, noun="parcel") for _ in range(2)]

    assert [str(each.status) for each in told] == ["done", "already_done"]
    assert told[1].refund_id == (None if made is None else "17")


def test_a_sender_that_was_never_run_did_nothing(database: Database) -> None:
    async def send(*_: object) -> str:
        return "17"

    asked = partial(send)
    guarded = Guard("send_parcel", lambda *_: asked(), engine=database)  # type: ignore[arg-type]  # too

    assert str(guarded.call({"order": "1"}, {}, noun="parcel").status) == "pending_unknown"
    with pytest.raises(ConfigurationError, match="found a coroutine function"):
        Guard("send_parcel", send, engine=database)  # type: ignore[arg-type]  # what is refused


@in_a_thread
async def test_a_tool_that_is_closed_does_not_raise(shop: Shop) -> None:
    shop.tool._threads.shutdown()  # noqa: SLF001 -- what closing it does first
    told = await shop.tool.arefund_order(ORDER, "49.00", "usd", PAYMENT)
    plain = await asyncio.to_thread(shop.refund)

    assert statuses(told, plain) == ["rejected", "rejected"]
    assert told.message == plain.message
    assert "this tool is closed" in told.message
    assert shop.posts() == []


def test_the_switch_is_read_after_what_may_have_waited(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    for name in ("blocked", "switched_off"):
        found = getattr(intents, name)

        def noted(*about: Any, name: str = name, found: Any = found) -> Any:  # noqa: ANN401  # of either
            order.append(name)
            return found(*about)

        monkeypatch.setattr(intents, name, noted)
    shop.refund()

    assert order == ["blocked", "switched_off"]


def test_a_sweep_goes_on_where_somebody_was_faster(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.street.fault(REFUNDS, "403")
    shop.refund()
    shop.pass_time(minutes=2)
    take = intents.take

    def overtaken(connection: Any, row: Any, *about: Any, **more: Any) -> Any:  # noqa: ANN401  # of take
        held = take(connection, row, *about, **more)
        late = shop.now + timedelta(hours=1)
        assert take(connection, row, "another", now=late, until=late) is not None
        return held

    monkeypatch.setattr(intents, "take", overtaken)

    assert shop.tool.settle().cancelled == 0


@in_a_thread
async def test_a_call_that_waited_for_a_thread_ends_within_its_own_time(hasty: Shop) -> None:
    tool = hasty.another()
    held(hasty)
    tool._threads._max_workers = 1  # noqa: SLF001 -- as many as others need
    began = time.monotonic()
    told = await asyncio.gather(
        *(tool.arefund_order(ORDER, "49.00", "usd", PAYMENT) for _ in range(4)),
    )

    assert {str(each.status) for each in told} == {"pending_unknown"}
    assert time.monotonic() - began < 2 * HASTY.deadline_seconds


@pytest.mark.parametrize(
    "said, seconds", [("-5", None), ("nan", None), ("inf", None), ("0", 0.0), ("2", 2.0)]
)
def test_how_long_to_wait_is_a_time(said: str, seconds: float | None) -> None:
    error = stripe.RateLimitError("slow", http_status=429, headers={"Retry-After": said})

    assert wire.heard(error, "it").retry_after_seconds == seconds
