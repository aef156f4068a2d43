"""The page as a person uses it, without a script: who looks, what they see, and what their clicks do."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import requests
from slack_sdk import WebClient

from tests.sandbox.app import inbox
from tests.sandbox.clients import slack
from tests.sandbox.scenery import HOSTILE, PEOPLE, Page, dialog, everything, page, send, words
from tests.sandboxes import Street


@pytest.fixture
def client(sandbox: Street) -> WebClient:
    sandbox.control("slack", rate_limit=False, users=PEOPLE)
    return slack(sandbox)


def filled_page(street: Street, client: WebClient, text: str) -> Page:
    """A page with that text wherever somebody else may write one."""
    errors = {"": text, f"{text}1": text}
    with inbox(content=json.dumps({"response_action": "errors", "errors": errors})) as app:
        street.control("slack", users=[{"email": "dana@example.com", "id": "U0DANA", "name": text}])
        street.control("interactivity", url=app.url)
        sent: dict[str, Any] = {
            "channel": "C0OPS",
            "text": text,
            "username": text,
            "blocks": everything(text),
        }
        root = str(client.chat_postMessage(**sent)["ts"])
        client.chat_postMessage(channel="C0OPS", thread_ts=root, text=text, reply_broadcast=True)
        client.chat_postMessage(channel="C0OPS", text=text, icon_emoji=text)
        client.chat_update(channel="C0OPS", ts=root, text=text, blocks=everything(text))
        client.chat_postEphemeral(channel="C0OPS", user="U0DANA", text=text, blocks=everything(text))
        clicked = street.control(
            "clicks", channel="C0OPS", ts=root, user="U0DANA", action_id="b", value=text, wait_s=10
        )
        view = client.views_open(trigger_id=clicked["trigger_id"], view=dialog(text))["view"]
        street.control("submissions", view_id=view["id"], wait_s=10)
        answer = requests.get(f"{street.url}/slack/C0OPS?as=U0DANA&versions={root}", timeout=5)
    assert answer.text.count("alert(1)") >= (10 if "alert" in text else 0)
    return Page(answer.text)


def test_nothing_hostile_becomes_markup(sandbox: Street, client: WebClient) -> None:
    harmless = filled_page(sandbox, client, "0 words that are as long as the other ones, or nearly so")
    sandbox.control("reset")
    sandbox.control("slack", rate_limit=False, users=PEOPLE)
    hostile = filled_page(sandbox, client, HOSTILE)

    assert hostile.tags == harmless.tags
    assert [name for name, _ in hostile.attributes] == [name for name, _ in harmless.attributes]
    assert [
        value
        for name, value in hostile.attributes
        if name in {"href", "src", "action"} and not value.startswith(("/slack", "#", "data:,"))
    ] == []


def test_the_page_runs_its_own_script_and_asks_nothing_of_anybody(sandbox: Street, client: WebClient) -> None:
    answers = [requests.get(f"{sandbox.url}/slack", timeout=5) for _ in range(2)]
    policies = [answer.headers["Content-Security-Policy"] for answer in answers]
    nonces = [re.findall(r"script-src 'nonce-(\w+)'", policy) for policy in policies]

    assert all("default-src 'none'" in policy for policy in policies)
    assert all("unsafe" not in policy.partition("script-src")[2] for policy in policies)
    assert nonces[0] != nonces[1]
    assert [Page(answer.text).tags.count("script") for answer in answers] == [1, 1]
    assert f'<script nonce="{nonces[0][0]}">' in answers[0].text


def test_a_broadcast_reply_stands_in_its_thread_and_in_the_channel(
    sandbox: Street, client: WebClient
) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="*two* cases <http://x.test|open>")["ts"])
    client.chat_postMessage(channel="C0OPS", thread_ts=root, text="opened again", reply_broadcast=True)
    client.chat_postMessage(channel="C0OPS", text="later")

    shown = words(page(sandbox))

    assert re.search(
        r"two cases open .*1 reply.*Also sent to the channel opened again.*"
        r"replied to a thread: two cases open opened again.*later",
        shown,
    )


def test_a_private_word_is_shown_to_whom_it_was_told(sandbox: Street, client: WebClient) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    client.chat_postEphemeral(channel="C0OPS", user="U0DANA", text="only dana")
    client.chat_postEphemeral(channel="C0OPS", user="U0DANA", text="in the thread", thread_ts=root)

    dana, sam, nobody = (words(page(sandbox, f"as={who}")) for who in ("U0DANA", "U0SAM", ""))

    assert "Only visible to you only dana" in dana
    assert re.search(r"root.*0 replies.*in the thread.*only dana", dana)
    assert dana.count("in the thread") == 1
    assert "only dana" not in sam
    assert "in the thread" not in sam
    assert "Only visible to Dana Diaz only dana" in nobody


def test_former_versions_are_shown_on_demand_and_cannot_be_clicked(
    sandbox: Street, client: WebClient
) -> None:
    ts = str(client.chat_postMessage(channel="C0OPS", text="x", blocks=everything("was"))["ts"])
    client.chat_update(channel="C0OPS", ts=ts, text="is")
    html = page(sandbox)
    [link] = re.findall(r'href="([^"]+)" title="1 earlier version"', html)

    opened = requests.get(f"{sandbox.url}{link.replace('&amp;', '&')}", timeout=5).text

    assert "was" not in words(html)
    assert re.search(r"is \(edited\) As it was at [\d:]+ was", words(opened))
    assert [form for form in Page(opened).forms if form.get("act") == "click"] == []


def test_the_text_view_is_what_is_read_out(sandbox: Street, client: WebClient) -> None:
    client.chat_postMessage(
        channel="C0OPS", text="*two* cases, <http://x.test|open> :warning:", blocks=everything("only seen")
    )
    client.api_call("chat.postMessage", json={"channel": "C0OPS", "blocks": everything("mute")})

    html = page(sandbox, "as=U0DANA&view=text")

    assert "two cases, open warning emoji" in words(html)
    assert "(nothing is read out)" in words(html)
    assert "only seen" not in html
    assert "As people see it" in html


def test_a_long_thread_shows_its_latest_replies_first(sandbox: Street, client: WebClient) -> None:
    root = str(client.chat_postMessage(channel="C0OPS", text="root")["ts"])
    for n in range(20):
        client.chat_postMessage(channel="C0OPS", thread_ts=root, text=f"reply {n}.")

    html = page(sandbox)
    folded = html[html.index('<details class="earlier"') :].partition("</details>")[0]

    assert "Show 8 earlier replies" in words(folded)
    assert re.findall(r"reply (\d+)\.", folded) == [str(n) for n in range(8)]
    assert re.findall(r"reply (\d+)\.", html) == [str(n) for n in range(20)]


@pytest.mark.parametrize(
    "query,chosen",
    [
        ("", "U0DANA"),
        ("as=U0SAM", "U0SAM"),
        ("as=sam@example.com", "U0SAM"),
        ("as=", ""),
        ("as=U0AL", ""),
        ("as=x", ""),
    ],
)
def test_somebody_looks_at_the_page(sandbox: Street, client: WebClient, query: str, chosen: str) -> None:
    html = page(sandbox, query)

    assert re.findall(r'<option value="(\w*)" selected', html)[:1] == [chosen]
    assert "Al Ko" not in html


def test_where_nobody_is_yet_one_says_who_one_is(sandbox: Street) -> None:
    slack(sandbox).chat_postMessage(channel="C0OPS", text="x")

    before, after = page(sandbox, ""), page(sandbox, "as=new.person@example.com")

    assert 'placeholder="your e-mail"' in before
    assert re.search(r'<option value="U\w+" selected>New Person<', after)


def test_a_button_clicks_for_who_looks(sandbox: Street, client: WebClient) -> None:
    client.chat_postMessage(channel="C0OPS", text="x", blocks=everything("go"))
    found = Page(page(sandbox, "as=U0SAM"))
    at = next(
        at for at, name, value in found.buttons if value == "go" and found.forms[at]["action_id"] == "b"
    )

    with inbox() as app:
        sandbox.control("interactivity", url=app.url)
        answer = send(sandbox, {**found.forms[at], "value": "go"})
    [envelope] = sandbox.see("envelopes")

    assert (answer.status_code, answer.url) == (200, f"{sandbox.url}/slack/C0OPS?as=U0SAM")
    assert (envelope["payload"]["user"]["id"], envelope["payload"]["actions"][0]["value"]) == ("U0SAM", "go")


def test_a_menu_has_its_choices_as_buttons(sandbox: Street, client: WebClient) -> None:
    client.chat_postMessage(channel="C0OPS", text="x", blocks=everything("go"))
    found = Page(page(sandbox))

    assert [value for at, _, value in found.buttons if found.forms[at].get("action_id") == "go"] == [
        "go",
        "other",
    ]
    assert {form["value"] for form in found.forms if form.get("action_id") == "go" and "value" in form} == {
        ""
    }


@pytest.mark.parametrize(
    "change,listens,note",
    [
        ({}, False, "Nobody listens"),
        ({}, True, "The app did not answer"),
        ({"as": ""}, True, "Choose who you are"),
        ({"value": "gone"}, True, "cannot be done here any more"),
        ({"act": "submit", "view_id": "V0GONE"}, True, "cannot be done here any more"),
        ({"ts": "1.000001"}, True, "cannot be done here any more"),
    ],
)
def test_what_went_wrong_is_said(
    sandbox: Street, client: WebClient, change: dict[str, str], *, listens: bool, note: str
) -> None:
    client.chat_postMessage(channel="C0OPS", text="x", blocks=everything("go"))
    if listens:
        sandbox.control("interactivity", url="http://127.0.0.1:1/nobody")
    form = next(form for form in Page(page(sandbox)).forms if form.get("action_id") == "b")

    answer = send(sandbox, {**form, "value": "go"} | change)

    assert note in words(answer.text)


@pytest.mark.parametrize("back", ["https://example.com/slack", "//example.com", "/slackx", "/_sandbox/x", ""])
def test_a_form_leads_back_to_the_page_only(sandbox: Street, client: WebClient, back: str) -> None:
    answer = requests.post(f"{sandbox.url}/slack/act", data={"back": back}, timeout=5, allow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["Location"].partition("?")[0] == "/slack"
