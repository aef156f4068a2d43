"""Interactivity by HTTP: where no socket is open, an address of the app's hears, signed as Slack signs."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
from slack_sdk.signature import SignatureVerifier

from tests.sandbox.app import inbox
from tests.sandbox.clients import slack
from tests.sandboxes import Street

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # The example of Slack's own documentation.
SOON_S = 10.0


def click(street: Street, **more: object) -> dict[str, Any]:
    street.control("slack", rate_limit=False)
    button = {
        "type": "button", "action_id": "take", "value": "v", "text": {"type": "plain_text", "text": "Take"}
    }  # fmt: skip
    posted = slack(street).chat_postMessage(
        channel="C0OPS", text="x", blocks=[{"type": "actions", "elements": [button]}]
    )
    asked = {"channel": "C0OPS", "ts": str(posted["ts"]), "user": "U0DANA", "action_id": "take"}
    return street.control("clicks", **{"wait_s": SOON_S, **asked, **more})


def test_a_click_is_posted_and_signed(sandbox: Street) -> None:
    with inbox() as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        outcome = click(sandbox)
    [(headers, body)] = app.got
    [envelope] = sandbox.see("envelopes")

    assert outcome["acknowledged"] is True
    assert SignatureVerifier(SECRET).is_valid_request(body, headers)
    assert not SignatureVerifier("another").is_valid_request(body, headers)
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert json.loads(parse_qs(body.decode())["payload"][0]) == envelope["payload"]
    assert [t["status"] for t in envelope["tries"]] == [200]


def test_it_is_signed_at_the_sandboxs_time(sandbox: Street) -> None:
    sandbox.advance(-3600)
    with inbox() as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        click(sandbox)
    [(headers, body)] = app.got

    assert abs(int(headers["X-Slack-Request-Timestamp"]) - (time.time() - 3600)) < 60
    assert not SignatureVerifier(SECRET).is_valid_request(body, headers)


def test_a_replay_is_the_same_to_the_byte(sandbox: Street) -> None:
    with inbox() as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        outcome = click(sandbox)
        sandbox.advance(60)
        sandbox.control("clicks", replay=outcome["envelope_id"], wait_s=SOON_S)
    first, again = app.got

    assert first == again


@pytest.mark.parametrize("status", [401, 500, 302])
def test_what_the_app_refuses_is_lost_and_not_sent_again(sandbox: Street, status: int) -> None:
    with inbox(status) as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        outcome = click(sandbox, wait_s=1.0)
    [envelope] = sandbox.see("envelopes")

    assert outcome["acknowledged"] is False
    assert (envelope["lost"], [t["status"] for t in envelope["tries"]]) == (True, [status])
    assert len(app.got) == 1


def test_a_dialog_is_answered_in_the_body(sandbox: Street) -> None:
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "x"},
        "submit": {"type": "plain_text", "text": "x"},
        "blocks": [{"type": "divider"}],
    }
    with inbox(content='{"response_action": "errors", "errors": {"b": "no"}}') as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        trigger = str(click(sandbox)["trigger_id"])
        opened = slack(sandbox).views_open(trigger_id=trigger, view=view)["view"]
        outcome = sandbox.control("submissions", view_id=opened["id"], wait_s=SOON_S)
    [shown] = sandbox.see("views")

    assert outcome["answer"]["response_action"] == "errors"
    assert shown["errors"] == {"b": "no"}


@pytest.mark.parametrize("url", ["http://192.0.2.1/slack", "https://127.0.0.1/slack", "ftp://127.0.0.1", "x"])
def test_only_loopback_is_called(sandbox: Street, url: str) -> None:
    with pytest.raises(AssertionError, match="like http://127"):
        sandbox.control("interactivity", url=url)


@pytest.mark.parametrize("channel,status", [("C0OPS", 429), ("#ops", 429), ("C0FAR", 200)])
def test_an_answer_to_a_click_may_meet_a_fault_of_its_channel(
    sandbox: Street, channel: str, status: int
) -> None:
    sandbox.control("slack", channels=[{"name": "ops", "id": "C0OPS"}])
    with inbox() as app:
        sandbox.control("interactivity", url=app.url, signing_secret=SECRET)
        address = str(click(sandbox)["response_url"])
    sandbox.fault("POST /slack-actions/{team}/{id}/{secret}", "429", match={"channel": channel})

    answered = requests.post(address, json={"text": "taken"}, timeout=5)

    assert answered.status_code == status
    assert [word["text"] for word in sandbox.see("ephemerals")] == (["taken"] if status == 200 else [])
