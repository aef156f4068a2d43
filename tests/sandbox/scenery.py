"""What the /slack page is tested with: people, messages and dialogs with one of each thing, and its forms."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import requests

from tests.sandboxes import Street

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> <javascript:alert(1)|click> &lt;b&gt;"

PEOPLE: list[dict[str, Any]] = [
    {"email": "dana@example.com", "id": "U0DANA", "name": "Dana Diaz"},
    {"email": "sam@example.com", "id": "U0SAM", "name": "Sam Lee"},
    {"email": "al@example.com", "id": "U0AL", "name": "Al Ko", "deleted": True},
]


class Page(HTMLParser):
    """Every tag and attribute of a page, and its forms as a browser would send them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.forms: list[dict[str, str]] = []
        self.buttons: list[tuple[int, str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += found.items()
        if tag == "form":
            self.forms.append({})
        elif tag in {"input", "textarea", "select"}:
            self.forms[-1][found["name"]] = found.get("value", "")
        elif tag == "button" and "name" in found:
            self.buttons.append((len(self.forms) - 1, found["name"], found["value"]))


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def option(text: str, value: str) -> dict[str, Any]:
    return {"text": plain(text), "value": value}


def everything(text: str) -> list[dict[str, Any]]:
    """One of each thing that can be clicked, with a text wherever one stands."""
    options = [option(text[:75], text[:150]), option("other", "other")]
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return [
        {"type": "header", "text": plain(text)},
        {**section, "accessory": {"type": "overflow", "action_id": text, "options": options}},
        {
            "type": "actions",
            "elements": [
                {"type": "button", "action_id": "b", "value": text, "text": plain(text[:75])},
                {"type": "button", "action_id": "u", "url": f"javascript:{text}", "text": plain(text[:75])},
                {"type": "static_select", "action_id": text, "placeholder": plain(text), "options": options},
            ],
        },
        {"type": "image", "image_url": "http://example.com/x.png", "alt_text": text},
    ]


def dialog(text: str) -> dict[str, Any]:
    choice = {"type": "static_select", "placeholder": plain(text), "options": [option(text[:75], text[:150])]}
    words: dict[str, Any] = {"type": "plain_text_input", "placeholder": plain(text), "initial_value": text}
    inputs = [choice, words, {**words, "multiline": True}, {"type": "datetimepicker"}]
    return {
        "type": "modal",
        "title": plain(text[:24]),
        "submit": plain(text[:24]),
        "close": plain(text[:24]),
        "private_metadata": text,
        "blocks": [
            *everything(text),
            *[
                {
                    "type": "input",
                    "block_id": f"{text}{n}",
                    "label": plain(text),
                    "hint": plain(text),
                    "optional": True,
                    "element": {**element, "action_id": text},
                }
                for n, element in enumerate(inputs)
            ],
        ],
    }


def page(street: Street, query: str = "as=U0DANA", channel: str = "C0OPS") -> str:
    return requests.get(f"{street.url}/slack/{channel}?{query}", timeout=5).text


def words(html: str) -> str:
    body = re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", body)


def send(street: Street, form: dict[str, str]) -> requests.Response:
    return requests.post(f"{street.url}/slack/act", data=form, timeout=15)
