"""What the provider, or whoever stands before it, may answer, and what of it the guard believes."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.records.guarded import Heard
from tests.guards import HASTY, LISTS, ORDER, PATIENT, PAYMENT, REFUNDS, Shop, a_shop, provider, statuses
from tests.sandboxes import Street

SAID = {
    "limited": Heard(429, refused=True, code="rate_limit", said="slow down"),
    "forbidden": Heard(403, refused=True, said="forbidden"),
}


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("said", SAID)
def test_what_is_said_not_to_be_executed_is_looked_for_before_it_is_sent_again(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch, said: str, *, shown: bool
) -> None:
    """Somebody in between sent it twice, and the second time was one too many."""
    with a_shop(database, sandbox, settings=replace(HASTY, deadline_seconds=0.9)) as shop:
        send = Provider.send

        def sent(*args: Any, **more: Any) -> Heard:  # noqa: ANN401  # of send
            send(*args, **more)
            return SAID[said]

        with monkeypatch.context() as patched:
            patched.setattr(Provider, "send", sent)
            if not shown:
                sandbox.fault(LISTS, "500_before")
            first = shop.refund()
        shop.pass_time(hours=25)
        if not shown:
            sandbox.fault(LISTS, "500_before")  # The key protects no more, so that it has to be seen.
        later = [shop.refund(), shop.refund()]

        assert statuses(first, *later) == (
            ["done", "already_done", "already_done"]
            if shown
            else ["rejected", "pending_unknown", "already_done"]
        )
        assert (len(shop.posts()), len(shop.refunds())) == (1, 1)


@pytest.mark.parametrize("swept", [True, False])
def test_what_was_turned_away_is_cancelled_once_it_can_be_looked_for(shop: Shop, *, swept: bool) -> None:
    shop.street.fault(REFUNDS, "403")
    shop.street.fault(LISTS, "500_before")
    assert str(shop.refund().status) == "rejected"
    assert shop.status() == "pending"
    shop.pass_time(minutes=2)

    if swept:
        assert shop.tool.settle().cancelled == 1
    assert "was not sent" in shop.tool.check_refund_status(ORDER).message
    assert (shop.status(), str(shop.refund().status)) == ("cancelled", "done")


def test_an_order_is_refunded_once_whatever_its_key_is_made_of(shop: Shop) -> None:
    """A tool was given another name, or the host refunded by itself before it had one."""
    first = shop.refund(amount="40.00")
    renamed = RefundTool(
        shop.database, provider(shop.street, PATIENT), lambda: shop.now, operation="refund_order_v2"
    )
    shop.tools.append(renamed)
    second = renamed.refund_order(ORDER, "40.00", "usd", PAYMENT)
    on_purpose = renamed.refund_order(ORDER, "40.00", "usd", PAYMENT, reference="return-1")

    assert statuses(first, second, on_purpose) == ["done", "rejected", "done"]
    assert "already asked for" in second.message
    assert len(shop.refunds()) == 2


def test_of_two_keys_for_one_order_at_once_one_is_sent(shop: Shop) -> None:
    shop.street.payment("pi_2", 10_000)
    tools = [shop.another(), shop.another()]
    tools[1]._operation = "refund_order_v2"  # noqa: SLF001 -- as an older process has it

    def ask(place: int) -> str:
        return str(tools[place].refund_order(ORDER, "40.00", "usd", f"pi_{place + 1}").status)

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(ask, (0, 1))) == ["done", "rejected"]
    assert len(shop.posts()) == 1


def test_a_status_takes_the_time_of_one_call_however_many_refunds_it_tells_of(
    database: Database, sandbox: Street
) -> None:
    with a_shop(database, sandbox, settings=HASTY) as shop:
        for each in ("pi_2", "pi_3", "pi_4", "pi_5"):
            sandbox.payment(each, 10_000)
            sandbox.fault(REFUNDS, "drop_after")
            sandbox.fault(LISTS, "drop_before", times=2)
            assert str(shop.refund(payment=each, reference=each).status) == "pending_unknown"
        sandbox.fault(LISTS, "hang_before", times=9)
        tool = shop.another(replace(HASTY, send_timeout_seconds=3.0))

        began = time.monotonic()
        told = tool.check_refund_status(ORDER)

        assert time.monotonic() - began < 2 * HASTY.deadline_seconds
        assert statuses(told, *told.others) == ["pending_unknown"] * 4
