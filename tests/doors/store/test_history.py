from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from recon.doors.store import cases, history, leases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.cases import Change
from recon.model.records.histories import Line, NoticeFilters, Passed
from recon.model.records.notices import Notice
from recon.model.records.results import Reject
from recon.model.records.words import Action, Actor, CaseState, Kind, NoticeState, RunId
from recon.rules import moves
from tests import seeds
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_notice, a_run
from tests.weeks import Week, eventful


def every(database: Database, limit: int) -> list[Passed]:
    page = history.page(database, limit=limit)
    found = [*page.passes]
    while page.next is not None:
        page = history.page(database, page.next, limit)
        found += page.passes
    return found


@pytest.mark.parametrize("seed", range(3))
def test_what_each_run_left_waiting_is_what_its_entries_add_up_to(database: Database, seed: int) -> None:
    week = Week(database, NOON, Random(seed))
    eventful(week, 9)
    week.people(4)  # After the latest run: no part of what it left.

    told = {passed.run.id: sum(passed.waiting.values()) for passed in every(database, 4)}

    assert told == {run: sum(kinds.values()) for run, kinds in week.waited.items()}


@pytest.mark.parametrize("seed", range(3))
def test_what_was_and_what_was_done_is_what_is(database: Database, seed: int) -> None:
    week = Week(database, NOON, Random(seed))
    eventful(week, 7)
    found = every(database, 50)
    befores = [passed.waiting for passed in found[1:]] + [{}]

    for passed, before in zip(found, befores, strict=True):
        for line in passed.lines:
            assert line.before == before.get(line.kind, 0)
            assert line.before + line.opened + line.back - line.cleared + line.people == line.now
            assert min(line.before, line.opened, line.back, line.cleared, line.now) >= 0


def test_a_run_tells_what_it_did_from_what_people_did_before_it(database: Database) -> None:
    week = Week(database, NOON)
    first, second, third = (seeds.duplicate(number, at=NOON) for number in range(3))
    week.run([first, second])
    answered = next(each for each in week.everything() if each.subject == first.subject)
    accepted = moves.accept(
        answered,
        until=week.now + timedelta(days=30),
        fence=1,
        actor=Actor("ana"),
        reason="Both were meant.",
        now=week.now,
        action_id="click",
    )
    assert isinstance(accepted, Change)
    cases.move(database, accepted)
    week.run([first, third])

    latest = history.page(database).passes[0]

    assert latest.lines == (Line(Kind.DUPLICATE, before=2, opened=1, back=0, cleared=1, people=-1, now=1),)


def test_moves_after_which_as_many_wait_are_told_beside(database: Database) -> None:
    week = Week(database, NOON)
    week.run([seeds.duplicate(1, at=NOON)])
    week.run([seeds.duplicate(1, at=NOON, amount_minor=9800)])

    latest = history.page(database).passes[0]

    assert latest.beside == {Action.CHANGED: 1}
    assert latest.lines == (Line(Kind.DUPLICATE, before=1, opened=0, back=0, cleared=0, people=0, now=1),)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_runs_follow_each_other_without_a_gap_or_a_repeat(database: Database, limit: int) -> None:
    week = Week(database, NOON)
    eventful(week, 5)

    found = every(database, limit)

    assert [passed.run.id for passed in found] == [f"run_{number}" for number in range(5, 0, -1)]
    assert found == every(database, 50)


def test_a_run_by_its_id_is_as_it_is_on_its_page(database: Database) -> None:
    week = Week(database, NOON)
    eventful(week, 5)
    week.people(3)
    found = history.page(database).passes
    of_page = found[3]

    alone = [history.passed(database, each.run.id) for each in found]

    assert alone == list(found)
    assert history.before(database, of_page.number) == history.page(database).passes[4].run
    assert history.before(database, 1) is None
    assert history.passed(database, RunId("run_77")) is None


def test_rejected_rows_are_counted_by_reason_and_the_latest_named(database: Database) -> None:
    rows = tuple(
        Reject("refunds", number, f"re_{number}", "amount is no integer" if number else "no id")
        for number in range(history.REJECTS_LIMIT + 3)
    )
    Week(database, NOON).run(rejects=rows)

    found = history.rejected(database)

    assert found.rows == history.REJECTS_LIMIT + 3
    assert found.first == tuple(reversed(rows[3:]))
    assert found.reasons == (
        ("refunds", "amount is no integer", history.REJECTS_LIMIT + 2),
        ("refunds", "no id", 1),
    )


def tell(database: Database, *notices: Notice) -> None:
    lease = a_lease(database)
    cases.save_run(database, lease, Saving(a_run(), notices=notices))
    leases.release(database, lease)


NOTICES = tuple(
    replace(
        a_notice(),
        dedupe_key=f"key_{number}",
        delivery_id=f"delivery_{number}",
        thread_key=f"thread_{number % 4}",
        target=("#payments", "#support")[number % 2],
        verb="reply" if number > 3 else "root",
        state=NoticeState.SENT if number in {1, 2, 5} else NoticeState.WAITING,
        case_ids=(),
    )
    for number in range(7)
)


@pytest.mark.parametrize(
    "filters, keys",
    [
        (NoticeFilters(), [6, 5, 4, 3, 2, 1, 0]),
        (NoticeFilters(states=(NoticeState.SENT,)), [5, 2, 1]),
        (NoticeFilters(targets=("#support",)), [5, 3, 1]),
        (NoticeFilters(verbs=("reply",), targets=("#payments",)), [6, 4]),
        (NoticeFilters(states=(NoticeState.UNKNOWN,)), []),
    ],
)
@pytest.mark.parametrize("limit", [1, 2])
def test_notices_are_told_newest_first_page_after_page(
    database: Database, filters: NoticeFilters, keys: list[int], limit: int
) -> None:
    tell(database, *NOTICES)

    page = history.told(database, filters, limit=limit)
    found = [*page.notices]
    while page.next is not None:
        page = history.told(database, filters, below=page.next, limit=limit)
        assert 0 < len(page.notices) <= limit
        found += page.notices

    assert [notice.dedupe_key for notice in found] == [f"key_{number}" for number in keys]


def test_targets_are_named_once(database: Database) -> None:
    tell(database, *NOTICES)

    assert history.targets(database) == ("#payments", "#support")


def test_waiting_cases_are_counted_by_the_rule_that_chose_their_owner(database: Database) -> None:
    week = Week(database, NOON)
    week.run([seeds.duplicate(number, at=NOON) for number in range(4)])
    week.run([seeds.duplicate(number, at=NOON) for number in range(3)])
    case, other, _ = (each for each in week.everything() if each.state is CaseState.OPEN)
    assert case.owner is not None
    assert other.owner is not None
    change = moves.assign(
        case,
        replace(case.owner, name="ben", rule="assigned by ana"),
        actor=Actor("ana"),
        reason="Ben knows.",
        now=NOON,
        action_id="click",
    )
    assert isinstance(change, Change)
    cases.move(database, change)

    assert history.held(database) == {"assigned by ana": 1, other.owner.rule: 2}
