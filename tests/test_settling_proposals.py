"""A stuck intent above the limit is settled by two people, each after a look of their own."""

from dataclasses import replace

import pytest

from recon.doors.store import cases as book
from recon.doors.store import proposals
from recon.doors.store.engines import Database
from recon.model.errors import NotPermitted, Report
from recon.model.records.words import Action, CaseState, IntentStatus
from tests.approving import BEA
from tests.hours import Town, a_town
from tests.sandboxes import Street
from tests.settlers import UNKNOWN, at, by_hand, click, last, row, state, stuck


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, four_eyes={"usd": 4900})


def test_a_refund_is_confirmed_by_two_people_and_the_next_run_clears_the_case(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    proposal = at(town).confirm(case.id, refund_id=made, **click(case))
    before = (row(town, intent), state(town, case), last(town, case))
    assert proposal is not None
    at(town).approve(case.id, proposal_id=proposal.id, **click(replace(case, version=2), BEA))

    wish = (Action.PROPOSED, f"Confirm as done by refund {made}: Asked the shop.")
    assert before == ((UNKNOWN, None), CaseState.OPEN, wish)
    assert (row(town, intent), state(town, case)) == ((IntentStatus.DONE, made), CaseState.ACKNOWLEDGED)
    assert "is done by it. Asked the shop. Proposed by Ana on " in last(town, case)[1]
    town.run()
    assert (state(town, case), book.verify(town.database)) == (CaseState.CLEARED, ())


def test_what_the_second_look_no_longer_shows_is_not_confirmed(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    proposal = at(town).confirm(case.id, refund_id=made, **click(case))
    town.street.control(f"refunds/{made}", status="failed")
    assert proposal is not None

    with pytest.raises(Report, match=f"{made}.*failed"):
        at(town).approve(case.id, proposal_id=proposal.id, **click(replace(case, version=2), BEA))
    assert (row(town, intent), proposals.waiting(town.database, case.id)) == ((UNKNOWN, None), proposal)


def test_that_nothing_was_refunded_takes_two_people_too(town: Town) -> None:
    intent, case = stuck(town)
    proposal = at(town).refute(case.id, **click(case))
    assert proposal is not None
    with pytest.raises(NotPermitted, match="this takes approver or admin"):
        at(town).approve(case.id, proposal_id=proposal.id, **click(replace(case, version=2)))
    before = row(town, intent)
    at(town).approve(case.id, proposal_id=proposal.id, **click(replace(case, version=2), BEA))

    assert (before, row(town, intent)) == ((UNKNOWN, None), (IntentStatus.FAILED, None))
    assert last(town, case)[0] is Action.REFUTED
    assert book.verify(town.database) == ()
