"""Each row of the state table, what a call is told, and that nothing is ever raised into a framework."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import create_engine, update

from recon import guard
from recon.doors import config, intents
from recon.doors.store.engines import Database
from recon.guard import Guard, RefundTool
from recon.model import tables
from recon.model.errors import ConfigurationError, DatabaseUnavailable, ProviderRefused
from recon.model.records.guarded import Outcome
from recon.model.records.words import IntentKey, IntentStatus
from recon.model.settings import ProviderSettings, Secret, Settings
from recon.rules import outcomes
from tests.guards import HASTY, LISTS, PATIENT, PAYMENT, REFUNDS, Shop, a_shop, provider
from tests.sandboxes import STRIPE_KEY, Street


@pytest.fixture
def shop(database: Database, sandbox: Street) -> Iterator[Shop]:
    with a_shop(database, sandbox) as opened:
        yield opened


@pytest.fixture
def hasty(database: Database, sandbox: Street) -> Iterator[Shop]:
    with a_shop(database, sandbox, settings=HASTY) as opened:
        yield opened


NOUN = "refund of 49.00 USD for order 8812"


def told(outcome: Outcome) -> tuple[str, str]:
    return str(outcome.status), outcome.message


def test_nothing_is_known_and_it_is_done(shop: Shop) -> None:
    outcome = shop.refund(reference="line 1", customer_id="cus_1")

    (refund,) = shop.refunds()
    assert outcome.to_model() == {
        "status": "done",
        "message": f"The refund of 49.00 USD for order 8812 is done ({refund.id}). "
        "Tell the customer. Do not do it again.",
        "refund_id": refund.id,
    }
    intent = shop.intent()
    assert (intent.key, intent.status, intent.refund_id) == (outcome.intent_key, "done", refund.id)
    assert (intent.amount_minor, intent.currency, intent.payment, intent.reference) == (
        4900,
        "usd",
        PAYMENT,
        "line 1",
    )
    assert (intent.tool, intent.customer_id, intent.first_sent_at) == ("refund_order", "cus_1", shop.now)
    assert (refund.intent_key, refund.amount_minor) == (outcome.intent_key, 4900)


@pytest.mark.parametrize("status", ["pending", "requires_action"])
def test_a_refund_that_the_bank_has_not_answered_is_accepted(shop: Shop, status: str) -> None:
    shop.street.payment("pi_slow", 5000, refund_status=status)
    first, second = (shop.refund(payment="pi_slow") for _ in range(2))

    assert [str(each.status) for each in (first, second)] == ["done", "already_done"]
    assert "is accepted" in first.message
    assert "and on its way" in second.message


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_what_is_done_and_came_to_nothing_is_for_a_person_and_never_sent_again(
    shop: Shop, status: str
) -> None:
    first = shop.refund()
    shop.street.control(f"refunds/{first.refund_id}", status=status)
    shop.pass_time(days=2)
    second = shop.refund()

    assert (str(second.status), second.refund_id) == ("rejected", first.refund_id)
    assert f"then became {status}" in second.message
    assert (shop.status(), len(shop.posts())) == ("done", 1)


def test_what_is_done_stays_done_while_the_provider_does_not_say(shop: Shop) -> None:
    first = shop.refund()
    shop.street.fault("GET /v1/refunds/{id}", "500_before", times=9)

    assert (str(shop.refund().status), shop.status()) == ("already_done", "done")
    assert first.refund_id == shop.refund().refund_id


def test_a_look_up_that_finds_only_a_dead_refund_ends_it_for_a_person(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "500_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund()
    (refund,) = shop.refunds()
    shop.street.control(f"refunds/{refund.id}", status="failed")
    shop.pass_time(minutes=2)
    first, second = shop.refund(), shop.refund()

    assert [str(each.status) for each in (first, second)] == ["rejected", "rejected"]
    assert "the money did not arrive" in second.message
    assert (shop.status(), len(shop.posts())) == ("failed", 1)


@pytest.mark.parametrize("status, became", [("succeeded", "already_done"), ("failed", "rejected")])
def test_a_replayed_answer_is_looked_at_as_it_is_now(shop: Shop, status: str, became: str) -> None:
    """The list does not show the refund, so the same request goes once more and is answered as before."""
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "invisible", times=3, after_s=3600)
    shop.refund()
    shop.pass_time(minutes=2)
    shop.refund()
    shop.street.control(f"refunds/{shop.made()}", status=status)
    shop.pass_time(minutes=2)
    outcome = shop.refund()

    assert (str(outcome.status), len(shop.posts())) == (became, 2)
    assert shop.status() == ("done" if became == "already_done" else "failed")


@pytest.mark.parametrize("payment", ["pi_nowhere", "ch_nowhere"])
def test_a_clear_refusal_is_failed_and_kept(shop: Shop, payment: str) -> None:
    first, second = (shop.refund(payment=payment) for _ in range(2))

    assert told(first) == told(second)
    assert str(first.status) == "rejected"
    assert "No such" in first.message
    assert (shop.status(), len(shop.posts())) == ("failed", 1)


def test_a_refusal_after_an_unresolved_send_is_not_final(shop: Shop) -> None:
    shop.street.payment("pi_disputed", 5000, disputed=True)
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund(payment="pi_disputed")
    for _ in range(4):
        shop.pass_time(minutes=2)
        outcome = shop.refund(payment="pi_disputed")

    assert str(outcome.status) == "pending_unknown"
    assert "A person has to look into it" in outcome.message
    assert (shop.status(), len(shop.posts())) == ("pending_unknown", 2)


def test_a_key_that_may_not_refund_sends_nothing_and_is_put_right_later(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "403")
    refused = shop.refund()
    between = (shop.status(), shop.intent().first_sent_at)
    done = shop.refund()

    assert str(refused.status) == "rejected"
    assert "The same call may be made later." in refused.message
    assert between == ("pending", None)
    assert (str(done.status), len(shop.refunds())) == ("done", 1)


def test_a_rate_limit_is_waited_for_within_the_deadline(database: Database, sandbox: Street) -> None:
    pauses: list[float] = []
    with a_shop(database, sandbox) as shop:
        sandbox.fault(REFUNDS, "429", times=2)
        tool = RefundTool(database, provider(sandbox, PATIENT), lambda: shop.now, sleep=pauses.append)
        shop.tools.append(tool)

        assert str(shop.refund().status) == "done"
        assert (pauses, len(shop.posts()), len(shop.refunds())) == ([1.0, 1.0], 3, 1)
        assert (shop.row().sends, shop.intent().first_sent_at) == (1, shop.now)


def test_a_rate_limit_beyond_the_deadline_is_not_sent(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "429", times=9)
    limited = hasty.refund()
    hasty.street.control("reset")
    hasty.street.payment(PAYMENT, 10_000)

    assert str(limited.status) == "rejected"
    assert "The same call may be made later." in limited.message
    assert (hasty.status(), hasty.intent().first_sent_at) == ("pending", None)
    assert str(hasty.refund().status) == "done"


@pytest.mark.parametrize("fault", ["hang_before", "hang_after"])
def test_a_provider_that_says_nothing_is_given_up_within_the_deadline(hasty: Shop, fault: str) -> None:
    hasty.street.fault(REFUNDS, fault)
    hasty.street.fault(LISTS, "hang_before")
    outcome = hasty.refund()

    assert (str(outcome.status), hasty.status()) == ("pending_unknown", "pending_unknown")
    hasty.pass_time(minutes=2)
    again = hasty.refund()
    assert str(again.status) == ("already_done" if fault == "hang_after" else "pending_unknown")


def test_another_intent_of_the_payment_waits_and_is_told_so(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "drop_before")
    hasty.refund("1")
    second = hasty.refund("2")

    assert str(second.status) == "rejected"
    assert "another refund of the same payment is not settled yet" in second.message
    assert (hasty.status("2"), hasty.intent("2").first_sent_at, len(hasty.posts())) == ("pending", None, 1)


def test_nothing_is_sent_once_the_time_is_over(database: Database, sandbox: Street) -> None:
    """Committing took so long that the request could outlive the call."""
    with a_shop(database, sandbox) as shop:
        late = shop.another(replace(PATIENT, deadline_seconds=0.0))
        outcome = late.refund_order("8812", "49.00", "usd", PAYMENT)

        assert told(outcome) == (
            "rejected",
            outcomes.not_sent(NOUN, None, "there was no time left to send it").message,
        )
        assert (shop.status(), shop.intent().first_sent_at, shop.posts()) == ("pending", None, [])


@pytest.mark.parametrize("status", [IntentStatus.DONE, IntentStatus.FAILED])
def test_what_a_run_or_a_person_settled_is_told(shop: Shop, status: IntentStatus) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    with shop.database.write() as connection:
        connection.execute(update(tables.intents).values(status=status))
    outcome = shop.refund()

    assert str(outcome.status) == {"done": "already_done", "failed": "rejected"}[status]
    assert len(shop.posts()) == 1


def test_a_heal_in_the_middle_of_a_look_up_stands(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    find = shop.tool._provider.find  # noqa: SLF001 -- a run saves between look-up and answer

    def healing(*args: Any, **more: Any) -> object:  # noqa: ANN401  # of find
        found = find(*args, **more)
        with shop.database.write() as connection:
            connection.execute(update(tables.intents).values(status="done", refund_id="re_healed"))
        return found

    monkeypatch.setattr(shop.tool._provider, "find", healing)  # noqa: SLF001 -- as above
    outcome = shop.refund()

    assert (str(outcome.status), outcome.refund_id, shop.status()) == ("already_done", "re_healed", "done")


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

    monkeypatch.setattr(intents, "note_answer", away)

    assert str(shop.refund().status) == "pending_unknown"
    assert shop.status() == "pending"


@pytest.mark.parametrize("where", ["note_call", "switched_off", "blocked"])
def test_a_bug_is_no_exception_and_nothing_is_sent(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(intents, where, bug)

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


def test_what_nobody_sent_is_cancelled_by_a_sweep_and_sent_by_the_next_call(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "403")
    shop.refund()
    early = shop.tool.settle()
    shop.pass_time(seconds=46)
    late = shop.tool.settle()
    between = shop.status()

    assert (early.cancelled, late.cancelled, between) == (0, 1, "cancelled")
    assert str(shop.refund().status) == "done"


def test_a_sweep_never_sends_and_rests_longer_each_time(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    looked = []
    for _ in range(60):
        shop.pass_time(minutes=1)
        looked.append(shop.tool.settle().looked)

    assert (len(shop.posts()), shop.status()) == (1, "pending_unknown")
    assert looked[:4] == [1, 1, 1, 1]
    assert 8 < sum(looked) < 30


def test_a_sweep_finds_what_a_dead_process_left_and_not_what_a_live_one_holds(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund()
    row = shop.row()
    with shop.database.write() as connection:
        held = intents.take(connection, row, "another", now=shop.now, until=shop.now + timedelta(seconds=45))
    assert held is not None
    busy = shop.tool.settle()
    shop.pass_time(seconds=46)
    free = shop.tool.settle()

    assert (busy.looked, free.done, shop.status()) == (0, 1, "done")


def test_three_silences_end_a_sweep(shop: Shop) -> None:
    for number in range(5):
        shop.street.payment(f"pi_s{number}", 5000)
        shop.street.fault(REFUNDS, "drop_after")
        shop.street.fault(LISTS, "500_before")
        shop.refund(str(number), payment=f"pi_s{number}")
    shop.pass_time(minutes=2)
    shop.street.fault(LISTS, "500_before", times=3)

    first, second = shop.tool.settle(), shop.tool.settle()

    assert (first.looked, first.unreadable, first.done) == (3, 3, 0)
    assert (second.looked, second.done) == (2, 2)


def test_the_status_of_an_order_is_read_and_never_sent(shop: Shop) -> None:
    nothing = shop.tool.check_refund_status("8812")
    shop.refund(reference="line 1")
    shop.pass_time(minutes=1)
    shop.refund(reference="line 2", payment="pi_nowhere")
    both = shop.tool.check_refund_status(8812)

    assert told(nothing) == ("rejected", "No refund of order 8812 was ever asked for. Nothing was sent.")
    assert [str(each.status) for each in (both, *both.others)] == ["rejected", "already_done"]
    assert len(shop.posts()) == 2
    assert len(shop.calls()) == 2


def test_the_status_of_what_nobody_knows_is_looked_up(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "500_then_appears", after_s=30)
    shop.refund()
    early = shop.tool.check_refund_status("8812")
    shop.pass_time(minutes=1)
    late = shop.tool.check_refund_status("8812")

    assert [str(each.status) for each in (early, late)] == ["pending_unknown", "already_done"]
    assert (shop.status(), len(shop.posts())) == ("done", 1)


def test_the_status_of_a_foreign_or_an_unsent_intent(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "403")
    shop.refund()
    unsent = shop.tool.check_refund_status("8812")
    with shop.database.write() as connection:
        intents.put(
            connection,
            replace(
                shop.intent(), key=IntentKey("theirs"), order_id="9", status=IntentStatus.PENDING_UNKNOWN
            ),
        )
    foreign = shop.tool.check_refund_status("9")

    assert [str(each.status) for each in (unsent, foreign)] == ["rejected", "pending_unknown"]


def test_the_tool_is_made_from_settings_with_a_declared_name_only(database_url: str, shop: Shop) -> None:
    environ = {
        "RECON_DATABASE_URL": database_url,
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": shop.street.url,
    }
    settings = config.load(environ)
    tool = RefundTool.from_settings(settings)
    outcome = tool.refund_order("8812", "49.00", "usd", PAYMENT)
    tool.close()

    assert str(outcome.status) == "done"
    with pytest.raises(ConfigurationError, match=r"did you mean refund_order\?"):
        RefundTool.from_settings(settings, tool="refund_ordr")
    with pytest.raises(ConfigurationError, match="STRIPE_API_KEY is not set"):
        RefundTool.from_settings(replace(settings, provider=ProviderSettings()))


def test_an_engine_of_the_hosts_is_opened_anew(database_url: str, shop: Shop) -> None:
    driver = database_url.replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(driver)
    tool = RefundTool(engine, provider(shop.street, PATIENT), lambda: shop.now)
    with engine.connect() as connection, connection.begin() as host:
        outcome = tool.refund_order("8812", "49.00", "usd", PAYMENT)
        host.rollback()
    tool.close()
    engine.dispose()

    assert (str(outcome.status), shop.status()) == ("done", "done")


def test_any_side_effect_is_done_once(database: Database) -> None:
    sent: list[str] = []

    def send(key: str, body: Any) -> str:  # noqa: ANN401  # JSON
        sent.append(key)
        return f"parcel {body['to']}"

    guarded = Guard("send_parcel", send, engine=database)
    calls = [guarded.call({"order": "1"}, {"to": "Ana"}, noun="parcel") for _ in range(3)]
    other = guarded.call({"order": "1"}, {"to": "Ben"}, noun="parcel")

    assert [str(each.status) for each in (*calls, other)] == [
        "done",
        "already_done",
        "already_done",
        "rejected",
    ]
    assert (len(sent), calls[2].refund_id) == (1, "parcel Ana")
    with database.read() as connection:
        assert connection.execute(tables.intents.select()).all() == []


@pytest.mark.parametrize("findable, last", [(True, "already_done"), (False, "pending_unknown")])
def test_a_side_effect_that_broke_off_is_looked_for_where_something_can(
    database: Database, *, findable: bool, last: str
) -> None:
    sent: list[str] = []

    def send(key: str, _body: Any) -> str:  # noqa: ANN401  # JSON
        sent.append(key)
        raise TimeoutError

    found = (lambda _key, _body: "parcel 1") if findable else None
    guarded = Guard("send_parcel", send, found, engine=database)
    first = guarded.call({"order": "1"}, {}, noun="parcel")
    second = guarded.call({"order": "1"}, {}, noun="parcel")

    assert str(first.status) == ("done" if findable else "pending_unknown")
    assert (str(second.status), len(sent)) == (last, 1)


def test_a_refusal_of_a_side_effect_is_final(database: Database) -> None:
    def send(_key: str, _body: Any) -> str:  # noqa: ANN401  # JSON
        raise ProviderRefused("the address is unknown")

    guarded = Guard("send_parcel", send, engine=database)
    calls = [guarded.call({"order": "1"}, {}, noun="parcel") for _ in range(2)]

    assert {told(each) for each in calls} == {
        (
            "rejected",
            "The parcel is not done: the address is unknown. Do not try again; hand it over to a person.",
        )
    }


def test_a_settings_sweep_is_the_ticks(database: Database, shop: Shop) -> None:
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund()
    shop.pass_time(minutes=2)
    settings = Settings(provider=ProviderSettings(api_key=Secret(STRIPE_KEY), base_url=shop.street.url))

    assert guard.settle(database, settings, clock=lambda: shop.now).done == 1
    assert shop.status() == "done"


def test_the_guard_loads_no_frames_and_no_front() -> None:
    heavy = (
        "pandas",
        "numpy",
        "pyarrow",
        "streamlit",
        "typer",
        "alembic",
        "starlette",
        "apscheduler",
        "slack_sdk",
    )
    command = f"import sys, recon.guard; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
