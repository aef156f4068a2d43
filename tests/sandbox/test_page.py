from __future__ import annotations

import re
from typing import Any

import pytest
import requests
from slack_sdk import WebClient

from recon.sandbox import emoji, mrkdwn
from tests.sandbox.clients import slack
from tests.sandboxes import Street


def unhurried(street: Street) -> WebClient:
    street.control("slack", rate_limit=False)
    return slack(street)


def page(street: Street, channel: str = "") -> str:
    return requests.get(f"{street.url}/slack{channel and '/'}{channel}", timeout=5).text


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL))


def test_an_empty_workspace_says_so(sandbox: Street) -> None:
    assert "No message yet" in page(sandbox)


def test_the_root_leads_to_it(sandbox: Street) -> None:
    assert requests.get(sandbox.url, timeout=5).url == f"{sandbox.url}/slack"


def test_an_unknown_channel_is_not_found(sandbox: Street) -> None:
    answer = requests.get(f"{sandbox.url}/slack/<i>ops", timeout=5)

    assert answer.status_code == 404
    assert "There is no channel <b>&lt;i&gt;ops</b>" in answer.text


def test_the_page_opens_on_the_channel_spoken_in_last(sandbox: Street) -> None:
    client = unhurried(sandbox)
    client.chat_postMessage(channel="#payments", text="first word")
    client.chat_postMessage(channel="#ops", text="last word")

    html = page(sandbox)

    assert "last word" in html
    assert "first word" not in html
    assert "# payments" in html
    assert "first word" in page(sandbox, "payments")


def test_a_thread_is_nested_under_its_root_and_an_edit_is_marked(sandbox: Street) -> None:
    client = unhurried(sandbox)
    root = str(client.chat_postMessage(channel="#ops", text="root was")["ts"])
    for n in range(3):
        client.chat_postMessage(channel="#ops", text=f"reply {n}", thread_ts=root)
    client.chat_update(channel="ops", ts=root, text="root is")

    shown = words(page(sandbox))

    assert "root was" not in shown
    assert re.search(r"root is \(edited\).*3 replies.*reply 0.*reply 1.*reply 2", shown)


def test_every_kind_of_block_is_drawn(sandbox: Street) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": "A *header*"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "A *section*"}},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": f"field {n}"} for n in range(2)]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "a context"}]},
        {"type": "divider"},
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "url": "http://127.0.0.1/case",
                    "text": {"type": "plain_text", "text": "Open"},
                },
                {"type": "button", "url": "javascript:x", "text": {"type": "plain_text", "text": "Bad"}},
            ],
        },
    ]
    slack(sandbox).chat_postMessage(channel="#ops", text="only the fallback", blocks=blocks)

    html = page(sandbox)

    assert "<h3>A *header*</h3>" in html
    assert "A <strong>section</strong>" in html
    assert "<p>field 0</p><p>field 1</p>" in html
    assert "a context" in html
    assert "<hr>" in html
    assert 'href="http://127.0.0.1/case"' in html
    assert "Bad" in html
    assert "javascript:" not in html
    assert "only the fallback" not in html


@pytest.mark.parametrize(
    "text,html",
    [
        ("*bold* _it_ ~gone~", "<strong>bold</strong> <em>it</em> <s>gone</s>"),
        ("2*3*4 snake_case_name", "2*3*4 snake_case_name"),
        ("* not bold *", "* not bold *"),
        ("`a *b* <c>`", "<code>a *b* &lt;c&gt;</code>"),
        ("```\nx < y\n```", "<pre>x &lt; y</pre>"),
        (
            "<https://x.test/?a=1&amp;b=2|the *case*>",
            '<a href="https://x.test/?a=1&amp;b=2" rel="noopener noreferrer">the *case*</a>',
        ),
        ("<https://x.test>", '<a href="https://x.test" rel="noopener noreferrer">https://x.test</a>'),
        ("<@U0DANA>", '<span class="mention">@Dana</span>'),
        ("<!subteam^S0PAY|@pay>", '<span class="mention">@pay</span>'),
        ("<#C0OPS|ops>", '<span class="mention">#ops</span>'),
        ("<!channel>", '<span class="mention loud">@channel</span>'),
        ("<!date^1777636800^{date}|then>", "2026-05-01 12:00 UTC"),
        ("<!date^soon^{date}|then>", "then"),
        ("&lt;b&gt; &amp;amp;", "&lt;b&gt; &amp;amp;"),
        ("<b>", "&lt;b&gt;"),
        ("&gt; said\nnext", "<blockquote>said</blockquote>next"),
        ("• one\n- two", "• one<br>\n- two"),
        (":no_such:", ":no_such:"),
        ("10:30:00", "10:30:00"),
        ("\x000\x00 `x`", "0 <code>x</code>"),
    ],
)
def test_mrkdwn_is_drawn_as_slack_draws_it(text: str, html: str) -> None:
    assert mrkdwn.draw(text, {"U0DANA": "Dana"}.__getitem__) == html


@pytest.mark.parametrize(
    "text,said",
    [
        ("*bold* _it_ ~gone~ `code`", "bold it gone code"),
        ("<https://x.test/?a=1&amp;b=2|the case>", "the case"),
        ("<https://x.test>", "https://x.test"),
        ("<@U0DANA> <#C0OPS|ops> <!subteam^S0PAY|@pay>", "@Dana #ops @pay"),
        ("<!here> <!date^1777636800^{date}|then>", "@here 2026-05-01 12:00 UTC"),
        (":red_circle: critical", "red circle emoji critical"),
        ("at 12:01:30 UTC :eyes:", "at 12:01:30 UTC eyes emoji"),
        ("of :100:2", "of 100 emoji2"),
        ("&lt;b&gt; <b>", "<b> <b>"),
        ("```\nx\n```", "x"),
    ],
)
def test_a_screen_reader_reads_words_only(text: str, said: str) -> None:
    assert mrkdwn.spoken(text, {"U0DANA": "Dana"}.__getitem__) == said


@pytest.mark.parametrize("name", ["red_circle", "white_check_mark", "warning", "moneybag"])
def test_a_known_emoji_is_drawn_with_its_name_for_who_cannot_see_it(name: str) -> None:
    drawn = emoji.draw(name)

    assert f'aria-label="{name.replace("_", " ")}"' in drawn
    assert mrkdwn.plain(f"<:{name}:") == f"&lt;{drawn}"
