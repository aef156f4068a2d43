import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import text

from recon.doors.store import cases, outbox
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.errors import CaseMoved
from recon.model.records.cases import Case, case_id
from recon.model.records.results import Healable
from recon.model.records.words import (
    Basis,
    CaseState,
    IntentKey,
    IntentStatus,
    RefundId,
    RunId,
    Subject,
)
from tests.builders import PLATFORM, an_intent
from tests.doors.store.books import (
    LATER,
    a_lease,
    a_notice,
    a_run,
    acknowledged,
    case_of,
    opened,
)

INTENT = Subject("intent:refund_order:8812")
HEAL = Healable(PLATFORM, IntentKey("refund_order:8812"), RefundId("re_8812"), Basis.INTENT_KEY)
UNSETTLED = an_intent(status=IntentStatus.PENDING_UNKNOWN, refund_id=None)


def test_a_person_moves_a_case_once_per_click(database: Database) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))
    click = acknowledged(change.case)

    cases.move(database, click, notices=(a_notice(),))
    cases.move(database, click)

    assert cases.get(database, change.case.id) == click.case
    assert [stored.entry for stored in cases.entries(database, change.case.id)] == [change.entry, click.entry]
    assert len(outbox.recent(database, 9)) == 1


def test_the_second_of_two_people_is_told(database: Database) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))
    cases.move(database, acknowledged(change.case, actor="ada"))

    with pytest.raises(CaseMoved, match="at version 1, found it at 2"):
        cases.move(
            database,
            acknowledged(change.case, actor="bob", action_id="click_2"),
            notices=(a_notice(dedupe_key="bob"),),
        )

    assert len(cases.entries(database, change.case.id)) == 2
    assert outbox.recent(database, 9) == ()


def test_of_many_people_at_once_one_moves_the_case(database: Database) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))

    def click(number: int) -> bool:
        try:
            cases.move(database, acknowledged(change.case, action_id=f"click_{number}"))
        except CaseMoved:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(click, range(24)))

    assert done.count(True) == 1
    assert len(cases.entries(database, change.case.id)) == 2
    assert cases.verify(database) == ()


def test_people_and_a_run_at_once_lose_nothing(database: Database) -> None:
    lease = a_lease(database)
    books = [case_of(number) for number in range(12)]
    cases.save_run(database, lease, Saving(a_run(), changes=tuple(map(opened, books))))

    def click(case: Case) -> bool:
        try:
            cases.move(database, acknowledged(case, action_id=f"click:{case.id}"))
        except CaseMoved:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        clicks = [threads.submit(click, case) for case in books]
        changes = tuple(acknowledged(case, action_id=f"run_2:{case.id}") for case in reversed(books))
        saved = cases.save_run(database, lease, Saving(a_run(id=RunId("run_2")), changes=changes))
        clicked = [done.result() for done in clicks]

    assert clicked.count(True) == len(saved.moved)
    assert all(
        cases.get(database, case.id)
        == replace(case, state=CaseState.ACKNOWLEDGED, version=2, updated_at=LATER)
        for case in books
    )
    assert cases.verify(database) == ()


@pytest.mark.parametrize("harm", ["state = 'open'", "version = 7", "head = 'x'"])
def test_a_case_that_was_changed_past_its_entries_is_found(database: Database, harm: str) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))
    cases.move(database, acknowledged(change.case))

    with database.write() as connection:
        connection.execute(text(f"UPDATE cases SET {harm}"))  # noqa: S608 -- the harm is ours

    assert cases.verify(database) == (f"{change.case.id}: the case is not as its last entry left it.",)


@pytest.mark.parametrize(
    "harm, found",
    [
        ("UPDATE entries SET reason = 'nothing' WHERE version = 1", "entry 1 does not continue"),
        ("UPDATE entries SET actor = 'bob' WHERE version = 2", "entry 2 does not continue"),
        ("UPDATE entries SET at = at + 1 WHERE version = 2", "entry 2 does not continue"),
        ("DELETE FROM entries WHERE version = 1", "entry 2 does not continue"),
        ("DELETE FROM entries WHERE version = 2", "not as its last entry left it"),
        ("DELETE FROM cases", "there are entries and no case"),
    ],
)
def test_changed_books_are_found(database: Database, harm: str, found: str) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))
    cases.move(database, acknowledged(change.case))
    on_table = " ON entries" if database.dialect == "postgresql" else ""
    guards = ("entries_kept",) if on_table else ("entries_kept", "entries_unchanged")

    with database.write() as connection:
        for guard in guards:
            connection.execute(text(f"DROP TRIGGER {guard}{on_table}"))
        connection.execute(text(harm))

    first, *others = cases.verify(database)
    assert found in first
    assert others[-len(guards) :] == [f"The trigger {guard} is missing." for guard in guards]


def test_ten_thousand_changes_are_saved_in_seconds(database: Database) -> None:
    lease = a_lease(database)
    books = [case_of(number) for number in range(10_000)]

    began = time.perf_counter()
    cases.save_run(database, lease, Saving(a_run(), changes=tuple(map(opened, books))))
    moves = tuple(acknowledged(case, action_id=f"run_2:{case.id}") for case in books)
    saved = cases.save_run(database, lease, Saving(a_run(id=RunId("run_2")), changes=moves))
    took = time.perf_counter() - began

    assert saved.moved == ()
    assert cases.verify(database) == ()
    assert took < 60  # Some 3 s on an idle machine; one statement per case would take a minute or more.


def test_a_case_that_is_not_there_is_none(database: Database) -> None:
    assert cases.get(database, case_id(PLATFORM, INTENT)) is None
    assert cases.entries(database, case_id(PLATFORM, INTENT)) == ()
