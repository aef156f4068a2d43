from __future__ import annotations

from typing import Any

import pytest
import requests
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.sandbox.clients import slack
from tests.sandboxes import SLACK_TOKEN, Street

METADATA: dict[str, Any] = {"event_type": "recon_notice", "event_payload": {"delivery_id": "d-1"}}


def unhurried(street: Street) -> WebClient:
    street.control("slack", rate_limit=False)
    return slack(street)


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def code(refused: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(refused.value.response["error"])


def test_a_token_says_who_we_are(sandbox: Street) -> None:
    told = slack(sandbox).auth_test()

    assert told["ok"] is True
    assert str(told["bot_id"]).startswith("B")


@pytest.mark.parametrize("token,error", [("no-token", "invalid_auth"), ("", "not_authed")])
def test_without_a_token_nothing_is_done(sandbox: Street, token: str, error: str) -> None:
    with pytest.raises(SlackApiError) as refused:
        slack(sandbox, token=token).chat_postMessage(channel="#ops", text="hello")

    assert code(refused) == error
    assert sandbox.messages() == []


def test_a_message_is_posted_and_read_back_with_its_metadata_only_where_asked(sandbox: Street) -> None:
    client = slack(sandbox)
    posted = client.chat_postMessage(channel="#ops", text="hello", metadata=METADATA)
    channel = str(posted["channel"])

    plain = client.conversations_history(channel=channel)["messages"][0]
    full = client.conversations_history(channel=channel, include_all_metadata=True)["messages"][0]

    assert channel.startswith("C")
    assert (plain["ts"], plain["text"]) == (posted["ts"], "hello")
    assert plain["bot_id"] == client.auth_test()["bot_id"]
    assert "metadata" not in plain
    assert full["metadata"] == METADATA


def test_a_json_body_is_as_good_as_a_form(sandbox: Street) -> None:
    answer = requests.post(
        f"{sandbox.slack_url}chat.postMessage",
        json={"channel": "C0OPS", "text": "hello", "blocks": [section("hello")]},
        headers={"Authorization": f"Bearer {SLACK_TOKEN}"},
        timeout=5,
    )

    assert answer.json()["channel"] == "C0OPS"
    assert sandbox.messages()[0]["blocks"] == [section("hello")]


def test_a_channel_is_the_same_by_name_and_by_id(sandbox: Street) -> None:
    client = unhurried(sandbox)
    by_name = client.chat_postMessage(channel="#ops", text="one")
    client.chat_postMessage(channel=str(by_name["channel"]), text="two")
    client.chat_postMessage(channel="ops", text="three")

    assert [m["text"] for m in sandbox.messages()] == ["one", "two", "three"]
    assert {m["channel_name"] for m in sandbox.messages()} == {"ops"}


def test_history_is_newest_first_and_paged(sandbox: Street) -> None:
    client = unhurried(sandbox)
    for n in range(5):
        client.chat_postMessage(channel="C0OPS", text=str(n))

    first = client.conversations_history(channel="C0OPS", limit=2)
    cursor = first["response_metadata"]["next_cursor"]
    second = client.conversations_history(channel="C0OPS", limit=3, cursor=cursor)

    assert [m["text"] for m in first["messages"]] == ["4", "3"]
    assert [m["text"] for m in second["messages"]] == ["2", "1", "0"]
    assert (first["has_more"], second["has_more"]) == (True, False)


@pytest.mark.parametrize("inclusive,expected", [(False, ["2"]), (True, ["3", "2", "1"])])
def test_history_is_bounded_by_time(sandbox: Street, inclusive: bool, expected: list[str]) -> None:  # noqa: FBT001
    client = unhurried(sandbox)
    stamps = [str(client.chat_postMessage(channel="C0OPS", text=str(n))["ts"]) for n in range(5)]

    found = client.conversations_history(
        channel="C0OPS", oldest=stamps[1], latest=stamps[3], inclusive=inclusive
    )

    assert [m["text"] for m in found["messages"]] == expected


def test_replies_stay_in_their_thread(sandbox: Street) -> None:
    client = unhurried(sandbox)
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    reply = str(client.chat_postMessage(channel="C0OPS", text="one", thread_ts=root, metadata=METADATA)["ts"])
    client.chat_postMessage(channel="C0OPS", text="two", thread_ts=reply)

    history = client.conversations_history(channel="C0OPS")["messages"]
    thread = client.conversations_replies(channel="C0OPS", ts=root, include_all_metadata=True)["messages"]

    assert [(m["text"], m["reply_count"]) for m in history] == [("root", 2)]
    assert [m["text"] for m in thread] == ["root", "one", "two"]
    assert {m["thread_ts"] for m in thread} == {root}
    assert thread[1]["metadata"] == METADATA


def test_an_edit_replaces_the_message_and_keeps_what_it_was(sandbox: Street) -> None:
    client = unhurried(sandbox)
    posted = client.chat_postMessage(
        channel="C0OPS", text="before", blocks=[section("before")], metadata=METADATA
    )

    client.chat_update(channel="C0OPS", ts=str(posted["ts"]), text="after")

    [message] = sandbox.messages()
    [read] = client.conversations_history(channel="C0OPS", include_all_metadata=True)["messages"]
    assert (message["text"], message["blocks"], message["edited"]) == ("after", [], True)
    assert [(e["text"], e["blocks"]) for e in message["edits"]] == [("before", [section("before")])]
    assert (read["ts"], read["metadata"]) == (posted["ts"], METADATA)
    assert read["edited"]["user"] == client.auth_test()["user_id"]


def test_what_is_not_there_cannot_be_edited_or_answered(sandbox: Street) -> None:
    client = unhurried(sandbox)
    client.chat_postMessage(channel="C0OPS", text="hello")

    with pytest.raises(SlackApiError) as edited:
        client.chat_update(channel="C0OPS", ts="1.000001", text="x")
    with pytest.raises(SlackApiError) as answered:
        client.chat_postMessage(channel="C0OPS", thread_ts="1.000001", text="x")
    with pytest.raises(SlackApiError) as read:
        client.conversations_replies(channel="C0OPS", ts="1.000001")

    assert (code(edited), code(answered), code(read)) == (
        "message_not_found",
        "thread_not_found",
        "thread_not_found",
    )
    assert len(sandbox.messages()) == 1


def test_a_channel_takes_one_message_a_second(sandbox: Street) -> None:
    client = slack(sandbox)
    client.chat_postMessage(channel="C0OPS", text="one")

    with pytest.raises(SlackApiError) as hurried:
        client.chat_postMessage(channel="C0OPS", text="two")
    client.chat_postMessage(channel="C0OTHER", text="elsewhere")
    sandbox.advance(1)
    client.chat_postMessage(channel="C0OPS", text="three")

    assert (code(hurried), hurried.value.response.status_code) == ("ratelimited", 429)
    assert hurried.value.response.headers["Retry-After"] == "1"
    assert [m["text"] for m in sandbox.messages()] == ["one", "elsewhere", "three"]


def test_a_workspace_takes_so_many_messages_a_minute(sandbox: Street) -> None:
    sandbox.control("slack", per_minute=3)
    client = slack(sandbox)
    for n in range(3):
        client.chat_postMessage(channel=f"C0{n}", text="x")
        sandbox.advance(10)

    with pytest.raises(SlackApiError) as hurried:
        client.chat_postMessage(channel="C0OTHER", text="too many")
    wait_s = int(hurried.value.response.headers["Retry-After"])
    sandbox.advance(wait_s)
    client.chat_postMessage(channel="C0OTHER", text="now")
    sandbox.control("slack", per_minute=None)
    client.chat_postMessage(channel="C0MORE", text="free")

    assert code(hurried) == "ratelimited"
    assert 28 <= wait_s <= 30
    assert [m["text"] for m in sandbox.messages()] == ["x", "x", "x", "now", "free"]


def test_every_message_has_its_own_ts(sandbox: Street) -> None:
    client = unhurried(sandbox)
    sandbox.set_time("2026-05-01T12:00:00Z")
    stamps = [client.chat_postMessage(channel=f"C0{n % 2}", text="x")["ts"] for n in range(4)]
    sandbox.set_time("2026-05-01T12:00:00Z")
    stamps.append(client.chat_postMessage(channel="C00", text="x")["ts"])

    assert stamps == sorted(set(stamps))


@pytest.mark.parametrize(
    "blocks,pointer",
    [
        ([section("x" * 3001)], "/blocks/0/text/text"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "/blocks/0/text/text"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "/blocks/0/text/type"),
        ([{"type": "divider"}] * 51, "/blocks"),
        ([{"type": "section"}], "/blocks/0"),
        ([section("")], "/blocks/0/text/text"),
        ([{"type": "marquee"}], "/blocks/0/type"),
        ([{"type": "section", "fields": [{"type": "mrkdwn", "text": "x"}] * 11}], "/blocks/0/fields"),
        ([{"type": "context", "elements": []}], "/blocks/0/elements"),
        (
            [{"type": "actions", "elements": [
                {"type": "button", "text": {"type": "plain_text", "text": "x" * 76}}]}],
            "/blocks/0/elements/0/text/text",
        ),
        (
            [{"type": "actions", "elements": [
                {"type": "button", "value": "v" * 2001, "text": {"type": "plain_text", "text": "x"}}]}],
            "/blocks/0/elements/0/value",
        ),
    ],
)  # fmt: skip
def test_blocks_beyond_their_limits_are_refused_with_the_place(
    sandbox: Street, blocks: list[dict[str, Any]], pointer: str
) -> None:
    with pytest.raises(SlackApiError) as refused:
        slack(sandbox).chat_postMessage(channel="C0OPS", text="x", blocks=blocks)

    assert code(refused) == "invalid_blocks"
    assert any(
        f"[json-pointer:{pointer}]" in m for m in refused.value.response["response_metadata"]["messages"]
    )
    assert sandbox.messages() == []


def test_blocks_at_their_limits_are_taken(sandbox: Street) -> None:
    button = {"type": "button", "value": "v" * 2000, "text": {"type": "plain_text", "text": "x" * 75}}
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "x" * 150}},
        section("x" * 3000),
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "x"}] * 10},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 10},
        {"type": "actions", "elements": [button]},
        *[{"type": "divider"}] * 45,
    ]

    slack(sandbox).chat_postMessage(channel="C0OPS", text="x", blocks=blocks)

    assert len(sandbox.messages()[0]["blocks"]) == 50


@pytest.mark.parametrize(
    "sent,error",
    [
        ({}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"blocks": [section("x" * 2700)] * 5}, "msg_blocks_too_long"),
        (
            {"text": "x", "metadata": {"event_type": "e", "event_payload": {"a": "x" * 8000}}},
            "metadata_too_large",
        ),
        ({"text": "x", "metadata": {"event_type": "e"}}, "invalid_metadata_schema"),
    ],
)
def test_a_message_that_is_too_much_or_nothing_is_refused(
    sandbox: Street, sent: dict[str, Any], error: str
) -> None:
    answer = requests.post(
        f"{sandbox.slack_url}chat.postMessage",
        json={"channel": "C0OPS", **sent},
        headers={"Authorization": f"Bearer {SLACK_TOKEN}"},
        timeout=5,
    ).json()

    assert (answer["ok"], answer["error"]) == (False, error)
    assert sandbox.messages() == []


def test_channels_are_as_somebody_set_them_up(sandbox: Street) -> None:
    sandbox.control(
        "slack",
        open=False,
        channels=[
            {"name": "ops"},
            {"name": "private", "id": "C0PRIVATE", "member": False},
            {"name": "old", "archived": True},
        ],
    )
    client = slack(sandbox)

    errors = {}
    for channel in ("#nowhere", "C0NOWHERE", "C0PRIVATE", "#old"):
        with pytest.raises(SlackApiError) as refused:
            client.chat_postMessage(channel=channel, text="x")
        errors[channel] = code(refused)
    client.chat_postMessage(channel="#ops", text="x")

    assert errors == {
        "#nowhere": "channel_not_found",
        "C0NOWHERE": "channel_not_found",
        "C0PRIVATE": "not_in_channel",
        "#old": "is_archived",
    }
    assert len(client.conversations_list()["channels"]) == 3


def test_only_posting_takes_a_name_when_told_to_be_strict(sandbox: Street) -> None:
    sandbox.control("slack", names_anywhere=False)
    client = slack(sandbox)
    posted = client.chat_postMessage(channel="#ops", text="x")

    with pytest.raises(SlackApiError) as read:
        client.conversations_history(channel="#ops")
    with pytest.raises(SlackApiError) as edited:
        client.chat_update(channel="ops", ts=str(posted["ts"]), text="y")

    assert (code(read), code(edited)) == ("channel_not_found", "channel_not_found")
    assert len(client.conversations_history(channel=str(posted["channel"]))["messages"]) == 1


def test_people_are_found_by_their_address(sandbox: Street) -> None:
    sandbox.control("slack", users=[{"email": "Dana@example.com", "id": "U0DANA", "name": "Dana Diaz"}])
    client = slack(sandbox)

    dana = client.users_lookupByEmail(email="dana@example.com")["user"]
    other = client.users_lookupByEmail(email="sam.lee@example.com")["user"]
    with pytest.raises(SlackApiError) as nobody:
        client.users_lookupByEmail(email="sam.lee@example.invalid")

    assert (dana["id"], dana["real_name"]) == ("U0DANA", "Dana Diaz")
    assert (other["real_name"], other["id"][0]) == ("Sam Lee", "U")
    assert code(nobody) == "users_not_found"


def test_a_message_to_a_person_opens_one_conversation(sandbox: Street) -> None:
    client = unhurried(sandbox)

    channels = {str(client.chat_postMessage(channel="U0DANA", text="x")["channel"]) for _ in range(2)}

    assert len(channels) == 1
    assert channels.pop().startswith("D")
    assert len(sandbox.messages()) == 2


def test_groups_are_listed(sandbox: Street) -> None:
    before = slack(sandbox).usergroups_list()["usergroups"]
    sandbox.control("slack", usergroups=[{"id": "S0PAY", "handle": "payments-oncall"}])

    assert before == []
    assert slack(sandbox).usergroups_list()["usergroups"][0]["handle"] == "payments-oncall"


def test_an_unknown_method_is_refused(sandbox: Street) -> None:
    with pytest.raises(SlackApiError) as refused:
        slack(sandbox).chat_delete(channel="C0OPS", ts="1.000001")

    assert code(refused) == "unknown_method"


def test_the_log_shows_no_token(sandbox: Street) -> None:
    requests.post(
        f"{sandbox.slack_url}chat.postMessage",
        data={"token": SLACK_TOKEN, "channel": "#ops", "text": "hello"},
        timeout=5,
    )

    [seen] = sandbox.requests()
    assert seen["form"] == {"channel": "#ops", "text": "hello"}
    assert SLACK_TOKEN not in str(seen)
