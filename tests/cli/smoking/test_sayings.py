"""What an answer says of a refund: read where its words tell, and left to a person where they do not."""

from dataclasses import dataclass

import pytest
import stripe
from hypothesis import given
from hypothesis import strategies as st

from recon.cli.smoking import sayings
from recon.cli.smoking.sayings import Says
from recon.guard import Outcome, OutcomeStatus
from recon.model.records.provider import Refund
from recon.model.records.words import RefundId, RefundStatus
from tests.builders import a_refund


@dataclass(frozen=True, slots=True)
class Result:
    status: object = None
    ok: object = None
    status_code: object = None


ANSWERS: list[tuple[object, Says | None]] = [
    ("done", Says.DONE),
    ("OK", Says.DONE),
    ("already_done", Says.DONE),
    ("AlreadyDone", Says.DONE),
    ("failed", Says.NOT_DONE),
    ("not_refunded", Says.NOT_DONE),
    ("pending", Says.UNDERWAY),
    ("pending_unknown", Says.UNKNOWN),
    ("The refund of 1.05 USD was successful.", Says.DONE),
    ("Your money has been refunded; do not call again.", Says.DONE),
    ("Refunded, with no errors.", Says.DONE),
    ("The refund failed.", Says.NOT_DONE),
    ("The order has not been refunded.", Says.NOT_DONE),
    ("It couldn't be processed", Says.NOT_DONE),
    ("It couldn\u2019t be processed", Says.NOT_DONE),
    ("Something went wrong. Please try again.", Says.NOT_DONE),
    ("No refund was issued.", Says.NOT_DONE),
    ("The refund is on its way.", Says.UNDERWAY),
    ("It is not known whether the refund failed.", Says.UNKNOWN),
    ("It failed: the charge has already been refunded.", Says.BOTH),
    ("Thank you.", None),
    ("", None),
    (None, None),
    (17, None),
    (True, Says.DONE),
    (False, Says.NOT_DONE),
    ([], Says.NOT_DONE),
    (("failed", None), Says.NOT_DONE),
    ({"status": "succeeded", "error": None}, Says.DONE),
    ({"status": "done", "message": "do not try this again"}, Says.DONE),
    ({"status": OutcomeStatus.REJECTED}, Says.NOT_DONE),
    ({"success": False, "refunds": ["completed"]}, Says.NOT_DONE),
    ({"success": True, "status": "pending"}, Says.DONE),
    ({"ok": True, "status": "failed"}, Says.BOTH),
    ({"error": "timeout"}, Says.NOT_DONE),
    ({"error": None, "failed": None, "message": "The money was refunded."}, Says.DONE),
    ({"content": [{"type": "text", "text": "Refund failed"}], "isError": True}, Says.NOT_DONE),
    ('{"status": "failed"}', Says.NOT_DONE),
    ("{status: failed}", Says.NOT_DONE),
    (Result(status="done"), Says.DONE),
    (Result(status=RefundStatus.PENDING), Says.UNDERWAY),
    (Result(ok=True, status_code=200), None),
    (Result(ok=False, status_code=502), Says.NOT_DONE),
    (Outcome(OutcomeStatus.ALREADY_DONE, "..."), Says.DONE),
    (Outcome(OutcomeStatus.PENDING_UNKNOWN, "done"), Says.UNKNOWN),
    (stripe.Refund.construct_from({"id": "re_1", "status": "succeeded"}, "sk_test_x"), Says.DONE),
]


@pytest.mark.parametrize("answer, said", ANSWERS)
def test_an_answer_is_read_by_its_status_its_flags_or_its_words(answer: object, said: Says | None) -> None:
    assert sayings.of(answer) == said


class AlreadyRefundedError(Exception):
    """An order that was refunded before."""


@pytest.mark.parametrize(
    "error, said",
    [
        (TimeoutError(), Says.NOT_DONE),
        (RuntimeError("the refund was processed, and the books were not"), Says.NOT_DONE),
        (ValueError("Charge ch_1 has already been refunded."), Says.DONE),
        (AlreadyRefundedError("8812"), Says.DONE),
    ],
)
def test_whoever_raises_says_no_unless_it_was_done_already(error: Exception, said: Says) -> None:
    assert sayings.of_error(error) == said


MADE = a_refund(id=RefundId("re_1"))
ON_ITS_WAY = a_refund(id=RefundId("re_1"), status=RefundStatus.PENDING)


@pytest.mark.parametrize(
    "says, text, made, fits",
    [
        (Says.DONE, "done", MADE, True),
        (Says.NOT_DONE, "re_1 failed", MADE, False),
        (Says.UNKNOWN, "re_1", MADE, False),
        (Says.BOTH, "re_1", MADE, None),
        (None, "re_1", MADE, True),
        (None, "re_2", MADE, None),
        (Says.UNDERWAY, "pending", MADE, False),
        (Says.UNDERWAY, "re_1 is pending", MADE, True),
        (Says.UNDERWAY, "pending", ON_ITS_WAY, True),
    ],
)
def test_what_is_said_fits_a_live_refund_or_not(
    says: Says | None, text: str, made: Refund, *, fits: bool | None
) -> None:
    assert sayings.fits(says, text, made) is fits


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_no_answer_is_too_strange(answer: object) -> None:
    assert sayings.of(answer) in {None, *Says}
