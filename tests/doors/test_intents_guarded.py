"""Guarded rows: one caller at a time for each key, and nothing written under an old fence."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import insert, update

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.errors import LeaseLost
from recon.model.guarded import switches
from recon.model.records.guarded import Guarded, Wanted
from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId
from recon.rules import guarding, keys
from tests.builders import NOON, PLATFORM, an_intent

SECOND = timedelta(seconds=1)
LEASE = 45 * SECOND
TOOLS = ["refund_order"]


def wanted(name: str = "8812", *, payment: str = "pi_1", minor: int = 4900) -> Wanted:
    key = IntentKey(f"refund_order:{name}")
    intent = an_intent(
        key=key,
        order_id=name,
        payment=payment,
        amount_minor=minor,
        status=IntentStatus.PENDING,
        refund_id=None,
        first_sent_at=None,
        updated_at=NOON,
    )
    prints = {"amount_minor": str(minor), "currency": "usd", "payment": payment}
    body = {"payment_intent": payment, "amount": minor, "metadata": {"intent_key": key}}
    return Wanted("refund_order", f"refund of {name}", PLATFORM, key, prints, body, intent)


def enter(
    database: Database, what: Wanted | None = None, *, who: str = "one", late: timedelta = timedelta()
) -> tuple[Guarded, bool]:
    with database.write() as connection:
        return intents.enter(connection, what or wanted(), who, now=NOON + late, until=NOON + late + LEASE)


def write(database: Database, row: Guarded, *, release: bool = True) -> None:
    with database.write() as connection:
        intents.write(connection, row, release=NOON if release else None)


def read(database: Database, what: Wanted | None = None) -> Guarded:
    what = what or wanted()
    with database.read() as connection:
        found = intents.read(connection, what.account, what.key)
    assert found is not None
    return found


def begin(database: Database, what: Wanted, *, who: str = "one") -> Guarded:
    row, mine = enter(database, what, who=who)
    assert mine
    begun = guarding.begun(row, NOON)
    write(database, begun, release=False)
    return begun


def test_the_first_call_writes_intent_and_body_down_and_may_act(database: Database) -> None:
    row, mine = enter(database)

    assert mine
    assert row == read(database)
    assert (row.status, row.body, row.fingerprint) == (
        IntentStatus.PENDING,
        wanted().body,
        wanted().fingerprint,
    )
    assert (row.holder, row.until, row.fence, row.sends, row.first_sent_at) == (
        "one",
        NOON + LEASE,
        1,
        0,
        None,
    )
    with database.read() as connection:
        assert intents.get(connection, PLATFORM, wanted().key) == wanted().intent


def test_a_second_call_waits_and_keeps_the_first_ones_body(database: Database) -> None:
    enter(database)
    row, mine = enter(database, replace(wanted(), body={"amount": 1}), who="two")

    assert not mine
    assert (row.holder, row.fence, row.body) == ("one", 1, wanted().body)


@pytest.mark.parametrize("late, mine", [(LEASE - SECOND, False), (LEASE, True), (LEASE + SECOND, True)])
def test_a_lease_lapses_to_the_microsecond_and_the_fence_grows(
    database: Database, late: timedelta, *, mine: bool
) -> None:
    enter(database)
    row, taken = enter(database, who="two", late=late)

    assert taken == mine
    assert (row.holder, row.fence) == (("two", 2) if mine else ("one", 1))


@pytest.mark.parametrize("over", [timedelta(), SECOND])
def test_a_lease_that_a_wrong_clock_took_is_shortened_and_no_other(
    database: Database, over: timedelta
) -> None:
    row, _ = enter(database)
    other, _ = enter(database, wanted("8813"))
    longest = row.until - over
    with database.write() as connection:
        intents.shorten(connection, row, longest)
    first, second = read(database), read(database, wanted("8813"))
    with database.write() as connection:
        intents.shorten_all(connection, lease=longest, rest=longest)

    assert (first, second) == (replace(row, until=longest), other)
    third = read(database, wanted("8813"))
    assert (third.until, third.next_at) == (longest, longest)


def test_what_is_settled_is_not_shortened(database: Database) -> None:
    begun = begin(database, wanted())
    write(database, replace(begun, status=IntentStatus.DONE), release=False)
    with database.write() as connection:
        intents.shorten_all(connection, lease=NOON, rest=NOON)

    assert read(database).until == NOON + LEASE


def test_nothing_is_written_under_an_old_fence(database: Database) -> None:
    row, _ = enter(database)
    enter(database, who="two", late=LEASE)
    done = replace(row, status=IntentStatus.DONE, result_id="re_1", updated_at=NOON + LEASE)

    with pytest.raises(LeaseLost, match="to be unsettled under fence 1"):
        write(database, done)
    with database.write() as connection:
        intents.release(connection, row, NOON)

    assert (read(database).status, read(database).until) == (IntentStatus.PENDING, NOON + 2 * LEASE)


def test_what_became_of_it_is_written_to_the_intent_as_well(database: Database) -> None:
    row, _ = enter(database)
    begun = guarding.begun(row, NOON + SECOND)
    write(database, begun, release=False)
    with database.read() as connection:
        sent = intents.get(connection, PLATFORM, row.key)
    write(database, replace(begun, status=IntentStatus.DONE, result_id="re_1", updated_at=NOON + 2 * SECOND))
    with database.read() as connection:
        done = intents.get(connection, PLATFORM, row.key)

    assert sent is not None
    assert (sent.status, sent.first_sent_at) == (IntentStatus.PENDING, NOON + SECOND)
    assert done == replace(
        sent, status=IntentStatus.DONE, refund_id=RefundId("re_1"), updated_at=NOON + 2 * SECOND
    )
    assert read(database).until == NOON


@pytest.mark.parametrize("status", [IntentStatus.DONE, IntentStatus.FAILED])
def test_what_a_run_or_a_person_settled_meanwhile_stands(database: Database, status: IntentStatus) -> None:
    begun = begin(database, wanted())
    with database.write() as connection:
        connection.execute(update(tables.intents).values(status=status, refund_id="re_theirs"))

    with pytest.raises(LeaseLost):
        write(database, replace(begun, status=IntentStatus.PENDING_UNKNOWN))

    found = read(database)
    assert (found.status, found.result_id) == (status, "re_theirs")
    assert enter(database, who="two", late=LEASE) == (found, False)


def test_a_look_up_more_is_no_change_of_the_intent(database: Database) -> None:
    begun = begin(database, wanted())
    write(database, replace(begun, status=IntentStatus.PENDING_UNKNOWN, updated_at=NOON + SECOND))
    with database.read() as connection:
        before = intents.get(connection, PLATFORM, begun.key)
    row, _ = enter(database, late=LEASE)
    write(database, replace(row, misses=1, updated_at=NOON + LEASE))
    with database.read() as connection:
        after = intents.get(connection, PLATFORM, begun.key)

    assert before == after
    assert read(database).misses == 1


@pytest.mark.parametrize("status", [IntentStatus.PENDING, IntentStatus.PENDING_UNKNOWN])
def test_somebody_elses_intent_of_the_same_key_counts_as_sent(
    database: Database, status: IntentStatus
) -> None:
    known = wanted().intent
    assert known is not None
    with database.write() as connection:
        intents.put(connection, replace(known, status=status, amount_minor=1))

    row, mine = enter(database)
    assert (mine, row.status, row.first_sent_at, row.sends) == (True, status, NOON, 1)
    assert row.fingerprint["amount_minor"] == "1"


def test_an_intent_without_a_payment_came_with_none(database: Database) -> None:
    known = wanted().intent
    assert known is not None
    with database.write() as connection:
        intents.put(connection, replace(known, payment=None))

    entered, read_later = enter(database)[0], read(database)
    assert entered == read_later
    assert entered.fingerprint == {"amount_minor": "4900", "currency": "usd"}
    assert keys.drift(entered.fingerprint, wanted().fingerprint) == ("payment",)


@pytest.mark.parametrize("status", [IntentStatus.DONE, IntentStatus.FAILED])
def test_nobody_may_act_on_what_is_settled(database: Database, status: IntentStatus) -> None:
    known = wanted().intent
    assert known is not None
    with database.write() as connection:
        intents.put(connection, replace(known, status=status))

    assert [enter(database)[1], enter(database)[1]] == [False, False]


def test_a_cancelled_intent_was_never_sent(database: Database) -> None:
    known = wanted().intent
    assert known is not None
    with database.write() as connection:
        intents.put(connection, replace(known, status=IntentStatus.CANCELLED))

    row, mine = enter(database)
    assert (mine, row.first_sent_at, row.sends) == (True, None, 0)


def test_of_many_callers_at_once_one_may_act(database: Database) -> None:
    start = Barrier(8)

    def call(number: int) -> bool:
        start.wait()
        return enter(database, who=str(number))[1]

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(call, range(8))) == 1


@pytest.mark.parametrize(
    "change, found",
    [
        ({"status": IntentStatus.PENDING}, True),
        ({"status": IntentStatus.PENDING_UNKNOWN}, True),
        ({"status": IntentStatus.DONE}, False),
        ({"status": IntentStatus.FAILED}, False),
        ({"payment": "pi_2"}, False),
        ({"account": "acct_1"}, False),
        ({"first_sent_at": None}, False),
    ],
)
def test_an_intent_under_way_bars_its_payment(
    database: Database, change: dict[str, object], *, found: bool
) -> None:
    begin(database, wanted("8812"))
    with database.write() as connection:
        connection.execute(update(tables.intents).values(change))
    row, _ = enter(database, wanted("8813"), who="two")

    with database.write() as connection:
        bars = intents.blocked(connection, row)
        assert (bars == ("refund_order:8812", False)) == found


@pytest.mark.parametrize(
    "change, found",
    [
        ({}, True),
        ({"status": "done", "payment": "pi_2"}, True),
        ({"status": "pending_unknown"}, True),
        ({"status": "failed"}, False),
        ({"status": "cancelled"}, False),
        ({"order_id": "8813"}, False),
        ({"reference": "return-1"}, False),
        ({"account": "acct_1"}, False),
    ],
)
def test_the_same_order_under_another_key_bars_it(
    database: Database, change: dict[str, object], *, found: bool
) -> None:
    enter(database, wanted())
    with database.write() as connection:
        connection.execute(update(tables.intents).values({"key": "their own", **change}))

        assert (intents.blocked(connection, wanted()) == ("their own", True)) == found


def test_an_intent_does_not_bar_itself(database: Database) -> None:
    begun = begin(database, wanted())

    with database.write() as connection:
        assert intents.blocked(connection, begun) is None


def test_of_two_intents_of_a_payment_at_once_one_is_sent(database: Database) -> None:
    rows = [enter(database, wanted(name))[0] for name in ("8812", "8813")]
    start = Barrier(2)

    def send(row: Guarded) -> bool:
        start.wait()
        with database.write() as connection:
            if intents.blocked(connection, row) is not None:
                return False
            intents.write(connection, guarding.begun(row, NOON))
            return True

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(send, rows)) == [False, True]


@pytest.mark.parametrize(
    "tool, thrown, off",
    [("refund_order", True, True), ("refund_order", False, False), ("other", True, False)],
)
def test_a_switch_is_of_one_tool(database: Database, tool: str, *, thrown: bool, off: bool) -> None:
    throw(database, tool, thrown=thrown)

    with database.read() as connection:
        assert intents.switched_off(connection, "refund_order") == off


def throw(database: Database, tool: str = "refund_order", *, thrown: bool = True) -> None:
    with database.write() as connection:
        connection.execute(
            insert(switches).values(
                tool=tool, thrown=thrown, version=1, head="", moved_at=NOON, moved_by="a test", reason="so"
            )
        )


CASES: list[tuple[Callable[[Guarded], Guarded], timedelta, bool]] = [
    (lambda row: row, timedelta(), False),  # Somebody is at it.
    (lambda row: row, LEASE, True),  # Whoever was at it is gone.
    (lambda row: replace(row, next_at=NOON + 2 * LEASE), LEASE, False),  # Looked at a moment ago.
    (lambda row: replace(row, status=IntentStatus.PENDING_UNKNOWN), LEASE, True),
    (lambda row: replace(row, status=IntentStatus.DONE), LEASE, False),
    (lambda row: replace(row, status=IntentStatus.FAILED), LEASE, False),
]


@pytest.mark.parametrize("change, late, found", CASES)
def test_what_is_due_for_a_sweep(
    database: Database, change: Callable[[Guarded], Guarded], late: timedelta, *, found: bool
) -> None:
    begun = begin(database, wanted())
    write(database, change(begun), release=False)

    with database.read() as connection:
        due = [intents.due(connection, tools, now=NOON + late, limit=9) for tools in (TOOLS, ["other"])]
    assert [len(each) for each in due] == [int(found), 0]


def test_a_sweep_takes_no_more_than_its_limit_oldest_first(database: Database) -> None:
    for number in range(3):
        row = begin(database, wanted(str(number), payment=f"pi_{number}"))
        write(database, replace(row, next_at=NOON - number * SECOND))

    with database.read() as connection:
        due = intents.due(connection, TOOLS, now=NOON + LEASE, limit=2)
    assert [each.key for each in due] == ["refund_order:2", "refund_order:1"]


def test_what_was_settled_elsewhere_is_followed_and_no_longer_due(database: Database) -> None:
    begin(database, wanted())
    with database.write() as connection:
        connection.execute(update(tables.intents).values(status=IntentStatus.DONE))
        assert [intents.follow(connection), intents.follow(connection)] == [1, 0]

    with database.read() as connection:
        assert intents.due(connection, TOOLS, now=NOON + LEASE, limit=9) == ()


def test_an_orders_intents_are_read_newest_first(database: Database) -> None:
    with database.write() as connection:
        for number in range(3):
            late = NOON + number * SECOND
            intents.put(connection, an_intent(key=f"k{number}", order_id="8812", created_at=late))
        intents.put(connection, an_intent(key="k9", order_id="8813"))

        assert [each.key for each in intents.of_order(connection, PLATFORM, "8812")] == ["k2", "k1", "k0"]
        assert intents.of_order(connection, AccountId("acct_1"), "8812") == ()
