"""What an agent is told of a refund whose outcome nobody knew, after a person has settled it."""

import pytest

from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.guarded import OutcomeStatus
from recon.model.records.words import IntentStatus
from tests.guards import PAYMENT, REFUNDS, Shop
from tests.hours import Town, a_town
from tests.sandboxes import Street
from tests.settlers import at, by_hand, click


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


def asked(town: Town) -> tuple[Shop, Case]:
    """Let an agent ask for a refund that gets lost on its way, and a run find it two hours later."""
    town.street.payment(PAYMENT, 20_000)
    shop = Shop(town.database, town.street, now=town.now)
    town.street.fault(REFUNDS, "drop_before", times=9)
    assert shop.refund().status is OutcomeStatus.PENDING_UNKNOWN
    town.pass_time(hours=2)
    shop.now = town.now
    town.run()
    (case,) = town.waiting()
    assert case.mismatch.kind == "stuck"
    return shop, case


def sent(town: Town) -> int:
    return len(town.street.requests("POST", "/v1/refunds"))


def test_an_agent_that_asks_for_what_was_not_refunded_is_rejected_and_nothing_is_sent(town: Town) -> None:
    shop, case = asked(town)
    before = sent(town)

    at(town).refute(case.id, **click(case))

    assert shop.refund().status is OutcomeStatus.REJECTED
    assert (shop.status(), sent(town)) == (IntentStatus.FAILED, before)


def test_an_agent_that_asks_for_what_was_confirmed_hears_that_it_is_done(town: Town) -> None:
    shop, case = asked(town)
    made, before = by_hand(town, shop.intent()), sent(town)

    at(town).confirm(case.id, refund_id=made, **click(case))

    outcome = shop.refund()
    assert (outcome.status, outcome.refund_id) == (OutcomeStatus.ALREADY_DONE, made)
    assert sent(town) == before


def test_no_sweep_takes_back_what_a_person_settled(town: Town) -> None:
    shop, case = asked(town)
    at(town).refute(case.id, **click(case))

    shop.pass_time(hours=1)
    shop.tool.settle()

    assert shop.status() == IntentStatus.FAILED
