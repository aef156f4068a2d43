"""Beside the call itself: sweeps, an order's status, how tools are made, and any other side effect."""

import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, update

from recon import guard
from recon.doors import config, intents
from recon.doors.store.engines import Database
from recon.guard import Guard, RefundTool
from recon.model import tables
from recon.model.errors import ConfigurationError, ProviderRefused
from recon.model.holds import guarded
from recon.model.records.guarded import Settled
from recon.model.records.words import IntentKey, IntentStatus
from recon.model.settings import ProviderSettings, Secret, Settings
from recon.rules import outcomes
from tests.guards import (
    HASTY,
    LISTS,
    NOUN,
    ORDER,
    PATIENT,
    PAYMENT,
    REFUNDS,
    Shop,
    key_of,
    provider,
    statuses,
    told,
)
from tests.sandboxes import STRIPE_KEY


def test_what_nobody_sent_is_cancelled_by_a_sweep_and_sent_by_the_next_call(shop: Shop) -> None:
    shop.another()  # The shop's own, which has time.
    late_tool = shop.another(replace(PATIENT, deadline_seconds=0.0))
    late_tool.refund_order(ORDER, "49.00", "usd", PAYMENT)
    assert (shop.status(), shop.intent().first_sent_at) == ("pending", None)
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


def test_who_waits_beside_a_call_that_may_send_again_is_not_told_that_nothing_was_sent(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "429", times=9)
    hasty.refund()
    row = hasty.row()
    with hasty.database.write() as connection:
        held = intents.take(
            connection, row, "another", now=hasty.now, until=hasty.now + timedelta(seconds=45)
        )
    assert (str(row.status), held is not None) == ("cancelled", True)

    assert str(hasty.refund().status) == "pending_unknown"


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
    assert [str(each.status) for each in (both, *both.others)] == ["already_done", "rejected"]
    assert [each.message.partition(" is ")[0] for each in (both, *both.others)] == [
        f"The {NOUN} (reference line 1)",
        f"The {NOUN} (reference line 2)",
    ]
    assert len(shop.posts()) == 2
    assert len(shop.calls()) == 2


@pytest.mark.parametrize("length, shown", [(40, "r" * 40), (41, "r" * 40 + "...")])
def test_a_long_reference_is_cut_where_a_model_reads_it(shop: Shop, length: int, shown: str) -> None:
    assert f"The {NOUN} (reference {shown}) is done" in shop.refund(reference="r" * length).message


def test_the_status_of_an_order_leads_with_what_went_back_however_much_was_rejected_since(shop: Shop) -> None:
    shop.refund(reference="line 0")
    shop.throw()
    for number in range(1, 12):
        shop.pass_time(minutes=1)
        off = shop.refund(reference=f"line {number}")
    found = shop.tool.check_refund_status(ORDER)

    assert [str(each.status) for each in (found, *found.others)] == ["already_done"] + ["rejected"] * 9
    assert "No call has sent this one." in off.message


@pytest.mark.parametrize("turned_away", [False, True])
def test_the_status_of_what_the_switch_kept_back_sends_whoever_asks_to_a_person(
    shop: Shop, *, turned_away: bool
) -> None:
    """They were told to hand it over, and so it may have been done by hand."""
    if turned_away:
        shop.street.fault(REFUNDS, "403")
        shop.refund()
    before = shop.tool.check_refund_status(ORDER)
    shop.throw()
    off = shop.refund()
    shop.pass_time(minutes=2)
    shop.tool.settle()
    thrown = shop.tool.check_refund_status(ORDER)
    shop.throw(thrown=False)
    lifted = shop.tool.check_refund_status(ORDER)
    shop.refund()
    done = shop.tool.check_refund_status(ORDER)

    assert statuses(off, thrown, lifted, done) == ["disabled", "rejected", "rejected", "already_done"]
    assert thrown == lifted == outcomes.kept_back(NOUN, IntentKey(key_of()))
    assert "ask them" not in before.message


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
    with pytest.raises(ConfigurationError, match="STRIPE_API_KEY is not set; expected a key that may write"):
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
        "langgraph",
        "langchain_core",
        "agents",
        "openai",
        "mcp",
    )
    command = f"import sys, recon.guard; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("swept", [True, False])
def test_who_stood_still_before_its_turn_shortens_no_lease(
    hasty: Shop, monkeypatch: pytest.MonkeyPatch, *, swept: bool
) -> None:
    hasty.street.fault(REFUNDS, "drop_before")
    hasty.street.fault(LISTS, "500_before")
    hasty.refund()
    row, write = hasty.row(), Database.write

    def late(database: Database, **named: float) -> AbstractContextManager[Connection]:
        monkeypatch.undo()
        hasty.pass_time(hours=25)
        with write(database) as connection:
            assert intents.take(connection, row, "another", now=hasty.now, until=hasty.now + HASTY.lease)
        return write(database, **named)

    monkeypatch.setattr(Database, "write", late)
    if swept:
        assert hasty.tool.settle() == Settled()
    else:
        assert str(hasty.refund().status) == "pending_unknown"

    assert (hasty.row().holder, hasty.row().until) == ("another", hasty.now + HASTY.lease)


@pytest.mark.parametrize("swept", [True, False])
def test_a_lease_that_a_wrong_clock_took_for_years_lapses_soon(hasty: Shop, *, swept: bool) -> None:
    hasty.street.fault(REFUNDS, "drop_before")
    hasty.street.fault(LISTS, "500_before")
    hasty.refund()
    with hasty.database.write() as connection:
        years = hasty.now + timedelta(days=4000)
        connection.execute(update(guarded).values(until=years, next_at=years))
    brief = hasty.another(replace(HASTY, deadline_seconds=0.2))

    def asked() -> tuple[str, int, timedelta]:
        outcome = brief.refund_order("8812", "49.00", "usd", PAYMENT)
        row = hasty.row()
        return str(outcome.status), row.fence, row.until - hasty.now

    if swept:
        assert hasty.tool.settle() == Settled()
        assert hasty.row().next_at == hasty.now + timedelta(hours=6)
    assert asked() == ("pending_unknown", 1, 2 * HASTY.lease)
    hasty.pass_time(seconds=89)
    assert asked() == ("pending_unknown", 1, timedelta(seconds=1))
    hasty.pass_time(seconds=1)
    assert asked()[1] == 2
