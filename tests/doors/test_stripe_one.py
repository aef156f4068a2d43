import json
from typing import Any

import pytest

from recon.model import payloads
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.payloads import LONGEST_NAME
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


def test_a_refund_that_the_provider_will_not_show_is_a_reject_and_stops_nobody() -> None:
    refusal = '{"error": {"type": "invalid_request_error", "message": "Not an id."}}'
    with wire(answers("400 Bad Request", refusal)) as served:
        found = provider(served.url).retrieve(RefundId("re_1"), PLATFORM)

    assert isinstance(found, Reject)
    assert (found.id, found.reason) == (
        "re_1",
        "refund re_1 of the platform was refused with 400: Not an id.",
    )


def test_another_refund_than_the_one_asked_for_proves_nothing() -> None:
    shown = json.dumps(ROW | {"id": "re_2", "status": "failed"})
    with (
        wire(answers("200 OK", shown)) as served,
        pytest.raises(ProviderUnavailable, match="refund re_1 of the platform broke off: it shows another"),
    ):
        provider(served.url).retrieve(RefundId("re_1"), PLATFORM)


ROW: dict[str, Any] = {"id": "re_1", "amount": 5, "currency": "usd", "created": 5}
LONG = "x" * (LONGEST_NAME + 1)


@pytest.mark.parametrize("name", ["id", "payment_intent", "charge", "metadata"])
def test_a_name_that_no_index_holds_is_rejected(name: str) -> None:
    row = ROW | {name: {"intent_key": LONG} if name == "metadata" else LONG}
    rejected = payloads.refund(row, account=PLATFORM, place=1, metadata_key="intent_key")

    assert isinstance(rejected, Reject)
    assert "has 501 characters, more than 500." in rejected.reason
    assert LONG not in (rejected.id, *rejected.names)


@pytest.mark.parametrize("odd", [["a"], {"a": 1}, 7, None])
def test_words_that_are_none_say_nothing(odd: object) -> None:
    row = ROW | {
        "reason": odd,
        "status": odd,
        "balance_transaction": {"type": odd, "reporting_category": odd},
    }
    read = payloads.refund(row, account=PLATFORM, place=1, metadata_key="intent_key")

    assert isinstance(read, Refund)
    assert (read.system, read.reason, read.status) == (False, None, "")


@pytest.mark.parametrize(
    "odd", ["", "..", ".", "../x", "re 1", "re_1?x=1", "re\n1", "r\u00e9", "x" * 256, "\0"]
)
def test_an_event_about_what_is_no_id_is_passed_over(odd: str) -> None:
    event = {"type": "refund.created", "created": 5, "data": {"object": {"id": odd}}}

    assert payloads.refund_event(event) is None


def test_an_event_with_a_key_that_no_index_holds_tells_no_key() -> None:
    event = {
        "type": "refund.created",
        "created": 5,
        "data": {"object": "re_1"},
        "request": {"idempotency_key": LONG},
    }
    told = payloads.refund_event(event)

    assert told is not None
    assert (told.refund_id, told.request_key) == ("re_1", None)


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
