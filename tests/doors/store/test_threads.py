from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from recon.doors.store import cases as book
from recon.doors.store import outbox, threads
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.notices import Notice, Topic
from recon.model.records.words import (
    AccountId,
    Action,
    CaseState,
    Kind,
    NoticeState,
    RunId,
    Severity,
    Subject,
)
from tests.builders import NOON, a_case, a_mismatch, an_owner
from tests.doors.store.books import a_lease, a_notice, a_run, acknowledged, opened

TOPIC = Topic("#payments", Kind.DUPLICATE, Severity.HIGH, AccountId(""), livemode=True)


def numbered(number: int, **changes: object) -> Case:
    case = a_case(a_mismatch(subject=Subject(f"intent:refund_order:{number}")))
    return replace(case, **changes)  # type: ignore[arg-type]  # any field of the case


def told(number: int, *cases: Case, verb: str = "reply", **changes: object) -> Notice:
    """Return a notice of the topic's thread that speaks of these cases."""
    about = {"case_ids": tuple(case.id for case in cases), "thread_key": TOPIC.key, "verb": verb}
    return a_notice(dedupe_key=f"n{number}", delivery_id=f"d{number}", **about | changes)


def save(database: Database, cases: Sequence[Case], *notices: Notice) -> None:
    saving = Saving(a_run(), changes=tuple(map(opened, cases)), notices=notices)
    book.save_run(database, a_lease(database), saving)


def test_a_thread_shows_what_waits_in_it_and_somebody_was_told_of(database: Database) -> None:
    here, untold, elsewhere = numbered(1), numbered(2), numbered(3, owner=an_owner(target="#others"))
    others = [
        numbered(4, severity=Severity.CRITICAL),
        a_case(a_mismatch(subject=Subject("intent:5"), kind=Kind.ORPHAN)),
        a_case(a_mismatch(subject=Subject("intent:6"), account=AccountId("acct_2"))),
    ]
    every = [here, elsewhere, *others]
    save(database, [*every, untold], told(1, here, verb="root"), told(2, *every, thread_key="elsewhere"))

    found = threads.standing(database, TOPIC)

    assert [case.id for case in found.waiting] == [here.id]
    assert found.over == ()


def test_what_left_a_thread_since_its_latest_root_is_shown_as_over_the_latest_first(
    database: Database,
) -> None:
    before, first, second, stays = (numbered(number) for number in range(1, 5))
    save(
        database,
        [before, first, second, stays],
        told(1, before, verb="root"),
        told(2, first, second, stays, verb="root"),
    )
    for minutes, case in enumerate([before, second, first]):
        after = replace(
            case, state=CaseState.RESOLVED, version=2, updated_at=NOON + timedelta(minutes=minutes)
        )
        entry = replace(
            acknowledged(case, action_id=case.id).entry, action=Action.RESOLVED, to_state=CaseState.RESOLVED
        )
        book.move(database, replace(acknowledged(case), case=after, entry=entry))

    found = threads.standing(database, TOPIC)

    assert [case.id for case in found.waiting] == [stays.id]
    assert [case.id for case in found.over] == [first.id, second.id]


@pytest.mark.parametrize(
    "state, rooted, begun, expected",
    [
        (NoticeState.WAITING, False, True, True),
        (NoticeState.SENDING, False, True, True),
        (NoticeState.UNKNOWN, True, True, True),
        (NoticeState.SENT, True, True, False),
        (NoticeState.UNDELIVERABLE, False, False, False),
        (NoticeState.UNDELIVERABLE, True, True, False),
    ],
)
def test_a_thread_has_begun_with_its_root_or_one_on_its_way(
    database: Database,
    state: NoticeState,
    rooted: bool,  # noqa: FBT001
    begun: bool,  # noqa: FBT001
    expected: bool,  # noqa: FBT001
) -> None:
    case = numbered(1)
    save(database, [case], told(1, case, verb="root", state=state))
    if rooted:
        with database.write() as connection:
            connection.execute(update(tables.threads).values(root_id=1))

    known = threads.known(database, [TOPIC], [case.id, numbered(2).id])

    assert (TOPIC.key in known.begun, TOPIC.key in known.expected) == (begun, expected)
    assert known.told == {case.id}
    assert known.active(TOPIC.key) is begun  # Something waits in it.


def test_a_thread_in_which_nothing_waits_is_not_active(database: Database) -> None:
    case = numbered(1, state=CaseState.CLEARED)
    save(database, [case], told(1, case, verb="root", state=NoticeState.SENT))
    with database.write() as connection:
        connection.execute(update(tables.threads).values(root_id=1))

    known = threads.known(database, [TOPIC], [])

    assert TOPIC.key in known.begun
    assert not known.active(TOPIC.key)


def run_of(number: int, *, complete: bool) -> tuple[RunId, Saving]:
    run_id = RunId(f"run_{number}")
    found = replace(a_run().accounts[0], complete=complete, error=None if complete else "broke off")
    return run_id, Saving(a_run(id=run_id, fence=number, accounts=(found,)))


@pytest.mark.parametrize(
    "complete, said, kept",
    [
        (False, None, True),
        (True, None, False),  # It told nobody on purpose.
        (False, "run_1", False),
        (False, "run_2", False),
        (False, "run_0", True),  # What was said before it says nothing of it.
        (False, "later", False),  # A person's move said it.
        (False, "earlier", True),
    ],
)
def test_a_case_was_kept_back_where_its_latest_news_is_an_unread_account_s_and_nobody_told_since(
    database: Database,
    complete: bool,  # noqa: FBT001
    said: str | None,
    kept: bool,  # noqa: FBT001
) -> None:
    case = numbered(1)
    lease = a_lease(database)
    _, before = run_of(0, complete=True)
    book.save_run(database, lease, before)
    run_id, saving = run_of(1, complete=complete)
    book.save_run(database, lease, replace(saving, changes=(opened(case, run=run_id),)))
    book.save_run(database, lease, run_of(2, complete=True)[1])
    after = acknowledged(case)  # What a person says keeps nothing back.
    book.move(database, after)
    if said is not None:
        of_run = RunId(said) if said.startswith("run") else None
        at = case.opened_at + timedelta(minutes=1 if said == "later" else -1)
        with database.write() as connection:
            outbox.add(connection, [told(1, case, run_id=of_run, created_at=at)])

    assert threads.kept_back(database, [case.id]) == ({case.id} if kept else set())
