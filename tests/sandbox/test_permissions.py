from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from stripe import PermissionError as Forbidden

from recon.sandbox.slack import SCOPES
from tests.sandbox.clients import provider, slack
from tests.sandboxes import Street


@pytest.fixture
def web(sandbox: Street) -> WebClient:
    return slack(sandbox)


def test_a_key_without_the_permission_is_refused_and_nothing_happens(sandbox: Street) -> None:
    sandbox.payment("pi_1", 4900)
    sandbox.fault("POST /v1/refunds", "403")

    with pytest.raises(Forbidden) as caught:
        provider(sandbox).v1.refunds.create({"payment_intent": "pi_1"})

    assert caught.value.http_status == 403
    assert caught.value.code is None
    assert "does not have the required permissions for this endpoint" in str(caught.value.user_message)
    assert provider(sandbox).v1.refunds.list().data == []


def test_every_answer_says_what_the_token_may_do(web: WebClient) -> None:
    assert web.auth_test().headers["x-oauth-scopes"] == ",".join(SCOPES)


def test_a_method_beyond_the_scopes_is_refused_and_named(sandbox: Street, web: WebClient) -> None:
    sandbox.control("slack", scopes=["chat:write", "groups:history"])

    with pytest.raises(SlackApiError) as caught:
        web.users_lookupByEmail(email="maria@example.com")

    said: dict[str, Any] = caught.value.response.data
    assert (said["error"], said["needed"]) == ("missing_scope", "users:read.email")
    assert said["provided"] == "chat:write,groups:history"
    assert caught.value.response.headers["x-oauth-scopes"] == "chat:write,groups:history"
    # One of several that fit is enough.
    assert web.conversations_history(channel="C1")["ok"]


def test_the_channels_of_the_bot_are_those_it_was_invited_to(sandbox: Street, web: WebClient) -> None:
    sandbox.control(
        "slack",
        channels=[
            {"name": "ours"},
            {"name": "theirs", "member": False},
            {"name": "old", "archived": True},
        ],
    )

    listed = web.users_conversations()["channels"]
    current = web.users_conversations(exclude_archived=True)["channels"]

    assert [each["name"] for each in listed] == ["ours", "old"]
    assert [each["name"] for each in current] == ["ours"]
    assert "is_member" not in listed[0]


def test_a_person_is_found_by_id(sandbox: Street, web: WebClient) -> None:
    sandbox.control("slack", users=[{"email": "maria@example.com", "id": "U1MARIA"}])

    assert web.users_info(user="U1MARIA")["user"]["name"] == "maria"
    with pytest.raises(SlackApiError, match="user_not_found"):
        web.users_info(user="U2NOBODY")
