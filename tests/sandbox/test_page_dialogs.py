"""Dialogs on the page: filled in, sent, objected to and put away, without a script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from slack_sdk import WebClient

from tests.sandbox.app import inbox
from tests.sandbox.clients import slack
from tests.sandbox.scenery import PEOPLE, Page, dialog, everything, option, page, send, words
from tests.sandboxes import Street


@pytest.fixture
def client(sandbox: Street) -> WebClient:
    sandbox.control("slack", rate_limit=False, users=PEOPLE)
    return slack(sandbox)


def opened(street: Street, client: WebClient, view: dict[str, Any]) -> str:
    """Let Dana open a dialog; its id."""
    posted = client.chat_postMessage(channel="C0OPS", text="x", blocks=everything("go"))
    asked = {"channel": "C0OPS", "ts": str(posted["ts"]), "user": "U0DANA", "action_id": "b"}
    trigger = street.control("clicks", **asked)["trigger_id"]
    return str(client.views_open(trigger_id=trigger, view=view)["view"]["id"])


def test_a_dialog_is_filled_in_and_sent(sandbox: Street, client: WebClient) -> None:
    with inbox() as app:
        sandbox.control("interactivity", url=app.url)
        opened(sandbox, client, dialog("words"))
        form = next(form for form in Page(page(sandbox)).forms if "view_id" in form)
        fields = [name for name in form if name.startswith("field:")]
        filled = dict(zip(fields, ("words", "said", "more", "2026-05-01T12:00"), strict=True))
        answer = send(sandbox, {**form, **filled, "act": "submit"})
        state = sandbox.see("envelopes")[-1]["payload"]["view"]["state"]["values"]

    assert [next(iter(block.values())) for block in state.values()] == [
        {"type": "static_select", "selected_option": option("words", "words")},
        {"type": "plain_text_input", "value": "said"},
        {"type": "plain_text_input", "value": "more"},
        {"type": "datetimepicker", "selected_date_time": 1_777_636_800},
    ]
    assert "view_id" not in answer.text
    assert sandbox.see("views") == []


def test_a_dialog_is_seen_by_one_person(sandbox: Street, client: WebClient) -> None:
    sandbox.control("interactivity", url="http://127.0.0.1:1/nobody")
    opened(sandbox, client, dialog("words"))

    assert [who for who in ("U0DANA", "U0SAM", "") if 'role="dialog"' in page(sandbox, f"as={who}")] == [
        "U0DANA"
    ]


def test_what_the_app_objects_to_stands_at_its_field_with_what_was_filled_in(
    sandbox: Street, client: WebClient
) -> None:
    with inbox(content='{"response_action": "errors", "errors": {"words1": "Say more."}}') as app:
        sandbox.control("interactivity", url=app.url)
        opened(sandbox, client, dialog("words"))
        form = next(form for form in Page(page(sandbox)).forms if "view_id" in form)
        fields = [name for name in form if name.startswith("field:")]
        html = send(sandbox, {**form, fields[1]: "short", "act": "submit"}).text
    again = next(form for form in Page(html).forms if "view_id" in form)

    assert re.search(r'class="field wrong".*value="short".*Say more\.', html)
    assert again[fields[1]] == "short"


def test_a_dialog_can_be_put_away(sandbox: Street, client: WebClient) -> None:
    sandbox.control("interactivity", url="http://127.0.0.1:1/nobody")
    view = opened(sandbox, client, dialog("words"))
    sandbox.control("interactivity", url=None)

    answer = send(sandbox, {"act": "close", "view_id": view, "as": "U0DANA", "back": "/slack"})

    assert 'role="dialog"' not in answer.text
    assert sandbox.see("views") == []


def test_what_slacks_form_refuses_is_said_in_the_dialog(sandbox: Street, client: WebClient) -> None:
    sandbox.control("interactivity", url="http://127.0.0.1:1/nobody")
    view = dialog("words")
    view["blocks"][-1].pop("optional")
    found = opened(sandbox, client, view)

    html = send(sandbox, {"act": "submit", "view_id": found, "as": "U0DANA", "back": "/slack?as=U0DANA"}).text

    assert "Please complete this required field" in words(html)
