from datetime import UTC, datetime

import pytest

from recon.doors.slack.workspace import Bot, Channel, Workspace
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Unreadable
from recon.model.settings import Secret, SlackSettings
from tests.sandboxes import SLACK_TOKEN, Street
from tests.wires import Act, answers, closes, cuts, hangs, wire

TOKEN = "xoxb-hidden1234"


def workspace(url: str, *, token: str = SLACK_TOKEN, app: str = "") -> Workspace:
    bot_token, app_token = Secret(token), Secret(app)
    settings = SlackSettings(bot_token=bot_token, app_token=app_token, base_url=url, timeout_seconds=1)
    return Workspace(settings)


def test_without_a_token_there_is_no_workspace() -> None:
    with pytest.raises(ConfigurationError, match="SLACK_BOT_TOKEN is not set"):
        workspace("", token="")


def test_the_bot_is_who_slack_says(sandbox: Street) -> None:
    sandbox.control("slack", scopes=["chat:write", "users:read"])

    found = workspace(sandbox.slack_url).bot()

    assert found == Bot("Sandbox", "recon", frozenset({"chat:write", "users:read"}))


@pytest.mark.parametrize(
    "act, reason",
    [
        (closes, "no usable answer from Slack (RemoteDisconnected)"),
        (hangs, "no usable answer from Slack (TimeoutError)"),
        (cuts('{"ok": true'), "no usable answer from Slack (IncompleteRead)"),
        (answers("200 OK", "<h1>hello</h1>"), "the answer (200) is not Slack's"),
        (answers("502 Oops", ""), "the answer (502) is not Slack's"),
        (answers("200 OK", '{"ok": false, "error": "token_revoked"}'), "Slack said token_revoked"),
        (answers("200 OK", '{"ok": true}'), "Slack does not say who we are; expected a bot's token (xoxb-)"),
    ],
)
def test_what_is_no_answer_is_a_reason_without_the_token(act: Act, reason: str) -> None:
    with wire(act) as served:
        found = workspace(f"{served.url}/api/", token=TOKEN).bot()

    assert found == Unreadable(reason)


def test_scopes_that_slack_does_not_tell_are_not_none_at_all() -> None:
    told = '{"ok": true, "bot_id": "B1", "team": "Ours", "user": "recon"}'
    with wire(answers("200 OK", told)) as served:
        found = workspace(f"{served.url}/api/").bot()

    assert found == Bot("Ours", "recon", None)


def test_channels_are_read_to_the_last_page() -> None:
    first = '{"ok": true, "channels": [{"id": "C1", "name": "a"}], "response_metadata": {"next_cursor": "x"}}'
    last = '{"ok": true, "channels": [{"id": "C2", "name": "b", "is_archived": true}]}'
    with wire(answers("200 OK", first), answers("200 OK", last)) as served:
        found = workspace(f"{served.url}/api/").channels(public=True, private=False)

    assert found == (Channel("C1", "a", archived=False), Channel("C2", "b", archived=True))


def test_a_person_who_has_left_cannot_be_reached() -> None:
    gone = '{"ok": true, "user": {"id": "U1", "deleted": true}}'
    with wire(answers("200 OK", gone)) as served:
        found = workspace(f"{served.url}/api/").person("U1")

    assert found == Unreadable("their account is deactivated")


def test_the_bot_knows_when_slack_answered(sandbox: Street) -> None:
    sandbox.set_time("2026-03-06T17:00:00Z")

    found = workspace(sandbox.slack_url).bot()

    assert isinstance(found, Bot)
    assert found.said_at is not None
    assert abs((found.said_at - datetime(2026, 3, 6, 17, tzinfo=UTC)).total_seconds()) <= 2


@pytest.mark.parametrize("headers", [(), ("Date: yesterday",), ("Date:",)])
def test_a_date_that_cannot_be_read_is_none(headers: tuple[str, ...]) -> None:
    with wire(answers("200 OK", '{"ok": true, "bot_id": "B1"}', *headers)) as served:
        found = workspace(f"{served.url}/api/").bot()

    assert isinstance(found, Bot)
    assert found.said_at is None


@pytest.mark.parametrize(
    "told, reason",
    [
        ('{"ok": true, "url": "wss://wss.slack.example/link"}', None),
        ('{"ok": false, "error": "not_allowed_token_type"}', Unreadable("Slack said not_allowed_token_type")),
    ],
)
def test_whether_clicks_could_come_is_asked_with_the_apps_own_token(
    told: str, reason: Unreadable | None
) -> None:
    with wire(answers("200 OK", told)) as served:
        found = workspace(f"{served.url}/api/", app="xapp-hidden").socket()

    (asked,) = served.requests
    assert found == reason
    assert asked.startswith(b"POST /api/apps.connections.open ")
    assert b"Bearer xapp-hidden" in asked
