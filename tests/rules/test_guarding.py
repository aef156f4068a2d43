"""What a side effect becomes by an answer or a look-up, row by row."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.guarded import Answer, AnswerKind, Finding, FindingKind, Guarded
from recon.model.records.provider import Refund
from recon.model.records.words import IntentKey, IntentStatus
from recon.model.settings import GuardSettings
from recon.rules import guarding
from recon.rules.guarding import Step
from tests.builders import NOON, PLATFORM, a_refund, an_intent

SETTINGS = GuardSettings()
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
DONE, FAILED, PENDING = IntentStatus.DONE, IntentStatus.FAILED, IntentStatus.PENDING
UNKNOWN, CANCELLED = IntentStatus.PENDING_UNKNOWN, IntentStatus.CANCELLED
NEW = Guarded(
    account=PLATFORM,
    key=IntentKey("k"),
    tool="refund_order",
    status=PENDING,
    fingerprint={"amount_minor": "4900"},
    body={},
    created_at=NOON,
    updated_at=NOON,
    next_at=NOON,
    until=NOON,
    payment="pi_1",
)
SENT = guarding.begun(NEW, NOON)
LATER = NOON + timedelta(minutes=2)
ABSENT = Finding(FindingKind.ABSENT)


def looked(
    row: Guarded,
    finding: Finding = ABSENT,
    *,
    at: timedelta = timedelta(minutes=2),
    strangers: Sequence[Refund] = (),
) -> Guarded:
    return guarding.looked(row, finding, strangers, NOON + at, SETTINGS)


@pytest.mark.parametrize(
    "status, sent, expected",
    [
        (PENDING, False, Step.SEND),
        (CANCELLED, False, Step.SEND),
        (PENDING, True, Step.LOOK),
        (UNKNOWN, True, Step.LOOK),
        (DONE, True, Step.CONFIRM),
        (DONE, False, Step.CONFIRM),
        (FAILED, True, Step.TELL),
        (FAILED, False, Step.TELL),
    ],
)
def test_what_is_to_be_done(status: IntentStatus, *, sent: bool, expected: Step) -> None:
    row = replace(NEW, status=status, first_sent_at=NOON if sent else None)

    assert guarding.step(row) == expected
    assert guarding.is_settled(row) == (expected in {Step.CONFIRM, Step.TELL})


@pytest.mark.parametrize(
    "status, sends, expected",
    [(PENDING, 0, False), (CANCELLED, 0, False), (PENDING, 1, True), (UNKNOWN, 0, True), (UNKNOWN, 1, True)],
)
def test_a_request_may_have_been_executed_once_one_was_sent_or_something_like_it_is_there(
    status: IntentStatus, *, sends: int, expected: bool
) -> None:
    assert guarding.may_be_made(replace(NEW, status=status, sends=sends)) is expected


def test_clocks_like_ours_take_no_lease_and_leave_nothing_alone_beyond_this() -> None:
    patient = replace(SETTINGS, absent_after=7 * HOUR)

    assert guarding.longest_lease(NOON, SETTINGS) == NOON + 2 * SETTINGS.lease
    assert guarding.longest_rest(NOON, SETTINGS) == NOON + 6 * HOUR
    assert guarding.longest_rest(NOON, patient) == NOON + 7 * HOUR


@pytest.mark.parametrize(
    "status, first_sent_at, expected",
    [
        (PENDING, None, None),
        (PENDING, LATER, LATER),
        (UNKNOWN, LATER, LATER),
        (UNKNOWN, None, NOON),  # Sent, and nobody wrote down when: not before it was written down itself.
        (DONE, None, None),
    ],
)
def test_an_intent_that_came_by_another_way_was_sent_when_it_says(
    status: IntentStatus, first_sent_at: datetime | None, expected: datetime | None
) -> None:
    row = guarding.of_intent(an_intent(status=status, first_sent_at=first_sent_at), "refund_order")

    assert (row.first_sent_at, row.sent_at) == (expected, expected)


def test_the_first_send_is_kept_and_the_proof_begins_anew() -> None:
    again = guarding.begun(replace(SENT, status=UNKNOWN, misses=2, missed_at=NOON), LATER)

    assert (SENT.status, SENT.first_sent_at, SENT.sent_at, SENT.sends) == (PENDING, NOON, NOON, 1)
    assert (again.status, again.first_sent_at, again.sent_at, again.sends) == (UNKNOWN, NOON, LATER, 2)
    assert (again.misses, again.missed_at) == (0, None)


def test_a_cancelled_one_is_pending_once_it_is_sent() -> None:
    assert guarding.begun(replace(NEW, status=CANCELLED), NOON).status == PENDING


def test_what_left_this_machine_is_never_forgotten() -> None:
    twice = guarding.begun(replace(SENT, status=UNKNOWN), LATER)
    away = guarding.turned_away(SENT, LATER)

    assert guarding.unsent(NEW, LATER) == replace(NEW, updated_at=LATER)
    assert (away.status, away.sends, away.first_sent_at, away.sent_at) == (PENDING, 0, NOON, NOON)
    assert guarding.unsent(away, LATER).first_sent_at == NOON
    back = guarding.turned_away(twice, LATER)
    assert (back.status, back.sends, back.first_sent_at) == (UNKNOWN, 1, NOON)


def test_what_did_not_leave_this_machine_spends_no_proof() -> None:
    proved = replace(SENT, status=UNKNOWN, misses=2, missed_at=NOON)

    assert guarding.unsent(proved, LATER) == replace(proved, updated_at=LATER)
    assert guarding.unsent(replace(NEW, status=CANCELLED), LATER) == replace(NEW, updated_at=LATER)


@pytest.mark.parametrize(
    "kind, sends, status, refusal",
    [
        (AnswerKind.DONE, 1, DONE, None),
        (AnswerKind.DONE, 2, DONE, None),
        (AnswerKind.DEAD, 1, FAILED, "refund re_1 was made and is failed: the money did not arrive"),
        (AnswerKind.REFUSED, 1, FAILED, "so"),
        (AnswerKind.REFUSED, 2, UNKNOWN, "so"),
        (AnswerKind.TAKEN, 1, UNKNOWN, "so"),
        (AnswerKind.TAKEN, 2, UNKNOWN, "so"),
        (AnswerKind.UNKNOWN, 1, UNKNOWN, None),
    ],
)
def test_what_an_answer_makes_of_it(
    kind: AnswerKind, sends: int, status: IntentStatus, refusal: str | None
) -> None:
    found = guarding.answered(replace(SENT, sends=sends), Answer(kind, "so", "re_1", "failed"), LATER)

    assert (found.status, found.refusal, found.first_sent_at) == (status, refusal, NOON)
    assert (found.result_id == "re_1") == (kind in {AnswerKind.DONE, AnswerKind.DEAD})


LIVE = Finding(FindingKind.LIVE, "re_1", "succeeded")
OTHER = a_refund(id="re_2", intent_key=None, created_at=NOON + SECOND)
REFUSED = {"refusal": "so", "status": UNKNOWN}


@pytest.mark.parametrize(
    "changes, finding, strangers, status, misses",
    [
        ({}, LIVE, (), DONE, 0),
        (REFUSED, LIVE, (), DONE, 0),
        ({}, Finding(FindingKind.DEAD, "re_1", "failed"), (), FAILED, 0),
        ({}, Finding(FindingKind.UNREADABLE), (), UNKNOWN, 0),
        ({}, Finding(FindingKind.UNPROVED), (), UNKNOWN, 0),
        (REFUSED, Finding(FindingKind.UNPROVED), (), UNKNOWN, 0),
        (REFUSED, Finding(FindingKind.UNREADABLE), (), UNKNOWN, 0),
        ({}, ABSENT, (), UNKNOWN, 1),
        # Somebody may have done it by hand: the same amount, since it was sent.
        ({}, ABSENT, (OTHER,), UNKNOWN, 0),
        ({}, ABSENT, (replace(OTHER, amount_minor=1),), UNKNOWN, 1),
        ({}, ABSENT, (replace(OTHER, created_at=NOON - HOUR),), UNKNOWN, 1),
        # Refused because the money has gone: to intents of ours, or to whom nobody knows.
        (REFUSED, ABSENT, (), FAILED, 0),
        (REFUSED, ABSENT, (OTHER,), UNKNOWN, 0),
        (REFUSED, ABSENT, (replace(OTHER, amount_minor=1, created_at=NOON - HOUR),), UNKNOWN, 0),
        (REFUSED | {"sends": 2}, ABSENT, (), UNKNOWN, 0),
    ],
)
def test_what_a_look_up_makes_of_it(
    changes: dict[str, Any],
    finding: Finding,
    strangers: Sequence[Refund],
    status: IntentStatus,
    misses: int,
) -> None:
    found = looked(replace(SENT, **changes), finding, strangers=strangers)

    assert (found.status, found.misses) == (status, misses)


AWAY = guarding.turned_away(SENT, NOON)


@pytest.mark.parametrize(
    "finding, strangers, status, now, after_a_day",
    [
        (LIVE, (), DONE, None, None),
        (Finding(FindingKind.DEAD, "re_1", "failed"), (), FAILED, None, None),
        (ABSENT, (), CANCELLED, True, True),
        (ABSENT, (OTHER,), UNKNOWN, False, False),
        (Finding(FindingKind.UNREADABLE), (), PENDING, True, False),
        (Finding(FindingKind.UNPROVED), (), PENDING, True, False),
    ],
)
def test_what_was_turned_away_may_be_sent_after_a_look_up(
    finding: Finding,
    strangers: Sequence[Refund],
    status: IntentStatus,
    now: bool | None,  # noqa: FBT001 -- None: there is nothing to send
    after_a_day: bool | None,  # noqa: FBT001 -- as above
) -> None:
    found = looked(AWAY, finding, strangers=strangers)

    assert (found.status, found.first_sent_at) == (status, NOON)
    for late, may in ((timedelta(minutes=2), now), (25 * HOUR, after_a_day)):
        if may is not None:
            assert guarding.may_send_again(found, NOON + late, SETTINGS) == may
    assert guarding.begun(replace(AWAY, status=CANCELLED), LATER).status == PENDING


@pytest.mark.parametrize(
    "at, before, misses",
    [
        (19.999, None, 0),  # The request may still be under way.
        (20, None, 1),
        (79.999, 20, 1),  # A refund may show late.
        (80, 20, 2),
        (81, 20, 2),
    ],
)
def test_what_counts_as_a_miss(at: float, before: float | None, misses: int) -> None:
    missed_at = None if before is None else NOON + before * SECOND
    row = replace(SENT, misses=int(before is not None), missed_at=missed_at)

    assert looked(row, at=at * SECOND).misses == misses


@pytest.mark.parametrize(
    "changes, late, may",
    [
        ({"misses": 2}, HOUR, True),
        ({"misses": 3}, HOUR, True),
        ({"misses": 1}, HOUR, False),
        ({"misses": 0}, HOUR, False),
        ({"misses": 2, "refusal": "so"}, HOUR, False),
        ({"misses": 2}, 23 * HOUR - SECOND, True),
        ({"misses": 2}, 23 * HOUR, False),
        ({"misses": 2}, 1000 * HOUR, False),
        # Another machine's clock, and what it says of hours, cannot be trusted.
        ({"misses": 2}, -5 * 60 * SECOND, True),
        ({"misses": 2}, -HOUR, False),
    ],
)
def test_when_it_may_be_sent_again(changes: dict[str, Any], late: timedelta, *, may: bool) -> None:
    row = replace(SENT, status=UNKNOWN, **changes)

    assert guarding.may_send_again(row, NOON + late, SETTINGS) == may


@pytest.mark.parametrize(
    "late, rest",
    [(SECOND, 60 * SECOND), (4 * 60 * SECOND, 60 * SECOND), (4 * HOUR, HOUR), (99 * HOUR, 6 * HOUR)],
)
def test_the_longer_nobody_knows_the_longer_a_sweep_rests(late: timedelta, rest: timedelta) -> None:
    assert guarding.rest(SENT, NOON + late, SETTINGS) == rest


FINDINGS = st.sampled_from(
    [
        ABSENT,
        LIVE,
        Finding(FindingKind.UNREADABLE),
        Finding(FindingKind.UNPROVED),
        Finding(FindingKind.DEAD, "re_1", "failed"),
    ]
)
ANSWERS = st.builds(Answer, st.sampled_from(AnswerKind), st.just("so"), st.just("re_1"), st.just("failed"))


@given(
    st.lists(st.one_of(st.just("send"), FINDINGS, ANSWERS)),
    st.lists(st.integers(1, 90), min_size=40, max_size=40),
)
def test_whatever_happens_it_is_sent_again_only_after_a_proof(events: list[Any], pauses: list[int]) -> None:
    """Two complete look-ups a minute apart, the first after the request's own time, since the last send."""
    row, now = NEW, NOON
    proof: list[int] = []
    seconds = 0
    for event, pause in zip(events, pauses, strict=False):
        seconds += pause
        now = NOON + seconds * SECOND
        if guarding.is_settled(row):
            break
        if event == "send":
            first = row.first_sent_at is None
            if first or guarding.may_send_again(row, now, SETTINGS):
                proved = len(proof) >= 2 and proof[-1] - proof[0] >= 60
                assert first or row.sends == 0 or proved
                row, proof, began = guarding.begun(row, now), [], seconds
        elif row.first_sent_at is None:
            continue
        elif isinstance(event, Answer):
            turned = {AnswerKind.NOT_SENT, AnswerKind.TURNED_AWAY, AnswerKind.LIMITED}
            if event.kind in turned and row.sends:
                proof = []
                row = replace(guarding.turned_away(row, now), misses=0, missed_at=None)
            elif event.kind not in turned:
                row = guarding.answered(row, event, now)
        else:
            row = guarding.looked(row, event, (), now, SETTINGS)
            if event is ABSENT and seconds >= began + 20:
                proof.append(seconds)
    assert row.sends >= 0


@pytest.mark.parametrize(
    "changes, is_one",
    [
        ({}, True),
        ({"created_at": NOON}, True),
        ({"created_at": NOON - SECOND}, False),
        ({"amount_minor": 4901}, False),
        ({"currency": "eur"}, False),
    ],
)
def test_a_twin_is_the_same_money_and_not_too_old(changes: dict[str, Any], *, is_one: bool) -> None:
    row = replace(NEW, fingerprint={"amount_minor": "4900", "currency": "usd"})
    found = a_refund(**({"created_at": NOON + HOUR} | changes))

    assert guarding.twin(row, [found], NOON) == (found if is_one else None)


def test_of_several_twins_the_latest_is_named() -> None:
    row = replace(NEW, fingerprint={"amount_minor": "4900", "currency": "usd"})
    first, last = (a_refund(id=each, created_at=NOON + HOUR) for each in ("re_1", "re_2"))

    assert guarding.twin(row, [last, first], NOON) == last
