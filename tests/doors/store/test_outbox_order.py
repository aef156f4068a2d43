"""Which notice goes first, which must wait for which, and what rests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, update

from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.notices import Notice, Thread
from recon.model.records.words import NoticeState
from tests.builders import NOON
from tests.doors.store.books import a_notice, put_root
from tests.doors.store.test_outbox import CLAIM, SECOND, claim, numbered

WAITING, SENDING, UNKNOWN, SENT, UNDELIVERABLE = (
    NoticeState.WAITING,
    NoticeState.SENDING,
    NoticeState.UNKNOWN,
    NoticeState.SENT,
    NoticeState.UNDELIVERABLE,
)
ON_THE_WAY, OFF = (WAITING, SENDING, UNKNOWN), (SENT, UNDELIVERABLE)


def in_thread(number: int, verb: str, **changes: object) -> Notice:
    """One of several in the same thread."""
    return numbered(number, verb=verb, thread_key="thread_1", **changes)


def put_in(database: Database, *notices: Notice) -> None:
    """Put notices into the outbox."""
    with database.write() as connection:
        outbox.add(connection, notices)


def keys(notices: tuple[Notice, ...]) -> list[str]:
    return [notice.dedupe_key for notice in notices]


def become(database: Database, number: int, state: NoticeState, **values: object) -> None:
    """Let a notice be in that state, whatever led there."""
    with database.write() as connection:
        table = tables.notices
        changed = update(table).where(table.c.dedupe_key == f"news_{number}")
        connection.execute(changed.values(state=state, **values))


SPEAKS = ("root", "reply", "call")
# The notice before, its state, the one behind it, and whether that one may go.
ORDER = [
    # What speaks goes in the order in which it was said, whatever holds up the one before.
    *((before, state, verb, False) for before in SPEAKS for state in ON_THE_WAY for verb in SPEAKS),
    *((before, state, verb, True) for before in SPEAKS for state in OFF for verb in (*SPEAKS, "edit")),
    # An edit shows what is so now: it needs the root that it changes, and no reply.
    *(("root", state, "edit", False) for state in ON_THE_WAY),
    *((before, state, "edit", True) for before in ("reply", "call") for state in ON_THE_WAY),
    # Nothing waits for an edit, but an edit that could arrive before it.
    *(("edit", state, verb, True) for state in ON_THE_WAY for verb in SPEAKS),
    ("edit", WAITING, "edit", True),
    ("edit", UNKNOWN, "edit", True),
    ("edit", SENDING, "edit", False),
]


def test_within_a_thread_what_speaks_goes_strictly_in_order(database: Database) -> None:
    later = NOON + 5 * SECOND
    for number, (before, state, verb, _) in enumerate(ORDER):
        thread = f"thread_{number}"
        put_in(
            database,
            numbered(2 * number, verb=before, thread_key=thread, next_at=later),
            numbered(2 * number + 1, verb=verb, thread_key=thread),
        )
        become(database, 2 * number, state, claimed_until=NOON + CLAIM)

    goes = [ORDER[int(key.removeprefix("news_")) // 2] for key in keys(claim(database, limit=1000))]

    assert sorted(goes) == sorted(row for row in ORDER if row[3])


def test_many_senders_at_once_keep_every_threads_order(database: Database) -> None:
    threads, verbs = 4, ["root", "reply", "call", "reply", "root", "reply"]
    for number in range(threads * len(verbs)):
        verb, thread = verbs[number // threads], f"thread_{number % threads}"
        # By themselves the later ones would go first.
        put_in(database, numbered(number, verb=verb, thread_key=thread, next_at=NOON - number * SECOND))
    seen: list[tuple[str, str]] = []

    def sending(sender: str) -> None:
        idle = 0
        while idle < 20 and len(seen) < 2 * threads * len(verbs):
            mine = claim(database, sender, limit=2)
            idle = 0 if mine else idle + 1
            seen.extend((notice.thread_key, f"begins {notice.id}") for notice in mine)
            for notice in mine:
                seen.append((notice.thread_key, f"ends {notice.id}"))
                outbox.record(database, replace(notice, state=SENT, channel="C1", ts="1.2"), sender=sender)

    with ThreadPoolExecutor(4) as senders:
        list(senders.map(sending, ["ada", "bob", "cyd", "dan"]))

    for number in range(threads):
        ids = [1 + number + threads * row for row in range(len(verbs))]
        expected = [each for found in ids for each in (f"begins {found}", f"ends {found}")]
        assert [what for key, what in seen if key == f"thread_{number}"] == expected


@pytest.mark.parametrize("state, goes", [(WAITING, False), (SENT, True)])
def test_what_must_wait_for_another_is_not_due(database: Database, state: NoticeState, goes: bool) -> None:  # noqa: FBT001
    later = NOON + 5 * SECOND
    put_in(database, in_thread(1, "root", next_at=later), in_thread(2, "reply"))
    become(database, 1, state)

    assert outbox.is_due(database, now=NOON) == goes
    assert outbox.next_due(database) == (NOON if goes else later)


def test_what_comes_later_in_a_thread_holds_up_nothing(database: Database) -> None:
    put_in(database, in_thread(1, "root"), in_thread(2, "reply"))
    become(database, 2, UNKNOWN, next_at=NOON + CLAIM)

    assert keys(claim(database)) == ["news_1"]


def test_what_must_be_looked_for_comes_first_then_the_most_urgent_then_the_oldest(database: Database) -> None:
    put_in(
        database,
        numbered(1, urgency=0, next_at=NOON - 9 * SECOND),
        numbered(2, urgency=2),
        numbered(3, urgency=3),
        numbered(4, urgency=2, next_at=NOON - SECOND),
        numbered(5, urgency=0),
    )
    become(database, 5, UNKNOWN)

    assert keys(claim(database, oldest=True, limit=2)) == ["news_5", "news_1"]
    assert keys(claim(database)) == ["news_3", "news_4", "news_2"]


def test_a_channel_that_rests_holds_up_nothing_that_goes_elsewhere(database: Database) -> None:
    put_in(
        database,
        numbered(1, target="#a"),
        numbered(2, target="#b"),
        numbered(3, target="#b", verb="reply"),
        numbered(4, target="#a", verb="edit"),
        numbered(5, target="#a"),
    )
    put_root(database, "thread_3", channel="C_A", root_ts="1.2")
    become(database, 5, UNKNOWN)

    # A message is looked for, and an edit made, without a sound there.
    assert keys(claim(database, resting={"#a", "C_A"}, edits=False)) == ["news_5", "news_2"]
    assert keys(claim(database, resting={"#a", "C_A"})) == ["news_4"]
    assert keys(claim(database, resting={"#b"})) == ["news_1", "news_3"]


def test_a_channel_that_was_too_much_for_rests_for_everybody(database: Database) -> None:
    until = NOON + CLAIM
    put_in(
        database,
        numbered(1, target="#a"),
        numbered(2, target="#b"),
        numbered(3, target="#x", verb="reply"),
        numbered(4, target="#a", verb="edit"),
        numbered(5, target="#a", next_at=until + SECOND),
        numbered(6, target="#a"),
    )
    put_root(database, "thread_3", channel="C_A", root_ts="1.2")
    become(database, 6, UNKNOWN)

    outbox.rest(database, ["#a", "C_A"], until=until, reason="too much")
    outbox.rest_edits(database, until=until - SECOND, reason="too many edits")

    found = {each.dedupe_key: (each.next_at, each.error) for each in outbox.recent(database, 9)}
    assert found == {
        "news_1": (until, "too much"),
        "news_2": (NOON, None),
        "news_3": (until, "too much"),
        "news_4": (until - SECOND, "too many edits"),
        "news_5": (until + SECOND, None),
        "news_6": (NOON, None),
    }


def test_where_it_goes_is_written_down_only_by_who_holds_it(database: Database) -> None:
    put_in(database, a_notice())
    (mine,) = claim(database)

    assert outbox.aim(database, mine, sender="ada", channel="#payments")
    assert not outbox.aim(database, mine, sender="bob", channel="#elsewhere")
    (again,) = claim(database, "bob", late=CLAIM)
    assert not outbox.aim(database, mine, sender="ada", channel="#elsewhere")
    assert again.channel == "#payments"
    assert outbox.aim(database, again, sender="bob", channel=None)
    assert outbox.recent(database, 1)[0].channel is None


def test_late_is_what_something_stopped_and_not_what_waits_for_the_morning(database: Database) -> None:
    morning = NOON + timedelta(hours=9)
    put_in(
        database,
        in_thread(1, "root", next_at=morning),
        in_thread(2, "reply"),  # Behind it.
        numbered(3, next_at=morning),
        numbered(4, next_at=morning),
        numbered(5),
        numbered(6, next_at=morning),
        numbered(7),
        numbered(8),
    )
    become(database, 4, WAITING, error="too much")
    become(database, 6, UNKNOWN)
    become(database, 7, SENDING)
    become(database, 8, UNDELIVERABLE)

    assert outbox.late(database, now=NOON - SECOND) == 3
    assert outbox.late(database, now=NOON) == 4
    assert outbox.late(database, now=morning) == 6


def test_a_root_that_never_came_is_known_until_a_later_one_is_there(database: Database) -> None:
    put_in(database, in_thread(1, "root"), in_thread(2, "reply"), in_thread(3, "root"), in_thread(4, "reply"))
    become(database, 1, UNDELIVERABLE)
    _, second, _, fourth = sorted(outbox.recent(database, 9), key=lambda notice: notice.id or 0)
    thread = Thread("thread_1", "#payments", "C1", "1.2", root_id=3)

    assert outbox.is_rootless(database, second, Thread("thread_1", "#payments"))
    assert not outbox.is_rootless(database, fourth, thread)
    become(database, 3, UNDELIVERABLE)
    assert outbox.is_rootless(database, fourth, replace(thread, root_id=1))
    assert not outbox.is_rootless(database, second, replace(thread, root_id=1))


def test_the_roots_that_a_thread_had_are_known_latest_first(database: Database) -> None:
    put_in(database, *(in_thread(number, "edit" if number % 2 else "root") for number in range(1, 6)))
    for number, ts in ((1, "1.1"), (2, "2.2"), (3, "3.3"), (4, "2.2"), (5, "5.5")):
        become(database, number, SENT, channel="C1", ts=ts)
    become(database, 5, UNKNOWN)

    assert outbox.roots(database, "thread_1", limit=2) == (("C1", "2.2"), ("C1", "3.3"))


@pytest.mark.parametrize(
    "later, outdated", [("root", False), ("edit", True), ("reply", False), ("call", False)]
)
def test_an_edit_is_outdated_by_what_shows_its_root_later(
    database: Database,
    later: str,
    outdated: bool,  # noqa: FBT001
) -> None:
    put_in(database, in_thread(1, "root"), in_thread(2, "edit"), in_thread(3, later))
    edit = outbox.recent(database, 2)[1]

    assert outbox.outdated(database, edit) == outdated
    become(database, 3, UNDELIVERABLE)
    assert not outbox.outdated(database, edit)


def test_an_edit_under_a_later_root_says_nothing_of_the_former_one(database: Database) -> None:
    put_in(database, in_thread(1, "root"), in_thread(2, "edit"), in_thread(3, "root"), in_thread(4, "edit"))
    edit = outbox.recent(database, 3)[2]

    assert (outbox.outdated(database, edit), outbox.next_root(database, edit)) == (False, 3)
    become(database, 3, UNDELIVERABLE)
    assert (outbox.outdated(database, edit), outbox.next_root(database, edit)) == (True, None)


def test_claiming_goes_by_indices_behind_any_number_that_were_sent(database: Database) -> None:
    with recorded(database) as statements:
        claim(database, resting={"#a"})
    (chosen,) = [each for each in statements if "ORDER BY" in each[0]]
    explain = "EXPLAIN QUERY PLAN " if database.dialect == "sqlite" else "EXPLAIN "
    with database.read() as connection:
        if database.dialect == "postgresql":  # As if there were too many rows to read them all.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        plan = [str(row) for row in connection.exec_driver_sql(explain + chosen[0], chosen[1])]

    scans = [line for line in plan if "SCAN notices" in line or "Seq Scan on notices" in line]
    assert scans == [], plan
    assert any("ix_notices_state_next_at" in line for line in plan), plan
    assert any("ix_notices_thread_key_state" in line for line in plan), plan


@contextmanager
def recorded(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """Yield the statements that are executed meanwhile, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:  # noqa: ANN401
        seen.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
