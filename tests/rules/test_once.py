"""Whether an order was refunded once, and how it is told that it was not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recon.model.records.provider import Refund
from recon.model.records.sendings import Sent
from recon.model.records.words import RefundId
from recon.rules import once
from tests.builders import a_refund

FIRST = a_refund(id=RefundId("re_1"))
SECOND = replace(FIRST, id=RefundId("re_2"), created_at=FIRST.created_at - timedelta(seconds=1))
KEYED = "make the key of the order, the same for every attempt, or let recon.guard.RefundTool do it"
MADE = Sent("k1", "pi_1", status=200, refund_id="re_1")
AGAIN = Sent("k2", "pi_1", status=200, refund_id="re_2")
TWO = "Expected 1 refund, found 2: re_1 of 49.00 USD and re_2 of 49.00 USD."


@pytest.mark.parametrize(
    "refunds",
    [
        (FIRST,),
        (FIRST, replace(SECOND, status="failed")),
        (FIRST, replace(SECOND, system=True)),
        (replace(FIRST, status="pending"),),
        (replace(FIRST, status="never seen before"),),
    ],
)
def test_one_live_refund_is_one_refund(refunds: tuple[Refund, ...]) -> None:
    assert once.judged([MADE, AGAIN], refunds) is None


@pytest.mark.parametrize(
    "sent, why",
    [
        ((MADE, AGAIN), f" Each attempt had a key of its own: {KEYED}. (The provider's library makes a key"),
        ((replace(MADE, refund_id=None, status=500), AGAIN), " Each attempt had a key of its own: "),
        ((replace(MADE, key=None), AGAIN), f" A request had no idempotency key: {KEYED}."),
        ((MADE, replace(AGAIN, key="k1")), " The provider had forgotten their key meanwhile: look for a"),
    ],
)
def test_two_refunds_are_told_with_what_to_do(sent: tuple[Sent, ...], why: str) -> None:
    told = once.judged(sent, (SECOND, FIRST))

    assert told is not None
    assert told.startswith(TWO)
    assert told.removeprefix(TWO).startswith(why)


def test_no_refund_is_told_with_what_became_of_the_last_request() -> None:
    refused = Sent("k1", "pi_0", status=404, said="No such payment_intent: 'pi_0'")
    silent = replace(refused, status=None, said="")

    assert once.judged([], ()) == (
        "Expected 1 refund, found none: no request for one reached the provider. Look at what the tool "
        "answered, and where it sends."
    )
    assert once.judged([silent, refused], (replace(FIRST, status="canceled"),)) == (
        "Expected 1 refund, found none: the last of 2 requests answered 404: No such payment_intent: "
        "'pi_0'. Look at that answer first."
    )
    assert "1 request never answered" in str(once.judged([silent], ()))


def test_where_nothing_may_be_sent_one_is_too_many() -> None:
    assert once.judged([], (), expected=0) is None
    assert once.judged([MADE], (FIRST,), expected=0) == (
        "Expected no refund, found 1: re_1 of 49.00 USD. Nothing may be sent here."
    )


def test_each_request_is_told_with_key_answer_and_fault() -> None:
    lost = replace(MADE, fault="drop_after")
    kept = replace(MADE, replayed=True)
    limited = Sent(None, "pi_1", status=429, said="Request rate limit exceeded.", fault="429")
    dropped = Sent("k1", "pi_1", fault="drop_before")

    assert once.story([lost, kept, limited, dropped]) == (
        "request 1: key k1, made re_1; it met the fault drop_after",
        "request 2: key k1, told of re_1 again",
        "request 3: no key, answered 429: Request rate limit exceeded; it met the fault 429",
        "request 4: key k1, never answered by the provider; it met the fault drop_before",
    )
