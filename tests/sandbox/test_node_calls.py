"""Keys, retries, lists and events, as the provider's own client in another language meets them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.node import Client, Node, Said
from tests.sandboxes import Street

START_S = 1_777_636_800
# The clients of every language take only a 400 for an idempotency error.
IN_USE = ("StripeAPIError", 409, "idempotency_key_in_use", None)


@pytest.fixture
def client(node: Node, sandbox: Street) -> Client:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    return node.stripe(sandbox)


def make(client: Client, key: str, amount: int = 400, **options: object) -> Said:
    sent = {"payment_intent": "pi_1", "amount": amount}
    return client.ask("refunds.create", sent, {"idempotencyKey": key, **options})


def amounts(client: Client, **filters: object) -> list[int]:
    return [refund["amount"] for refund in client.ask("refunds.list", filters, whole=True).value]


def test_a_key_stands_for_its_first_answer_until_it_is_pruned(sandbox: Street, client: Client) -> None:
    first = make(client, "K")
    sandbox.advance(24 * 3600 - 60)

    again = make(client, "K")
    drifted = make(client, "K", amount=401)
    sandbox.advance(60)
    anew = make(client, "K")

    assert again.value == first.value
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == first.response["requestId"] != again.response["requestId"]
    assert drifted.refusal == ("StripeIdempotencyError", 400, None, None)
    assert "same parameters they were first used with" in drifted.error["message"]
    assert anew.value["id"] != first.value["id"]
    assert "idempotent-replayed" not in anew.headers


def test_a_key_is_its_accounts_and_its_paths_own(sandbox: Street, client: Client) -> None:
    sandbox.payment("pi_1", 10_000, account="acct_A")
    made = make(client, "K").value

    there = make(client, "K", stripeAccount="acct_A")
    elsewhere = client.ask("refunds.update", made["id"], {"metadata": {"a": "b"}}, {"idempotencyKey": "K"})

    assert there.value["id"] != made["id"]
    assert elsewhere.refusal == ("StripeIdempotencyError", 400, None, None)
    assert "same endpoint" in elsewhere.error["message"]


@pytest.mark.parametrize("length,made", [(255, 1), (256, 0)])
def test_a_key_has_at_most_255_characters(client: Client, length: int, made: int) -> None:
    said = make(client, "k" * length)

    assert said.error.get("class") == (None if made else "StripeIdempotencyError")
    assert len(amounts(client)) == made


def test_of_many_calls_at_once_under_one_key_one_is_executed(sandbox: Street, client: Client) -> None:
    sandbox.fault("POST /v1/refunds", "latency", after_s=0.5)
    sent = ("refunds.create", {"charge": "ch_1", "amount": 400}, {"idempotencyKey": "K"})

    told = client.together([sent] * 8)
    later = client.ask(*sent)

    refusals = [said.refusal for said in told if said.error]
    assert set(refusals) == {IN_USE}
    # One that was late enough on a busy machine has been given the answer of the first.
    assert len([said for said in told if not said.error and "idempotent-replayed" not in said.headers]) == 1
    assert later.headers["idempotent-replayed"] == "true"
    assert amounts(client) == [400]


def test_two_clients_at_once_do_not_disturb_each_other(sandbox: Street, node: Node) -> None:
    accounts = ("", "acct_A")
    for account in accounts:
        sandbox.payment("pi_1", 10_000, account=account)
    asks = [
        {"kind": "stripe", "key": key, "call": "refunds.create", "whole": False, "options": options}
        | {"args": [{"payment_intent": "pi_1", "amount": n + 1, "metadata": {"n": str(n)}}]}
        for n in range(20)
        for account, key in (("", "sk_test_a"), ("acct_A", "sk_test_b"))
        for options in [node.stripe(sandbox, **({"stripeAccount": account} if account else {})).options]
    ]

    told = node.asked(asks)

    assert [said.value["metadata"] for said in told] == [{"n": str(n)} for n in range(20) for _ in accounts]
    for account in accounts:
        reader = node.stripe(sandbox, **({"stripeAccount": account} if account else {}))
        assert sorted(amounts(reader)) == list(range(1, 21))


@pytest.mark.parametrize("spare", [0, 2])
def test_the_clients_own_retries_carry_one_key(sandbox: Street, node: Node, spare: int) -> None:
    """What is retried, by the client of its own accord or because the answer says so, and to what end."""
    expected = {
        # It tries a closed connection once more whatever it is told.
        "drop_before": ("200", 2),
        "drop_after": ("200 replayed", 2),
        "500_before": ("200", 2) if spare else ("500 StripeAPIError", 1),
        "409": ("200", 2) if spare else ("409 StripeAPIError", 1),
        "429": ("429 StripeRateLimitError", 1),
        "429_lock": ("200", 2) if spare else ("429 StripeRateLimitError", 1),
        "500_after": ("500 StripeAPIError", 1),
        "500_then_appears": ("500 StripeAPIError", 1),
        "403": ("403 StripePermissionError", 1),
    }
    for fault in expected:
        sandbox.payment(f"pi_{fault}", 500)
        sandbox.fault("POST /v1/refunds", fault, match={"payment": f"pi_{fault}"})
    client = node.stripe(sandbox, maxNetworkRetries=spare)

    told = client.together([("refunds.create", {"payment_intent": f"pi_{fault}"}) for fault in expected])

    seen = {fault: _seen(sandbox, f"pi_{fault}") for fault in expected}
    shown = {fault: (_shown(said), len(seen[fault])) for fault, said in zip(expected, told, strict=True)}
    assert shown == expected
    for requests in seen.values():
        assert len({r["key"] for r in requests}) == 1
        assert requests[0]["key"].startswith("stripe-node-retry-")


def _seen(street: Street, payment: str) -> list[dict[str, Any]]:
    return [r for r in street.requests("POST") if r["form"]["payment_intent"] == payment]


def _shown(said: Said) -> str:
    if said.error:
        return f"{said.error['statusCode']} {said.error['class']}"
    return f"{said.response['status']}{' replayed' if 'idempotent-replayed' in said.headers else ''}"


@pytest.mark.parametrize("fault", ["hang_before", "hang_after", "cut_body_after", "html_200_after", "drip"])
def test_an_answer_that_does_not_come_whole_is_an_error(sandbox: Street, node: Node, fault: str) -> None:
    sandbox.payment("pi_1", 500)
    sandbox.fault("POST /v1/refunds", fault)
    client = node.stripe(sandbox, timeout=500 if fault in {"hang_before", "hang_after", "drip"} else 5000)
    # It tries again while the sandbox has yet to see that the other went.
    patient = node.stripe(sandbox, maxNetworkRetries=3)

    lost = make(client, "K")
    again = make(patient, "K")

    expected = "StripeAPIError" if fault == "html_200_after" else "StripeConnectionError"
    assert lost.error["class"] == expected
    assert ("idempotent-replayed" in again.headers) is (fault != "hang_before")
    assert amounts(patient) == [400]


@pytest.fixture
def seven(sandbox: Street, client: Client) -> Client:
    """Refunds of 100 to 106, a minute apart, on two payments in turn."""
    sandbox.payment("pi_2", 10_000, charge="ch_2")
    for n in range(7):
        payment, at = f"pi_{1 + n % 2}", START_S + 60 * n
        sandbox.control("refunds", payment=payment, amount=100 + n, created_at=at)
    return client


@pytest.mark.parametrize(
    "filters,expected",
    [
        ({}, "6543210"),
        ({"limit": 1}, "6543210"),
        ({"limit": 100}, "6543210"),
        ({"limit": 2, "charge": "ch_2"}, "531"),
        ({"limit": 2, "payment_intent": "pi_1"}, "6420"),
        ({"charge": "ch_2", "payment_intent": "pi_1"}, ""),
        ({"limit": 2, "created": {"gte": START_S + 60, "lt": START_S + 300}}, "4321"),
        ({"limit": 3, "created": {"gt": START_S + 60, "lte": START_S + 300}}, "5432"),
        ({"created": START_S + 120}, "2"),
        ({"payment_intent": "pi_1", "created": {"gt": START_S}}, "642"),
    ],
)
def test_a_list_is_read_to_its_end_newest_first(
    seven: Client, filters: dict[str, Any], expected: str
) -> None:
    assert "".join(str(amount - 100) for amount in amounts(seven, **filters)) == expected


def test_cursors_lead_both_ways(seven: Client) -> None:
    page = seven.ask("refunds.list", {"limit": 3}).value
    ids = [refund["id"] for refund in page["data"]]

    older = seven.ask("refunds.list", {"limit": 2, "starting_after": ids[2]}).value
    newer = seven.ask("refunds.list", {"limit": 1, "ending_before": older["data"][1]["id"]}).value
    backwards = amounts(seven, limit=2, ending_before=older["data"][1]["id"])

    assert (page["has_more"], page["object"], page["url"]) == (True, "list", "/v1/refunds")
    assert [r["amount"] for r in older["data"]] == [103, 102]
    assert [r["amount"] for r in newer["data"]] == [103]
    assert backwards == [103, 104, 105, 106]


@pytest.mark.parametrize(
    "filters,code,param,status",
    [
        ({"limit": 0}, "parameter_invalid_integer", "limit", 400),
        ({"limit": 101}, "parameter_invalid_integer", "limit", 400),
        ({"starting_after": "re_9"}, "resource_missing", "starting_after", 400),
        ({"status": "failed"}, "parameter_unknown", "status", 400),
        ({"created": {"since": 1}}, "parameter_unknown", "created[since]", 400),
        ({"created": {"gte": "yesterday"}}, "parameter_invalid_integer", "created[gte]", 400),
        ({"charge": "ch_9"}, "resource_missing", "charge", 404),
    ],
)
def test_a_list_refuses_what_it_does_not_know(
    client: Client, filters: dict[str, Any], code: str, param: str, status: int
) -> None:
    refused = client.ask("refunds.list", filters)

    assert refused.refusal == ("StripeInvalidRequestError", status, code, param)


def test_a_list_that_breaks_off_gives_what_came_before_and_its_error(sandbox: Street, seven: Client) -> None:
    # Twice: the client tries a closed connection once more.
    sandbox.fault("GET /v1/refunds", "drop_page", times=2, page=3)

    broken = seven.ask("refunds.list", {"limit": 2}, whole=True)

    assert broken.error["class"] == "StripeConnectionError"
    assert [refund["amount"] for refund in broken.value] == [106, 105, 104, 103]


def test_events_tell_what_became_of_a_refund_and_who_asked(sandbox: Street, client: Client) -> None:
    sandbox.set_time("2026-05-01T12:00:00Z")
    made = make(client, "K")
    sandbox.advance(3600)
    sandbox.control(f"refunds/{made.value['id']}", status="failed", failure_reason="declined")

    everything = client.ask("events.list", {"limit": 1}, whole=True).value
    some = client.ask("events.list", {"types": ["refund.created", "refund.failed"]}).value["data"]
    one = client.ask("events.list", {"type": "refund.failed"}).value["data"]
    late = client.ask("events.list", {"created": {"gte": START_S + 1800}}).value["data"]
    many = client.ask("events.list", {"types": ["refund.created"] * 21})

    kinds = ["refund.failed", "refund.updated", "charge.refunded", "refund.created"]
    assert [event["type"] for event in everything] == kinds
    assert [event["type"] for event in some] == ["refund.failed", "refund.created"]
    assert one == some[:1]
    assert late == everything[:2]
    assert many.refusal == ("StripeInvalidRequestError", 400, None, "types")
    assert some[1]["request"] == {"id": made.response["requestId"], "idempotency_key": "K"}
    assert some[0]["request"] == {"id": None, "idempotency_key": None}
    assert [event["data"]["object"]["status"] for event in some] == ["failed", "succeeded"]
    assert client.ask("events.retrieve", one[0]["id"]).value == one[0]


def test_a_kept_500_is_not_asked_for_again_and_again(sandbox: Street, node: Node) -> None:
    sandbox.payment("pi_1", 500)
    sandbox.fault("POST /v1/refunds", "500_after")
    client = node.stripe(sandbox, maxNetworkRetries=2)

    told = [make(client, "K") for _ in range(2)]

    assert [said.refusal for said in told] == [("StripeAPIError", 500, None, None)] * 2
    assert [said.headers.get("idempotent-replayed") for said in told] == [None, "true"]
    assert len(sandbox.requests("POST")) == 2
