from __future__ import annotations

import pytest
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import Street


def kinds(client: stripe.StripeClient) -> list[str]:
    return [event.type for event in client.v1.events.list().data]


def test_a_refund_tells_of_itself_and_of_its_charge_with_the_request_that_made_it(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    refund = client.v1.refunds.create(
        params={"payment_intent": "pi_1", "amount": 400}, options={"idempotency_key": "K"}
    )

    events = [event.to_dict() for event in client.v1.events.list().data]

    assert [e["type"] for e in events] == ["charge.refunded", "refund.created"]
    assert {e["request"]["idempotency_key"] for e in events} == {"K"}
    assert refund.last_response is not None
    assert {e["request"]["id"] for e in events} == {refund.last_response.request_id}
    assert events[1]["data"]["object"]["id"] == refund.id
    assert events[0]["data"]["object"]["amount_refunded"] == 400
    assert events[0]["data"]["previous_attributes"] == {"amount_refunded": 0}


def test_a_replay_tells_nothing(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    for _ in range(2):
        client.v1.refunds.create(params={"payment_intent": "pi_1"}, options={"idempotency_key": "K"})

    assert kinds(client) == ["charge.refunded", "refund.created"]


def test_an_event_keeps_the_refund_as_it_was(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, refund_status="pending")
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})
    sandbox.control(f"refunds/{refund.id}", status="failed", failure_reason="declined")

    events = [event.to_dict() for event in client.v1.events.list(params={"types": ["refund.*"]}).data]

    told = [(e["type"], e["data"]["object"]["status"]) for e in events]
    assert told == [
        ("refund.failed", "failed"),
        ("refund.updated", "failed"),
        ("refund.created", "pending"),
    ]
    assert events[1]["data"]["previous_attributes"] == {"status": "pending"}
    assert events[0]["request"] == {"id": None, "idempotency_key": None}


def test_a_dashboard_refund_has_no_request(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.control("refunds", payment="pi_1", amount=100, reason="expired_uncaptured_charge")

    client = provider(sandbox)
    [created] = client.v1.events.list(params={"types": ["refund.created"]}).data

    assert created.to_dict()["request"] == {"id": None, "idempotency_key": None}
    assert client.v1.refunds.list().data[0].reason == "expired_uncaptured_charge"


def test_the_same_status_again_tells_nothing(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})

    sandbox.control(f"refunds/{refund.id}", status="succeeded")

    assert kinds(client) == ["charge.refunded", "refund.created"]


def test_types_and_creation_narrow_the_list(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    sandbox.set_time("2026-05-01T12:00:00Z")
    client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 1})
    sandbox.advance(3600)
    client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 2})

    late = client.v1.events.list(params={"type": "refund.created", "created": {"gte": 1_777_640_000}})
    both = client.v1.events.list(params={"types": ["refund.created", "refund.failed"]})

    assert [e.to_dict()["data"]["object"]["amount"] for e in late.data] == [2]
    assert len(both.data) == 2


def test_events_are_listed_for_thirty_days(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1"})

    sandbox.advance(30 * 86_400 - 60)
    before = len(kinds(client))
    sandbox.advance(120)

    assert (before, len(kinds(client))) == (2, 0)
    assert len(client.v1.refunds.list().data) == 1


def test_at_most_twenty_types_are_taken(sandbox: Street) -> None:
    types = ["refund.created"] * 21

    with pytest.raises(stripe.InvalidRequestError):
        provider(sandbox).v1.events.list(params={"types": types})

    assert provider(sandbox).v1.events.list(params={"types": types[:20]}).data == []


def test_an_event_is_retrieved_by_its_id(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1"})
    listed = client.v1.events.list().data[0]

    assert client.v1.events.retrieve(listed.id).to_dict() == listed.to_dict()
