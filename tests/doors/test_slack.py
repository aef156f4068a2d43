import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.doors.slack.posts import BLOCK_LIMIT, TEXT_LIMIT, Slack
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Absent, Delivered, NotSent, Unknown, Unreadable
from recon.model.records.notices import Message
from recon.model.settings import Secret, SlackSettings
from tests.sandboxes import SLACK_TOKEN, Street
from tests.wires import Act, answers, closes, cuts, drips, hangs, resets, wire

TOKEN = "xoxb-hidden1234"
HELLO = Message("hello", ({"type": "section", "text": {"type": "mrkdwn", "text": "hello"}},))
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


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


def find(url: str, delivery_id: str = "d1", channel: str = "C1", **more: Any) -> object:  # noqa: ANN401
    asked = {"thread_ts": None, "oldest": LONG_AGO} | more
    return slack(url).find(delivery_id, channel=channel, **asked)


def test_a_message_that_was_posted_without_an_answer_is_found(street: Street) -> None:
    street.fault("POST /api/chat.postMessage", "drop_after")
    assert isinstance(slack(street.slack_url).post(HELLO, delivery_id="d1", channel="C1"), Unknown)

    (message,) = street.messages()
    assert find(street.slack_url) == Delivered("C1", message["ts"])


def test_a_reply_is_found_in_its_thread_only(street: Street) -> None:
    root = slack(street.slack_url).post(HELLO, delivery_id="d0", channel="C1")
    assert isinstance(root, Delivered)
    reply = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="C1", thread_ts=root.ts)

    assert find(street.slack_url, thread_ts=root.ts) == reply
    assert find(street.slack_url) == Absent()


def test_where_a_thread_is_gone_nothing_is_in_it(street: Street) -> None:
    slack(street.slack_url).post(HELLO, delivery_id="d0", channel="C1")

    assert find(street.slack_url, thread_ts="1.000001") == Absent()


def test_a_channel_that_is_known_by_name_only_is_read_by_its_id(street: Street) -> None:
    street.control("slack", names_anywhere=False)
    one = slack(street.slack_url)
    posted = one.post(HELLO, delivery_id="d1", channel="#refunds")

    found = [one.find("d1", channel="#refunds", thread_ts=None, oldest=LONG_AGO) for _ in range(2)]

    assert found == [posted, posted]
    assert len(street.requests(path="/api/users.conversations")) == 1


def test_a_person_is_read_where_their_messages_are() -> None:
    opened = answers("200 OK", json.dumps({"ok": True, "channel": {"id": "D0123"}}))
    us, read = answers("200 OK", json.dumps({"ok": True, "bot_id": "B1"})), answers("200 OK", history(OURS))
    with wire(opened, us, read) as served:
        found = slack(served.url + "/").find("d1", channel="U0123", thread_ts=None, oldest=LONG_AGO)
        asked = [request.split()[1].decode() for request in served.requests]

    assert found == Delivered("D0123", "1.5")
    assert asked == ["/conversations.open", "/auth.test", "/conversations.history"]


def test_a_name_that_cannot_be_asked_for_now_proves_nothing(street: Street) -> None:
    one = slack(street.slack_url)
    one.post(HELLO, delivery_id="d1", channel="#refunds")
    street.fault("POST /api/users.conversations", "500_before")

    found = one.find("d9", channel="#refunds", thread_ts=None, oldest=LONG_AGO)

    assert isinstance(found, Unreadable)
    assert found.silent


def test_absence_is_said_after_the_last_page_only(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recon.doors.slack.posts._PAGE", 2)
    posted = [slack(street.slack_url).post(HELLO, delivery_id=f"d{n}", channel="C1") for n in range(5)]

    assert [find(street.slack_url, f"d{n}") for n in range(5)] == posted
    assert find(street.slack_url, "d9") == Absent()
    street.fault("POST /api/conversations.history", "500_before")
    assert isinstance(find(street.slack_url, "d9"), Unreadable)


def test_a_page_that_breaks_off_later_is_unreadable(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recon.doors.slack.posts._PAGE", 2)
    monkeypatch.setattr("recon.doors.slack.posts._PAGES", 2)
    for n in range(5):
        slack(street.slack_url).post(HELLO, delivery_id=f"d{n}", channel="C1")

    assert find(street.slack_url, "d9") == Unreadable("More than 4 messages since the send.")


def test_only_messages_since_the_send_are_read_with_room_for_clocks(street: Street) -> None:
    posted = slack(street.slack_url).post(HELLO, delivery_id="d1", channel="C1")
    now = datetime.fromtimestamp(time.time(), UTC)

    assert find(street.slack_url, oldest=now + timedelta(minutes=4)) == posted
    assert find(street.slack_url, oldest=now + timedelta(minutes=6)) == Absent()


def history(*messages: object, **more: object) -> str:
    return json.dumps({"ok": True, "messages": list(messages), "bot_id": "B1", **more})


OURS = {"ts": "1.5", "bot_id": "B1", "metadata": {"event_payload": {"delivery_id": "d1"}}}


@pytest.mark.parametrize(
    "page,expected",
    [
        (history(OURS), Delivered("C1", "1.5")),
        (history({**OURS, "bot_id": "B2"}), Absent()),
        (history({**OURS, "bot_id": None}), Absent()),
        (history({**OURS, "metadata": None}), Absent()),
        (history("text", 7), Absent()),
        (history(has_more=True), Unreadable("Slack says more follows, but not where.")),
        (json.dumps({"ok": True, "bot_id": "B1"}), Unreadable("Slack's answer holds no messages.")),
        (
            json.dumps({"ok": True, "messages": []}),
            Unreadable("Slack does not say who we are; expected a bot's token."),
        ),
        (
            json.dumps({"ok": False, "error": "not_in_channel"}),
            Unreadable("Slack said not_in_channel (200) when it was asked to look."),
        ),
        (
            "<h1>hello</h1>",
            Unreadable("Slack said nothing usable (200) when it was asked to look.", silent=True),
        ),
        (
            json.dumps({"ok": False, "error": "internal_error"}),
            Unreadable("Slack said internal_error (200) when it was asked to look.", silent=True),
        ),
    ],
)
def test_another_bots_message_is_not_ours_and_a_broken_answer_proves_nothing(
    page: str, expected: object
) -> None:
    with wire(answers("200 OK", page)) as served:
        assert find(served.url + "/") == expected


def test_who_we_are_is_asked_once(street: Street) -> None:
    one = slack(street.slack_url)

    for _ in range(2):
        one.find("d1", channel="C1", thread_ts=None, oldest=LONG_AGO)

    assert len(street.requests(path="/api/auth.test")) == 1


def test_a_person_is_found_by_address_or_nobody_is(street: Street) -> None:
    one = slack(street.slack_url)

    assert str(one.person("ann@shop.example")).startswith("U")
    assert one.person("nobody@shop.invalid") is None
    street.control("slack", scopes=["chat:write"])
    assert one.person("ann@shop.example") is None
    street.fault("POST /api/users.lookupByEmail", "500_before")
    assert isinstance(one.person("ann@shop.example"), Unreadable)


def test_without_a_token_nothing_opens() -> None:
    with pytest.raises(ConfigurationError, match="SLACK_BOT_TOKEN is not set"):
        Slack(SlackSettings())
