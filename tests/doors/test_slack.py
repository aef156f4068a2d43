import json
import time
from typing import Any

import pytest

from recon.doors.slack.posts import BLOCK_LIMIT, TEXT_LIMIT, Slack
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Delivered, NotSent, Unknown
from recon.model.records.notices import Message
from recon.model.settings import Secret, SlackSettings
from tests.sandboxes import SLACK_TOKEN, Street
from tests.wires import Act, answers, closes, cuts, drips, hangs, resets, wire

TOKEN = "xoxb-hidden1234"
HELLO = Message("hello", ({"type": "section", "text": {"type": "mrkdwn", "text": "hello"}},))


def slack(url: str, *, token: str = SLACK_TOKEN, timeout_seconds: int = 1) -> Slack:
    return Slack(SlackSettings(bot_token=Secret(token), base_url=url, timeout_seconds=timeout_seconds))


@pytest.fixture
def street(sandbox: Street) -> Street:
    """A sandbox that does not mind how quickly messages come."""
    sandbox.control("slack", rate_limit=False)
    return sandbox


def post(url: str, message: Message = HELLO) -> Delivered | NotSent | Unknown:
    return slack(url, token=TOKEN).post(message, delivery_id="d1", channel="C1")


@pytest.mark.parametrize(
    "act,reason",
    [
        (closes, "RemoteDisconnected"),
        (resets, "ConnectionResetError"),
        (hangs, "TimeoutError"),
        (cuts('{"ok": true'), "IncompleteRead"),
        (answers("500 Oops", '{"ok": false, "error": "internal_error"}'), "500"),
        (answers("502 Oops", "<h1>proxy</h1>"), "502"),
        (answers("503 Oops", ""), "503"),
        (answers("504 Oops", "{}"), "504"),
        (answers("200 OK", "<h1>hello</h1>"), "is not Slack's"),
        (answers("403 No", "<h1>hello</h1>"), "is not Slack's"),
        (answers("200 OK", "[]"), ""),
        (answers("200 OK", '{"ok": true}'), "does not say where"),
        (answers("200 OK", '{"ok": false}'), "is not Slack's"),
        (answers("200 OK", '{"ok": false, "error": "fatal_error"}'), "fatal_error"),
        (answers("200 OK", '{"ok": false, "error": "internal_error"}'), "internal_error"),
        (answers("200 OK", '{"ok": false, "error": "service_unavailable"}'), "service_unavailable"),
    ],
)
def test_without_a_usable_answer_it_is_unknown_and_sent_once(act: Act, reason: str) -> None:
    with wire(act) as served:
        outcome = post(served.url + "/api/")
        sent = len(served.requests)

    assert isinstance(outcome, Unknown)
    assert reason in outcome.reason
    assert sent == 1


@pytest.mark.parametrize(
    "act,expected",
    [
        (
            answers("200 OK", '{"ok": false, "error": "channel_not_found"}'),
            NotSent("Slack said channel_not_found", permanent=True, astray=True),
        ),
        (
            answers("200 OK", '{"ok": false, "error": "invalid_blocks"}'),
            NotSent("Slack said invalid_blocks", permanent=True),
        ),
        (
            answers("200 OK", '{"ok": false, "error": "invalid_auth"}'),
            NotSent("Slack said invalid_auth", counted=False),
        ),
        (answers("200 OK", '{"ok": false, "error": "never_heard"}'), NotSent("Slack said never_heard")),
        (
            answers("429 Slow", '{"ok": false, "error": "ratelimited"}', "Retry-After: 30"),
            NotSent("Slack said ratelimited", retry_after_seconds=30.0, counted=False),
        ),
        (
            answers("429 Slow", "", "Retry-After: tomorrow"),
            NotSent("Slack said ratelimited", retry_after_seconds=30.0, counted=False),
        ),
        (
            answers("429 Slow", "<h1>slow</h1>"),
            NotSent("Slack said ratelimited", retry_after_seconds=30.0, counted=False),
        ),
        (
            answers("200 OK", '{"ok": false, "error": "rate_limited"}'),
            NotSent("Slack said ratelimited", retry_after_seconds=30.0, counted=False),
        ),
    ],
)
def test_a_clear_no_is_not_sent(act: Act, expected: NotSent) -> None:
    with wire(act) as served:
        assert post(served.url + "/api/") == expected
        assert len(served.requests) == 1


def test_a_refused_connection_is_not_sent() -> None:
    assert post("http://127.0.0.1:9/api/") == NotSent(
        "Slack was not reached (ConnectionRefusedError).", counted=False
    )


def test_a_name_that_cannot_be_looked_up_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*args: object, **more: object) -> None:
        raise TimeoutOfNames(-3, "Temporary failure in name resolution")

    monkeypatch.setattr("socket.getaddrinfo", nowhere)

    assert post("http://slack.invalid/api/") == NotSent(
        "Slack was not reached (TimeoutOfNames).", counted=False
    )


class TimeoutOfNames(__import__("socket").gaierror):  # type: ignore[misc]  # its module's own class
    """A resolver that is not reachable."""


def test_any_other_connection_that_fails_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object, **more: object) -> None:
        raise OSError(113, "No route to host")

    monkeypatch.setattr("socket.create_connection", unreachable)

    assert post("http://127.0.0.1:9/api/") == Unknown("No usable answer from Slack (OSError).")


@pytest.mark.parametrize(
    "act", [closes, answers("200 OK", TOKEN), answers("200 OK", json.dumps({"ok": False, "error": TOKEN}))]
)
def test_no_outcome_carries_the_token(act: Act, caplog: pytest.LogCaptureFixture) -> None:
    with wire(act) as served:
        outcome = post(served.url + "/api/")
        assert TOKEN.encode() in served.requests[0]  # It was really sent.

    assert "hidden1234" not in repr(outcome) + caplog.text


def test_an_answer_that_never_ends_is_waited_for_twice_the_timeout() -> None:
    dripping = drips('{"ok": true, "channel": "C1", "ts": "1.2"' + " " * 200, pause_seconds=0.1)
    began = time.monotonic()
    with wire(dripping) as served:
        outcome = post(served.url + "/api/")

    assert outcome == Unknown("No usable answer from Slack (TimeoutError).")
    assert time.monotonic() - began < 10  # Of the 24 seconds that it would have taken.


@pytest.mark.parametrize("act", [closes, answers("200 OK", '{"ok": true}')])
def test_nothing_is_printed_of_a_body_or_token_whatever_is_logged(
    act: Act, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level("DEBUG"), wire(act) as served:
        post(served.url + "/api/", Message("customer cus_1"))
        assert b"cus_1" in served.requests[0]

    printed = caplog.text + "".join(capfd.readouterr())
    assert ("cus_1" in printed, "hidden1234" in printed) == (False, False)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_an_address_of_our_own_is_asked_past_the_environments_proxy(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.delenv("no_proxy")
    with wire(answers("200 OK", "{}")) as proxy, wire(answers("200 OK", '{"ok": true}')) as served:
        monkeypatch.setenv(name, proxy.url)
        post(served.url + "/api/")

        assert (len(proxy.requests), len(served.requests)) == (0, 1)


def test_a_token_does_not_follow_where_an_answer_leads() -> None:
    with wire(answers("200 OK", '{"ok": true}')) as elsewhere:
        moved = answers("302 Found", "", f"Location: {elsewhere.url}/api/chat.postMessage")
        with wire(moved) as served:
            outcome = post(served.url + "/api/")

        assert isinstance(outcome, Unknown)
        assert elsewhere.requests == []


def test_a_message_is_posted_as_it_is_with_its_delivery_id(street: Street) -> None:
    outcome = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="#refunds")

    (message,) = street.messages()
    assert isinstance(outcome, Delivered)
    assert (outcome.ts, message["text"]) == (message["ts"], "hello")
    assert message["metadata"]["event_payload"] == {"delivery_id": "d1"}
    (request,) = street.requests(path="/api/chat.postMessage")
    assert str(request["form"]["unfurl_links"]).lower() in {"false", "0"}
    assert str(request["form"]["unfurl_media"]).lower() in {"false", "0"}


def test_a_reply_goes_into_its_thread(street: Street) -> None:
    root = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="#refunds")
    assert isinstance(root, Delivered)

    slack(street.slack_url).post(HELLO, delivery_id="d2", channel=root.channel, thread_ts=root.ts)

    assert [message["thread_ts"] for message in street.messages()][1:] == [root.ts]


@pytest.mark.parametrize("broadcast", [True, False])
def test_a_call_is_a_reply_that_the_channel_sees_too(street: Street, broadcast: bool) -> None:  # noqa: FBT001
    root = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="#refunds")
    assert isinstance(root, Delivered)

    slack(street.slack_url).post(
        HELLO, delivery_id="d2", channel=root.channel, thread_ts=root.ts, broadcast=broadcast
    )

    asked = street.requests(path="/api/chat.postMessage")[1]["form"]
    assert asked.get("reply_broadcast") == (True if broadcast else None)
    assert asked["thread_ts"] == root.ts


def test_an_edit_stands_in_the_place_of_the_message(street: Street) -> None:
    root = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="#refunds")
    assert isinstance(root, Delivered)
    changed = Message("changed", HELLO.blocks)

    outcome = slack(street.slack_url).edit(changed, delivery_id="d2", channel=root.channel, ts=root.ts)

    assert outcome == root
    (message,) = street.messages()
    assert (message["text"], len(message["blocks"])) == ("changed", 1)


@pytest.mark.parametrize("code", ["message_not_found", "cant_update_message", "edit_window_closed"])
def test_an_edit_says_when_a_new_root_is_needed(code: str) -> None:
    with wire(answers("200 OK", json.dumps({"ok": False, "error": code}))) as served:
        outcome = slack(served.url + "/").edit(HELLO, delivery_id="d1", channel="C1", ts="1.2")

    assert outcome == NotSent(f"Slack said {code}", gone=True)


@pytest.mark.parametrize("code", ["thread_not_found", "cannot_reply_to_message"])
def test_a_reply_says_when_its_thread_is_gone(code: str) -> None:
    with wire(answers("200 OK", json.dumps({"ok": False, "error": code}))) as served:
        outcome = slack(served.url + "/").post(HELLO, delivery_id="d1", channel="C1", thread_ts="1.2")

    assert outcome == NotSent(f"Slack said {code}", gone=True)


def test_an_unknown_edit_may_be_repeated() -> None:
    with wire(closes) as served:
        outcome = slack(served.url + "/").edit(HELLO, delivery_id="d1", channel="C1", ts="1.2")

    assert isinstance(outcome, Unknown)
    assert outcome.repeatable


def section(text: str, kind: str = "section") -> dict[str, Any]:
    return {"type": kind, "text": {"type": "plain_text" if kind == "header" else "mrkdwn", "text": text}}


@pytest.mark.parametrize(
    "message,fits",
    [
        (Message("x" * TEXT_LIMIT), True),
        (Message("x" * (TEXT_LIMIT + 1)), False),
        (Message(""), False),
        (Message("x", tuple(section("x") for _ in range(BLOCK_LIMIT))), True),
        (Message("x", tuple(section("x") for _ in range(BLOCK_LIMIT + 1))), False),
        (Message("x", (section("x" * 3000),)), True),
        (Message("x", (section("x" * 3001),)), False),
        (Message("x", (section("x" * 150, "header"),)), True),
        (Message("x", (section("x" * 151, "header"),)), False),
        (Message("x", tuple(section("x" * 2500) for _ in range(4))), True),
        (Message("x", (*(section("x" * 2500) for _ in range(4)), section("x"))), False),
        (Message("x", ({"type": "context", "elements": [{"type": "mrkdwn", "text": "x" * 3001}]},)), False),
    ],
)
def test_what_slack_would_refuse_or_lose_is_never_sent(street: Street, message: Message, fits: bool) -> None:  # noqa: FBT001
    outcome = slack(street.slack_url).post(message, delivery_id="d1", channel="#refunds")

    assert isinstance(outcome, Delivered) == fits
    assert len(street.messages()) == fits
    if isinstance(outcome, NotSent):
        assert outcome.permanent


def test_without_a_token_nothing_opens() -> None:
    with pytest.raises(ConfigurationError, match="SLACK_BOT_TOKEN is not set"):
        Slack(SlackSettings())
