"""Faults one by one: how they are asked for, matched and counted; what each does where is in the table."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any

import pytest
import requests
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import STRIPE_KEY, Street


def refund(client: stripe.StripeClient, payment: str = "pi_1", key: str = "K") -> stripe.Refund:
    return client.v1.refunds.create(
        params={"payment_intent": payment, "amount": 400}, options={"idempotency_key": key}
    )


def count(street: Street) -> int:
    return len(provider(street).v1.refunds.list().data)


@pytest.mark.parametrize(
    "fault,code", [("429", "rate_limit"), ("429_lock", "lock_timeout"), ("409", "idempotency_key_in_use")]
)
def test_a_refusal_carries_its_code(sandbox: Street, fault: str, code: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault)

    with pytest.raises(stripe.StripeError) as met:
        refund(provider(sandbox))

    body: Any = met.value.json_body
    assert body["error"]["code"] == code


@pytest.mark.parametrize("fault", ["latency", "hang_after"])
def test_a_patient_client_gets_the_answer_in_the_end(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault, after_s=0.3)

    begun = time.monotonic()
    made = refund(provider(sandbox))

    assert made.status == "succeeded"
    assert 0.29 <= time.monotonic() - begun < 3


def test_a_drop_closes_the_connection_without_a_byte(sandbox: Street) -> None:
    sandbox.fault("GET /v1/refunds", "drop_before")
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.running.port, timeout=5)

    connection.request("GET", "/v1/refunds", headers={"Authorization": f"Bearer {STRIPE_KEY}"})

    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()


def test_a_cut_body_is_shorter_than_it_was_announced(sandbox: Street) -> None:
    sandbox.fault("GET /v1/refunds", "cut_body_after")
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.running.port, timeout=5)

    connection.request("GET", "/v1/refunds", headers={"Authorization": f"Bearer {STRIPE_KEY}"})
    answer = connection.getresponse()
    announced = int(str(answer.headers["Content-Length"]))

    with pytest.raises(http.client.IncompleteRead) as cut:
        answer.read()
    assert len(cut.value.partial) == announced // 2


def test_a_drip_comes_whole_in_the_end(sandbox: Street) -> None:
    sandbox.fault("GET /v1/refunds", "drip", after_s=0.001)

    answer = requests.get(f"{sandbox.url}/v1/refunds", auth=(STRIPE_KEY, ""), timeout=5)

    assert answer.json()["data"] == []


def test_a_drip_is_a_byte_a_second_unless_told_otherwise(sandbox: Street) -> None:
    armed = sandbox.fault("POST /v1/refunds", "drip")

    assert armed["after_s"] == 1.0


def test_a_refund_appears_after_its_500(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    sandbox.fault("POST /v1/refunds", "500_then_appears", after_s=90)
    client = provider(sandbox)
    with pytest.raises(stripe.APIError):
        refund(client)

    sandbox.advance(85)
    before = count(sandbox)
    held = client.v1.charges.retrieve("ch_1").amount_refunded
    sandbox.advance(5)

    [appeared] = client.v1.refunds.list().data
    [created] = client.v1.events.list(params={"type": "refund.created"}).data
    assert (before, appeared.amount) == (0, 400)
    assert created.to_dict()["request"]["idempotency_key"] == "K"
    assert (held, client.v1.charges.retrieve("ch_1").amount_refunded) == (0, 400)


def test_money_that_is_about_to_go_back_cannot_go_back_again_meanwhile(sandbox: Street) -> None:
    sandbox.payment("pi_1", 400)
    sandbox.fault("POST /v1/refunds", "500_then_appears", after_s=90)
    client = provider(sandbox)
    with pytest.raises(stripe.APIError):
        refund(client)

    with pytest.raises(stripe.InvalidRequestError):
        refund(client, key="K2")

    assert count(sandbox) == 0


def test_the_next_times_requests_meet_it_and_no_more(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", "429", times=2)
    client = provider(sandbox)

    for _ in range(2):
        with pytest.raises(stripe.RateLimitError):
            refund(client)

    assert refund(client).amount == 400
    assert [r["fault"] for r in sandbox.requests("POST")] == ["429", "429", None]


def test_faults_are_met_in_the_order_they_were_asked_for(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", "429")
    sandbox.fault("POST /v1/refunds", "500_before")
    client = provider(sandbox)

    statuses = []
    for _ in range(2):
        with pytest.raises(stripe.StripeError) as met:
            refund(client)
        statuses.append(met.value.http_status)

    assert statuses == [429, 500]


@pytest.mark.parametrize(
    "match,met",
    [
        ({"key": "K2"}, [False, True]),
        ({"payment": "pi_2"}, [False, True]),
        ({"payment": "ch_2"}, [False, True]),
        ({"key": "K1", "payment": "pi_2"}, [False, False]),
    ],
)
def test_only_what_matches_meets_it(sandbox: Street, match: dict[str, str], met: list[bool]) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    sandbox.payment("pi_2", 10_000, charge="ch_2")
    sandbox.fault("POST /v1/refunds", "429", match=match)
    client = provider(sandbox)

    refused = []
    for n in (1, 2):
        try:
            refund(client, f"pi_{n}", f"K{n}")
        except stripe.RateLimitError:
            refused.append(True)
        else:
            refused.append(False)

    assert refused == met


@pytest.mark.parametrize(
    "on,hit",
    [
        ("GET /v1/refunds/{id}", True),
        ("* /v1/refunds/{id}", True),
        ("POST /v1/refunds/{id}", False),
        ("GET /v1/refunds", False),
        ("GET /v1/refunds/re_other", False),
    ],
)
def test_a_path_may_be_a_template(sandbox: Street, on: str, hit: bool) -> None:  # noqa: FBT001  a column
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    made = refund(client)
    sandbox.fault(on, "429")

    try:
        client.v1.refunds.retrieve(made.id)
        met = False
    except stripe.RateLimitError:
        met = True

    assert met is hit


def test_a_list_breaks_off_after_its_first_page(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    for n in range(5):
        refund(provider(sandbox), key=f"K{n}")
    sandbox.fault("GET /v1/refunds", "drop_page")
    read: list[stripe.Refund] = []

    with pytest.raises(stripe.APIConnectionError):
        read.extend(provider(sandbox).v1.refunds.list(params={"limit": 2}).auto_paging_iter())

    assert len(read) == 2
    assert len(list(provider(sandbox).v1.refunds.list(params={"limit": 2}).auto_paging_iter())) == 5


def test_a_list_breaks_off_on_the_page_asked_for(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    for n in range(7):
        refund(provider(sandbox), key=f"K{n}")
    sandbox.fault("GET /v1/refunds", "drop_page", page=3)
    read: list[stripe.Refund] = []

    with pytest.raises(stripe.APIConnectionError):
        read.extend(provider(sandbox).v1.refunds.list(params={"limit": 2}).auto_paging_iter())

    assert len(read) == 4


def test_fresh_refunds_are_invisible_by_list_and_by_id(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    old = refund(client, key="K1")
    sandbox.advance(120)
    fresh = refund(client, key="K2")
    sandbox.fault("GET /v1/refunds", "invisible", times=4, after_s=60)

    listed = [r.id for r in client.v1.refunds.list().data]
    with pytest.raises(stripe.InvalidRequestError) as hidden:
        client.v1.refunds.retrieve(fresh.id)
    found = client.v1.refunds.retrieve(old.id).id
    sandbox.advance(61)
    later = [r.id for r in client.v1.refunds.list().data]

    assert (listed, found, hidden.value.code) == ([old.id], old.id, "resource_missing")
    assert later == [fresh.id, old.id]
    assert [r["fault"] for r in sandbox.requests("GET")] == ["invisible"] * 4


def test_what_hangs_does_not_hold_up_others(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", "hang_before", match={"key": "K1"})
    with pytest.raises(stripe.APIConnectionError):
        refund(provider(sandbox, timeout_s=0.2), key="K1")

    assert refund(provider(sandbox, timeout_s=1), key="K2").amount == 400


def test_a_lost_answer_is_still_in_the_log(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", "drop_after")
    with pytest.raises(stripe.APIConnectionError):
        refund(provider(sandbox))

    [seen] = sandbox.requests("POST", "/v1/refunds")

    assert seen["form"] == {"payment_intent": "pi_1", "amount": "400"}
    assert (seen["answer"]["status"], seen["answer"]["body"]["object"]) == (200, "refund")
    assert json.dumps(seen).count(STRIPE_KEY) == 0


@pytest.mark.parametrize(
    "sent,expected",
    [
        ({"on": "POST /v1/refunds", "fault": "fire"}, 'expected "fault" to be one of drop_before'),
        ({"on": "/v1/refunds", "fault": "429"}, 'expected "on" like "POST /v1/refunds"'),
        ({"on": "POST /v1/refunds", "fault": "429", "times": 0}, 'expected "times" to be a whole number'),
        ({"on": "POST /v1/refunds", "fault": "drip", "after_s": "1"}, 'expected "after_s" to be seconds'),
        (
            {"on": "POST /v1/refunds", "fault": "429", "match": {"id": "x"}},
            'on POST /v1/refunds expected "match" with key or payment as texts',
        ),
        (
            {"on": "POST /v1/refunds", "fault": "429", "match": {"channel": "C0OPS"}},
            'on POST /v1/refunds expected "match" with key or payment as texts',
        ),
        (
            {"on": "POST /api/chat.update", "fault": "429", "match": {"key": "K"}},
            'on POST /api/chat.update expected "match" with channel as texts',
        ),
        (
            {"on": "POST /slack-actions/{a}/{b}/{c}", "fault": "429_lock"},
            "429_lock does not exist on POST /slack",
        ),
        (
            {"on": "POST /slack-actions/{a}/{b}/{c}", "fault": "fatal_error_after"},
            "does not exist on POST /slack",
        ),
        ({"on": "POST /v1/refunds", "fault": "drop_page"}, "drop_page is for lists"),
        ({"on": "GET /v1/refunds/{id}", "fault": "drop_page"}, "drop_page is for lists"),
        ({"on": "GET /v1/account", "fault": "invisible"}, "invisible is for lists"),
        ({"on": "POST /api/chat.postMessage", "fault": "invisible"}, "invisible is for lists"),
        ({"on": "POST /v1/refunds/{id}", "fault": "500_then_appears"}, "only what is created can appear"),
        ({"on": "GET /v1/refunds", "fault": "409"}, "a read has no key in use"),
        ({"on": "POST /v1/refunds", "fault": "fatal_error_after"}, "does not exist on POST /v1/refunds"),
        (
            {"on": "POST /api/chat.postMessage", "fault": "409"},
            "does not exist on POST /api/chat.postMessage",
        ),
    ],
)
def test_a_fault_that_cannot_be_is_refused_with_what_was_expected(
    sandbox: Street, sent: dict[str, Any], expected: str
) -> None:
    with pytest.raises(AssertionError) as refused:
        sandbox.control("faults", **sent)

    assert expected in json.loads(str(refused.value))["error"]
