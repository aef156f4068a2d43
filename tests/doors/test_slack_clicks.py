import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.doors.slack import clicks
from recon.doors.slack.clicks import Flawed, Mouth
from recon.model import dialogs
from recon.model.buttons import Button, Verb
from recon.model.errors import ConfigurationError
from recon.model.records.clicks import Place, Pressed, Sent
from recon.model.records.words import CaseId, Resolution
from recon.model.settings import Secret, SlackSettings
from tests.builders import NOON, a_case
from tests.clicks import ANA, CHANNEL, HOME, PLACE, ROOT, press_payload, resolution, submission_payload
from tests.wires import Act, Wire, answers, closes, cuts, drips, hangs, resets, wire

CASE = CaseId("C-AAAAAAAAAA")
ACKNOWLEDGE = Button(Verb.ACKNOWLEDGE, CASE, 7)
RESOLVE = Button(Verb.RESOLVE, CASE, 7)
YES = answers("200 OK", '{"ok": true}')


def read(payload: dict[str, Any]) -> object:
    return clicks.read(payload, now=NOON)


def mouth(served: Wire, **changes: Any) -> Mouth:  # noqa: ANN401  # any field of the settings
    told: dict[str, Any] = {
        "bot_token": Secret("xoxb-1"),
        "base_url": f"{served.url}/api/",
        "timeout_seconds": 1,
    } | changes
    return Mouth(SlackSettings(**told))


def sent_to(served: Wire, number: int = 0) -> tuple[str, dict[str, Any]]:
    """The path and the content of a request."""
    head, _, body = served.requests[number].partition(b"\r\n\r\n")
    path = head.split()[1].decode()
    if b"application/json" in head.lower():
        return path, json.loads(body)
    return path, {name: values[0] for name, values in parse_qs(body.decode()).items()}


def test_a_click_is_a_button_a_person_and_a_place() -> None:
    found = read(press_payload(ACKNOWLEDGE.value))

    assert found == Pressed(
        ACKNOWLEDGE,
        Place(ANA, CHANNEL, None, "https://hooks.slack.com/actions/T0/123/abc", HOME),
        "12466734323.1395872398",
    )


def test_whoever_clicks_in_a_thread_is_answered_in_it() -> None:
    reply = {"type": "message", "message_ts": "1700000000.000200", "channel_id": CHANNEL, "thread_ts": ROOT}
    found = read(press_payload(ACKNOWLEDGE.value, container=reply))

    assert isinstance(found, Pressed)
    assert found.place.thread_ts == ROOT


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "block_actions"},
        press_payload("approve/C-AAAAAAAAAA/7"),
        press_payload("acknowledge/C-AAAAAAAAAA/0"),
        press_payload(""),
        press_payload(ACKNOWLEDGE.value, actions="none"),
        press_payload(
            ACKNOWLEDGE.value, actions=[None, {"action_id": "another", "value": ACKNOWLEDGE.value}]
        ),
        press_payload(ACKNOWLEDGE.value, user=None),
        press_payload(ACKNOWLEDGE.value, container=None, channel=None),
        press_payload(ACKNOWLEDGE.value, type="message_action"),
        press_payload(ACKNOWLEDGE.value, "u0ana"),
        press_payload(ACKNOWLEDGE.value, "U0ANA\n"),
        press_payload(ACKNOWLEDGE.value, "U\ud800"),  # Half a pair has no UTF-8,
        press_payload(ACKNOWLEDGE.value, "U\x00"),  # and PostgreSQL keeps no NUL.
        press_payload(ACKNOWLEDGE.value, "U" * 41),
        press_payload(ACKNOWLEDGE.value, container=None, channel={"id": "C\ud800"}),
        submission_payload(RESOLVE, resolution(), callback_id="another"),
        submission_payload(RESOLVE, resolution(), private_metadata="another"),
        submission_payload(RESOLVE, resolution(), private_metadata="[" * 3_000),
        submission_payload(RESOLVE, resolution(), id=None),
        submission_payload(RESOLVE, resolution(), id="V\ud800"),
    ],
)
def test_what_is_not_ours_is_nothing(payload: dict[str, Any]) -> None:
    assert read(payload) is None


def test_a_dialog_comes_back_with_its_button_and_what_was_filled_in() -> None:
    found = read(submission_payload(RESOLVE, resolution("written_off", "Lost.")))

    assert found == Sent(RESOLVE, PLACE, "V0", "Lost.", code=Resolution.WRITTEN_OFF)


@pytest.mark.parametrize(
    "user,expected",
    [
        ({"id": ANA, "team_id": "T0PARTNER"}, "T0PARTNER"),  # In a channel that two companies share.
        ({"id": ANA, "team_id": "E0"}, "E0"),
        ({"id": ANA}, HOME),
        ({"id": ANA, "team_id": "\ud800"}, HOME),
    ],
)
def test_where_somebody_is_at_home_is_theirs_and_not_the_channels(
    user: dict[str, str], expected: str
) -> None:
    found = [
        read({**press_payload(ACKNOWLEDGE.value), "user": user}),
        read({**submission_payload(RESOLVE, resolution()), "user": user}),
    ]

    assert [each.place.team_id for each in found if isinstance(each, Pressed | Sent)] == [expected] * 2


@pytest.mark.parametrize(
    "told,expected",
    [
        ('"team_id": "T0", "enterprise_id": "E0"', {"T0", "E0"}),
        ('"team_id": "T0", "enterprise_id": null', {"T0"}),
        ('"team": "Acme"', None),
    ],
)
def test_which_workspace_is_ours_is_asked_once_it_is_known(told: str, expected: set[str] | None) -> None:
    says = answers("200 OK", f'{{"ok": true, {told}}}')
    with wire(answers("500 Internal Server Error", ""), says, says) as served:
        asked = mouth(served)
        found = [asked.home() for _ in range(3)]

    assert found == [None, expected, expected]
    assert len(served.requests) == (3 if expected is None else 2)


def test_a_dialog_that_lacks_something_stays_open_and_says_what() -> None:
    found = read(submission_payload(RESOLVE, resolution(reason=" ")))

    assert isinstance(found, Flawed)
    assert found.answer == {"response_action": "errors", "errors": {"reason": dialogs.NO_REASON}}


@given(
    payload=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "user", "id", "view", "state", "values", "actions", "action_id"]),
                inner,
            )
        ),
        max_leaves=12,
    ),
    kind=st.sampled_from(["block_actions", "view_submission"]),
)
def test_no_payload_is_an_error(payload: object, kind: str) -> None:
    whole = press_payload(ACKNOWLEDGE.value) if kind == "block_actions" else submission_payload(RESOLVE, {})
    for name in whole:
        clicks.read({**whole, name: payload, "type": kind}, now=NOON)

    assert clicks.read({"type": kind, "user": payload}, now=NOON) is None


def test_an_answer_is_private_and_in_the_thread() -> None:
    with wire(YES) as served:
        failed = mouth(served).say(Place(ANA, CHANNEL, ROOT), "Done.")

        path, content = sent_to(served)
        assert failed is None
        assert path == "/api/chat.postEphemeral"
        assert (content["channel"], content["user"], content["thread_ts"], content["text"]) == (
            CHANNEL,
            ANA,
            ROOT,
            "Done.",
        )


@pytest.mark.parametrize(
    "act",
    [
        answers("200 OK", '{"ok": false, "error": "user_not_in_channel"}'),
        answers("429 Too Many Requests", '{"ok": false, "error": "ratelimited"}', "Retry-After: 3600"),
        answers("500 Internal Server Error", "oops"),
        answers("200 OK", "<html>"),
        closes,
        resets,
        cuts('{"ok": true}'),
        hangs,
    ],
)
def test_where_slack_does_not_take_the_answer_its_own_address_for_the_click_does(act: Act) -> None:
    with wire(act, answers("200 OK", "ok")) as served:
        place = Place(ANA, CHANNEL, ROOT, f"{served.url}/actions/1")
        failed = mouth(served).say(place, "Done.")

        path, content = sent_to(served, 1)
        assert (failed, len(served.requests)) == (None, 2)
        assert path == "/actions/1"
        assert content == {"text": "Done.", "response_type": "ephemeral", "replace_original": False}


@pytest.mark.parametrize(
    "act,said",
    [
        (answers("404 Not Found", "used up"), "HTTPError"),
        (answers("302 Found", "", "Location: http://127.0.0.1:9/"), "HTTPError"),
        (drips("ok" * 50, pause_seconds=0.2), "TimeoutError"),
        (closes, "RemoteDisconnected"),
        (resets, "ConnectionResetError"),
    ],
)
def test_where_both_fail_it_is_said_why_once_each_without_an_address_or_a_token(act: Act, said: str) -> None:
    no = answers("200 OK", '{"ok": false, "error": "user_not_in_channel"}')
    with wire(no, act) as served:
        failed = mouth(served).say(Place(ANA, CHANNEL, None, f"{served.url}/actions/1"), "Done.")

        assert failed == f"Slack said user_not_in_channel. No usable answer from Slack ({said})."
        assert len(served.requests) == 2


@pytest.mark.parametrize(
    "url,base_url,expected",
    [
        ("https://hooks.slack.com/actions/T0/1/a", None, True),
        ("https://hooks.slack-gov.com/actions/T0/1/a", None, True),
        ("https://hooks.slack.com.evil.example/a", None, False),
        ("http://hooks.slack.com/actions/T0/1/a", None, False),
        ("http://127.0.0.1:9/actions/1", None, False),
        ("http://127.0.0.1:9/actions/1", "http://127.0.0.1:9/api/", True),
        ("http://127.0.0.1:8/actions/1", "http://127.0.0.1:9/api/", False),
        ("https://hooks.slack.com/actions/T0/1/a", "http://127.0.0.1:9/api/", False),
    ],
)
def test_an_answer_goes_to_slack_and_nowhere_else(url: str, base_url: str | None, expected: bool) -> None:  # noqa: FBT001
    assert clicks.is_slacks(url, base_url) == expected


def test_an_address_that_is_not_where_slack_is_gets_nothing() -> None:
    with wire(answers("500 Internal Server Error", "oops")) as served, wire(YES) as another:
        failed = mouth(served).say(Place(ANA, CHANNEL, None, f"{another.url}/actions/1"), "Done.")

        assert (failed, len(served.requests), another.requests) == ("Slack answered 500.", 1, [])


def test_a_dialog_is_opened_once_by_its_trigger() -> None:
    view = dialogs.resolving(a_case(), Place(ANA, CHANNEL), now=NOON)
    with wire(closes, YES) as served:
        door = mouth(served)
        failed = [door.open("t.1", view), door.open("t.2", view)]

        path, content = sent_to(served, 1)
        assert failed == ["No usable answer from Slack (RemoteDisconnected).", None]
        assert len(served.requests) == 2
        assert (path, content["trigger_id"]) == ("/api/views.open", "t.2")


def test_an_expired_trigger_is_said() -> None:
    with wire(answers("200 OK", '{"ok": false, "error": "expired_trigger_id"}')) as served:
        assert mouth(served).open("t.1", {}) == "Slack said expired_trigger_id."


def test_without_a_bots_token_there_is_no_mouth() -> None:
    with pytest.raises(ConfigurationError, match="SLACK_BOT_TOKEN"):
        Mouth(SlackSettings(app_token=Secret("xapp-1")))
