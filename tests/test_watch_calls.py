"""The duplicate-call alert from recorded calls: said once per burst; if asked for, it throws the switch."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import insert, text

from recon import watch
from recon.doors import config
from recon.doors.store import calls as recorded
from recon.doors.store import cases, outbox, switches
from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.records.notices import Notice
from recon.model.records.tools import Switch, SwitchMove
from recon.model.records.words import Actor
from recon.model.settings import Settings
from tests.builders import NOON

TOOL = "refund_order"
ROOT = f"calls|{TOOL}|"
ALERT = {"title": "Refund", "effect": "side_effect", "key": ["order_id"], "fingerprint": ["payment"]}


@pytest.fixture
def settings() -> Settings:
    """The shipped settings."""
    return config.load({})


def throwing(settings: Settings) -> Settings:
    """The settings of who lets the alert throw the switch."""
    return replace(settings, tools=({"tools": {TOOL: ALERT | {"alert": {"throws": True}}}},))


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def ask(database: Database, minutes: float, key: str, payment: str = "pi_1", **more: object) -> None:
    """Record that the refund tool was asked for 49.00 USD."""
    asked: Mapping[str, object] = {"amount_minor": "4900", "currency": "usd", "payment": payment}
    row = {"account": "", "intent_key": key, "tool": TOOL, "asked_at": at(minutes), "asked": asked} | more
    with database.write() as connection:
        connection.execute(insert(calls).values(row))


def ask_twice(database: Database, minutes: float, payment: str) -> None:
    """Record two keys for what looks like one refund, half a minute apart."""
    ask(database, minutes, f"{payment}/1", payment)
    ask(database, minutes + 0.5, f"{payment}/2", payment)


def look(database: Database, settings: Settings, minutes: float) -> int:
    return len(watch.calls(database, settings, clock=lambda: at(minutes)))


def said(database: Database) -> list[Notice]:
    return list(reversed(outbox.recent(database, 99)))


def test_without_odd_calls_nothing_is_said_or_written(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(database, 0, "k1")
    ask(database, 1, "k1")
    ask(database, 2, "k2", "pi_2")
    monkeypatch.setattr(Database, "write", None)

    assert look(database, settings, 3) == 0
    assert said(database) == []


def test_a_double_is_told_to_the_operators_once(database: Database, settings: Settings) -> None:
    ask_twice(database, 0, "pi_1")

    assert [look(database, settings, minutes) for minutes in (1, 2, 3)] == [1, 0, 0]
    (alert,) = said(database)
    assert (alert.verb, alert.target, alert.urgency) == ("root", "#refund-operators", 3)
    assert alert.message.text == (
        "Duplicate calls of refund_order: 1 likely intent under 2 keys, in 2 calls, since 12:00:30 UTC. "
        "What to do: Find out who calls it. To stop it at once in every process: "
        '`recon tools off refund_order --reason "..."`, or its switch on the page. Look-ups and runs go on. '
        "The next run says what was done twice. http://127.0.0.1:8501/tools?tool=refund_order"
    )
    assert "amount `49.00 USD`, payment `pi_1`: keys `pi_1/1` and `pi_1/2`" in str(alert.message.blocks)
    assert switches.thrown(database) == ()


def test_it_is_told_again_each_time_it_has_doubled_and_when_it_is_over(
    database: Database, settings: Settings
) -> None:
    for number in range(5):
        ask_twice(database, number, f"pi_{number}")
        look(database, settings, number + 0.9)
    looks = [look(database, settings, minutes) for minutes in (19.4, 19.6, 20, 30)]

    assert [each.dedupe_key.rsplit("|", 1)[1] for each in said(database)] == ["1", "2", "4", "over"]
    assert [each.verb for each in said(database)] == ["root", "call", "call", "reply"]
    assert len({each.thread_key for each in said(database)}) == 1
    assert looks == [0, 1, 0, 0]
    assert said(database)[1].message.text.startswith("It goes on: 2 likely intents under 4 keys, in 4 calls")
    assert "In all 5 likely intents under 10 keys, in 10 calls" in said(database)[-1].message.text


def test_another_burst_is_another_thread(database: Database, settings: Settings) -> None:
    ask_twice(database, 0, "pi_1")
    look(database, settings, 1)
    ask_twice(database, 16, "pi_2")
    look(database, settings, 17)

    assert [(each.verb, each.dedupe_key) for each in said(database)] == [
        ("root", f"{ROOT}2|1"),
        ("root", f"{ROOT}4|1"),
    ]


def test_a_call_that_is_written_down_late_begins_no_second_thread(
    database: Database, settings: Settings
) -> None:
    ask_twice(database, 1, "pi_1")
    look(database, settings, 2)
    ask_twice(database, 0, "pi_0")

    assert look(database, settings, 3) == 1
    assert [each.verb for each in said(database)] == ["root", "call"]
    assert len({each.thread_key for each in said(database)}) == 1


def test_a_burst_keeps_its_thread_for_hours(database: Database, settings: Settings) -> None:
    for number in range(20):
        ask_twice(database, 14 * number, f"pi_{number}")
        look(database, settings, 14 * number + 1)

    assert len({each.thread_key for each in said(database)}) == 1
    assert [each.verb for each in said(database)] == ["root", "call", "call", "call", "call"]


def test_a_burst_that_lasts_for_days_is_told_once_a_day(database: Database, settings: Settings) -> None:
    asked = {"amount_minor": "4900", "currency": "usd", "payment": "pi_1"}
    rows = [
        {"account": "", "intent_key": f"k{n}", "tool": TOOL, "asked_at": at(14 * n), "asked": asked}
        for n in range(56 * 60 // 14)
    ]
    with database.write() as connection:
        connection.execute(insert(calls), rows)
    for hours in (30, 31, 40, 54, 55):
        look(database, settings, hours * 60)

    roots = [each.thread_key for each in said(database) if each.verb == "root"]
    assert roots == [f"{ROOT}2026-03-07", f"{ROOT}2026-03-08"]


def test_an_intent_that_is_asked_for_again_and_again_is_told_with_what_drifted(
    database: Database, settings: Settings
) -> None:
    for number, amount in enumerate(("4900", "4900", "5900")):
        asked = {"amount_minor": amount, "currency": "usd", "payment": "pi_1"}
        ask(database, number, "k1", caller=f"thread {number}", asked=asked)
    look(database, settings, 3)

    (alert,) = said(database)
    assert "1 intent asked for again and again, in 3 calls" in alert.message.text
    assert "`k1`: 3 calls, with another amount and caller" in str(alert.message.blocks)
    assert "thread 1" not in str(alert.message)


def test_many_intents_at_once_are_told(database: Database, settings: Settings) -> None:
    for number in range(50):
        ask(database, number / 12, f"k{number}", f"pi_{number}")

    assert look(database, settings, 5) == 1
    assert "50 intents at once, in 50 calls" in said(database)[0].message.text


def test_where_it_is_asked_for_the_alert_throws_the_switch_and_says_so(
    database: Database, settings: Settings
) -> None:
    ask_twice(database, 0, "pi_1")
    looks = [look(database, throwing(settings), minutes) for minutes in (1, 2)]

    switch = switches.get(database, TOOL)
    assert looks == [1, 0]
    assert (switch.thrown, switch.moved_by, switch.moved_at) == (True, "recon", at(1))
    assert switch.reason == (
        "Duplicate-call alert: 1 likely intent under 2 keys, in 2 calls, since 12:00:30 UTC."
    )
    (alert,) = said(database)
    assert "Its kill switch is thrown, by recon at 2026-03-06 12:01 UTC. Nothing of it is sent" in (
        alert.message.text
    )
    assert cases.verify(database) == ()


def test_asking_again_alone_throws_nothing(database: Database, settings: Settings) -> None:
    for number in range(4):
        ask(database, number, "k1")
    look(database, throwing(settings), 4)

    assert len(said(database)) == 1
    assert switches.thrown(database) == ()


def test_a_burst_that_turns_into_doubles_throws_later_and_says_so(
    database: Database, settings: Settings
) -> None:
    for number in range(3):
        ask(database, number, "k1")
    look(database, throwing(settings), 3)
    ask(database, 4, "k2")
    look(database, throwing(settings), 5)

    assert [each.dedupe_key.rsplit("|", 1)[1] for each in said(database)] == ["1", "2", "thrown"]
    assert said(database)[-1].message.text.startswith(
        "Its kill switch is thrown, by recon at 2026-03-06 12:05"
    )


def test_what_a_lift_has_dealt_with_is_not_odd_again_and_what_follows_throws_anew(
    database: Database, settings: Settings
) -> None:
    ask_twice(database, 0, "pi_1")
    look(database, throwing(settings), 1)
    with database.write() as connection:
        switches.move(
            connection,
            switches.get(database, TOOL),
            SwitchMove.LIFTED,
            actor=Actor("bo"),
            reason="mended",
            now=at(2),
            action_id="click",
        )
    quiet = look(database, throwing(settings), 3)
    ask_twice(database, 4, "pi_2")
    again = look(database, throwing(settings), 5)

    assert (quiet, again) == (0, 1)
    assert [each.dedupe_key for each in said(database)] == [f"{ROOT}2|1", f"{ROOT}4|1"]
    assert switches.get(database, TOOL).thrown
    assert switches.get(database, TOOL).version == 3


def test_a_switch_that_is_thrown_already_is_told_as_it_stands(database: Database, settings: Settings) -> None:
    ask_twice(database, 0, "pi_1")
    with database.write() as connection:
        switches.move(
            connection,
            Switch(TOOL),
            SwitchMove.THROWN,
            actor=Actor("ana"),
            reason="x",
            now=at(0.8),
            action_id="click",
        )
    look(database, throwing(settings), 1)

    assert "thrown, by ana at 2026-03-06 12:00 UTC" in said(database)[0].message.text
    assert switches.get(database, TOOL).version == 1


def test_calls_that_the_switch_answered_keep_no_burst_alive(database: Database, settings: Settings) -> None:
    ask_twice(database, 0, "pi_1")
    look(database, settings, 1)
    for number in range(10):
        ask(database, 2 + number, f"late{number}", answer="disabled")
    look(database, settings, 16)

    assert said(database)[-1].dedupe_key.endswith("|over")


def test_a_tool_that_nobody_declared_is_watched_too(database: Database, settings: Settings) -> None:
    for number in range(2):
        ask(database, number, f"k{number}", tool="old_refunds")

    assert look(database, settings, 2) == 1
    assert "Duplicate calls of old_refunds" in said(database)[0].message.text


def test_calls_are_read_by_the_index_on_times(database: Database) -> None:
    statements = {
        "ix_calls_asked_at": "SELECT * FROM calls WHERE asked_at >= 1 ORDER BY asked_at DESC",
        "ix_calls_tool_asked_at": (
            "SELECT * FROM calls WHERE asked_at >= 1 AND tool = 'x' ORDER BY asked_at DESC"
        ),
    }
    explain = "EXPLAIN QUERY PLAN" if database.dialect == "sqlite" else "EXPLAIN"
    with database.read() as connection:
        if database.dialect == "postgresql":  # It reads a table of this size without an index.
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        plans = {
            index: str(connection.execute(text(f"{explain} {statement}")).all())
            for index, statement in statements.items()
        }

    assert [index for index, plan in plans.items() if index not in plan] == []


def test_of_too_many_calls_the_latest_are_read_and_it_is_said_from_when(database: Database) -> None:
    for minutes in range(5):
        ask(database, minutes, f"k{minutes}")

    told, whole_from = recorded.since(database, at(0), limit=2)
    everything, from_the_first = recorded.since(database, at(0), limit=5)

    assert [each.key for each in told] == ["k3", "k4"]
    assert whole_from == at(2) + timedelta(microseconds=1)
    assert (len(everything), from_the_first) == (5, at(0))
    assert [each.key for each in recorded.since(database, at(4), tool=TOOL)[0]] == ["k4"]
    assert recorded.since(database, at(0), tool="other")[0] == ()


def test_a_strangers_tool_pings_nobody_and_is_no_command(database: Database, settings: Settings) -> None:
    for number in range(2):
        ask(database, number, f"<@U1>{number}", tool="<!channel>`; rm -rf ~`")
    look(database, settings, 2)

    (alert,) = said(database)
    shown = f"{alert.message.text} {alert.message.blocks}"
    assert not [mark for mark in ("<!channel>", "<@U1>", "recon tools off") if mark in shown]
