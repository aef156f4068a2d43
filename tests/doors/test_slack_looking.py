import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.model.records.deliveries import Absent, Delivered, Unknown, Unreadable
from tests.doors.test_slack import HELLO, slack, street
from tests.sandboxes import Street
from tests.wires import answers, wire

__all__ = ["street"]  # A fixture: pytest finds it by this name.

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


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
