"""What went wrong elsewhere, played on the sandbox: at most one live refund for each intent, come what may.

The situations are those that others reported; each runs on SQLite and on PostgreSQL.
"""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert

from recon.doors.store.engines import Database
from recon.model.records.guarded import Outcome
from recon.model.records.words import IntentStatus
from tests.guards import HASTY, LISTS, MINUTE, PAYMENT, REFUNDS, Shop, a_shop, callers, eventually, key_of
from tests.sandboxes import Street


@pytest.fixture
def shop(database: Database, sandbox: Street) -> Iterator[Shop]:
    with a_shop(database, sandbox) as opened:
        yield opened


@pytest.fixture
def hasty(database: Database, sandbox: Street) -> Iterator[Shop]:
    with a_shop(database, sandbox, settings=HASTY) as opened:
        yield opened


def statuses(*outcomes: Outcome) -> list[str]:
    return [str(each.status) for each in outcomes]


def lasting(shop: Shop, *, passes: int = 3) -> Outcome:
    """Ask again and again, two minutes apart, as an agent does that does not listen."""
    for _ in range(passes):
        shop.pass_time(minutes=2)
        last = shop.refund()
    return last


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
    hasty.street.fault(REFUNDS, "latency", after_s=3)
    slow = hasty.another(replace(HASTY, deadline_seconds=10.0, send_timeout_seconds=8.0))
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
    assert "with another amount" in other.message
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
    assert "charged back" in first.message
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
