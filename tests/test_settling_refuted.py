"""Stuck intents that people settle as not refunded: what must be proved first, and what then is safe."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store.engines import Database
from recon.model.errors import (
    Report,
)
from recon.model.records.settlements import RetryKind
from recon.model.records.words import (
    Action,
    CaseState,
    IntentStatus,
)
from tests.hours import Town, a_town
from tests.sandboxes import Street
from tests.settlers import (
    UNKNOWN,
    at,
    by_hand,
    click,
    held,
    last,
    row,
    state,
    stuck,
)


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


def test_an_intent_that_was_not_refunded_is_failed_with_its_verdict_and_the_next_run_clears_it(
    town: Town,
) -> None:
    intent, case = stuck(town)
    until = "2026-03-07 16:00 UTC"  # 23 hours after it was sent.

    at(town).refute(case.id, **click(case))

    action, reason = last(town, case)
    assert (row(town, intent), state(town, case)) == ((IntentStatus.FAILED, None), CaseState.ACKNOWLEDGED)
    assert action is Action.REFUTED
    assert "no refund of pi_8812 was or may be this intent's: it is failed." in reason
    assert f"Safe to send again with the same key until {until}, not after" in reason
    assert reason.endswith("Asked the shop.")
    found = at(town).retry(case)
    assert found is not None
    assert found.kind is RetryKind.SAFE
    town.run()
    assert (state(town, case), town.waiting()) == (CaseState.CLEARED, ())


def test_what_was_never_sent_has_no_key_to_send_again_with(town: Town) -> None:
    _, case = stuck(town, status=IntentStatus.PENDING, first_sent_at=None)

    at(town).refute(case.id, **click(case))

    assert "No request for it was ever recorded" in last(town, case)[1]


def test_a_key_that_the_provider_may_have_forgotten_is_not_sent_again(town: Town) -> None:
    _, case = stuck(town)
    town.pass_time(hours=22)

    at(town).refute(case.id, **click(case))

    assert "Not to be sent again with the same key: since 2026-03-07 16:00 UTC" in last(town, case)[1]


@pytest.mark.parametrize("own", [True, False])
def test_a_live_refund_that_is_or_may_be_its_own_stands_against_not_refunded(
    town: Town,
    own: bool,  # noqa: FBT001 -- a table's column
) -> None:
    intent, case = stuck(town)
    made = town.pay(intent).id if own else by_hand(town, intent)
    said = "is this intent's: confirm it" if own else "is nobody's, and may be this intent's"

    with pytest.raises(Report, match=f"Refund {made} .*{said}"):
        at(town).refute(case.id, **click(case))
    assert row(town, intent) == (UNKNOWN, None)


def test_a_refund_that_the_mirror_knows_on_another_payment_stands_against_it_too(town: Town) -> None:
    intent, case = stuck(town)
    elsewhere = town.intend("other", status=IntentStatus.DONE)
    made = town.pay(elsewhere, metadata={"intent_key": intent.key}).id
    town.settings = replace(town.settings, policy=replace(town.settings.policy, healing=False))
    town.run()
    case = next(each for each in town.everything() if each.id == case.id)

    with pytest.raises(Report, match=f"Refund {made} .* is this intent's"):
        at(town).refute(case.id, **click(case))


def test_its_own_refund_that_failed_does_not_stand_against_it_and_spends_the_key(town: Town) -> None:
    intent, case = stuck(town)
    town.mend(town.pay(intent).id)

    at(town).refute(case.id, **click(case))

    assert row(town, intent)[0] == IntentStatus.FAILED
    assert "it made a refund that came to nothing" in last(town, case)[1]


def test_a_request_that_may_be_under_way_is_waited_for(town: Town) -> None:
    intent, case = stuck(town)
    held(town, intent, sent_at=town.now - timedelta(seconds=30))  # It has just sent the same once more,
    by_hand(town, intent)
    town.street.fault("GET /v1/refunds", "invisible", times=9, after_s=60)  # and lists show things late.

    free_at = town.now + timedelta(seconds=50)
    with pytest.raises(
        Report, match=f"under way at the provider: try again from {free_at:%Y-%m-%d %H:%M:%S}"
    ):
        at(town).refute(case.id, **click(case))
    assert row(town, intent) == (UNKNOWN, None)


def test_the_guarded_tool_is_not_interrupted_at_its_work(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    held(town, intent, until=town.now + timedelta(seconds=40))

    with pytest.raises(Report, match="The guarded tool is at work"):
        at(town).refute(case.id, **click(case))
    with pytest.raises(Report, match="The guarded tool is at work"):
        at(town).confirm(case.id, refund_id=made, **click(case))
    assert row(town, intent) == (UNKNOWN, None)


def test_what_the_guarded_tool_made_says_that_it_sends_nothing_more(town: Town) -> None:
    intent, case = stuck(town)
    held(town, intent)

    at(town).refute(case.id, **click(case))

    assert "The guarded tool sends nothing for it any more: it takes a new reference." in last(town, case)[1]


@pytest.mark.parametrize("move", ["confirm", "refute"])
def test_a_row_of_somebody_elses_table_is_never_written(town: Town, move: str) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    town.record(intent, mapped=True)
    act: dict[str, Callable[[], object]] = {
        "confirm": lambda: at(town).confirm(case.id, refund_id=made, **click(case)),
        "refute": lambda: at(town).refute(case.id, **click(case)),
    }

    with pytest.raises(Report, match="copied from your own table, which is only read: set it there to"):
        act[move]()
    assert row(town, intent) == (UNKNOWN, None)
