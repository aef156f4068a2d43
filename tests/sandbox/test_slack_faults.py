"""Each fault as Slack's own client feels it, and what it left behind."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import IncompleteRead, RemoteDisconnected

import pytest
import requests
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from tests.sandbox.clients import slack
from tests.sandboxes import SLACK_TOKEN, Street


def code(refused: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(refused.value.response["error"])


@pytest.mark.parametrize("fault", ["fatal_error_before", "fatal_error_after"])
def test_a_fatal_error_says_so(sandbox: Street, fault: str) -> None:
    sandbox.fault("POST /api/chat.postMessage", fault)

    with pytest.raises(SlackApiError) as met:
        slack(sandbox).chat_postMessage(channel="#ops", text="hello")

    assert code(met) == "fatal_error"


def test_a_rate_limit_says_how_long_to_wait(sandbox: Street) -> None:
    sandbox.fault("POST /api/chat.postMessage", "429", after_s=30)

    with pytest.raises(SlackApiError) as met:
        slack(sandbox).chat_postMessage(channel="#ops", text="hello")

    assert met.value.response.headers["Retry-After"] == "30"


@pytest.mark.parametrize("asked", ["#ops", "ops", "C0OPS"])
def test_a_fault_may_be_for_one_channel(sandbox: Street, asked: str) -> None:
    sandbox.control("slack", channels=[{"name": "ops", "id": "C0OPS"}])
    sandbox.fault("POST /api/chat.postMessage", "fatal_error_before", match={"channel": asked})
    client = slack(sandbox)
    client.chat_postMessage(channel="#other", text="hello")

    with pytest.raises(SlackApiError):
        client.chat_postMessage(channel="#ops", text="hello")

    assert [m["channel_name"] for m in sandbox.messages()] == ["other"]


def test_a_fault_on_a_method_is_met_by_either_verb(sandbox: Street) -> None:
    sandbox.fault("GET /api/conversations.history", "500_before", times=2)

    statuses = [
        requests.request(
            verb,
            f"{sandbox.slack_url}conversations.history",
            params={"channel": "C0OPS"},
            headers={"Authorization": f"Bearer {SLACK_TOKEN}"},
            timeout=5,
        ).status_code
        for verb in ("GET", "POST")
    ]

    assert statuses == [500, 500]


def test_a_look_up_can_break_off_on_a_later_page(sandbox: Street) -> None:
    sandbox.control("slack", rate_limit=False)
    client = slack(sandbox)
    for n in range(5):
        client.chat_postMessage(channel="C0OPS", text=str(n))
    sandbox.fault("GET /api/conversations.history", "drop_page", page=3)

    pages = [client.conversations_history(channel="C0OPS", limit=2)]
    pages.append(client.conversations_history(channel="C0OPS", limit=2, cursor=cursor(pages[-1])))
    with pytest.raises(RemoteDisconnected):
        client.conversations_history(channel="C0OPS", limit=2, cursor=cursor(pages[-1]))
    again = client.conversations_history(channel="C0OPS", limit=2, cursor=cursor(pages[-1]))

    assert [m["text"] for page in (*pages, again) for m in page["messages"]] == ["4", "3", "2", "1", "0"]


def cursor(page: SlackResponse) -> str:
    return str(page["response_metadata"]["next_cursor"])


@pytest.mark.parametrize(
    "after_s,roots,replies", [(10, ["old"], ["old", "early"]), (100, ["old"], ["old"]), (3000, [], None)]
)
def test_what_is_young_can_be_in_no_history_yet(
    sandbox: Street, after_s: float, roots: list[str], replies: list[str] | None
) -> None:
    sandbox.control("slack", rate_limit=False)
    client = slack(sandbox)
    root = str(client.chat_postMessage(channel="C0OPS", text="old")["ts"])
    sandbox.advance(1000)
    client.chat_postMessage(channel="C0OPS", text="early", thread_ts=root)
    sandbox.advance(50)
    client.chat_postMessage(channel="C0OPS", text="late", thread_ts=root)
    client.chat_postMessage(channel="C0OPS", text="new")
    for method in ("history", "replies"):
        sandbox.fault(f"POST /api/conversations.{method}", "invisible", after_s=after_s)

    history = client.conversations_history(channel="C0OPS")["messages"]
    try:
        thread = [m["text"] for m in client.conversations_replies(channel="C0OPS", ts=root)["messages"]]
    except SlackApiError:
        thread = None
    later = client.conversations_history(channel="C0OPS")["messages"]

    assert [m["text"] for m in history] == roots
    assert thread == replies
    assert [m["text"] for m in later] == ["new", "old"]


READS: dict[str, Callable[[WebClient, str], object]] = {
    "auth.test": lambda client, _: client.auth_test(),
    "conversations.history": lambda client, _: client.conversations_history(channel="C0OPS"),
    "conversations.info": lambda client, _: client.conversations_info(channel="C0OPS"),
    "conversations.replies": lambda client, ts: client.conversations_replies(channel="C0OPS", ts=ts),
    "usergroups.list": lambda client, _: client.usergroups_list(),
    "users.conversations": lambda client, _: client.users_conversations(),
    "users.lookupByEmail": lambda client, _: client.users_lookupByEmail(email="dana@example.com"),
}
WRITES: dict[str, Callable[[WebClient, str], object]] = {
    "chat.postMessage": lambda client, _: client.chat_postMessage(channel="C0OPS", text="new"),
    "chat.update": lambda client, ts: client.chat_update(channel="C0OPS", ts=ts, text="new"),
}
# What a client meets, and whether the method was executed.
FAULTS: dict[str, tuple[type[Exception] | None, bool]] = {
    "drop_before": (RemoteDisconnected, False),
    "hang_before": (TimeoutError, False),
    "500_before": (SlackApiError, False),
    "429": (SlackApiError, False),
    "fatal_error_before": (SlackApiError, False),
    "drop_after": (RemoteDisconnected, True),
    "hang_after": (TimeoutError, True),
    "cut_body_after": (IncompleteRead, True),
    "html_200_after": (SlackApiError, True),
    "500_after": (SlackApiError, True),
    "fatal_error_after": (SlackApiError, True),
    "drip": (TimeoutError, True),
    "latency": (None, True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_method_meets_it_and_is_executed_or_not(sandbox: Street, fault: str) -> None:
    sandbox.control("slack", rate_limit=False)
    patient = slack(sandbox)
    hasty = slack(sandbox, timeout_s=1) if FAULTS[fault][0] is TimeoutError else patient
    ts = str(patient.chat_postMessage(channel="C0OPS", text="old")["ts"])
    asks = READS | WRITES
    for method in asks:
        # A byte as slowly as this outlasts the client; a late answer does not.
        sandbox.fault(f"POST /api/{method}", fault, after_s={"latency": 0.05, "drip": 2}.get(fault))

    with ThreadPoolExecutor(len(asks)) as pool:
        waiting = {method: pool.submit(ask, hasty, ts) for method, ask in asks.items()}
    met = {method: type(found.exception()) for method, found in waiting.items()}
    texts = [message["text"] for message in sandbox.messages()]
    seen = [request["fault"] for request in sandbox.requests()]
    for ask in READS.values():
        ask(patient, ts)

    expected, happened = FAULTS[fault]
    assert met == dict.fromkeys(asks, type(None) if expected is None else expected)
    assert texts == (["new", "new"] if happened else ["old"])
    assert seen == [None] + [fault] * len(asks)
