"""Who works in a workspace, who left, and what is no more."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.clients import slack
from tests.sandboxes import Street

DANA: dict[str, Any] = {"email": "dana@example.com", "id": "U0DANA"}


def asked(street: Street, method: str, **arguments: object) -> str:
    """What a method answers: "ok" or its error."""
    try:
        slack(street).api_call(f"{method}", params=arguments)
    except SlackApiError as refused:
        return str(refused.response["error"])
    return "ok"


@pytest.mark.parametrize("open_to_all", [True, False])
@pytest.mark.parametrize(
    "now,answers",
    [
        ({}, ("ok", "ok", "ok")),
        ({"deleted": True}, ("users_not_found", "ok", "channel_not_found")),
        ({"removed": True}, ("users_not_found", "user_not_found", "channel_not_found")),
    ],
)
def test_who_left_is_not_found_and_not_written_to(
    sandbox: Street, open_to_all: bool, now: dict[str, Any], answers: tuple[str, ...]  # noqa: FBT001
) -> None:  # fmt: skip
    sandbox.control("slack", users=[DANA])
    sandbox.control("slack", users=[DANA | now], open=open_to_all)

    found = (
        asked(sandbox, "users.lookupByEmail", email="dana@example.com"),
        asked(sandbox, "users.info", user="U0DANA"),
        asked(sandbox, "chat.postMessage", channel="U0DANA", text="x"),
    )

    assert found == answers


def test_who_comes_back_is_found_again(sandbox: Street) -> None:
    for user in (DANA, DANA | {"removed": True}, DANA):
        sandbox.control("slack", users=[user])

    assert asked(sandbox, "users.lookupByEmail", email="dana@example.com") == "ok"
    assert asked(sandbox, "users.info", user="U0DANA") == "ok"


def test_who_left_is_said_to_have(sandbox: Street) -> None:
    sandbox.control("slack", users=[DANA | {"deleted": True}])

    assert slack(sandbox).users_info(user="U0DANA")["user"]["deleted"] is True


def test_a_group_is_replaced_disabled_and_taken_away(sandbox: Street) -> None:
    client = slack(sandbox)
    sandbox.control("slack", usergroups=[{"id": "S0PAY", "handle": "pay", "users": ["U0DANA"]}])
    sandbox.control("slack", usergroups=[{"id": "S0PAY", "handle": "payments", "users": ["U0DANA"]}])
    sandbox.control("slack", usergroups=[{"id": "S0OLD", "handle": "old", "disabled": True}])
    [group] = client.usergroups_list()["usergroups"]
    full = client.usergroups_list(include_users=True, include_disabled=True)["usergroups"]
    sandbox.control("slack", usergroups=[{"id": "S0PAY", "removed": True}])

    assert (group["handle"], group["user_count"], "users" in group) == ("payments", 1, False)
    assert [(g["handle"], g["users"]) for g in full] == [("payments", ["U0DANA"]), ("old", [])]
    assert client.usergroups_list()["usergroups"] == []


def test_a_channel_can_be_archived_left_and_taken_away(sandbox: Street) -> None:
    states: list[dict[str, Any]] = [{}, {"archived": True}, {"member": False}, {"removed": True}]
    answers = []
    for state in states:
        sandbox.control(
            "slack", open=False, rate_limit=False, channels=[{"name": "ops", "id": "C0OPS"} | state]
        )
        answers.append(asked(sandbox, "chat.postMessage", channel="C0OPS", text="x"))

    assert answers == ["ok", "is_archived", "not_in_channel", "channel_not_found"]
