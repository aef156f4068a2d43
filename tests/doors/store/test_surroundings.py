from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from recon.doors.store import cases, surroundings
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.notices import Message, Notice
from recon.model.records.words import AccountId, CaseState, RunId, Subject
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import a_lease, a_run, acknowledged, opened

MINE = a_case(
    a_mismatch(subject=Subject("intent:mine"), order_id="order_1", customer_id="cus_1", payment="pi_1")
)


def tied(name: str, **facts: object) -> Case:
    """A case with no tie to mine but what is said."""
    plain: dict[str, Any] = {"order_id": None, "customer_id": None, "payment": None, "account": MINE.account}
    mismatch = a_mismatch(subject=Subject(f"intent:{name}"), **(plain | facts))
    return a_case(mismatch)


def told(name: str, *about: Case) -> Notice:
    """A message about cases."""
    return Notice.new(
        name,
        "root",
        Message("Look at it."),
        thread_key=f"thread of {name}",
        target="C1",
        urgency=1,
        now=NOON,
        case_ids=tuple(case.id for case in about),
    )


def fill(database: Database, *books: Case) -> None:
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=tuple(map(opened, books))))


@pytest.mark.parametrize(
    "facts, found",
    [
        ({"order_id": "order_1"}, True),
        ({"customer_id": "cus_1"}, True),
        ({"payment": "pi_1"}, True),
        ({"order_id": "order_1", "customer_id": "cus_1", "payment": "pi_1"}, True),
        ({}, False),
        ({"order_id": "cus_1"}, False),
        ({"order_id": "order_1", "account": AccountId("acct_2")}, False),
    ],
)
def test_cases_of_the_same_payment_order_or_customer_are_related(
    database: Database, facts: dict[str, object], *, found: bool
) -> None:
    other = tied("other", **facts)
    fill(database, MINE, other)

    around = surroundings.read(database, MINE, ())

    assert (around.related, around.tied) == (((other,), 1) if found else ((), 0))


def test_a_case_without_ties_has_no_relatives(database: Database) -> None:
    alone = tied("alone")
    fill(database, alone, tied("other"))

    assert surroundings.read(database, alone, ()).related == ()


def test_what_waits_comes_first_then_the_latest_and_no_more_than_fit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "RELATED_LIMIT", 3)
    over = replace(tied("over", order_id="order_1"), state=CaseState.CLEARED)
    times = [NOON, NOON + timedelta(hours=2), NOON + timedelta(hours=1)]
    waiting = [
        replace(tied(f"waits {number}", order_id="order_1"), opened_at=at) for number, at in enumerate(times)
    ]
    fill(database, MINE, over, *waiting)

    around = surroundings.read(database, MINE, ())

    assert around.related == (waiting[1], waiting[2], waiting[0])
    assert around.tied == 4


def test_what_was_told_of_a_case_comes_oldest_first_and_only_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "NOTICE_LIMIT", 2)
    other = tied("other")
    of_mine = [told(f"of mine {number}", MINE) for number in range(3)]
    of_both = told("of both", other, MINE)
    of_other = told("of other", other)
    cases.save_run(
        database,
        a_lease(database),
        Saving(a_run(), changes=(opened(MINE), opened(other)), notices=(*of_mine, of_other, of_both)),
    )

    around = surroundings.read(database, MINE, ())

    assert [each.dedupe_key for each in around.notices] == ["of mine 2", "of both"]
    assert around.told == 4


def test_the_runs_of_a_story_are_those_that_wrote_its_entries(database: Database) -> None:
    run = a_run()
    cases.save_run(database, a_lease(database), Saving(run, changes=(opened(MINE),)))
    cases.move(database, acknowledged(MINE))
    entries = [stored.entry for stored in cases.entries(database, MINE.id)]

    around = surroundings.read(database, MINE, [*entries, replace(entries[0], run_id=RunId("run_gone"))])

    assert [each.id for each in around.runs] == [run.id]


@pytest.mark.parametrize("livemode", [True, False])
def test_the_mode_is_that_of_the_mirror(database: Database, *, livemode: bool) -> None:
    fill(database, MINE)
    with database.write() as connection:
        connection.execute(tables.accounts.insert().values(account="acct_2", livemode=livemode))
        connection.execute(update(tables.accounts).values(livemode=livemode))

    assert surroundings.read(database, MINE, ()).livemode is livemode
