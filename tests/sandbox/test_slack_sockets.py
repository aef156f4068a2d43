"""Socket Mode, under Slack's own client and under a bare one."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.sandbox.app import APP_TOKEN, connected, link, listening
from tests.sandbox.clients import slack
from tests.sandboxes import Street

SOON_S = 10.0


def button(value: str = "take/1") -> dict[str, Any]:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": "take",
                "value": value,
                "text": {"type": "plain_text", "text": "Take"},
            }
        ],
    }


@pytest.fixture
def posted(sandbox: Street) -> dict[str, str]:
    sandbox.control("slack", rate_limit=False)
    answer = slack(sandbox).chat_postMessage(channel="#ops", text="a case", blocks=[button()])
    return {"channel": str(answer["channel"]), "ts": str(answer["ts"])}


def click(street: Street, posted: dict[str, str], **more: object) -> dict[str, Any]:
    return street.control("clicks", **posted, user="dana@example.com", action_id="take", **more)


def read(connection: Connection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(connection.recv(timeout=SOON_S))
    return found


def acknowledge(connection: Connection, envelope: dict[str, Any], **more: object) -> None:
    connection.send(json.dumps({"envelope_id": envelope["envelope_id"], **more}))


@pytest.mark.parametrize(
    "token,error",
    [("xoxb-sandbox", "not_allowed_token_type"), ("nonsense", "invalid_auth"), ("", "not_authed")],
)
def test_only_an_apps_own_token_opens_connections(sandbox: Street, token: str, error: str) -> None:
    with pytest.raises(SlackApiError) as refused:
        WebClient(token, base_url=sandbox.slack_url, retry_handlers=[]).api_call("apps.connections.open")

    assert refused.value.response["error"] == error


def test_an_apps_own_token_does_nothing_else(sandbox: Street) -> None:
    with pytest.raises(SlackApiError) as refused:
        slack(sandbox, token=APP_TOKEN).auth_test()

    assert refused.value.response["error"] == "not_allowed_token_type"


def test_a_ticket_lets_one_connection_in(sandbox: Street) -> None:
    address = link(sandbox)
    with connect(address, proxy=None) as connection:
        hello = read(connection)

    for used in (address, address.replace("ticket=", "ticket=x")):
        with pytest.raises(InvalidStatus) as refused, connect(used, proxy=None):
            pass
        assert refused.value.response.status_code == 403
    assert (hello["type"], hello["num_connections"]) == ("hello", 1)
    assert hello["connection_info"] == {"app_id": "A0RECON"}


def test_a_click_reaches_slacks_own_client(sandbox: Street, posted: dict[str, str]) -> None:
    with listening(sandbox) as app:
        outcome = click(sandbox, posted, wait_s=SOON_S)
        heard = app.heard.get(timeout=SOON_S)

    assert outcome["acknowledged"] is True
    assert (heard.type, heard.envelope_id) == ("interactive", outcome["envelope_id"])
    assert heard.payload["type"] == "block_actions"
    assert heard.accepts_response_payload is False
    assert heard.retry_attempt is None


def test_of_several_connections_each_envelope_goes_to_one(sandbox: Street, posted: dict[str, str]) -> None:
    with connected(sandbox) as one, connected(sandbox) as other:
        ids = [click(sandbox, posted)["envelope_id"] for _ in range(2)]
        got = [read(connection) for connection in (one, other)]
        for connection, envelope in zip((one, other), got, strict=True):
            acknowledge(connection, envelope)

    assert sorted(envelope["envelope_id"] for envelope in got) == sorted(ids)


def test_what_is_not_acknowledged_is_told_again_elsewhere(sandbox: Street, posted: dict[str, str]) -> None:
    sandbox.control("sockets", heard_within_s=0.2)
    with connected(sandbox) as one, connected(sandbox) as other:
        outcome = click(sandbox, posted)
        first, second = read(one), read(other)
        acknowledge(other, second)
        with pytest.raises(TimeoutError):
            one.recv(timeout=0.5)

    assert first["envelope_id"] == second["envelope_id"] == outcome["envelope_id"]
    assert "retry_attempt" not in first
    assert (second["retry_attempt"], second["retry_reason"]) == (1, "timeout")


def test_what_nobody_acknowledges_is_given_up_and_said(sandbox: Street, posted: dict[str, str]) -> None:
    sandbox.control("sockets", heard_within_s=0.1, attempts=2)
    with connected(sandbox) as one:
        click(sandbox, posted, wait_s=0.5)
        told = [read(one), read(one)]
        [envelope] = sandbox.see("envelopes")

    assert [t.get("retry_attempt") for t in told] == [None, 1]
    assert (envelope["acknowledged"], envelope["lost"], len(envelope["tries"])) == (False, True, 2)


def test_a_replay_is_the_same_envelope_again(sandbox: Street, posted: dict[str, str]) -> None:
    with listening(sandbox) as app:
        outcome = click(sandbox, posted, wait_s=SOON_S)
        sandbox.control("clicks", replay=outcome["envelope_id"], wait_s=SOON_S)
        first, again = app.heard.get(timeout=SOON_S), app.heard.get(timeout=SOON_S)

    assert first.envelope_id == again.envelope_id == outcome["envelope_id"]
    assert first.payload == again.payload


def test_a_goodbye_makes_slacks_client_connect_anew(sandbox: Street, posted: dict[str, str]) -> None:
    with listening(sandbox) as app:
        [before] = sandbox.see("sockets")
        sandbox.control("disconnect", reason="warning")
        app.hellos.get(timeout=SOON_S)
        outcome = click(sandbox, posted, wait_s=SOON_S)
        heard = app.heard.get(timeout=SOON_S)

    assert outcome["acknowledged"] is True
    assert heard.envelope_id == outcome["envelope_id"]
    assert before["carried"] == 0


@pytest.mark.parametrize(
    "reason,closes", [("warning", False), ("refresh_requested", True), ("link_disabled", True)]
)
def test_a_goodbye_has_its_reason(sandbox: Street, reason: str, closes: bool) -> None:  # noqa: FBT001
    with connected(sandbox) as connection:
        sandbox.control("disconnect", reason=reason, after_s=0.01)
        told = read(connection)
        with pytest.raises(ConnectionClosed if closes else TimeoutError):
            connection.recv(timeout=SOON_S if closes else 0.2)

    assert (told["type"], told["reason"]) == ("disconnect", reason)


def test_a_connection_can_go_without_a_word(sandbox: Street) -> None:
    with connected(sandbox) as connection:
        sandbox.control("disconnect", reason=None)

        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=SOON_S)


def test_an_app_has_at_most_ten_connections(sandbox: Street) -> None:
    with ExitStack() as open_until_the_end:
        told = [read(open_until_the_end.enter_context(connect(link(sandbox), proxy=None))) for _ in range(11)]

    assert [t["type"] for t in told] == ["hello"] * 10 + ["disconnect"]
    assert told[-1]["reason"] == "too_many_websockets"


def test_noise_on_a_socket_is_passed_over(sandbox: Street, posted: dict[str, str]) -> None:
    with connected(sandbox) as connection:
        for noise in ("", "hello", "[1]", b"\x00\x01", '{"envelope_id": "unknown"}', '{"envelope_id": [1]}'):
            connection.send(noise)
        outcome = click(sandbox, posted)
        acknowledge(connection, read(connection))
        connection.ping().wait(SOON_S)
        [envelope] = sandbox.see("envelopes")

    assert (envelope["id"], envelope["acknowledged"]) == (outcome["envelope_id"], True)


def test_a_reset_closes_every_connection(sandbox: Street) -> None:
    with connected(sandbox) as connection:
        sandbox.control("reset")

        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=SOON_S)


def test_without_anybody_who_listens_a_click_says_so(sandbox: Street, posted: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="nobody would hear"):
        click(sandbox, posted)

    assert sandbox.see("envelopes") == []
