from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.doors.store import cases, outbox
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.notices import Notice, Thread
from recon.model.records.words import NoticeState
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_notice, a_run, put_root

CLAIM = timedelta(seconds=60)
SECOND = timedelta(seconds=1)


def fill(database: Database, *notices: Notice) -> None:
    cases.save_run(database, a_lease(database), Saving(a_run(), notices=notices))


def numbered(number: int, **changes: object) -> Notice:
    """One of several, each in a thread of its own."""
    threaded = {"thread_key": f"thread_{number}"} | changes
    return a_notice(dedupe_key=f"news_{number}", delivery_id=f"delivery_{number}", **threaded)


def claim(
    database: Database,
    sender: str = "ada",
    *,
    late: timedelta = timedelta(0),
    limit: int = 10,
    **more: Any,  # noqa: ANN401 - any option
) -> tuple[Notice, ...]:
    return outbox.claim(database, sender, now=NOON + late, claim=CLAIM, limit=limit, **more)


def test_a_claimed_notice_is_sending_and_nobody_elses(database: Database) -> None:
    fill(database, a_notice())

    mine = claim(database)

    held = a_notice(id=1, attempts=1, claimed_by="ada", claimed_until=NOON + CLAIM, first_sent_at=NOON)
    assert mine == (held,)
    assert outbox.recent(database, 5) == (replace(held, state=NoticeState.SENDING),)
    assert claim(database, "bob", late=CLAIM - SECOND) == ()


def test_a_lapsed_claim_is_unknown_and_its_first_send_stands(database: Database) -> None:
    fill(database, a_notice())
    claim(database)

    (again,) = claim(database, "bob", late=CLAIM)

    assert (again.state, again.attempts, again.claimed_by) == (NoticeState.UNKNOWN, 1, "bob")
    assert again.first_sent_at == NOON


def test_an_unknown_notice_comes_back_unknown_when_its_time_has_come(database: Database) -> None:
    fill(database, a_notice())
    (mine,) = claim(database)
    unknown = replace(mine, state=NoticeState.UNKNOWN, next_at=NOON + 2 * CLAIM, error="timeout")
    assert outbox.record(database, unknown, sender="ada")

    assert claim(database, late=2 * CLAIM - SECOND) == ()
    (again,) = claim(database, late=2 * CLAIM)

    assert (again.state, again.attempts, again.error) == (NoticeState.UNKNOWN, 1, "timeout")


def test_a_claim_lapses_only_when_its_send_can_have_been_over_for_long_enough(database: Database) -> None:
    fill(database, a_notice())
    claim(database)
    minute = timedelta(minutes=1)

    assert outbox.next_due(database, lapse=minute) == NOON + CLAIM + minute
    assert not outbox.is_due(database, now=NOON + CLAIM + minute - SECOND, lapse=minute)
    assert claim(database, "bob", late=CLAIM + minute - SECOND, lapse=minute) == ()
    assert outbox.is_due(database, now=NOON + CLAIM + minute, lapse=minute)
    (again,) = claim(database, "bob", late=CLAIM + minute, lapse=minute)
    assert again.state is NoticeState.UNKNOWN


def test_notices_are_claimed_oldest_first_up_to_the_limit(database: Database) -> None:
    fill(
        database,
        numbered(1, next_at=NOON - SECOND),
        numbered(2, next_at=NOON + SECOND),
        numbered(3, next_at=NOON - 2 * SECOND),
        numbered(4, next_at=NOON - SECOND),
    )

    assert [notice.dedupe_key for notice in claim(database, limit=2)] == ["news_3", "news_1"]
    assert [notice.dedupe_key for notice in claim(database)] == ["news_4"]


def test_many_senders_claim_each_notice_once(database: Database) -> None:
    fill(database, *(numbered(number) for number in range(20)))

    with ThreadPoolExecutor(6) as threads:
        claims = threads.map(lambda sender: claim(database, sender, limit=5), [f"s{n}" for n in range(12)])
    found = sorted(notice.dedupe_key for claimed in claims for notice in claimed)

    assert found == sorted(f"news_{number}" for number in range(20))


def test_what_became_of_a_root_is_its_threads_place(database: Database) -> None:
    later = NOON + 9 * CLAIM
    fill(database, a_notice(), numbered(2, thread_key="other", target="#other", next_at=later))
    (mine,) = claim(database)
    sent = replace(mine, state=NoticeState.SENT, sent_at=NOON, channel="C1", ts="1.2")

    assert outbox.record(database, sent, sender="ada")

    assert outbox.recent(database, 2)[-1] == replace(sent, claimed_by=None, claimed_until=None)
    assert outbox.threads(database, ["thread_1", "other", "unknown"]) == {
        "thread_1": Thread("thread_1", "#payments", "C1", "1.2", mine.id),
        "other": Thread("other", "#other"),
    }
    assert claim(database, late=2 * CLAIM) == ()


@pytest.mark.parametrize("verb", ["reply", "call", "edit"])
def test_a_reply_or_an_edit_moves_no_root(database: Database, verb: str) -> None:
    fill(database, a_notice(verb=verb))
    put_root(database, "thread_1", channel="C1", root_ts="1.2")
    (mine,) = claim(database)

    outbox.record(database, replace(mine, state=NoticeState.SENT, channel="C1", ts="3.4"), sender="ada")

    assert outbox.threads(database, ["thread_1"])["thread_1"].root_ts == "1.2"


@pytest.mark.parametrize("late, root_ts", [(CLAIM - SECOND, "3.4"), (CLAIM, "1.2")])
def test_an_edit_that_posted_a_new_root_moves_the_thread_only_under_its_claim(
    database: Database, late: timedelta, root_ts: str
) -> None:
    fill(database, a_notice(verb="edit"))
    put_root(database, "thread_1", channel="C1", root_ts="1.2")
    (mine,) = claim(database)
    claim(database, "bob", late=late)  # Takes it over once the claim has lapsed.

    sent = replace(mine, state=NoticeState.SENT, channel="C1", ts="3.4")
    outbox.record(database, sent, sender="ada", moved=True)

    thread = outbox.threads(database, ["thread_1"])["thread_1"]
    assert (thread.root_ts, thread.root_id) == (root_ts, mine.id if root_ts == "3.4" else None)


def test_a_result_of_a_claim_that_was_lost_is_not_recorded(database: Database) -> None:
    fill(database, a_notice())
    (mine,) = claim(database)
    claim(database, "bob", late=CLAIM)

    sent = replace(mine, state=NoticeState.SENT, channel="C1", ts="1.2")

    assert not outbox.record(database, sent, sender="ada")
    assert outbox.recent(database, 1)[0].state is NoticeState.SENDING
    assert outbox.threads(database, ["thread_1"])["thread_1"].root_ts is None


def test_a_result_is_recorded_once(database: Database) -> None:
    fill(database, a_notice())
    (mine,) = claim(database)
    assert outbox.record(database, replace(mine, state=NoticeState.SENT), sender="ada")

    assert not outbox.record(database, replace(mine, state=NoticeState.UNKNOWN), sender="ada")
    assert outbox.recent(database, 1)[0].state is NoticeState.SENT


def test_a_notice_is_named_by_its_key(database: Database) -> None:
    fill(database, numbered(1), numbered(2))

    wanted = numbered(2).dedupe_key
    assert outbox.named(database, "another") is None
    assert [outbox.named(database, wanted)] == [
        each for each in outbox.recent(database, 5) if each.dedupe_key == wanted
    ]


def test_what_is_not_delivered_is_counted_by_state(database: Database) -> None:
    fill(database, *(numbered(number) for number in range(4)))
    sent, refused, _ = claim(database, limit=3)
    outbox.record(database, replace(sent, state=NoticeState.SENT), sender="ada")
    outbox.record(database, replace(refused, state=NoticeState.UNDELIVERABLE), sender="ada")

    assert outbox.undelivered(database) == {
        NoticeState.WAITING: 1,
        NoticeState.SENDING: 1,
        NoticeState.UNKNOWN: 0,
        NoticeState.UNDELIVERABLE: 1,
    }


def test_the_oldest_on_its_way_is_known_behind_any_number_that_are_not(database: Database) -> None:
    assert outbox.waits_since(database, now=NOON) is None
    morning = NOON + timedelta(hours=9)
    fill(
        database,
        numbered(1, created_at=NOON - 3 * SECOND, next_at=NOON - 3 * SECOND),
        numbered(2, created_at=NOON - 2 * SECOND, next_at=NOON - SECOND),
        numbered(3, created_at=NOON - 9 * SECOND, next_at=morning),
    )
    (sent,) = claim(database, limit=1)
    outbox.record(database, replace(sent, state=NoticeState.SENT), sender="ada")

    assert outbox.waits_since(database, now=NOON) == NOON - SECOND
    (stopped,) = claim(database, limit=1)
    outbox.record(database, replace(stopped, state=NoticeState.WAITING, error="no"), sender="ada")
    assert outbox.waits_since(database, now=NOON) == NOON - 2 * SECOND


def test_what_waits_for_its_owners_morning_is_as_old_as_the_morning(database: Database) -> None:
    morning = NOON + timedelta(hours=9)
    fill(database, numbered(1, next_at=morning))

    assert outbox.waits_since(database, now=morning - SECOND) is None
    assert outbox.waits_since(database, now=morning + SECOND) == morning
