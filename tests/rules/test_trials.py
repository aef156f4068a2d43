from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from recon.model import frames, policies
from recon.model.frames import INTENT_DTYPES, REFUND_DTYPES, Intake
from recon.model.records.results import Money, Policy
from recon.model.records.trials import Rung
from recon.model.records.words import Kind, Subject
from recon.rules import trials
from tests.builders import NOON, PLATFORM, a_mismatch, a_result

MINUTE = timedelta(minutes=1)


def intents(**fields: Any) -> Intake:  # noqa: ANN401 - any column
    row = {
        "key": "k1",
        "payment": "pi_1",
        "amount_minor": 4900,
        "currency": "usd",
        "status": "done",
        "refund_id": "re_1",
        "created_at": NOON,
        "updated_at": NOON + 10 * MINUTE,
        "first_sent_at": NOON + 2 * MINUTE,
    }
    return frames.intents(pd.DataFrame([row | fields], dtype=object), source="intents")


def refunds() -> Intake:
    row = {"id": "re_1", "amount_minor": 4900, "currency": "usd", "created_at": NOON + 5 * MINUTE}
    return frames.refunds(pd.DataFrame([row], dtype=object), source="refunds")


@pytest.mark.parametrize(
    "at, there, status, refund_id, sent",
    [
        (-1, 0, None, None, None),
        (0, 1, "pending", None, False),
        (2, 1, "pending", None, True),
        (9, 1, "pending", None, True),
        (10, 1, "done", "re_1", True),
    ],
)
def test_an_intent_is_pending_until_it_was_last_updated(
    at: int, there: int, status: str | None, refund_id: str | None, *, sent: bool | None
) -> None:
    ours, _ = trials.as_known(intents(), refunds(), NOON + at * MINUTE)

    assert len(ours.frame) == there
    for row in ours.frame.to_dict("records"):
        assert row["status"] == status
        assert (None if pd.isna(row["refund_id"]) else row["refund_id"]) == refund_id
        assert (not pd.isna(row["first_sent_at"])) == sent
        assert row["updated_at"] <= NOON + at * MINUTE


@pytest.mark.parametrize("at, there", [(4, 0), (5, 1)])
def test_a_refund_is_there_from_its_creation_on(at: int, there: int) -> None:
    _, theirs = trials.as_known(intents(), refunds(), NOON + at * MINUTE)

    assert len(theirs.frame) == there


@pytest.mark.parametrize("at", [-1, 5, 60])
def test_what_was_known_has_the_frames_columns_and_the_files_are_left_as_they_are(at: int) -> None:
    before = intents(), refunds()
    ours, theirs = trials.as_known(*before, NOON + at * MINUTE)

    assert {name: str(dtype) for name, dtype in ours.frame.dtypes.items()} == INTENT_DTYPES
    assert {name: str(dtype) for name, dtype in theirs.frame.dtypes.items()} == REFUND_DTYPES
    pd.testing.assert_frame_equal(before[0].frame, intents().frame)


def test_in_the_end_everything_is_known() -> None:
    ours, theirs = trials.as_known(intents(), refunds(), NOON + timedelta(days=1))

    pd.testing.assert_frame_equal(ours.frame, intents().frame)
    pd.testing.assert_frame_equal(theirs.frame, refunds().frame)


def test_a_ladder_holds_the_policys_own_value_and_changes_that_grace_alone() -> None:
    own = replace(Policy(), stuck_after=45 * MINUTE)
    found = trials.rungs(own, {"stuck_after_minutes": ()})

    assert [(rung.value, rung.usual) for rung in found] == [
        ("15", False),
        ("30", False),
        ("45", True),
        ("60", False),
        ("120", False),
        ("240", False),
    ]
    assert {replace(rung.policy, stuck_after=own.stuck_after) for rung in found} == {own}


def test_every_grace_has_a_ladder_and_values_of_ones_own_take_its_place() -> None:
    every = {rung.name for rung in trials.rungs(Policy(), {})}
    found = trials.rungs(
        Policy(), {"clock_skew_seconds": [timedelta(0)], "missing_after_minutes": [2.5 * MINUTE, MINUTE]}
    )

    assert {policies.KEYS[name][0] for name in every} == set(Policy.__slots__) - {"healing"}
    assert [(rung.name, rung.value) for rung in found] == [
        ("missing_after_minutes", "1"),
        ("missing_after_minutes", "2.5"),
        ("missing_after_minutes", "15"),
        ("clock_skew_seconds", "0"),
        ("clock_skew_seconds", "5"),
    ]


@pytest.mark.parametrize(
    "first, number, expected",
    [
        (NOON, 1, [0]),
        (NOON - 150 * MINUTE, 24, [-2, -1, 0]),
        (NOON + MINUTE, 3, [0]),
        (None, 3, [-2, -1, 0]),
    ],
)
def test_no_run_judged_before_there_was_anything(
    first: datetime | None, number: int, expected: list[int]
) -> None:
    assert trials.hours(first, NOON, number) == tuple(NOON + timedelta(hours=each) for each in expected)


def test_each_mismatch_counts_once_as_it_was_last_reported_and_what_is_left_has_not_settled() -> None:
    stays = a_mismatch(subject=Subject("intent:stays"), kind=Kind.STUCK, at_risk=Money(5, "eur"))
    goes = a_mismatch(subject=Subject("intent:goes"), kind=Kind.MISSING, at_risk=Money(7, "usd"))
    reported: trials.Reported = {}
    trials.heard(reported, a_result(stays, goes))
    trials.heard(reported, a_result(replace(goes, kind=Kind.STUCK, at_risk=Money(8, "usd"))))
    rung = Rung("stuck_after_minutes", "60", Policy(), usual=True)
    left = replace(stays, kind=Kind.DUPLICATE)
    found = trials.outcome(rung, reported, left=trials.subjects(a_result(left)), in_flight=3)

    assert dict(found.reported) == {Kind.STUCK: 2}
    assert dict(found.settled) == {Kind.STUCK: 1}
    assert (dict(found.at_risk), dict(found.settled_at_risk)) == ({"eur": 5, "usd": 8}, {"usd": 8})
    assert found.in_flight == 3
    assert (PLATFORM, Subject("intent:goes")) in reported
