from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
import requests
import stripe

from tests.sandbox.clients import provider, slack
from tests.sandboxes import Street


def test_a_payment_tells_its_charge(sandbox: Street) -> None:
    made = sandbox.payment("pi_1", 4900, account="acct_A")

    assert made["charge"].startswith("ch_")
    assert (made["amount"], made["currency"], made["account"]) == (4900, "usd", "acct_A")


@pytest.mark.parametrize(
    "path,sent,expected",
    [
        ("payments", {"amount": 1, "currency": "usd"}, 'expected "id" to be a text'),
        ("payments", {"id": "pi_1", "amount": 1.5, "currency": "usd"}, 'expected "amount" to be whole'),
        ("payments", {"id": "pi_1", "amount": 0, "currency": "usd"}, 'expected "amount" to be whole'),
        ("payments", {"id": "pi_1", "amount": 1, "currency": "dollars"}, 'expected "currency" to be three'),
        ("payments", {"id": "pi_0", "amount": 1, "currency": "usd"}, "already has a payment pi_0"),
        ("payments", {"id": "pi_1", "amount": 1, "currency": "usd", "created_at": "noon"}, "ISO 8601"),
        ("refunds", {"payment": "pi_9"}, "expected one payment 'pi_9', found 0"),
        ("refunds", {"payment": "pi_0", "amount": 101}, "greater than unrefunded amount"),
        ("refunds", {"payment": "pi_0", "status": "gone"}, 'expected "status" to be one of'),
        ("refunds/re_9", {"status": "failed"}, "expected one refund 're_9', found 0"),
        ("clock", {}, 'expected "advance_s"'),
        ("clock", {"advance_s": "1"}, 'expected "advance_s" to be a number'),
        ("clock", {"now": "2026-05-01T12:00:00"}, "with its offset"),
        ("clock", {"advance_s": 1e15}, 'expected "advance_s" to lead to a time'),
        ("clock", {"now": 1e300}, 'expected "now" as an ISO 8601 time'),
        ("slack", {"rate_limit": "off"}, 'expected "rate_limit" to be true or false'),
        ("payments", {"id": "pi_1", "amount": 1, "currency": "usd", "acount": "a"}, "found 'acount'"),
        (
            "faults",
            {"on": "POST /v1/refunds", "fault": "429", "tiems": 2},
            "any of on, fault, times",
        ),
        ("refunds", {"payment": "pi_0", "charge": "ch_0"}, "found 'charge'"),
        ("refunds/re_9", {"status": "failed", "reason": "declined"}, "found 'reason'"),
        ("clock", {"advance": 1}, "expected any of advance_s, now, found 'advance'"),
        ("slack", {"channel": []}, "found 'channel'"),
        ("slack", {"channels": [{"name": "ops", "archive": True}]}, "found 'archive'"),
        ("slack", {"users": [{"mail": "dana@example.com"}]}, "found 'mail'"),
        ("slack", {"usergroups": [{"id": "S0", "handle": "a", "people": []}]}, "found 'people'"),
        ("reset", {"everything": True}, "expected nothing, found 'everything'"),
        ("clicks", {"channel": "C0OPS", "timestamp": "1"}, "found 'timestamp'"),
        ("submissions", {"view": "V0"}, "found 'view'"),
        ("interactivity", {"secret": "x"}, "found 'secret'"),
        ("sockets", {"tries": 1}, "found 'tries'"),
        ("disconnect", {"why": "warning"}, "found 'why'"),
    ],
)
def test_wrong_input_is_refused_with_what_was_expected(
    sandbox: Street, path: str, sent: dict[str, Any], expected: str
) -> None:
    sandbox.payment("pi_0", 100)

    answer = requests.post(f"{sandbox.url}/_sandbox/{path}", json=sent, timeout=5)

    assert answer.status_code == 400
    assert expected in answer.json()["error"]


@pytest.mark.parametrize("path", ["clock", "faults", "sockets"])
def test_an_answer_ends_its_line_for_a_terminal(sandbox: Street, path: str) -> None:
    answer = requests.get(f"{sandbox.url}/_sandbox/{path}", timeout=5)

    assert answer.content.endswith((b"}\n", b"]\n"))


def test_faults_are_taken_back(sandbox: Street) -> None:
    sandbox.fault("POST /api/chat.postMessage", "500_before", times=1000)
    told = requests.delete(f"{sandbox.url}/_sandbox/faults", timeout=5)

    assert [(fault["fault"], fault["times"]) for fault in told.json()] == [("500_before", 1000)]
    assert requests.get(f"{sandbox.url}/_sandbox/faults", timeout=5).json() == []


@pytest.mark.parametrize("path", ["faults", "clicks"])
@pytest.mark.parametrize(
    "body", [b"{", b"[1]", b'"x"', b"\xff", b"[" * 100_000, b'{"after_s": NaN}', b'{"after_s": 1e999}']
)
def test_a_body_that_is_no_object_is_refused(sandbox: Street, path: str, body: bytes) -> None:
    answer = requests.post(f"{sandbox.url}/_sandbox/{path}", data=body, timeout=5)

    assert answer.status_code == 400
    assert "expected a JSON object" in answer.json()["error"]


@pytest.mark.parametrize("method,path", [("POST", "fault"), ("GET", "reset"), ("DELETE", "payments")])
def test_a_call_that_there_is_not_is_told_so(sandbox: Street, method: str, path: str) -> None:
    answer = requests.request(method, f"{sandbox.url}/_sandbox/{path}", timeout=5)

    assert answer.status_code == 404
    assert f"there is no {method} /_sandbox/{path}; expected one of " in answer.json()["error"]
    assert "POST /_sandbox/faults" in answer.json()["error"]


def test_a_refund_is_made_beside_the_api(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)

    made = sandbox.control("refunds", payment="pi_1", amount=500, reason="fraudulent", metadata={"a": "b"})

    [listed] = provider(sandbox).v1.refunds.list().data
    assert listed.to_dict() == made
    assert (made["reason"], made["metadata"], made["amount"]) == ("fraudulent", {"a": "b"}, 500)
    assert sandbox.requests("POST") == []


def test_a_payment_of_two_accounts_needs_its_account_named(sandbox: Street) -> None:
    for account in ("acct_A", "acct_B"):
        sandbox.payment("pi_1", 10_000, account=account)
    with pytest.raises(AssertionError, match="found 2"):
        sandbox.control("refunds", payment="pi_1")

    sandbox.control("refunds", payment="pi_1", account="acct_B")

    listed = provider(sandbox).v1.refunds.list(options={"stripe_account": "acct_B"}).data
    assert len(listed) == 1


def test_the_platforms_own_account_is_named_by_the_empty_text(sandbox: Street) -> None:
    for account in ("", "acct_A"):
        sandbox.payment("pi_1", 10_000, account=account)

    made = sandbox.control("refunds", payment="pi_1", account="")

    assert [each.id for each in provider(sandbox).v1.refunds.list().data] == [made["id"]]


def test_the_clock_moves_and_runs_on(sandbox: Street) -> None:
    sandbox.set_time("2026-05-01T12:00:00Z")
    moved = sandbox.advance(3600)["now"]

    assert moved.startswith("2026-05-01T13:00:")
    sandbox.payment("pi_1", 100)
    created = provider(sandbox).v1.refunds.create(params={"payment_intent": "pi_1"}).created
    assert 0 <= created - datetime.fromisoformat(moved).timestamp() + 1 < 30


def test_every_answer_is_dated_in_sandbox_time(sandbox: Street) -> None:
    sandbox.set_time("2026-05-01T12:00:00Z")

    answers = [
        requests.get(f"{sandbox.url}{path}", timeout=5).headers["Date"]
        for path in ("/v1/refunds", "/api/auth.test", "/_sandbox/clock", "/slack")
    ]

    assert [date[:22] for date in answers] == ["Fri, 01 May 2026 12:00"] * 4


def test_reset_empties_everything(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1"}, options={"idempotency_key": "K"})
    slack(sandbox).chat_postMessage(channel="#ops", text="hello")
    sandbox.fault("GET /v1/refunds", "429", times=9)
    sandbox.set_time("2020-01-01T00:00:00Z")

    sandbox.control("reset")

    assert (sandbox.messages(), sandbox.requests()) == ([], [])
    assert client.v1.refunds.list().data == []
    assert client.v1.events.list().data == []
    sandbox.payment("pi_1", 10_000)
    fresh = client.v1.refunds.create(params={"payment_intent": "pi_1"}, options={"idempotency_key": "K"})
    assert fresh.last_response is not None
    assert "Idempotent-Replayed" not in fresh.last_response.headers
    assert fresh.created > 1_600_000_000


def test_the_log_shows_what_was_asked_and_answered(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, account="acct_A")
    provider(sandbox).v1.refunds.create(
        params={"payment_intent": "pi_1", "amount": 400, "metadata": {"intent_key": "K"}},
        options={"idempotency_key": "K", "stripe_account": "acct_A"},
    )
    with pytest.raises(stripe.InvalidRequestError):
        provider(sandbox).v1.refunds.retrieve("re_9")

    made, asked = sandbox.requests()

    assert (made["method"], made["path"], made["key"], made["account"]) == (
        "POST",
        "/v1/refunds",
        "K",
        "acct_A",
    )
    assert made["form"] == {"payment_intent": "pi_1", "amount": "400", "metadata[intent_key]": "K"}
    assert (made["answer"]["status"], made["fault"]) == (200, None)
    assert (asked["answer"]["status"], asked["key"], asked["account"], asked["form"]) == (404, None, "", {})
    assert "sk_test" not in json.dumps([made, asked])
