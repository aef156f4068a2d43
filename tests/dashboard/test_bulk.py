from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from dashboard import bulk, several
from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.errors import DatabaseUnavailable
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, CaseState, Resolution, Role
from recon.model.settings import Settings
from tests import seeds
from tests.builders import NOON

LATER = NOON + timedelta(hours=1)
ANA = Operator(Actor("Ana"), Role.OPERATOR)
BULK = UUID(int=1)


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database, Settings(), clock=lambda: LATER)


@pytest.fixture
def found(database: Database) -> tuple[Case, ...]:
    return seeds.trouble(database, now=NOON)[:4]


def decide(
    desk: Desk,
    cases: tuple[Case, ...],
    move: Action = Action.ACKNOWLEDGED,
    *,
    asked: Mapping[str, object] | None = None,
    bulk_id: UUID = BULK,
) -> tuple[bulk.Result, ...]:
    """Make one decision about the cases as Ana, to its end."""
    decided = bulk.decide(
        desk, cases, move, bulk_id=bulk_id, reason="All of one cause.", operator=ANA, asked=asked or {}
    )
    return tuple(decided)


def moves(database: Database, case: Case) -> list[tuple[Action, str]]:
    return [(each.entry.action, each.entry.actor) for each in book.entries(database, case.id)]


OPENED = (Action.OPENED, "recon")


@pytest.mark.parametrize(
    "move, asked, state",
    [
        (Action.ACKNOWLEDGED, {}, CaseState.ACKNOWLEDGED),
        (Action.RESOLVED, {"code": Resolution.WRITTEN_OFF}, CaseState.RESOLVED),
        (Action.SNOOZED, {"until": LATER + timedelta(days=2)}, CaseState.OPEN),
    ],
)
def test_each_case_is_moved_by_itself(
    desk: Desk, found: tuple[Case, ...], move: Action, asked: dict[str, object], state: CaseState
) -> None:
    results = decide(desk, found, move, asked=asked)

    assert results == tuple(bulk.Result(case) for case in found)
    for case in found:
        view = desk.case(case.id, operator=ANA)
        assert view is not None
        assert [(each.action, each.actor) for each in view.entries] == [OPENED, (move, "Ana")]
        assert view.case.state is state


def test_one_that_somebody_moved_meanwhile_is_left_and_said_with_their_name(
    database: Database, desk: Desk, found: tuple[Case, ...]
) -> None:
    seeds.acknowledged(database, found[1].id, by="Ben", now=LATER)

    results = decide(desk, found, Action.RESOLVED, asked={"code": Resolution.FALSE_ALARM})

    assert [result.why is None for result in results] == [True, False, True, True]
    assert str(results[1].why).startswith("Ben acknowledged this case at 13:00 UTC, after you read it.")
    assert moves(database, found[1]) == [OPENED, (Action.ACKNOWLEDGED, "Ben")]


def test_who_may_only_read_moves_nothing(database: Database, desk: Desk, found: tuple[Case, ...]) -> None:
    operators.put(database, replace(ANA, role=Role.VIEWER))

    results = decide(desk, found)

    assert ["has the role viewer" in str(result.why) for result in results] == [True] * 4
    assert [moves(database, case) for case in found] == [[OPENED]] * 4


def test_what_a_case_does_not_allow_is_said_of_it_alone(desk: Desk, found: tuple[Case, ...]) -> None:
    (first,) = decide(desk, found[:1], bulk_id=UUID(int=2))
    assert first.why is None
    again = [desk_case for case in found if (desk_case := desk.case(case.id, operator=ANA)) is not None]

    results = decide(desk, tuple(view.case for view in again))

    assert [result.why is None for result in results] == [False, True, True, True]
    assert "only an open case can be acknowledged" in str(results[0].why)


def test_the_same_decision_again_changes_nothing_and_does_what_is_left(
    database: Database, desk: Desk, found: tuple[Case, ...]
) -> None:
    decide(desk, found[:2])  # As if the page had gone away in the middle.

    results = decide(desk, found)

    assert [result.why for result in results] == [None] * 4
    assert [moves(database, case) for case in found] == [[OPENED, (Action.ACKNOWLEDGED, "Ana")]] * 4


def test_more_than_may_be_decided_at_once_are_not_tried(
    database: Database, desk: Desk, found: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "LIMIT", 3)

    results = decide(desk, found)

    assert [result.why for result in results] == [None] * 3 + [
        "Not tried: at most 3 cases are decided at once."
    ]
    assert moves(database, found[3]) == [OPENED]


def test_when_the_database_goes_away_the_rest_is_not_tried(
    desk: Desk, found: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def fails_second(_: Desk, case_id: str, **__: object) -> None:
        tried.append(case_id)
        if len(tried) == 2:
            raise DatabaseUnavailable("The database is locked.")

    monkeypatch.setattr(bulk, "MOVES", {Action.ACKNOWLEDGED: fails_second})

    results = decide(desk, found)

    assert [result.why for result in results] == [
        None,
        "The database is locked.",
        "Not tried: The database is locked.",
        "Not tried: The database is locked.",
    ]
    assert len(tried) == 2


def test_what_takes_a_second_person_is_proposed_case_by_case_and_said_so_again(
    database: Database, found: tuple[Case, ...]
) -> None:
    limit = sorted(case.mismatch.at_risk.amount_minor for case in found)[2]
    desk = Desk(database, Settings(four_eyes={"usd": limit}), clock=lambda: LATER)
    asked = {"code": Resolution.WRITTEN_OFF}
    results = [decide(desk, found, Action.RESOLVED, asked=asked) for _ in range(2)]

    proposed = {case.id: case.mismatch.at_risk.amount_minor >= limit for case in found}
    assert results[0] == results[1] == tuple(bulk.Result(case, proposed=proposed[case.id]) for case in found)
    assert [several.outcome(each) for each in results[0]].count("Done") == 2
    for case in found:
        action = Action.PROPOSED if proposed[case.id] else Action.RESOLVED
        assert moves(database, case) == [OPENED, (action, "Ana")]
