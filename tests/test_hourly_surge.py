"""Many new cases that rest on absence are opened one by one and told as one; later hours tell no more."""

import pytest

from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.notices import Notice
from recon.model.records.provider import Intent
from recon.model.records.words import CaseState
from tests.hours import Town, a_town, kinds, rows, states, twice
from tests.people import sound
from tests.sandboxes import Street

LIMIT = 4
OPERATORS = "#operators"


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, surge_limit=LIMIT)


def lost(town: Town, number: int) -> list[Intent]:
    """Let so many refunds be recorded as done that never arrived."""
    begun = rows(town, "intents")
    written = [town.intend(f"lost_{begun + each}") for each in range(number)]
    town.pass_time(minutes=20)
    return written


def told(town: Town) -> list[Notice]:
    return list(reversed(outbox.recent(town.database, 100)))


def surges(town: Town) -> list[Notice]:
    return [notice for notice in told(town) if notice.dedupe_key.startswith("surge|")]


def test_a_surge_opens_every_case_and_is_told_once(town: Town) -> None:
    lost(town, LIMIT + 1)
    report = town.run()

    assert kinds(report) == ["opened missing"] * (LIMIT + 1)
    assert set(states(town).values()) == {CaseState.OPEN}
    assert len(town.waiting()) == LIMIT + 1
    (notice,) = told(town)
    assert (notice.target, set(notice.case_ids)) == (OPERATORS, {case.id for case in town.waiting()})
    assert all(case.owner and case.owner.target == "#payments" for case in town.waiting())
    assert sound(town)


def test_exactly_the_limit_is_told_to_the_owner(town: Town) -> None:
    lost(town, LIMIT)
    town.run()

    assert surges(town) == []
    assert {notice.target for notice in told(town)} == {"#payments"}


def test_later_hours_do_not_tell_a_surges_cases_one_by_one(town: Town) -> None:
    lost(town, LIMIT + 1)
    town.run()
    for _ in range(3):
        town.pass_time(hours=1)
        town.run()

    assert len(told(town)) == 1


def test_what_else_is_new_is_told_to_its_owner_beside_a_surge(town: Town) -> None:
    twice(town, "double")
    lost(town, LIMIT + 1)
    town.run()

    (double,) = [case for case in town.waiting() if case.mismatch.kind == "duplicate"]
    assert len(surges(town)) == 1
    replies = [notice for notice in told(town) if notice.verb == "reply"]
    assert [notice.case_ids for notice in replies] == [(double.id,)]


def test_a_second_surge_is_another(town: Town) -> None:
    lost(town, LIMIT + 1)
    town.run()
    first = {case.id for case in town.waiting()}
    lost(town, LIMIT + 2)
    town.run()

    one, two = surges(town)
    assert set(one.case_ids) == first
    assert len(set(two.case_ids) - first) == LIMIT + 2
    assert not first & set(two.case_ids)


def test_a_case_of_a_surge_that_clears_is_one_less(town: Town) -> None:
    first, *_ = lost(town, LIMIT + 1)
    town.run()
    town.pay(first)
    town.pass_time(minutes=2)

    assert kinds(town.run()) == ["cleared missing"]
    assert len(town.waiting()) == LIMIT
    assert len(surges(town)) == 1
    assert sound(town)
