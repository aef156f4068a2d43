"""People at the desk between runs: the next run answers what they decided."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from recon.doors.store.engines import Database
from recon.model.errors import Report
from recon.model.records.words import (
    Action,
    CaseState,
    IntentStatus,
    Kind,
)
from tests.hours import Town, a_town, kinds
from tests.people import DAY, Ana, adopted, by_hand, now, orphan, refund_of, sound, story, stuck
from tests.sandboxes import Street


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


@pytest.fixture
def ana(town: Town) -> Ana:
    return Ana(town)


# Adopting.


def test_an_adopted_orphan_is_an_intent_and_the_next_run_clears_its_case(town: Town, ana: Ana) -> None:
    case = orphan(town)
    ana(Action.ADOPTED, case)
    taken = now(town, case)
    report = town.run()

    assert (taken.state, case.mismatch.kind) == (CaseState.ACKNOWLEDGED, Kind.ORPHAN)
    assert adopted(town, case) == (f"adopted:{refund_of(town, case).id}", "done", 4900)
    assert kinds(report) == ["cleared orphan"]
    assert (town.waiting(), town.run().changes) == ((), ())
    assert sound(town)


def test_an_adopted_refund_takes_the_key_that_it_names(town: Town, ana: Ana) -> None:
    case = orphan(town, metadata={"intent_key": "refund_order:lost"})
    ana(Action.ADOPTED, case)

    assert adopted(town, case) == ("refund_order:lost", "done", 4900)
    assert kinds(town.run()) == ["cleared orphan"]


def test_of_two_refunds_of_one_lost_intent_the_first_is_adopted_and_the_two_are_a_duplicate(
    town: Town, ana: Ana
) -> None:
    first = orphan(town, "one", metadata={"intent_key": "refund_order:lost"})
    second = orphan(town, "two", metadata={"intent_key": "refund_order:lost"})
    ana(Action.ADOPTED, first)

    with pytest.raises(Report, match="belongs to the intent refund_order:lost by now"):
        ana(Action.ADOPTED, second)
    assert kinds(town.run()) == ["opened duplicate", "cleared orphan", "cleared orphan"]
    assert sound(town)


def test_an_adopted_twin_is_a_declared_repeat_and_is_not_asked_about_again(town: Town, ana: Ana) -> None:
    town.refund("1")
    by_hand(town, "pi_1")
    town.pass_time(minutes=20)
    town.run()
    (case,) = town.waiting()
    ana(Action.ADOPTED, case)
    report = town.run()

    assert case.mismatch.kind is Kind.DUPLICATE
    assert kinds(report) == ["cleared duplicate"]
    assert (town.waiting(), report.result.counts.declared_repeats) == ((), 1)


def test_an_adopted_refund_that_fails_later_is_a_case_of_its_intent(town: Town, ana: Ana) -> None:
    case = orphan(town, status="pending")
    ana(Action.ADOPTED, case)
    town.run()
    town.mend(refund_of(town, case).id)
    town.pass_time(hours=1)

    assert kinds(town.run()) == ["opened refund_failed"]


# Linking.


def test_a_linked_refund_heals_its_intent_and_both_cases_clear(town: Town, ana: Ana) -> None:
    intent = stuck(town)
    town.pass_time(hours=1)
    case = orphan(town)
    opened = sorted(each.mismatch.kind for each in town.waiting())
    ana(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=intent.key)
    healed = town.run()
    cleared = town.run()

    assert opened == [Kind.ORPHAN, Kind.STUCK]
    assert ([heal.basis for heal in healed.heals], kinds(healed)) == (["operator"], ["cleared orphan"])
    assert (kinds(cleared), town.waiting()) == (["cleared stuck"], ())
    assert town.status(intent) is IntentStatus.DONE
    assert sound(town)


def test_a_refund_can_be_linked_from_the_intents_side(town: Town, ana: Ana) -> None:
    intent = town.intend("lost")
    case = orphan(town)
    (missing,) = [each for each in town.waiting() if each.subject == f"intent:{intent.key}"]
    ana(Action.LINKED, missing, refund_id=refund_of(town, case).id, intent_key=intent.key)

    assert sorted(kinds(town.run())) == ["cleared missing", "cleared orphan"]


def test_what_a_link_shows_to_disagree_is_a_case_of_the_intent(town: Town, ana: Ana) -> None:
    intent = town.intend("lost", minor=5000)
    case = orphan(town)
    ana(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=intent.key)

    assert kinds(town.run()) == ["reclassified amount_mismatch", "cleared orphan"]


def test_a_link_taken_back_brings_the_case_back(town: Town, ana: Ana) -> None:
    intent = town.intend("lost")
    case = orphan(town)
    ana(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=intent.key)
    town.run()
    ana(Action.UNLINKED, case)
    back = town.run()

    assert sorted(kinds(back)) == ["reopened missing", "reopened orphan"]
    assert town.story(case) == ["opened", "linked", "cleared", "unlinked", "reopened"]
    assert sound(town)


def test_a_mistaken_link_that_a_run_acted_upon_is_said_to_stay_and_can_be_put_right(
    town: Town, ana: Ana
) -> None:
    wrong, right = stuck(town, "wrong"), town.intend("right")
    case = orphan(town)
    refund = refund_of(town, case)
    ana(Action.LINKED, case, refund_id=refund.id, intent_key=wrong.key)
    healed = town.run()
    ana(Action.UNLINKED, case)

    assert (healed.run.healed, kinds(healed)) == (1, ["cleared orphan"])
    assert f"It stays the intent {wrong.key}'s" in story(town, case)[-1]
    assert kinds(town.run()) == []

    missing = next(each for each in town.waiting() if each.subject == f"intent:{right.key}")
    ana(Action.LINKED, missing, refund_id=refund.id, intent_key=right.key)
    town.pass_time(hours=1)
    assert kinds(town.run()) == ["opened missing", "cleared missing"]
    assert sound(town)


def test_a_link_outlives_what_the_provider_says_later(town: Town, ana: Ana) -> None:
    intent = town.intend("lost")
    case = orphan(town, status="pending")
    ana(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=intent.key)
    town.run()
    town.mend(refund_of(town, case).id, "succeeded")
    town.pass_time(hours=1)
    town.run()

    assert (refund_of(town, case).status, refund_of(town, case).operator_key) == ("succeeded", intent.key)
    assert town.waiting() == ()


def test_a_refund_is_not_linked_across_accounts(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox, accounts=["acct_1"])
    theirs = town.intend("lost", account="acct_1")
    case = orphan(town)

    with pytest.raises(Report, match="acct_1 has it, and a link stays within one account"):
        Ana(town)(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=theirs.key)


def test_a_link_to_a_refund_that_failed_since_can_be_taken_back(town: Town, ana: Ana) -> None:
    case = orphan(town, status="pending")
    refund = refund_of(town, case)
    ana(Action.LINKED, case, refund_id=refund.id, intent_key=stuck(town).key)
    town.mend(refund.id)
    town.pass_time(hours=1)
    town.run()
    ana(Action.UNLINKED, now(town, case))

    assert (refund_of(town, case).status, refund_of(town, case).operator_key) == ("failed", None)
    assert sound(town)


# Accepting.


@pytest.mark.parametrize("move", [Action.ACCEPTED, Action.SNOOZED])
def test_a_day_of_another_zone_is_told_in_utc(town: Town, ana: Ana, move: Action) -> None:
    case = orphan(town)
    ana(move, case, until=datetime(2026, 3, 9, tzinfo=ZoneInfo("Asia/Kolkata")))

    assert story(town, case)[-1] == "Until 2026-03-08 18:30 UTC: Asked the bank."
    assert sound(town)


def test_an_accepted_case_is_quiet_until_its_date_and_open_at_it(town: Town, ana: Ana) -> None:
    case = orphan(town)
    ana(Action.ACCEPTED, case, until=town.now + 2 * DAY)
    accepted = now(town, case)
    assert accepted.accepted_until is not None
    town.pass_time(days=1)
    quiet = town.run()
    before = town.run(as_of=accepted.accepted_until - timedelta(seconds=1))
    at = town.run(as_of=accepted.accepted_until)

    assert [kinds(each) for each in (quiet, before, at)] == [[], [], ["reopened orphan"]]
    assert sound(town)


def test_a_reopened_case_waits_again_and_is_left_alone(town: Town, ana: Ana) -> None:
    case = orphan(town)
    ana(Action.RESOLVED, case)
    town.run()
    ana(Action.REOPENED, case)

    assert kinds(town.run()) == []
    assert now(town, case).state is CaseState.OPEN
    assert sound(town)
