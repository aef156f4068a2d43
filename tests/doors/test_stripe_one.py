import pytest

from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.provider import Refund
from recon.model.records.results import Reject
from recon.model.records.words import RefundId
from tests.builders import an_intent
from tests.doors.test_stripe import PLATFORM, provider
from tests.sandboxes import Street
from tests.wires import answers, wire


def test_a_refund_is_retrieved_as_it_is_now(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    made = sandbox.control("refunds", payment="pi_1", amount=500)["id"]
    sandbox.control(f"refunds/{made}", status="failed", failure_reason="unknown")

    found = provider(sandbox.url).retrieve(made, PLATFORM)

    assert isinstance(found, Refund)
    assert (found.id, found.status) == (made, "failed")


def test_a_refund_that_cannot_be_read_is_the_reject_that_says_why() -> None:
    with wire(answers("200 OK", '{"id": "re_1", "amount": 1.5, "currency": "usd", "created": 5}')) as served:
        found = provider(served.url).retrieve(RefundId("re_1"), PLATFORM)

    assert isinstance(found, Reject)
    assert (found.id, found.reason) == ("re_1", "Its amount is not a whole number of minor units from 0.")


def test_an_id_is_never_a_path_of_its_own(sandbox: Street) -> None:
    assert provider(sandbox.url).retrieve(RefundId("../account?x=1"), PLATFORM) is None
    assert sandbox.requests("GET", "/v1/account") == []


def test_a_refund_that_is_not_there_is_none(sandbox: Street) -> None:
    assert provider(sandbox.url).retrieve(RefundId("re_none"), PLATFORM) is None


def test_a_refund_is_made_with_its_key_and_names_its_intent(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    intent = an_intent(key="k1", payment="pi_1", amount_minor=500)

    made = provider(sandbox.url).create(intent, "call-7")

    (sent,) = sandbox.requests("POST", "/v1/refunds")
    assert sent["key"] == "call-7"
    assert (made.amount_minor, made.intent_key, made.payment_intent) == (500, "k1", "pi_1")


def test_a_charge_is_refunded_as_a_charge(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000, charge="ch_1")

    assert provider(sandbox.url).create(an_intent(payment="ch_1", amount_minor=500), "k").charge == "ch_1"


@pytest.mark.parametrize("key", ["", "  ", "k" * 256])
def test_a_key_that_would_be_lost_or_refused_is_never_sent(sandbox: Street, key: str) -> None:
    sandbox.payment("pi_1", 5000)

    with pytest.raises(
        ProviderRefused, match=r"was not sent: its idempotency key must have 1 to 255 characters"
    ):
        provider(sandbox.url).create(an_intent(payment="pi_1"), key)

    assert sandbox.requests() == []


@pytest.mark.parametrize("fault", ["500_before", "500_after", "drop_after", "cut_body_after", "429", "409"])
def test_making_a_refund_is_never_tried_twice(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 5000)
    sandbox.fault("POST /v1/refunds", fault)
    pauses: list[float] = []

    with pytest.raises(ProviderUnavailable):
        provider(sandbox.url, pauses=pauses).create(an_intent(payment="pi_1", amount_minor=500), "k1")

    assert len(sandbox.requests("POST", "/v1/refunds")) == 1
    assert pauses == []


def test_a_clear_refusal_of_a_refund_says_so(sandbox: Street) -> None:
    sandbox.payment("pi_1", 100)

    with pytest.raises(ProviderRefused, match="was refused with 400"):
        provider(sandbox.url).create(an_intent(payment="pi_1", amount_minor=500), "k1")
