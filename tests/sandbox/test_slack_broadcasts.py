"""Replies that the channel sees as well."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk import WebClient

from tests.sandbox.clients import slack
from tests.sandboxes import Street

METADATA: dict[str, Any] = {"event_type": "recon_notice", "event_payload": {"delivery_id": "d-1"}}


@pytest.fixture
def client(sandbox: Street) -> WebClient:
    sandbox.control("slack", rate_limit=False)
    return slack(sandbox)


def test_a_broadcast_reply_is_in_its_thread_and_in_the_channel(client: WebClient) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    client.chat_postMessage(channel="C0OPS", text="quiet", thread_ts=root)
    posted = client.chat_postMessage(
        channel="C0OPS", text="look", thread_ts=root, reply_broadcast=True, metadata=METADATA
    )

    history = client.conversations_history(channel="C0OPS", include_all_metadata=True)["messages"]
    thread = client.conversations_replies(channel="C0OPS", ts=root, include_all_metadata=True)["messages"]

    assert [m["text"] for m in history] == ["look", "root"]
    assert [m["text"] for m in thread] == ["root", "quiet", "look"]
    assert [m.get("subtype") for m in thread] == [None, None, "thread_broadcast"]
    assert (history[0]["subtype"], history[0]["thread_ts"], history[0]["ts"]) == (
        "thread_broadcast",
        root,
        posted["ts"],
    )
    assert (history[0]["root"]["ts"], history[0]["root"]["reply_count"]) == (root, 2)
    assert history[0]["metadata"] == thread[2]["metadata"] == METADATA
    assert posted["message"]["subtype"] == "thread_broadcast"


def test_a_reply_can_be_broadcast_later(client: WebClient) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    reply = str(client.chat_postMessage(channel="C0OPS", text="reply", thread_ts=root)["ts"])
    before = client.conversations_history(channel="C0OPS")["messages"]
    client.chat_update(channel="C0OPS", ts=reply, text="reply", reply_broadcast=True)

    after = client.conversations_history(channel="C0OPS")["messages"]

    assert [len(before), len(after)] == [1, 2]


def test_an_edit_keeps_a_broadcast_in_the_channel(client: WebClient) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    call = client.chat_postMessage(channel="C0OPS", text="look", thread_ts=root, reply_broadcast=True)
    client.chat_update(channel="C0OPS", ts=str(call["ts"]), text="look again")

    history = client.conversations_history(channel="C0OPS")["messages"]

    assert [m["text"] for m in history] == ["look again", "root"]


def test_without_a_thread_there_is_nothing_to_broadcast(sandbox: Street, client: WebClient) -> None:
    client.chat_postMessage(channel="C0OPS", text="root", reply_broadcast=True)

    [message] = sandbox.messages()
    assert (message["broadcast"], message["thread_ts"]) == (False, None)
    assert "subtype" not in client.conversations_history(channel="C0OPS")["messages"][0]
