"""Every answer of the provider means one thing, and only its own refusal means that nothing happened."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.guarded import Answer, AnswerKind, Finding, FindingKind, Guarded, Heard
from recon.model.records.results import Money
from recon.model.records.words import IntentKey, IntentStatus
from recon.rules import answers
from tests.builders import NOON, PLATFORM, a_refund

KEY = IntentKey("refund_order:8812")
REFUND = a_refund()
MONEY = Money(4900, "usd")
SURE = {AnswerKind.REFUSED, AnswerKind.NOT_SENT, AnswerKind.TURNED_AWAY, AnswerKind.LIMITED}
ASKED = Guarded(
    account=PLATFORM,
    key=KEY,
    tool="refund_order",
    status=IntentStatus.PENDING,
    fingerprint={"amount_minor": "4900", "currency": "usd", "payment": "pi_8812"},
    body={},
    created_at=NOON,
    updated_at=NOON,
    next_at=NOON,
    until=NOON,
)


def kind(**heard: object) -> AnswerKind:
    return answers.meaning(Heard(**heard)).kind  # type: ignore[arg-type]  # a test states what it is about


def refusal(status: int, **more: object) -> AnswerKind:
    return kind(status=status, refused=True, **more)


@pytest.mark.parametrize(
    "status, more, expected",
    [
        (400, {}, AnswerKind.REFUSED),
        (400, {"code": "charge_disputed"}, AnswerKind.REFUSED),
        (400, {"code": "refund_disputed_payment"}, AnswerKind.REFUSED),
        (400, {"code": "parameter_invalid_integer", "param": "amount"}, AnswerKind.REFUSED),
        (402, {"kind": "card_error"}, AnswerKind.REFUSED),
        (404, {"code": "resource_missing"}, AnswerKind.REFUSED),
        (400, {"code": "charge_already_refunded"}, AnswerKind.TAKEN),
        (400, {"param": "amount"}, AnswerKind.TAKEN),
        (400, {"kind": "idempotency_error"}, AnswerKind.UNKNOWN),
        (404, {"kind": "idempotency_error"}, AnswerKind.UNKNOWN),
        (409, {"code": "idempotency_key_in_use"}, AnswerKind.UNKNOWN),
        (409, {"kind": "idempotency_error", "code": "idempotency_key_in_use"}, AnswerKind.UNKNOWN),
        (401, {}, AnswerKind.TURNED_AWAY),
        (403, {}, AnswerKind.TURNED_AWAY),
        (429, {"code": "rate_limit"}, AnswerKind.LIMITED),
        (429, {}, AnswerKind.LIMITED),
        (429, {"code": "lock_timeout"}, AnswerKind.UNKNOWN),
        (408, {}, AnswerKind.UNKNOWN),
        (424, {}, AnswerKind.UNKNOWN),
        (500, {}, AnswerKind.UNKNOWN),
        (503, {}, AnswerKind.UNKNOWN),
        (200, {}, AnswerKind.UNKNOWN),
        (302, {}, AnswerKind.UNKNOWN),
    ],
)
def test_an_error_in_the_providers_words(status: int, more: dict[str, object], expected: AnswerKind) -> None:
    assert refusal(status, **more) == expected


@given(st.one_of(st.none(), st.integers(100, 599)), st.booleans(), st.sampled_from([None, "rate_limit"]))
def test_what_is_not_the_providers_own_word_is_unknown(
    status: int | None,
    replayed: bool,  # noqa: FBT001 -- hypothesis hands it in
    code: str | None,
) -> None:
    assert kind(status=status, refused=False, replayed=replayed, code=code) == AnswerKind.UNKNOWN


@given(st.integers(500, 599), st.text(), st.text(), st.text())
def test_a_failure_of_the_provider_is_never_a_failure_of_the_refund(
    status: int, code: str, family: str, param: str
) -> None:
    assert refusal(status, code=code, kind=family, param=param) == AnswerKind.UNKNOWN


def test_no_answer_is_unknown_unless_nothing_left() -> None:
    assert kind() == AnswerKind.UNKNOWN
    assert kind(unsent=True) == AnswerKind.NOT_SENT


@pytest.mark.parametrize(
    "state, expected",
    [
        ("succeeded", AnswerKind.DONE),
        ("pending", AnswerKind.DONE),
        ("requires_action", AnswerKind.DONE),
        ("", AnswerKind.DONE),
        ("a_new_word", AnswerKind.DONE),
        ("failed", AnswerKind.DEAD),
        ("canceled", AnswerKind.DEAD),
    ],
)
def test_a_refund_in_the_answer_is_done_unless_it_is_dead(state: str, expected: AnswerKind) -> None:
    heard = Heard(status=200, refund=a_refund(status=state), replayed=True)

    assert answers.meaning(heard) == Answer(expected, id="re_8812", state=state, replayed=True)


@pytest.mark.parametrize(
    "changes, other",
    [
        ({"intent_key": "refund_order:9"}, "key"),
        ({"intent_key": None}, "key"),
        ({"payment_intent": "pi_9", "charge": None}, "payment"),
        ({"amount_minor": 490_000}, "amount"),
        ({"currency": "jpy"}, "currency"),
        ({"status": "failed", "intent_key": "refund_order:9"}, "key"),
    ],
)
def test_an_answer_with_another_refund_is_no_answer(changes: dict[str, object], other: str) -> None:
    found = answers.answer(Heard(status=200, refund=a_refund(**changes)), ASKED)

    assert answers.answer(Heard(status=200, refund=REFUND), ASKED).kind == AnswerKind.DONE
    assert (found.kind, found.id) == (AnswerKind.UNKNOWN, None)
    assert found.said.endswith(f"a refund of another {other}")


def test_a_refund_beside_a_bad_status_is_no_answer() -> None:
    assert kind(status=500, refund=REFUND) == AnswerKind.UNKNOWN


def test_the_reason_and_the_pause_go_along() -> None:
    heard = Heard(status=429, refused=True, said="slow down", retry_after_seconds=2.0)

    assert answers.meaning(heard) == Answer(AnswerKind.LIMITED, said="slow down", retry_after_seconds=2.0)


OTHER = a_refund(id="re_other", intent_key=None)


@pytest.mark.parametrize(
    "refunds, expected",
    [
        ([], Finding(FindingKind.ABSENT)),
        ([OTHER], Finding(FindingKind.ABSENT, others=(OTHER,))),
        ([OTHER, REFUND], Finding(FindingKind.LIVE, "re_8812", "succeeded", others=(OTHER,), money=MONEY)),
        ([replace(REFUND, status="pending")], Finding(FindingKind.LIVE, "re_8812", "pending", money=MONEY)),
        ([replace(REFUND, status="new_word")], Finding(FindingKind.LIVE, "re_8812", "new_word", money=MONEY)),
        ([replace(REFUND, status="failed")], Finding(FindingKind.DEAD, "re_8812", "failed", money=MONEY)),
        ([replace(OTHER, status="failed")], Finding(FindingKind.ABSENT)),
        ([replace(OTHER, system=True)], Finding(FindingKind.ABSENT)),
    ],
)
def test_a_look_up_finds_the_intents_own_refund(refunds: list[object], expected: Finding) -> None:
    assert answers.finding(refunds, KEY) == expected  # type: ignore[arg-type]  # they are


def test_of_several_with_its_key_a_live_one_stands_the_earliest_first() -> None:
    dead = a_refund(id="re_0", status="failed", created_at=NOON - timedelta(days=1))
    later = a_refund(id="re_9", created_at=NOON + timedelta(days=1))

    assert answers.finding([later, dead, REFUND], KEY).id == "re_8812"


def test_only_the_providers_word_is_certain() -> None:
    certain = {
        (status, answers.meaning(Heard(status=status, refused=refused)).kind)
        for status in range(100, 600)
        for refused in (True, False)
    }

    assert {status for status, found in certain if found in SURE} == {400, 401, 402, 403, 404, 429}
