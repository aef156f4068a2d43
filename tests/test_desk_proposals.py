"""Four eyes at the desk: what takes two people is proposed, approved by another, declined or taken back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import limits
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.errors import CaseMoved, NotPermitted, Report
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.results import Money
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    ProposalState,
    Role,
)
from recon.model.settings import Settings
from recon.rules import proposals as rules
from tests import seeds
from tests.approving import (
    BEA,
    CAL,
    CODE,
    LIMITS,
    OURS,
    click,
    double,
    now,
    opened,
    proposed,
    stands,
    story,
)
from tests.builders import NOON
from tests.test_desk import ANA, LATER, VERA


@pytest.fixture
def desk(database: Database) -> Desk:
    return opened(database)


@pytest.fixture
def case(database: Database) -> Case:
    return double(database)


def test_what_takes_two_people_is_proposed_and_nothing_is_decided(
    desk: Desk, database: Database, case: Case
) -> None:
    proposal = proposed(desk, database, case)

    after = now(database, case)
    assert (after.state, after.version, after.mismatch) == (case.state, 2, case.mismatch)
    assert story(database, case) == [(Action.PROPOSED, "Ana", "Resolve as written off: Why.")]
    view = desk.case(case.id, operator=BEA)
    assert view is not None
    assert view.proposal == proposal
    assert (proposal.proposed_by, proposal.reason, proposal.at_risk) == ("Ana", "Why.", Money(4900, "usd"))


def test_another_person_approves_and_both_are_in_the_story(
    desk: Desk, database: Database, case: Case
) -> None:
    proposal = proposed(desk, database, case)
    desk.approve(case.id, proposal_id=proposal.id, **click(database, case, BEA, reason="I asked too."))

    after = now(database, case)
    assert (after.state, after.resolution, after.decided_at) == (CaseState.RESOLVED, CODE, LATER)
    assert story(database, case)[1] == (
        Action.RESOLVED,
        "Bea",
        "I asked too. Proposed by Ana on 2026-03-06 12:07 UTC: Why.",
    )
    assert stands(database, proposal) is ProposalState.APPROVED
    assert book.verify(database) == ()


MOVES: dict[str, tuple[Callable[..., Proposal | None], dict[str, Any], CaseState]] = {
    "resolve": (Desk.resolve, {"code": CODE}, CaseState.RESOLVED),
    "accept": (Desk.accept, {"until": LATER + timedelta(days=9)}, CaseState.ACCEPTED),
    "link": (Desk.link, OURS, CaseState.ACKNOWLEDGED),
}


@pytest.mark.parametrize("name", MOVES)
def test_each_move_is_approved_as_it_was_proposed(
    desk: Desk, database: Database, case: Case, name: str
) -> None:
    move, told, state = MOVES[name]
    proposal = move(desk, case.id, **told, **click(database, case, ANA))
    assert proposal is not None
    desk.approve(case.id, proposal_id=proposal.id, **click(database, case, CAL))

    after = now(database, case)
    assert after.state is state
    assert after.accepted_until == told.get("until")
    assert book.verify(database) == ()


def test_a_link_is_taken_back_by_two_people(desk: Desk, database: Database, case: Case) -> None:
    for move, told in ((Desk.link, OURS), (Desk.unlink, {"refund_id": OURS["refund_id"]})):
        proposal = move(desk, case.id, **told, **click(database, case, ANA))
        assert proposal is not None
        assert story(database, case)[-1][0] is Action.PROPOSED
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, BEA))

    assert [action for action, *_ in story(database, case)] == [
        Action.PROPOSED,
        Action.LINKED,
        Action.PROPOSED,
        Action.UNLINKED,
    ]


def test_a_refund_is_adopted_by_two_people(desk: Desk, database: Database) -> None:
    (stray,) = (each for each in seeds.trouble(database, now=NOON) if each.subject.startswith("refund:"))
    limits.keep(database, {"usd": 1, "eur": 1}, now=NOON)
    proposal = desk.adopt(stray.id, **click(database, stray, ANA))
    assert proposal is not None
    before = _intents(database, stray)
    desk.approve(stray.id, proposal_id=proposal.id, **click(database, stray, BEA))

    assert (before, _intents(database, stray)) == (0, 1)


def _intents(database: Database, stray: Case) -> int:
    columns = tables.intents.c
    with database.read() as connection:
        named = stray.subject.removeprefix("refund:")
        return len(connection.execute(tables.intents.select().where(columns.refund_id == named)).all())


@pytest.mark.parametrize(
    "operator, said",
    [
        (ANA, "Ana has the role operator; this takes approver or admin"),
        (VERA, "Vera has the role viewer"),
        (replace(BEA, active=False), "Bea may no longer act"),
        (Operator(Actor("recon"), Role.ADMIN), "the job's own name"),
    ],
)
def test_who_may_not_approve_is_told_why(
    desk: Desk, database: Database, case: Case, operator: Operator, said: str
) -> None:
    proposal = proposed(desk, database, case)

    with pytest.raises(NotPermitted, match=said):
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, operator))
    assert stands(database, proposal) is ProposalState.OPEN


@pytest.mark.parametrize("role", [Role.APPROVER, Role.ADMIN])
@pytest.mark.parametrize("name", ["Bea", "BEA ", "b\u200bea", "\uff22ea"])
def test_nobody_approves_their_own_by_another_role_or_spelling(
    desk: Desk, database: Database, case: Case, role: Role, name: str
) -> None:
    proposal = proposed(desk, database, case, BEA)

    with pytest.raises(Report, match="Bea proposed this: another person must approve it"):
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, Operator(Actor(name), role)))
    assert stands(database, proposal) is ProposalState.OPEN
    assert now(database, case).state is CaseState.OPEN


def test_an_approver_alone_proposes_as_anybody_does(desk: Desk, database: Database, case: Case) -> None:
    assert proposed(desk, database, case, CAL).proposed_by == "Cal"


def test_the_store_refuses_what_a_desk_without_limits_would_let_through(
    database: Database, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits.keep(database, LIMITS, now=NOON)
    monkeypatch.setattr(rules, "seconded", lambda *_: False)

    with pytest.raises(NotPermitted, match="the approval of another person"):
        Desk(database, Settings(), clock=lambda: LATER).resolve(
            case.id, code=CODE, **click(database, case, ANA)
        )
    assert now(database, case) == case


@pytest.mark.parametrize(
    "told, kept, proposes",
    [
        ({"usd": 4900}, {}, True),
        ({}, {"usd": 4900}, True),
        ({"usd": 5000}, {"usd": 4900}, True),
        ({"usd": 4900}, {"usd": 5000}, True),
        ({"usd": 4901}, {"usd": 4901}, False),
        ({"eur": 1}, {"jpy": 1}, False),
    ],
)
def test_where_settings_and_database_differ_the_stricter_holds(
    database: Database, case: Case, told: dict[str, int], kept: dict[str, int], *, proposes: bool
) -> None:
    limits.keep(database, kept, now=NOON)
    desk = Desk(database, Settings(four_eyes=told), clock=lambda: LATER)
    found = desk.resolve(case.id, code=CODE, **click(database, case, ANA))

    assert (found is not None) is proposes
    assert book.verify(database) == ()


@pytest.mark.parametrize(
    "operator, said",
    [
        (BEA, "Declined what Ana proposed: Resolve as written off. Why."),
        (ANA, "Taken back: Resolve as written off. Why."),
        (Operator(Actor("ANA"), Role.OPERATOR), "Taken back: Resolve as written off. Why."),
    ],
)
def test_what_was_proposed_is_declined_or_taken_back(
    desk: Desk, database: Database, case: Case, operator: Operator, said: str
) -> None:
    proposal = proposed(desk, database, case)
    desk.decline(case.id, proposal_id=proposal.id, **click(database, case, operator))

    assert story(database, case)[-1] == (Action.DECLINED, operator.name, said)
    assert now(database, case).state is CaseState.OPEN
    assert stands(database, proposal) is ProposalState.DECLINED
    assert proposed(desk, database, case, BEA).state is ProposalState.OPEN


def test_another_operator_cannot_decline(desk: Desk, database: Database, case: Case) -> None:
    proposal = proposed(desk, database, case)
    dan = Operator(Actor("Dan"), Role.OPERATOR)

    with pytest.raises(NotPermitted, match="this takes approver or admin"):
        desk.decline(case.id, proposal_id=proposal.id, **click(database, case, dan))


def test_a_second_proposal_is_told_of_the_first(desk: Desk, database: Database, case: Case) -> None:
    proposed(desk, database, case)

    with pytest.raises(Report, match=r"^Ana proposed on 2026-03-06 12:07 UTC: Resolve as written off\."):
        desk.resolve(case.id, code=CODE, **click(database, case, BEA))


def test_every_click_counts_once(desk: Desk, database: Database, case: Case) -> None:
    asked = click(database, case, ANA)
    found = [desk.resolve(case.id, code=CODE, **asked) for _ in range(3)]
    assert len({each.id for each in found if each}) == 1
    approving = click(database, case, BEA)
    for _ in range(3):
        desk.approve(case.id, proposal_id=_id(found[0]), **approving)

    assert [action for action, *_ in story(database, case)] == [Action.PROPOSED, Action.RESOLVED]


def _id(proposal: Proposal | None) -> Any:  # noqa: ANN401 -- a proposal's id
    assert proposal is not None
    return proposal.id


def test_who_approves_second_is_told_of_the_first(desk: Desk, database: Database, case: Case) -> None:
    proposal = proposed(desk, database, case)
    late = click(database, case, CAL)
    desk.approve(case.id, proposal_id=proposal.id, **click(database, case, BEA))

    with pytest.raises(CaseMoved, match="Bea resolved this case"):
        desk.approve(case.id, proposal_id=proposal.id, **late)
