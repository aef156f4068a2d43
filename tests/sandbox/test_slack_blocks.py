"""What Slack takes of buttons, menus and dialogs, one row a limit."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from recon.sandbox import blocks, elements
from tests.sandbox.clients import slack
from tests.sandboxes import Street


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def section(text: str = "a case", **more: object) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(**more: object) -> dict[str, Any]:
    return {"type": "button", "text": plain("Take"), "action_id": "take", **more}


def option(text: str = "Snooze", value: str = "snooze/1", **more: object) -> dict[str, Any]:
    return {"text": plain(text), "value": value, **more}


def overflow(*options: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "overflow", "action_id": "menu", "options": list(options), **more}


def select(*options: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "static_select", "action_id": "how", "options": list(options), **more}


def actions(*found: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "actions", "elements": list(found), **more}


def field(element: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "input", "label": plain("Reason"), "element": element, **more}


def text_input(**more: object) -> dict[str, Any]:
    return {"type": "plain_text_input", "action_id": "reason", **more}


def moment(found: object) -> dict[str, Any]:
    return {"type": "datetimepicker", "action_id": "until", "initial_date_time": found}


CHOICES = [option(f"choice {n}", f"v{n}") for n in range(101)]


@pytest.mark.parametrize(
    "found,words,pointer",
    [
        ([actions(*[button(action_id=f"a{n}") for n in range(26)])], "no more than 25 items allowed",
         "/blocks/0/elements"),
        ([actions()], "must provide at least 1 items", "/blocks/0/elements"),
        ([actions(button(), button())], '`action_id` "take" already exists',
         "/blocks/0/elements/1/action_id"),
        ([actions(button(text=plain("x" * 76)))], "must be less than 76 characters",
         "/blocks/0/elements/0/text/text"),
        ([actions(button(text="Take"))], "must provide an object", "/blocks/0/elements/0/text"),
        ([actions({"type": "button"})], "missing required field: text", "/blocks/0/elements/0"),
        ([actions(button(value="v" * 2001))], "must be less than 2001 characters",
         "/blocks/0/elements/0/value"),
        ([actions(button(url="https://x.test/" + "x" * 2986))], "must be less than 3001 characters",
         "/blocks/0/elements/0/url"),
        ([actions(button(action_id="a" * 256))], "must be less than 256 characters",
         "/blocks/0/elements/0/action_id"),
        ([actions(button(style="loud"))], "unsupported style: loud", "/blocks/0/elements/0/style"),
        ([actions({"type": "image", "image_url": "x", "alt_text": "x"})], "unsupported type: image",
         "/blocks/0/elements/0/type"),
        ([actions(text_input())], "unsupported type: plain_text_input", "/blocks/0/elements/0/type"),
        ([section(accessory=overflow())], "must provide at least 1 items", "/blocks/0/accessory/options"),
        ([section(accessory=overflow(*CHOICES[:6]))], "no more than 5 items allowed",
         "/blocks/0/accessory/options"),
        ([section(accessory=overflow(option("x" * 76), option()))], "must be less than 76 characters",
         "/blocks/0/accessory/options/0/text/text"),
        ([section(accessory=overflow(option(), option(value="v" * 151)))], "must be less than 151 characters",
         "/blocks/0/accessory/options/1/value"),
        ([section(accessory=overflow(option(url="x" * 3001), option()))], "must be less than 3001 characters",
         "/blocks/0/accessory/options/0/url"),
        ([section(accessory=overflow({"text": plain("x")}))], "missing required field: value",
         "/blocks/0/accessory/options/0"),
        ([section(accessory=overflow({"text": {"type": "mrkdwn", "text": "x"}, "value": "x"}))],
         "unsupported type: mrkdwn", "/blocks/0/accessory/options/0/text/type"),
        ([section(accessory=overflow(option(), confirm={"title": plain("Sure?")}))],
         "missing required field: deny", "/blocks/0/accessory/confirm"),
        ([section(accessory=moment(1_777_636_800))], "unsupported type: datetimepicker",
         "/blocks/0/accessory/type"),
        ([section(accessory=select(*CHOICES))], "no more than 100 items allowed",
         "/blocks/0/accessory/options"),
        ([section(accessory=select(option(url="https://x.test")))], "invalid additional property: url",
         "/blocks/0/accessory/options/0"),
        ([section(accessory=select(option(), placeholder=plain("x" * 151)))],
         "must be less than 151 characters", "/blocks/0/accessory/placeholder/text"),
        ([section(accessory=select(option(), initial_option=option("other")))],
         "must match one of the provided options", "/blocks/0/accessory/initial_option"),
        ([section(block_id="b" * 256)], "must be less than 256 characters", "/blocks/0/block_id"),
        ([section(block_id="b"), section(block_id="b")], '`block_id` "b" already exists',
         "/blocks/1/block_id"),
        ([field(button())], "unsupported type: button", "/blocks/0/element/type"),
        ([{"type": "input", "element": text_input()}], "missing required field: label", "/blocks/0"),
        ([{"type": "input", "label": plain("x")}], "missing required field: element", "/blocks/0"),
        ([field(text_input(initial_value="x" * 3001))], "must be less than 3001 characters",
         "/blocks/0/element/initial_value"),
        ([field(text_input(max_length=3001))], "must be between 1 and 3000", "/blocks/0/element/max_length"),
        ([field(text_input(min_length="1"))], "must be an integer", "/blocks/0/element/min_length"),
        ([field(moment(177_763_680))], "must be a 10 digit integer", "/blocks/0/element/initial_date_time"),
    ],
)  # fmt: skip
def test_what_is_beyond_a_limit_is_refused_in_slacks_words_with_its_place(
    found: list[dict[str, Any]], words: str, pointer: str
) -> None:
    assert f"[ERROR] {words} [json-pointer:{pointer}]" in blocks.faults(found)


@pytest.mark.parametrize(
    "block",
    [
        actions(*[button(action_id=f"a{n}") for n in range(25)]),
        actions(button(text=plain("x" * 75), value="v" * 2000, url="https://" + "x" * 2992)),
        actions(button(action_id="a" * 255, style="danger"), {"type": "datetimepicker"}),
        section(accessory=overflow(option("x" * 75, "v" * 150, url="https://x.test"), *CHOICES[:4])),
        section(accessory=overflow(option())),
        section(accessory=select(*CHOICES[:100], initial_option=CHOICES[7])),
        section(accessory={"type": "users_select", "action_id": "who"}),
        section(block_id="b" * 255),
        field(text_input(initial_value="x" * 3000, max_length=3000, min_length=0, multiline=True)),
        field(moment(1_777_636_800), hint=plain("when"), optional=True),
    ],
)
def test_what_is_at_its_limit_is_taken(block: dict[str, Any]) -> None:
    assert blocks.faults([block]) == []


def test_the_same_action_may_stand_in_several_blocks() -> None:
    menus = [section(accessory=overflow(option(value=f"snooze/{n}"), option("Take"))) for n in range(5)]

    assert blocks.faults(menus) == []


def test_every_complaint_is_made_at_once(sandbox: Street) -> None:
    found = [section(accessory=overflow()), actions(button(text=plain("")))]

    with pytest.raises(SlackApiError) as refused:
        slack(sandbox).chat_postMessage(channel="C0OPS", text="x", blocks=found)

    assert refused.value.response["error"] == "invalid_blocks"
    assert refused.value.response["response_metadata"]["messages"] == [
        "[ERROR] must provide at least 1 items [json-pointer:/blocks/0/accessory/options]",
        "[ERROR] must be more than 0 characters [json-pointer:/blocks/1/elements/0/text/text]",
    ]
    assert sandbox.messages() == []


@pytest.mark.parametrize(
    "block,kinds",
    [
        (actions(button(), overflow(option())), ["button", "overflow"]),
        (section(accessory=overflow(option())), ["overflow"]),
        (section(accessory={"type": "image"}), []),
        ({"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}]}, []),
        (field(text_input()), ["plain_text_input"]),
        ({"type": "divider"}, []),
    ],
)
def test_what_can_be_clicked_is_found(block: dict[str, Any], kinds: list[str]) -> None:
    assert [element["type"] for element in blocks.clickable(block)] == kinds


def test_no_kind_of_input_is_a_button() -> None:
    assert {"button", "overflow"} & elements.INPUTS == set()
