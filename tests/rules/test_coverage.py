"""The edges of what was read: at the very moment a reading begins or ends, and just outside it."""

from datetime import datetime, timedelta

import pytest

from recon.model import frames
from recon.model.records.results import Coverage, Policy, Reading, Result
from recon.model.records.words import Verdict
from recon.rules import linking
from recon.rules.mismatches import finding
from tests.builders import NOON
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, Row, table
from tests.rules.test_neighbours import INTENT, REFUND

TICK = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
AS_OF = NOON + 2 * HOUR
POLICY = Policy()


def found(intents: list[Row], refunds: list[Row], coverage: Coverage) -> Result:
    ours = frames.intents(table(intents, INTENT_COLUMNS), source="intents")
    theirs = frames.refunds(table(refunds, REFUND_COLUMNS), source="refunds")
    links = linking.link(ours.frame, theirs.frame, POLICY)
    return finding.find(ours, theirs, links, policy=POLICY, coverage=coverage, as_of=AS_OF)


def kinds(result: Result) -> list[str]:
    return [str(each.kind) for each in result.mismatches]


def done(created_at: datetime) -> Row:
    return {**INTENT, "created_at": created_at.isoformat(), "updated_at": NOON.isoformat()}


def waiting(first_sent_at: datetime) -> Row:
    sent = {"status": "pending_unknown", "first_sent_at": first_sent_at.isoformat()}
    return {**INTENT, **sent, "created_at": (NOON - HOUR).isoformat()}


def stray(created_at: datetime) -> Row:
    return {**REFUND, "created_at": created_at.isoformat()}


@pytest.mark.parametrize("before, expected", [(0 * TICK, ["missing"]), (TICK, [])])
def test_an_intent_is_judged_by_refunds_that_were_read_from_its_creation_on(
    before: timedelta, expected: list[str]
) -> None:
    result = found([done(NOON - before)], [], Coverage(default_refunds=Reading(from_at=NOON)))

    assert kinds(result) == expected


@pytest.mark.parametrize("before, expected", [(0 * TICK, ["missing"]), (TICK, [])])
def test_an_intent_is_judged_by_refunds_that_were_read_up_to_the_time_of_judging(
    before: timedelta, expected: list[str]
) -> None:
    result = found([done(NOON)], [], Coverage(default_refunds=Reading(to_at=AS_OF - before)))

    assert kinds(result) == expected


@pytest.mark.parametrize("before, expected", [(0 * TICK, ["orphan"]), (TICK, [])])
def test_a_refund_is_judged_by_intents_that_were_read_from_its_creation_on(
    before: timedelta, expected: list[str]
) -> None:
    result = found([], [stray(NOON - before)], Coverage(default_intents=Reading(from_at=NOON)))

    assert kinds(result) == expected


@pytest.mark.parametrize("after, expected", [(0 * TICK, ["orphan"]), (TICK, [])])
def test_a_refund_is_judged_by_intents_that_were_read_up_to_its_creation(
    after: timedelta, expected: list[str]
) -> None:
    result = found([], [stray(NOON + after)], Coverage(default_intents=Reading(to_at=NOON)))

    assert kinds(result) == expected


@pytest.mark.parametrize("before, expected", [(0 * TICK, ["stuck"]), (TICK, [])])
def test_an_intent_is_outside_where_it_was_last_sent_before_the_reading_began(
    before: timedelta, expected: list[str]
) -> None:
    coverage = Coverage(default_refunds=Reading(from_at=NOON), older_is_outside=True)

    result = found([waiting(NOON - before)], [], coverage)

    assert kinds(result) == expected
    assert len(result.older) == len(result.withheld) == 1 - len(expected)


@pytest.mark.parametrize("outside, verdict", [(True, Verdict.RECONCILED), (False, Verdict.INCOMPLETE)])
def test_what_is_withheld_makes_a_result_incomplete_unless_it_is_outside(
    outside: bool,  # noqa: FBT001 -- a table
    verdict: Verdict,
) -> None:
    coverage = Coverage(default_refunds=Reading(from_at=NOON), older_is_outside=outside)

    result = found([done(NOON - TICK)], [], coverage)

    assert result.verdict is verdict
