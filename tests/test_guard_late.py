"""A call whose time was over before it entered: it sends nothing, waits for nobody, and is told the truth."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from recon.doors import intents
from recon.model.records.guarded import Outcome
from tests.guards import LISTS, ORDER, PAYMENT, REFUNDS, Shop, eventually, lasting, statuses
from tests.loops import in_a_thread

HOUR_SECONDS = 3600.0
UNKNOWN = "It is not known yet whether"


def late(shop: Shop) -> Outcome:
    """Ask as somebody did an hour ago."""
    return shop.refund(began=time.monotonic() - HOUR_SECONDS)


def unreached(shop: Shop) -> Outcome:
    """Ask on a machine from which no provider can be reached."""
    tool = shop.another(base_url="http://127.0.0.1:1")
    return tool.refund_order(ORDER, "49.00", "usd", PAYMENT)


def nothing(_: Shop) -> None:
    """Leave the books empty."""


def cancelled(shop: Shop) -> None:
    late(shop)
    shop.pass_time(minutes=2)
    shop.tool.settle()
    assert shop.status() == "cancelled"


def off(shop: Shop) -> None:
    shop.throw()


def lost(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund()
    shop.pass_time(minutes=2)


def proved(shop: Shop) -> None:
    """Let two look-ups prove that nothing came of it; they were the last before another send."""
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    for _ in range(2):
        shop.pass_time(minutes=2)
        shop.tool.settle()
    assert shop.row().misses == 2


def held(shop: Shop) -> None:
    lost(shop)
    with shop.database.write() as connection:
        until = shop.now + timedelta(seconds=20)
        assert intents.take(connection, shop.row(), "another", now=shop.now, until=until)


def busy(shop: Shop) -> None:
    """Let another refund of the payment be unknown."""
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund("8811")


def done(shop: Shop) -> None:
    shop.refund()


def refused(shop: Shop) -> None:
    shop.refund(amount="1000.00")


@pytest.mark.parametrize(
    "before, status, says",
    [
        (nothing, "rejected", "there was no time left to send it. Nothing was done."),
        (cancelled, "rejected", "there was no time left to send it. Nothing was done."),
        (off, "disabled", "No call has sent this one."),
        (lost, "pending_unknown", UNKNOWN),
        (proved, "pending_unknown", UNKNOWN),
        (held, "pending_unknown", UNKNOWN),
        (busy, "rejected", "another refund of the same payment is not settled yet. Nothing was done."),
        (done, "already_done", "An earlier call did it."),
        (refused, "rejected", "Do not try again; hand it over to a person."),
    ],
)
def test_what_a_call_is_told_whose_time_is_over(
    shop: Shop, before: Callable[[Shop], None], status: str, says: str
) -> None:
    before(shop)
    sent, began = len(shop.posts()), time.monotonic()
    outcome = late(shop)

    assert statuses(outcome) == [status]
    assert says in outcome.message
    assert len(shop.posts()) == sent
    assert time.monotonic() - began < shop.settings.deadline_seconds / 2
    assert str(shop.calls()[-1].answer) == status


@pytest.mark.parametrize("before", [nothing, cancelled])
def test_the_next_call_does_it(shop: Shop, before: Callable[[Shop], None]) -> None:
    before(shop)
    late(shop)

    assert statuses(shop.refund(), late(shop)) == ["done", "already_done"]
    assert len(shop.posts()) == 1


@pytest.mark.parametrize("before", [lost, proved, held])
def test_what_it_left_alone_comes_to_its_end(shop: Shop, before: Callable[[Shop], None]) -> None:
    before(shop)
    late(shop)

    assert statuses(lasting(shop, passes=4)) == ["already_done"]
    assert len(shop.refunds()) == 1


@pytest.mark.parametrize("asks", [late, unreached])
def test_a_call_that_sends_nothing_spends_no_proof(shop: Shop, asks: Callable[[Shop], Outcome]) -> None:
    proved(shop)
    before = shop.row()
    outcome = asks(shop)
    after = shop.row()
    again = shop.refund()

    assert statuses(outcome, again) == ["pending_unknown", "done"]
    assert (after.misses, after.sends, after.sent_at) == (2, 1, before.sent_at)
    assert len(shop.refunds()) == 1


@in_a_thread
async def test_whoever_is_cancelled_while_it_waits_waits_no_longer(shop: Shop) -> None:
    """What it was told in the end is in the books, and whom it waited for goes on."""
    held(shop)
    row, sent = shop.row(), len(shop.posts())
    task = asyncio.create_task(shop.tool.arefund_order(ORDER, "49.00", "usd", PAYMENT))
    await asyncio.to_thread(eventually, lambda: len(shop.calls()) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    left = shop.settings.deadline_seconds / 2
    await asyncio.to_thread(eventually, lambda: shop.calls()[-1].answer, within=left)

    assert (str(shop.calls()[-1].answer), len(shop.posts())) == ("pending_unknown", sent)
    assert shop.row() == row
