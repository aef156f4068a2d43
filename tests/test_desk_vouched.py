"""Who proposes by a name that nobody signs in by: one person would be two, in Slack and at the desk."""

from dataclasses import replace

import pytest

from recon.desk import Desk
from recon.doors.store.engines import Database
from recon.model.errors import Report
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.words import Actor, CaseState, ProposalState, Role
from recon.model.settings import DashboardSettings
from tests.approving import CODE, SETTINGS, Clock, click, double, now, opened, proposed, stands
from tests.test_desk import LATER

IN_SLACK = Operator(Actor("Maria"), Role.OPERATOR, slack_id="U012AB3CD")
AT_DESK = Operator(Actor("maria@example.com"), Role.APPROVER, since=LATER)
SIGNED_IN = pytest.mark.parametrize("mode", ["oidc", "proxy"])


def a_desk(database: Database, mode: str) -> Desk:
    settings = replace(SETTINGS, dashboard=DashboardSettings(mode=mode))
    return Desk(database, settings, clock=Clock())


@SIGNED_IN
def test_nobody_proposes_by_a_name_of_slack_alone(database: Database, mode: str) -> None:
    case, desk = double(database), a_desk(database, mode)

    with pytest.raises(Report, match=r"Nobody signs in as Maria.*--slack ID"):
        desk.resolve(case.id, code=CODE, **click(database, case, IN_SLACK))
    assert now(database, case) == case


@SIGNED_IN
def test_nor_is_what_was_proposed_so_before_people_signed_in_approved(database: Database, mode: str) -> None:
    case = double(database)
    proposal = proposed(opened(database), database, case, IN_SLACK)
    desk = a_desk(database, mode)

    view = desk.case(case.id, operator=AT_DESK)
    assert view is not None
    assert "Nobody signs in as Maria" in (view.unapprovable or "")
    with pytest.raises(Report, match="Nobody signs in as Maria"):
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, AT_DESK))
    assert (now(database, case).state, stands(database, proposal)) == (CaseState.OPEN, ProposalState.OPEN)
    desk.decline(case.id, proposal_id=proposal.id, **click(database, case, AT_DESK))
    assert stands(database, proposal) is ProposalState.DECLINED


@SIGNED_IN
def test_by_the_address_they_sign_in_with_they_propose_and_another_approves(
    database: Database, mode: str
) -> None:
    case, desk = double(database), a_desk(database, mode)
    person = replace(IN_SLACK, name=AT_DESK.name)
    proposal = desk.resolve(case.id, code=CODE, **click(database, case, person))
    assert isinstance(proposal, Proposal)
    with pytest.raises(Report, match="another person must approve it"):
        desk.approve(case.id, proposal_id=proposal.id, **click(database, case, AT_DESK))
    other = replace(AT_DESK, name=Actor("bea@example.com"))
    desk.approve(case.id, proposal_id=proposal.id, **click(database, case, other))

    assert now(database, case).state is CaseState.RESOLVED
