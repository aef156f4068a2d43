"""Dialogs: who may open one and when, what is taken, and what becomes of one that was sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.request import SocketModeRequest

from recon.sandbox import views
from tests.sandbox.app import inbox, listening
from tests.sandbox.clients import slack
from tests.sandboxes import Street

SOON_S = 10.0
MOMENT = 1_777_636_800


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def option(value: str) -> dict[str, Any]:
    return {"text": plain(value.title()), "value": value}


def field(block_id: str, element: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "input", "block_id": block_id, "label": plain(block_id), "element": element, **more}


REASON = field("reason", {"type": "plain_text_input", "action_id": "text", "max_length": 20})
CHOICES = [option("ours"), option("theirs")]
HOW = field("how", {"type": "static_select", "action_id": "choice", "options": CHOICES})
UNTIL = field("until", {"type": "datetimepicker", "action_id": "at", "initial_date_time": MOMENT})
NOTE = field("note", {"type": "plain_text_input", "action_id": "text"}, optional=True)


def modal(*blocks: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": plain("Resolve"),
        "submit": plain("Resolve"),
        "callback_id": "resolve",
        "private_metadata": "C-AAAAAAAAAA/1",
        "blocks": list(blocks) or [REASON],
        **more,
    }


@pytest.fixture
def client(sandbox: Street) -> WebClient:
    sandbox.control("slack", rate_limit=False, users=[{"email": "dana@example.com", "id": "U0DANA"}])
    sandbox.control("interactivity", url="http://127.0.0.1:1/nobody")
    return slack(sandbox)


@pytest.fixture
def trigger(sandbox: Street, client: WebClient) -> Callable[[], str]:
    """A click, and what it lets an app open."""
    button = {"type": "button", "action_id": "resolve", "value": "v", "text": plain("Resolve")}
    posted = client.chat_postMessage(
        channel="C0OPS", text="x", blocks=[{"type": "actions", "elements": [button]}]
    )

    def click() -> str:
        asked = {"channel": "C0OPS", "ts": str(posted["ts"]), "user": "U0DANA", "action_id": "resolve"}
        return str(sandbox.control("clicks", **asked)["trigger_id"])

    return click


def code(refused: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(refused.value.response["error"])


@pytest.mark.parametrize(
    "view,words,pointer",
    [
        (modal(title=plain("x" * 25)), "must be less than 25 characters", "/view/title/text"),
        (modal(title=None), "missing required field: title", "/view"),
        (modal(title={"type": "mrkdwn", "text": "x"}), "unsupported type: mrkdwn", "/view/title/type"),
        (modal(submit=plain("x" * 25)), "must be less than 25 characters", "/view/submit/text"),
        (modal(close=plain("")), "must be more than 0 characters", "/view/close/text"),
        (modal(submit=None), "must define `submit` to use an `input` block in modals", "/view/blocks/0"),
        (modal(private_metadata="x" * 3001), "must be less than 3001 characters", "/view/private_metadata"),
        (modal(callback_id="x" * 256), "must be less than 256 characters", "/view/callback_id"),
        (modal(external_id="x" * 256), "must be less than 256 characters", "/view/external_id"),
        (modal(*[{"type": "divider"}] * 101), "no more than 100 items allowed", "/view/blocks"),
        (modal(blocks=None), "missing required field: blocks", "/view"),
        (modal({"type": "marquee"}), "unsupported type: marquee", "/view/blocks/0/type"),
        (modal(field("x", {"type": "button"})), "unsupported type: button", "/view/blocks/0/element/type"),
        (modal(type="home"), "unsupported type: home", "/view/type"),
        ("x", "must provide an object", "/view"),
    ],
)
def test_a_dialog_beyond_a_limit_is_refused_with_its_place(view: object, words: str, pointer: str) -> None:
    assert f"[ERROR] {words} [json-pointer:{pointer}]" in views.faults(view)


def test_a_dialog_at_its_limits_is_taken() -> None:
    view = modal(
        REASON,
        HOW,
        UNTIL,
        *[{"type": "divider"}] * 97,
        title=plain("x" * 24),
        private_metadata="x" * 3000,
        callback_id="x" * 255,
    )

    assert views.faults(view) == []


def test_a_click_opens_one_dialog(sandbox: Street, client: WebClient, trigger: Callable[[], str]) -> None:
    found = trigger()

    answer = client.views_open(trigger_id=found, view=modal(REASON, HOW))["view"]
    with pytest.raises(SlackApiError) as again:
        client.views_open(trigger_id=found, view=modal())
    [shown] = sandbox.see("views")

    assert (answer["id"], answer["callback_id"], answer["private_metadata"]) == (
        shown["id"],
        "resolve",
        "C-AAAAAAAAAA/1",
    )
    assert answer["state"] == {"values": {}}
    assert [block["block_id"] for block in answer["blocks"]] == ["reason", "how"]
    assert (shown["user"], shown["errors"]) == ("U0DANA", {})
    assert code(again) == "exchanged_trigger_id"


@pytest.mark.parametrize("after_s,error", [(2.5, None), (3.5, "expired_trigger_id")])
def test_a_click_opens_a_dialog_for_three_seconds(
    sandbox: Street, client: WebClient, trigger: Callable[[], str], after_s: float, error: str | None
) -> None:
    found = trigger()
    sandbox.advance(after_s)

    try:
        client.views_open(trigger_id=found, view=modal())
        told = None
    except SlackApiError as refused:
        told = refused.response["error"]

    assert told == error
    assert len(sandbox.see("views")) == (1 if error is None else 0)


@pytest.mark.parametrize(
    "sent,error",
    [
        ({"trigger_id": "1.2.3"}, "invalid_trigger_id"),
        ({"trigger_id": ""}, "invalid_arguments"),
        ({"view": modal(title=plain("x" * 25))}, "invalid_arguments"),
        ({"view": "{not json"}, "invalid_arguments"),
        ({"view": modal(*[{"type": "section", "text": plain("x" * 3000)}] * 90)}, "view_too_large"),
    ],
)
def test_a_dialog_that_slack_does_not_take_is_not_shown(
    sandbox: Street, client: WebClient, trigger: Callable[[], str], sent: dict[str, Any], error: str
) -> None:
    asked = {"trigger_id": trigger(), "view": modal()} | sent

    with pytest.raises(SlackApiError) as refused:
        client.api_call("views.open", json=asked)

    assert code(refused) == error
    assert sandbox.see("views") == []


def test_an_open_dialog_can_be_changed_and_covered(
    sandbox: Street, client: WebClient, trigger: Callable[[], str]
) -> None:
    opened = client.views_open(trigger_id=trigger(), view=modal(external_id="mine"))["view"]
    changed = client.views_update(external_id="mine", view=modal(NOTE), hash=opened["hash"])["view"]
    with pytest.raises(SlackApiError) as stale:
        client.views_update(view_id=opened["id"], view=modal(), hash=opened["hash"])
    with pytest.raises(SlackApiError) as unknown:
        client.views_update(view_id="V0NONE", view=modal())
    pushed = client.views_push(trigger_id=trigger(), view=modal(HOW))["view"]
    client.views_push(trigger_id=trigger(), view=modal(HOW))
    with pytest.raises(SlackApiError) as too_deep:
        client.views_push(trigger_id=trigger(), view=modal(HOW))

    assert [b["block_id"] for b in changed["blocks"]] == ["note"]
    assert (pushed["previous_view_id"], pushed["root_view_id"]) == (opened["id"], opened["id"])
    assert (code(stale), code(unknown), code(too_deep)) == (
        "hash_conflict",
        "not_found",
        "push_limit_reached",
    )
    assert len(sandbox.see("views")) == 3


def test_another_click_puts_another_dialog_in_its_place(
    sandbox: Street, client: WebClient, trigger: Callable[[], str]
) -> None:
    client.views_open(trigger_id=trigger(), view=modal())
    latest = client.views_open(trigger_id=trigger(), view=modal(HOW))["view"]

    assert [view["id"] for view in sandbox.see("views")] == [latest["id"]]


@pytest.mark.parametrize(
    "values,state",
    [
        (
            {"reason": {"text": "bank"}, "how": {"choice": "theirs"}},
            {
                "reason": {"text": {"type": "plain_text_input", "value": "bank"}},
                "how": {"choice": {"type": "static_select", "selected_option": option("theirs")}},
                "until": {"at": {"type": "datetimepicker", "selected_date_time": MOMENT}},
                "note": {"text": {"type": "plain_text_input", "value": None}},
            },
        ),
        (
            {
                "reason": {"text": " "},
                "how": {"choice": option("ours")},
                "until": {"at": "2026-05-02T12:00:00Z"},
                "note": {"text": "n"},
            },
            {
                "reason": {"text": {"type": "plain_text_input", "value": " "}},
                "how": {"choice": {"type": "static_select", "selected_option": option("ours")}},
                "until": {"at": {"type": "datetimepicker", "selected_date_time": MOMENT + 86_400}},
                "note": {"text": {"type": "plain_text_input", "value": "n"}},
            },
        ),
    ],
)
def test_what_was_filled_in_is_told_as_slack_tells_it(
    sandbox: Street,
    client: WebClient,
    trigger: Callable[[], str],
    values: dict[str, Any],
    state: dict[str, Any],
) -> None:
    view = client.views_open(trigger_id=trigger(), view=modal(REASON, HOW, UNTIL, NOTE))["view"]

    sandbox.control("submissions", view_id=view["id"], user="U0DANA", values=values)
    payload = sandbox.see("envelopes")[-1]["payload"]

    assert payload["type"] == "view_submission"
    assert payload["user"]["id"] == "U0DANA"
    assert payload["view"]["id"] == view["id"]
    assert (payload["view"]["private_metadata"], payload["view"]["callback_id"]) == (
        "C-AAAAAAAAAA/1",
        "resolve",
    )
    assert payload["view"]["state"]["values"] == state
    assert payload["trigger_id"]


@pytest.mark.parametrize(
    "values,words",
    [
        ({}, "reason: Please complete this required field"),
        ({"reason": {"text": ""}}, "reason: Please complete this required field"),
        ({"reason": {"text": "x" * 21}}, "at most 20 characters"),
        ({"reason": {"text": 7}}, "expected a text"),
        ({"reason": "x"}, "expected 'reason' as"),
        ({"reason": {"text": "x"}, "gone": {}}, "expected values for any of"),
        ({"reason": {"text": "x"}, "how": {"choice": "mine"}}, "expected one of"),
        ({"reason": {"text": "x"}, "until": {"at": "noon"}}, "ISO 8601"),
        ("x", "as {block_id: {action_id: value}}"),
    ],
)
def test_slacks_form_lets_nothing_else_go(
    sandbox: Street, client: WebClient, trigger: Callable[[], str], values: object, words: str
) -> None:
    optional = [{**block, "optional": True} for block in (HOW, UNTIL)]
    view = client.views_open(trigger_id=trigger(), view=modal(REASON, *optional))["view"]
    before = len(sandbox.see("envelopes"))

    with pytest.raises(AssertionError, match=re.escape(words)):
        sandbox.control("submissions", view_id=view["id"], values=values)
    assert len(sandbox.see("envelopes")) == before


def test_only_who_sees_a_dialog_can_send_it(
    sandbox: Street, client: WebClient, trigger: Callable[[], str]
) -> None:
    view = client.views_open(trigger_id=trigger(), view=modal(NOTE))["view"]

    with pytest.raises(AssertionError, match="who sees the view"):
        sandbox.control("submissions", view_id=view["id"], user="sam@example.com")
    with pytest.raises(AssertionError, match="expected an open view"):
        sandbox.control("submissions", view_id="V0NONE")
    still = client.views_open(trigger_id=trigger(), view=modal({"type": "divider"}, submit=None))
    with pytest.raises(AssertionError, match="nothing to submit"):
        sandbox.control("submissions", view_id=still["view"]["id"])


@pytest.mark.parametrize(
    "answer,left",
    [
        (None, []),
        ({}, []),
        ({"response_action": "clear"}, []),
        ({"response_action": "errors", "errors": {"reason": "Say more."}}, [{"reason": "Say more."}]),
        ({"response_action": "update", "view": modal(NOTE)}, [{}]),
        ({"response_action": "push", "view": modal(NOTE)}, [{}, {}]),
        (
            {"response_action": "update", "view": modal(title=plain("x" * 25))},
            [{"": "We had some trouble connecting. Try again?"}],
        ),
    ],
)
def test_what_the_app_says_decides_what_becomes_of_a_dialog(
    sandbox: Street,
    client: WebClient,
    trigger: Callable[[], str],
    answer: dict[str, Any] | None,
    left: list[dict[str, str]],
) -> None:
    view = client.views_open(trigger_id=trigger(), view=modal())["view"]

    with inbox(content="" if answer is None else json.dumps(answer)) as app:
        sandbox.control("interactivity", url=app.url)
        outcome = sandbox.control(
            "submissions", view_id=view["id"], values={"reason": {"text": "bank"}}, wait_s=SOON_S
        )

    assert (outcome["acknowledged"], outcome["answer"]) == (True, answer)
    assert [shown["errors"] for shown in sandbox.see("views")] == left


@pytest.mark.parametrize("answer,left", [({}, 1), ({"response_action": "clear"}, 0)])
def test_a_dialog_on_top_goes_alone_or_with_all(
    sandbox: Street, client: WebClient, trigger: Callable[[], str], answer: dict[str, Any], left: int
) -> None:
    client.views_open(trigger_id=trigger(), view=modal())
    top = client.views_push(trigger_id=trigger(), view=modal(NOTE))["view"]

    with inbox(content=json.dumps(answer)) as app:
        sandbox.control("interactivity", url=app.url)
        sandbox.control("submissions", view_id=top["id"], wait_s=SOON_S)

    assert len(sandbox.see("views")) == left


def test_an_app_on_a_socket_answers_a_dialog_with_its_acknowledgement(
    sandbox: Street, client: WebClient, trigger: Callable[[], str]
) -> None:
    view = client.views_open(trigger_id=trigger(), view=modal())["view"]

    def refuse(request: SocketModeRequest) -> dict[str, Any]:
        return {"response_action": "errors", "errors": {"reason": "Say more."}}

    with listening(sandbox, refuse) as app:
        sent = {"view_id": view["id"], "values": {"reason": {"text": "bank"}}}
        outcome = sandbox.control("submissions", **sent, wait_s=SOON_S)
        heard = app.heard.get(timeout=SOON_S)

    assert (outcome["acknowledged"], heard.accepts_response_payload) == (True, True)
    assert [shown["errors"] for shown in sandbox.see("views")] == [{"reason": "Say more."}]


def test_a_dialog_that_nobody_answers_stays_and_says_so(
    sandbox: Street, client: WebClient, trigger: Callable[[], str]
) -> None:
    view = client.views_open(trigger_id=trigger(), view=modal(NOTE))["view"]

    sandbox.control("submissions", view_id=view["id"], wait_s=1)

    [shown] = sandbox.see("views")
    assert shown["errors"] == {"": "We had some trouble connecting. Try again?"}


@pytest.mark.parametrize("asked,told", [(True, ["view_closed"]), (False, [])])
def test_an_app_hears_of_a_closed_dialog_if_it_asked_to(
    sandbox: Street, client: WebClient, trigger: Callable[[], str], asked: bool, told: list[str]  # noqa: FBT001
) -> None:  # fmt: skip
    view = client.views_open(trigger_id=trigger(), view=modal(NOTE, notify_on_close=asked))["view"]

    sandbox.control("submissions", view_id=view["id"], close=True)

    assert sandbox.see("views") == []
    assert [e["payload"]["type"] for e in sandbox.see("envelopes")[1:]] == told
