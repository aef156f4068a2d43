"""More of what went wrong elsewhere, played on the sandbox: time that passes, refusals, amounts, the switch.

The situations are those that others reported; each runs on SQLite and on PostgreSQL.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert

from recon.doors.store.engines import Database
from recon.model.records.words import IntentStatus
from tests.guards import (
    HASTY,
    LISTS,
    MINUTE,
    PAYMENT,
    REFUNDS,
    Shop,
    a_shop,
    eventually,
    key_of,
    lasting,
    statuses,
)
from tests.sandboxes import Street


def test_the_answer_is_lost_before_midnight_and_looked_up_after_it(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    before = shop.refund()
    shop.pass_time(minutes=1)
    shop.refund()
    shop.pass_time(minutes=2)
    after = shop.refund()

    assert before.intent_key == after.intent_key
    assert statuses(before, after) == ["pending_unknown", "done"]
    assert {post["key"] for post in shop.posts()} == {before.intent_key}
    assert len(shop.refunds()) == 1


@pytest.mark.parametrize("fault", ["drop_after", "500_after"])
def test_the_agent_calls_again_when_the_key_is_pruned(shop: Shop, fault: str) -> None:
    shop.street.fault(REFUNDS, fault)
    shop.street.fault(LISTS, "500_before", times=3)
    first = shop.refund()
    shop.pass_time(hours=25)
    blind = shop.refund()
    for _ in range(7):
        shop.pass_time(minutes=2)
        last = shop.refund()

    assert statuses(first, blind, last) == ["pending_unknown", "pending_unknown", "already_done"]
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)


def test_nothing_is_sent_again_once_the_key_may_be_pruned(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    shop.pass_time(hours=25)
    last = lasting(shop)

    assert (str(last.status), shop.refunds(), len(shop.posts())) == ("pending_unknown", (), 1)


def test_a_status_says_that_the_same_call_may_be_made_where_it_is_sent(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    early = shop.tool.check_refund_status("8812")
    for _ in range(2):
        shop.pass_time(minutes=2)
        proved = shop.tool.check_refund_status("8812")
    shop.throw()
    off = shop.tool.check_refund_status("8812")
    shop.throw(thrown=False)

    assert statuses(early, proved, off) == ["pending_unknown"] * 3
    assert ["may be made now" in each.message for each in (early, proved, off)] == [False, True, False]
    assert (str(shop.refund().status), len(shop.posts())) == ("done", 2)


def test_the_providers_clock_says_when_a_key_is_pruned(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    shop.street.advance(25 * 3600)  # Ours stands still.
    for _ in range(3):
        shop.now += 2 * MINUTE
        last = shop.refund()

    assert (str(last.status), len(shop.posts())) == ("pending_unknown", 1)


def test_the_same_key_with_another_amount_is_rejected_before_anything_is_sent(shop: Shop) -> None:
    shop.refund()
    other = shop.refund(amount="48.00", call_id="drifted")

    assert str(other.status) == "rejected"
    assert "with another amount. What was asked for then, 49.00 USD, is done (" in other.message
    assert (len(shop.refunds()), len(shop.posts())) == (1, 1)
    last = shop.calls()[-1]
    assert (last.call_id, last.answer, last.asked["amount_minor"]) == ("drifted", "rejected", "4800")


def test_already_refunded_by_our_own_key(shop: Shop) -> None:
    shop.street.control("refunds", payment=PAYMENT, metadata={"intent_key": key_of()})
    outcome = shop.refund(amount="100.00")

    assert (str(outcome.status), outcome.refund_id) == ("already_done", shop.refunds()[0].id)
    assert (shop.status(), len(shop.refunds())) == ("done", 1)


def test_already_refunded_by_somebody_else_is_for_a_person(shop: Shop) -> None:
    shop.street.control("refunds", payment=PAYMENT)
    first = shop.refund(amount="100.00")
    shop.pass_time(minutes=2)
    shop.tool.settle()
    shop.pass_time(minutes=2)
    last = shop.refund(amount="100.00")

    assert statuses(first, last) == ["pending_unknown", "pending_unknown"]
    assert "A person has to look into it" in last.message
    assert (shop.status(), len(shop.refunds()), len(shop.posts())) == ("pending_unknown", 1, 1)


def test_a_disputed_charge_is_rejected(shop: Shop) -> None:
    shop.street.payment("pi_disputed", 5000, disputed=True)
    first, second = (shop.refund(payment="pi_disputed") for _ in range(2))

    assert statuses(first, second) == ["rejected", "rejected"]
    assert "disputes the payment with their bank" in first.message
    assert (shop.status(), len(shop.posts())) == ("failed", 1)


def test_a_retry_sends_the_stored_body_byte_for_byte(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund(reason="duplicate", customer_id="cus_1")
    for number in range(3):
        shop.pass_time(minutes=2)
        shop.refund(reason=f"wording {number}", customer_id=f"cus_{number}", call_id=f"call_{number}")

    first, second = shop.posts()
    assert first["form"] == second["form"]
    assert first["key"] == second["key"]
    assert first["form"]["reason"] == "duplicate"


@pytest.mark.parametrize(
    "amount, minor", [("1000.0", 100_000), ("10.00", 1000), (Decimal("10.0"), 1000), (10, 1000)]
)
def test_an_amount_is_exact_on_the_wire(shop: Shop, amount: object, minor: int) -> None:
    shop.street.payment("pi_large", 1_000_000)

    assert str(shop.refund(amount=amount, payment="pi_large").status) == "done"
    assert shop.posts()[0]["form"]["amount"] == str(minor)


@pytest.mark.parametrize("amount", [0, -5, True, "0.001", 49.0, "NaN", None])
def test_an_amount_that_is_none_is_rejected(shop: Shop, amount: object) -> None:
    outcome = shop.refund(amount=amount)

    assert (str(outcome.status), outcome.intent_key, shop.posts(), shop.calls()) == ("rejected", None, [], [])


def test_a_full_refund_on_a_connected_account_carries_its_header(shop: Shop) -> None:
    shop.street.payment("pi_theirs", 4900, account="acct_1")
    outcome = shop.refund(payment="pi_theirs", account="acct_1")

    assert str(outcome.status) == "done"
    assert {each["account"] for each in shop.posts()} == {"acct_1"}
    assert len(shop.refunds("pi_theirs", "acct_1")) == 1


@pytest.mark.parametrize(
    "fault", ["drop_before", "drop_after", "500_before", "500_after", "429", "429_lock", "409", "403"]
)
def test_under_a_frameworks_retry_policy_it_never_raises(hasty: Shop, fault: str) -> None:
    """What retries what raises has nothing to retry, and an agent that asks again finds one refund."""
    hasty.street.fault(REFUNDS, fault, times=2)
    attempts = 0
    for _ in range(3):
        attempts += 1
        try:
            hasty.refund()
        except Exception:  # noqa: BLE001, S112 -- what a retry policy does
            continue
        break

    assert attempts == 1
    last = lasting(hasty, passes=9)
    assert str(last.status) == "already_done"
    assert len(hasty.refunds()) == 1


def test_the_kill_switch_is_thrown_while_a_call_waits(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "latency", after_s=5)
    slow = hasty.another(replace(HASTY, deadline_seconds=20.0, send_timeout_seconds=15.0))
    waiting = hasty.another(replace(HASTY, deadline_seconds=20.0, send_timeout_seconds=15.0))
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow.refund_order, "1", "10.00", "usd", PAYMENT)
        eventually(hasty.posts)
        second = threads.submit(waiting.refund_order, "2", "10.00", "usd", PAYMENT)
        eventually(lambda: len(hasty.calls()) == 2)
        hasty.throw()

        assert str(first.result().status) == "done"
        assert str(second.result().status) == "disabled"
    assert (hasty.status("2"), len(hasty.posts())) == ("cancelled", 1)


def test_look_ups_go_on_under_a_thrown_switch_and_nothing_is_sent_again(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.street.fault(REFUNDS, "500_then_appears", match={"payment": "pi_2"})
    shop.street.payment("pi_2", 5000)
    shop.refund("1")
    shop.refund("2", payment="pi_2")
    shop.throw()
    for _ in range(3):
        shop.pass_time(minutes=2)
        outcomes = [shop.refund("1"), shop.refund("2", payment="pi_2")]

    assert statuses(*outcomes) == ["pending_unknown", "already_done"]
    assert len(shop.posts()) == 2
    shop.throw(thrown=False)
    assert str(shop.refund("1").status) == "done"


def test_a_cancelled_intent_is_sent_once_the_switch_is_lifted(shop: Shop) -> None:
    shop.throw()
    off = shop.refund()
    shop.throw(thrown=False)
    on = shop.refund()

    assert statuses(off, on) == ["disabled", "done"]
    assert (shop.status(), len(shop.refunds())) == ("done", 1)


def test_a_transaction_of_the_host_that_rolls_back_takes_nothing_along(shop: Shop, tmp_path: object) -> None:
    """The host has its own tables, on PostgreSQL in the same database: SQLite has one writer at a time."""
    same = shop.database.dialect == "postgresql"
    with Database.open(f"sqlite:///{tmp_path}/host.db") as its_own:
        host = shop.database if same else its_own
        orders = Table("orders", MetaData(), Column("id", Integer))
        with host.write() as connection:
            orders.create(connection)
        with host.write() as connection:
            connection.execute(insert(orders).values(id=1))
            outcome = shop.refund()
            connection.rollback()
        with host.read() as connection:
            assert connection.execute(orders.select()).all() == []
    assert (str(outcome.status), shop.status(), len(shop.refunds())) == ("done", "done", 1)


@pytest.mark.parametrize("fault", ["500_before", "drop_before", "429"])
def test_a_look_up_that_fails_proves_nothing(shop: Shop, fault: str) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.street.fault(LISTS, fault, times=9)
    shop.refund()
    last = lasting(shop)

    assert (str(last.status), shop.row().misses, len(shop.posts())) == ("pending_unknown", 0, 1)


def test_a_list_that_breaks_off_on_its_second_page_proves_nothing(
    database: Database, sandbox: Street
) -> None:
    with a_shop(database, sandbox) as shop:
        shop.another(page_size=1)
        for _ in range(2):
            shop.street.control("refunds", payment=PAYMENT, amount=1)
        shop.street.fault(REFUNDS, "drop_before")
        shop.street.fault(LISTS, "drop_page", times=99)
        shop.refund()
        last = lasting(shop)

        assert (str(last.status), shop.row().misses, len(shop.posts())) == ("pending_unknown", 0, 1)
        assert shop.status() == IntentStatus.PENDING_UNKNOWN
