"""What a small case's rows decide of others: a second person is asked for as for those."""

from dataclasses import replace

import pytest

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.provider import Intent
from recon.model.records.words import CaseState, RefundId
from tests.approving import BEA
from tests.hours import Town, a_town
from tests.people import by_hand as stray
from tests.people import orphan
from tests.sandboxes import Street
from tests.settlers import ANA, UNKNOWN, at, by_hand, click, row, state, stuck

LIMIT = 4900  # Minor units.
SMALL = 200


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, four_eyes={"usd": LIMIT})


def a_desk(town: Town) -> Desk:
    return Desk(town.database, town.settings, clock=lambda: town.now)


def linked(
    town: Town, small: Case, intent: Intent, refund_id: RefundId, who: Operator = ANA
) -> Proposal | None:
    return a_desk(town).link(small.id, refund_id=refund_id, intent_key=intent.key, **click(small, who))


def test_a_large_refund_is_not_linked_away_through_a_small_case_by_one_person(town: Town) -> None:
    large = orphan(town, minor=LIMIT)
    intent, small = stuck(town, "small", minor=SMALL)
    proposal = linked(town, small, intent, large.mismatch.refund_ids[0])
    town.run()

    assert proposal is not None
    assert state(town, large) is CaseState.OPEN


def test_two_people_may_and_the_books_stay_whole(town: Town) -> None:
    large = orphan(town, minor=LIMIT)
    intent, small = stuck(town, "small", minor=SMALL)
    proposal = linked(town, small, intent, large.mismatch.refund_ids[0])
    assert proposal is not None
    told = click(replace(small, version=2), BEA)
    a_desk(town).approve(small.id, proposal_id=proposal.id, **told)
    town.run()

    assert state(town, large) is CaseState.CLEARED
    assert book.verify(town.database) == ()


def test_a_large_case_is_not_taken_apart_through_a_small_one_by_one_person(town: Town) -> None:
    repeated = town.intend("8812", minor=LIMIT // 2)
    _, second, _ = (town.pay(repeated) for _ in range(3))
    intent, small = stuck(town, "small", minor=SMALL)
    (large,) = (each for each in town.waiting() if each.subject == f"intent:{repeated.key}")

    assert large.mismatch.at_risk.amount_minor == 2 * (LIMIT // 2)
    assert linked(town, small, intent, second.id) is not None


def test_a_small_refund_of_no_other_case_is_linked_by_one_person(town: Town) -> None:
    intent, small = stuck(town, "small", minor=SMALL)
    refund_id = stray(town, "pi_small", SMALL)
    town.run()
    small = _stands(town, small)

    assert linked(town, small, intent, refund_id) is None


def test_an_intent_that_grew_since_the_run_is_not_settled_by_one_person(town: Town) -> None:
    town.street.payment("pi_grown", LIMIT, "usd")
    intent, case = stuck(town, "small", minor=SMALL, payment="pi_grown", paid=False)
    town.record(intent, amount_minor=LIMIT)
    made = by_hand(town, intent, LIMIT)

    assert at(town).confirm(case.id, refund_id=made, **click(case)) is not None
    assert row(town, intent) == (UNKNOWN, None)


def _stands(town: Town, case: Case) -> Case:
    found = book.get(town.database, case.id)
    assert found is not None
    return found
