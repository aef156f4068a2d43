"""What becomes of a proposal when time passes, its case moves on, or others look at it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import limits, operators
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.errors import Report
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.results import Money
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    IntentKey,
    ProposalState,
    Role,
)
from recon.model.settings import Secret, Settings
from tests import seeds
from tests.approving import BEA, CAL, LIMITS, OURS, Clock, click, double, now, opened, proposed, stands, story
from tests.builders import NOON
from tests.test_desk import ANA, LATER, VERA


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(database: Database, clock: Clock) -> Desk:
    return opened(database, clock)


@pytest.fixture
def case(database: Database) -> Case:
    return double(database)


@pytest.mark.parametrize("move", ["acknowledge", "comment", "snooze"])
def test_what_is_done_beside_it_leaves_a_proposal_open(
    desk: Desk, database: Database, case: Case, move: str
) -> None:
    proposal = proposed(desk, database, case)
    told = {"until": LATER + timedelta(days=1)} if move == "snooze" else {}
    getattr(desk, move)(case.id, **told, **click(database, case, BEA))

    assert stands(database, proposal) is ProposalState.OPEN
    desk.approve(case.id, proposal_id=proposal.id, **click(database, case, BEA))
    assert now(database, case).state is CaseState.RESOLVED


def test_other_evidence_voids_it_and_the_story_says_so(desk: Desk, database: Database, case: Case) -> None:
    proposal = proposed(desk, database, case)
    more = replace(case.mismatch, at_risk=Money(9800, "usd"), why="Three times by now.")
    seeds.run(database, [more], now=NOON + timedelta(hours=1), number=2)

    assert stands(database, proposal) is ProposalState.VOID
    action, actor, reason = story(database, case)[-1]
    assert (action, actor) == (Action.CHANGED, "recon")
    assert reason.endswith("This voids what Ana proposed on 2026-03-06 12:07 UTC: Resolve as written off.")
    with pytest.raises(Report, match="What Ana proposed is void since 2026-03-06 13:00 UTC"):
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, BEA))


def test_a_run_that_sees_the_same_leaves_it_open(desk: Desk, database: Database, case: Case) -> None:
    proposal = proposed(desk, database, case)
    seeds.run(database, [case.mismatch], now=NOON + timedelta(hours=1), number=2)

    assert stands(database, proposal) is ProposalState.OPEN


def test_a_date_that_has_passed_meanwhile_is_refused(
    desk: Desk, database: Database, case: Case, clock: Clock
) -> None:
    until = LATER + timedelta(hours=2)
    proposal = desk.accept(case.id, until=until, **click(database, case, ANA))
    clock.now = until + timedelta(minutes=1)

    with pytest.raises(Report, match="until a time to come; 2026-03-06 14:07 UTC has passed"):
        desk.approve(case.id, proposal_id=_id(proposal), **click(database, case, BEA))
    assert now(database, case).state is CaseState.OPEN


def test_rows_that_changed_meanwhile_are_judged_anew(desk: Desk, database: Database, case: Case) -> None:
    proposal = desk.link(case.id, **OURS, **click(database, case, ANA))
    with database.write() as connection:
        connection.execute(update(tables.refunds).values(status="failed"))

    with pytest.raises(Report, match="re_8812 is failed"):
        desk.approve(case.id, proposal_id=_id(proposal), **click(database, case, BEA))


def test_a_proposal_of_another_case_approves_nothing(desk: Desk, database: Database, case: Case) -> None:
    proposal = proposed(desk, database, case)
    (other,) = seeds.run(database, [seeds.duplicate(8813, at=NOON)], number=2, now=NOON)

    with pytest.raises(Report, match="Nothing of that kind was proposed"):
        desk.approve(other.id, proposal_id=proposal.id, **click(database, other, BEA))


def test_what_can_never_be_is_not_proposed(desk: Desk, database: Database, case: Case) -> None:
    with pytest.raises(Report, match="at most 366 days"):
        desk.accept(case.id, until=LATER + timedelta(days=400), **click(database, case, ANA))
    told = OURS | {"intent_key": IntentKey("nowhere")}
    with pytest.raises(Report, match="has no intent nowhere"):
        desk.link(case.id, **told, **click(database, case, ANA))
    assert story(database, case) == []


def test_what_this_operator_may_do_is_said_beside_the_case(
    desk: Desk, database: Database, case: Case
) -> None:
    before = desk.case(case.id, operator=ANA)
    proposed(desk, database, case)
    views = {str(each.name): desk.case(case.id, operator=each) for each in (ANA, BEA, CAL, VERA)}

    assert before is not None
    assert {Action.RESOLVED, Action.ACCEPTED, Action.LINKED} == before.seconded
    assert {name: view and view.unapprovable for name, view in views.items()} == {
        "Ana": "Ana proposed this: another person must approve it.",
        "Bea": None,
        "Cal": None,
        "Vera": "Vera has the role viewer; this takes approver or admin.",
    }
    shown = views["Bea"]
    assert shown is not None
    assert not shown.seconded & set(shown.moves)
    assert Action.COMMENTED in shown.moves


def test_those_who_could_approve_are_named(desk: Desk, database: Database, case: Case) -> None:
    for each in (ANA, BEA, CAL, VERA, Operator(Actor("Gone"), Role.ADMIN, active=False)):
        operators.put(database, each)

    assert desk.approvers(proposed(desk, database, case, BEA)) == ("Cal",)


def test_an_opened_desk_keeps_the_limits(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(four_eyes=LIMITS)
    monkeypatch.setattr(
        "recon.desk.config.load", lambda _: replace(settings, database_url=Secret(database_url))
    )
    Desk.open({})

    assert limits.read(database) == LIMITS
    assert book.verify(database) == ()


def _id(proposal: Proposal | None) -> Any:  # noqa: ANN401 -- a proposal's id
    assert proposal is not None
    return proposal.id
