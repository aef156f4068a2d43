"""What an app hears of a click, and where it may answer it."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from tests.sandbox.app import connected
from tests.sandbox.clients import slack
from tests.sandboxes import Street

PLAIN = {"type": "plain_text", "text": "Take"}
BUTTON: dict[str, Any] = {
    "type": "button", "action_id": "take", "value": "take/1", "style": "primary", "text": PLAIN
}  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {"text": {"type": "plain_text", "text": verb.title()}, "value": f"{verb}/1"}
    for verb in ("snooze", "resolve")
]
MENU: dict[str, Any] = {"type": "overflow", "action_id": "menu", "options": OPTIONS}
SELECT: dict[str, Any] = {
    "type": "static_select", "action_id": "how", "placeholder": PLAIN, "options": OPTIONS
}  # fmt: skip
BLOCKS: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "a case"}, "accessory": MENU, "block_id": "case"},
    {"type": "actions", "elements": [BUTTON, SELECT], "block_id": "moves"},
]


@pytest.fixture
def client(sandbox: Street) -> WebClient:
    sandbox.control("slack", rate_limit=False, users=[{"email": "dana@example.com", "id": "U0DANA"}])
    # Nothing acknowledges here; what is told once is enough.
    sandbox.control("interactivity", url="http://127.0.0.1:1/nobody", signing_secret="s")
    return slack(sandbox)


def post(client: WebClient, **more: object) -> dict[str, Any]:
    sent: dict[str, Any] = {"channel": "C0OPS", "text": "a case", "blocks": BLOCKS, **more}
    answer = client.chat_postMessage(**sent)
    return {"channel": "C0OPS", "ts": str(answer["ts"])}


def click(street: Street, at: dict[str, Any], action_id: str = "take", **more: object) -> dict[str, Any]:
    outcome = street.control("clicks", **{"user": "U0DANA", **at}, action_id=action_id, **more)
    [payload] = [e["payload"] for e in street.see("envelopes") if e["id"] == outcome["envelope_id"]]
    found: dict[str, Any] = payload
    return found


def test_a_click_tells_who_clicked_what_and_where(sandbox: Street, client: WebClient) -> None:
    at = post(client, metadata={"event_type": "e", "event_payload": {"delivery_id": "d-1"}})

    payload = click(sandbox, at)

    assert payload["type"] == "block_actions"
    assert payload["user"] == {
        "id": "U0DANA",
        "username": "dana",
        "name": "dana",
        "team_id": "T0SANDBOX",
    }
    assert payload["team"] == {"id": "T0SANDBOX", "domain": "sandbox"}
    assert payload["channel"] == {"id": "C0OPS", "name": "c0ops"}
    assert payload["container"] == {
        "type": "message",
        "message_ts": at["ts"],
        "channel_id": "C0OPS",
        "is_ephemeral": False,
    }
    assert (payload["message"]["ts"], payload["message"]["blocks"]) == (at["ts"], BLOCKS)
    assert payload["message"]["metadata"]["event_payload"] == {"delivery_id": "d-1"}
    [action] = payload["actions"]
    assert float(action.pop("action_ts")) > 0
    assert action == {**BUTTON, "block_id": "moves"}


@pytest.mark.parametrize(
    "action_id,value,kept",
    [
        ("menu", "resolve/1", {"type": "overflow", "block_id": "case"}),
        ("how", "snooze/1", {"type": "static_select", "block_id": "moves", "placeholder": PLAIN}),
    ],
)
def test_a_choice_tells_the_chosen_option(
    sandbox: Street, client: WebClient, action_id: str, value: str, kept: dict[str, Any]
) -> None:
    [action] = click(sandbox, post(client), action_id, value=value)["actions"]

    action.pop("action_ts")
    chosen = next(option for option in OPTIONS if option["value"] == value)
    assert action == {**kept, "action_id": action_id, "selected_option": chosen}


def test_what_has_no_id_gets_one_that_stays(sandbox: Street, client: WebClient) -> None:
    bare = {"type": "actions", "elements": [{"type": "button", "value": "v", "text": PLAIN}]}
    at = post(client, blocks=[bare, {**bare, "elements": [*bare["elements"]]}])
    [read] = client.conversations_history(channel="C0OPS")["messages"]
    ids = [(b["block_id"], b["elements"][0]["action_id"]) for b in read["blocks"]]

    payload = click(sandbox, at, ids[1][1])

    assert len({part for pair in ids for part in pair}) == 4
    assert (payload["actions"][0]["block_id"], payload["actions"][0]["action_id"]) == ids[1]
    assert payload["message"]["blocks"] == read["blocks"]


def test_a_click_in_a_thread_says_so(sandbox: Street, client: WebClient) -> None:
    root = post(client)
    reply = post(client, thread_ts=root["ts"])

    assert click(sandbox, reply)["container"]["thread_ts"] == root["ts"]
    assert "thread_ts" not in click(sandbox, root)["container"]


def test_who_still_sees_a_former_version_can_click_it(sandbox: Street, client: WebClient) -> None:
    at = post(client)
    newer = [{"type": "actions", "elements": [{**BUTTON, "value": "take/2"}]}]
    client.chat_update(**at, text="newer", blocks=newer)

    stale = click(sandbox, at, value="take/1")
    fresh = click(sandbox, at)

    assert (stale["actions"][0]["value"], stale["message"]["text"]) == ("take/1", "a case")
    assert (fresh["actions"][0]["value"], fresh["message"]["text"]) == ("take/2", "newer")


@pytest.mark.parametrize(
    "asked,words",
    [
        ({"action_id": "gone"}, "'take take/1'"),
        ({"value": "take/9"}, "'take take/1'"),
        ({"ts": "1.000001"}, "expected a message"),
        ({"channel": "C0NONE"}, "expected a message"),
        ({"user": "nobody@example.invalid"}, "users_not_found"),
        ({"user": "x"}, "user_not_found"),
        ({"replay": "e"}, "id of an envelope"),
    ],
)
def test_what_cannot_be_clicked_is_refused_and_nothing_is_sent(
    sandbox: Street, client: WebClient, asked: dict[str, Any], words: str
) -> None:
    at = {**post(client), "user": "U0DANA", "action_id": "take", "value": "take/1"}

    with pytest.raises(AssertionError, match=words):
        sandbox.control("clicks", **at | asked)
    assert sandbox.see("envelopes") == []


def test_people_come_to_be_by_their_address_or_id(sandbox: Street, client: WebClient) -> None:
    at = post(client)
    sam = click(sandbox, {**at, "user": "sam.lee@example.com"})["user"]
    other = click(sandbox, {**at, "user": "U0OTHER"})["user"]

    assert (sam["name"], other["id"]) == ("sam.lee", "U0OTHER")
    assert client.users_info(user="U0OTHER")["user"]["id"] == "U0OTHER"


def test_the_answer_address_replaces_tells_one_person_or_tells_all(
    sandbox: Street, client: WebClient
) -> None:
    at = post(client)
    answer = WebhookClient(click(sandbox, at)["response_url"])

    told = [
        answer.send(text="only you"),
        answer.send(text="for all", response_type="in_channel"),
        answer.send(text="done", replace_original=True, blocks=[]),
    ]

    assert [(t.status_code, t.body) for t in told] == [(200, '{"ok": true}')] * 3
    assert [(e["user"], e["text"]) for e in sandbox.see("ephemerals")] == [("U0DANA", "only you")]
    assert [(m["text"], m["edited"]) for m in sandbox.messages()] == [("done", True), ("for all", False)]


def test_the_answer_address_can_take_a_message_away(sandbox: Street, client: WebClient) -> None:
    lone, root = post(client), post(client)
    post(client, thread_ts=root["ts"])
    for at in (lone, root):
        WebhookClient(click(sandbox, at)["response_url"]).send(delete_original=True)

    assert [m["text"] for m in sandbox.messages()] == ["This message was deleted.", "a case"]


def test_the_answer_address_takes_five_answers_in_half_an_hour(sandbox: Street, client: WebClient) -> None:
    at = post(client)
    used, old = (str(click(sandbox, at)["response_url"]) for _ in range(2))
    statuses = [WebhookClient(used).send(text="x").status_code for _ in range(5)]

    sixth = requests.post(used, json={"text": "x"}, timeout=5)
    sandbox.advance(1801)
    late = requests.post(old, json={"text": "x"}, timeout=5)
    forged = requests.post(old + "x", json={"text": "x"}, timeout=5)

    assert statuses == [200] * 5
    assert [(a.status_code, a.json()["error"]) for a in (sixth, late, forged)] == [
        (404, "used_url"),
        (404, "expired_url"),
        (404, "expired_url"),
    ]


def test_the_answer_address_refuses_what_slack_refuses(sandbox: Street, client: WebClient) -> None:
    address = str(click(sandbox, post(client))["response_url"])

    empty = requests.post(address, json={}, timeout=5)
    wrong = requests.post(address, json={"text": "x", "blocks": [{"type": "x"}]}, timeout=5)

    assert (empty.status_code, empty.json()["error"]) == (400, "no_text")
    assert wrong.json()["errors"] == ["[ERROR] unsupported type: x [json-pointer:/blocks/0/type]"]


def test_the_answer_address_meets_faults_too(sandbox: Street, client: WebClient) -> None:
    address = str(click(sandbox, post(client))["response_url"])
    sandbox.fault("POST /slack-actions/{team}/{id}/{secret}", "500_after")

    answer = requests.post(address, json={"text": "only you"}, timeout=5)

    assert answer.status_code == 500
    assert [e["text"] for e in sandbox.see("ephemerals")] == ["only you"]


def test_a_private_word_is_seen_by_one_and_in_no_history(sandbox: Street, client: WebClient) -> None:
    root = post(client)
    told = client.chat_postEphemeral(
        channel="C0OPS", user="U0DANA", text="stale", blocks=BLOCKS, thread_ts=root["ts"]
    )

    history = client.conversations_history(channel="C0OPS")["messages"]
    thread = client.conversations_replies(channel="C0OPS", ts=root["ts"])["messages"]
    [word] = sandbox.see("ephemerals")

    assert [len(history), len(thread)] == [1, 1]
    assert (word["ts"], word["user"], word["text"]) == (told["message_ts"], "U0DANA", "stale")
    assert word["thread_ts"] == root["ts"]


def test_a_private_word_can_be_clicked_and_replaced(sandbox: Street, client: WebClient) -> None:
    post(client)
    told = client.chat_postEphemeral(channel="C0OPS", user="U0DANA", text="sure?", blocks=BLOCKS)

    payload = click(sandbox, {"channel": "C0OPS", "ts": str(told["message_ts"])})
    WebhookClient(payload["response_url"]).send(text="done", replace_original=True)
    [word] = sandbox.see("ephemerals")
    WebhookClient(payload["response_url"]).send(delete_original=True)

    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    assert (word["text"], word["blocks"]) == ("done", [])
    assert sandbox.see("ephemerals") == []


@pytest.mark.parametrize(
    "sent,error",
    [
        ({"user": ""}, "user_not_in_channel"),
        ({"user": "dana"}, "user_not_in_channel"),
        ({"text": ""}, "no_text"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"channel": "C0OLD"}, "is_archived"),
        ({"channel": ""}, "channel_not_found"),
    ],
)
def test_a_private_word_that_cannot_be_said_is_refused(
    sandbox: Street, client: WebClient, sent: dict[str, Any], error: str
) -> None:
    sandbox.control("slack", channels=[{"name": "old", "id": "C0OLD", "archived": True}])
    answer = requests.post(
        f"{sandbox.slack_url}chat.postEphemeral",
        json={"channel": "C0OPS", "user": "U0DANA", "text": "x"} | sent,
        headers={"Authorization": "Bearer xoxb-sandbox"},
        timeout=5,
    ).json()

    assert answer["error"] == error
    assert sandbox.see("ephemerals") == []


def test_a_socket_is_told_before_an_address(sandbox: Street, client: WebClient) -> None:
    at = post(client)
    with connected(sandbox) as connection:
        click(sandbox, at)

        assert '"block_actions"' in str(connection.recv(timeout=10))
