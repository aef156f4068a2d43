"""Slack's methods as its own client in another language meets them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.node import Client, Node
from tests.sandboxes import Street

TOLD: dict[str, Any] = {"event_type": "recon_notice", "event_payload": {"delivery_id": "d1"}}
PLATFORM = "WebAPIPlatformError"


@pytest.fixture
def client(node: Node, sandbox: Street) -> Client:
    sandbox.control("slack", channels=[{"name": "ops", "id": "C0OPS"}])
    return node.slack(sandbox)


def test_a_token_says_who_we_are_and_what_it_may(client: Client) -> None:
    found = client.ask("auth.test").value

    assert (found["ok"], found["user"], found["bot_id"]) == (True, "recon", "B0RECONBOT")
    assert "chat:write" in found["response_metadata"]["scopes"]


@pytest.mark.parametrize(
    "token,error", [("", "not_authed"), ("nothing", "invalid_auth"), ("xapp-1", "not_allowed_token_type")]
)
def test_a_wrong_token_is_told_what_is_wrong(node: Node, sandbox: Street, token: str, error: str) -> None:
    refused = node.slack(sandbox, token=token).ask("auth.test")

    assert (refused.error["class"], refused.error["data"]["error"]) == (PLATFORM, error)


def test_a_message_is_posted_changed_answered_and_read_back(sandbox: Street, client: Client) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "*two* refunds"}}
    posted = client.ask(
        "chat.postMessage", {"channel": "#ops", "text": "one", "blocks": [block], "metadata": TOLD}
    ).value
    at = {"channel": posted["channel"], "ts": posted["ts"]}
    sandbox.advance(2)
    reply = client.ask("chat.postMessage", {"channel": "C0OPS", "text": "more", "thread_ts": posted["ts"]})
    changed = client.ask("chat.update", {**at, "text": "two"}).value

    bare = client.ask("conversations.history", {"channel": "C0OPS"}).value["messages"]
    full = client.ask("conversations.history", {"channel": "C0OPS", "include_all_metadata": True}).value
    thread = client.ask("conversations.replies", {**at, "include_all_metadata": True}).value["messages"]

    assert (posted["channel"], posted["message"]["blocks"][0]["text"]) == ("C0OPS", block["text"])
    assert (changed["ts"], changed["text"]) == (posted["ts"], "two")
    [shown] = full["messages"]
    assert (shown["text"], shown["metadata"], shown["reply_count"]) == ("two", TOLD, 1)
    assert "blocks" not in shown
    assert [("metadata" in m, m["ts"]) for m in bare] == [(False, posted["ts"])]
    assert [m["ts"] for m in thread] == [posted["ts"], reply.value["ts"]]
    assert thread[1]["thread_ts"] == posted["ts"]


@pytest.mark.parametrize("method", ["conversations.history", "conversations.replies"])
def test_pages_are_read_to_the_end(sandbox: Street, client: Client, method: str) -> None:
    sandbox.control("slack", rate_limit=False)
    root = client.ask("chat.postMessage", {"channel": "C0OPS", "text": "0"}).value["ts"]
    thread = {"thread_ts": root} if method.endswith("replies") else {}
    for n in range(1, 6):
        client.ask("chat.postMessage", {"channel": "C0OPS", "text": str(n), **thread})

    asked = {"channel": "C0OPS", "limit": 2} | ({"ts": root} if thread else {})
    pages = client.ask("paginate", method, asked, whole=True).value

    texts = [m["text"] for page in pages for m in page["messages"]]
    assert len(pages) == 3
    assert texts == (list("012345") if thread else list("543210"))


def test_people_and_groups_are_found(sandbox: Street, client: Client) -> None:
    sandbox.control("slack", users=[{"email": "dana@example.com", "id": "U0DANA", "name": "Dana Diaz"}])
    sandbox.control("slack", usergroups=[{"id": "S0OPS", "handle": "refunds", "users": ["U0DANA"]}])

    found = client.ask("users.lookupByEmail", {"email": "dana@example.com"}).value["user"]
    nobody = client.ask("users.lookupByEmail", {"email": "who@nowhere.invalid"})
    [group] = client.ask("usergroups.list", {"include_users": True}).value["usergroups"]
    [plain] = client.ask("usergroups.list").value["usergroups"]

    assert (found["id"], found["profile"]["email"]) == ("U0DANA", "dana@example.com")
    assert nobody.error["data"]["error"] == "users_not_found"
    assert (group["handle"], group["users"]) == ("refunds", ["U0DANA"])
    assert "users" not in plain


def test_a_rate_limit_says_how_long_and_a_client_that_waits_gets_through(
    sandbox: Street, node: Node, client: Client
) -> None:
    waiting = node.slack(sandbox, rejectRateLimitedCalls=False, retryConfig={"retries": 1, "minTimeout": 1})
    for seconds in (7, 1):
        sandbox.fault("POST /api/chat.postMessage", "429", after_s=seconds)

    refused = client.ask("chat.postMessage", {"channel": "C0OPS", "text": "not now"})
    waited = waiting.ask("chat.postMessage", {"channel": "C0OPS", "text": "in a second"})

    assert (refused.error["class"], refused.error["retryAfter"]) == ("WebAPIRateLimitedError", 7)
    assert waited.value["ok"] is True
    assert [m["text"] for m in sandbox.messages()] == ["in a second"]
    assert [r["fault"] for r in sandbox.requests()] == ["429", "429", None]


@pytest.mark.parametrize(
    "fault,error,posted",
    [
        ("drop_before", "WebAPIRequestError", 0),
        ("500_before", "WebAPIHTTPError", 0),
        ("fatal_error_before", PLATFORM, 0),
        ("drop_after", "WebAPIRequestError", 1),
        ("500_after", "WebAPIHTTPError", 1),
        ("fatal_error_after", PLATFORM, 1),
        ("html_200_after", PLATFORM, 1),
        ("cut_body_after", "TypeError", 1),  # The client lets its transport's own error through.
    ],
)
def test_a_fault_is_an_error_and_the_channel_says_what_happened(
    sandbox: Street, client: Client, fault: str, error: str, posted: int
) -> None:
    sandbox.fault("POST /api/chat.postMessage", fault)

    lost = client.ask("chat.postMessage", {"channel": "C0OPS", "text": "hello"})

    assert lost.error["class"] == error
    assert len(sandbox.messages()) == posted
    if "fatal" in fault:
        assert lost.error["data"]["error"] == "fatal_error"


def test_what_slack_refuses_it_explains(sandbox: Street, client: Client) -> None:
    sandbox.control("slack", scopes=["channels:history"])
    lacking = client.ask("chat.postMessage", {"channel": "C0OPS", "text": "hello"}).error["data"]
    sandbox.control("slack", scopes=["chat:write", "channels:history"])
    sent = {"channel": "C0OPS", "text": "hello", "blocks": [{"type": "section"}]}
    unfit = client.ask("chat.postMessage", sent).error["data"]
    lost = client.ask("chat.update", {"channel": "C0OPS", "ts": "1.000001", "text": "hello"}).error["data"]

    assert (lacking["error"], lacking["needed"]) == ("missing_scope", "chat:write")
    assert (lacking["provided"], lost["error"]) == ("channels:history", "message_not_found")
    assert unfit["error"] == "invalid_blocks"
    assert "[json-pointer:/blocks/0" in unfit["response_metadata"]["messages"][0]
