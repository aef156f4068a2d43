"""Slack's blocks: a stranger's text made harmless, and a message laid out within Slack's limits.

Never decides what is said: rules/notices.py does.
"""

import unicodedata
from collections.abc import Iterable

from recon.model.records.notices import Block, Message

VALUE_LIMIT = 60  # Characters of a stranger's id: the longest of the provider's has half of them.
SENTENCE_LIMIT = 300  # Characters of a stranger's or our own sentence: ours are shorter.
# Characters; Slack's limit is 3,000. Source: https://docs.slack.dev/reference/block-kit/blocks
SECTION_LIMIT = 2_900


def message(text: str, title: str, lines: Iterable[str]) -> Message:
    """Return the plain text with its layout: a header over paragraphs."""
    return Message(text, (header(title), *(section(line) for line in lines)))


def header(title: str) -> Block:
    """Return a heading of our own words: nothing in it is a link or a mention."""
    return {"type": "header", "text": {"type": "plain_text", "text": title}}


def context(text: str) -> Block:
    """Return a line in small print, made into nothing by Slack itself."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}]}


def sections(lines: Iterable[str]) -> list[Block]:
    """Return lines as sections, each as full as it may be."""
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + len(line) < SECTION_LIMIT:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return [section(text) for text in texts]


def section(text: str, accessory: Block | None = None) -> Block:
    """Return one paragraph, in which Slack makes nothing into a link or a mention by itself.

    accessory: what stands at its right, to be clicked.
    """
    block: Block = {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
    return block if accessory is None else block | {"accessory": accessory}


def overflow(action_id: str, options: Iterable[tuple[str, str, str | None]]) -> Block:
    """Return a menu of two to five options: what each says, what it gives back, and the page it opens."""
    return {
        "type": "overflow",
        "action_id": action_id,
        "options": [
            {"text": {"type": "plain_text", "text": said}, "value": value} | ({"url": url} if url else {})
            for said, value, url in options
        ],
    }


def code(text: str) -> str:
    """Return a stranger's id set apart from our words."""
    return f"`{clean(text, limit=VALUE_LIMIT)}`"


def clean(text: str, *, limit: int = SENTENCE_LIMIT) -> str:
    """Return a stranger's text in one line that cannot ping, link, strike or turn around.

    limit: characters of what is returned, escapes counted.
    """
    plain = "".join(
        " " if unicodedata.category(each)[0] in "CZ" else "'" if each in "`*~" else each for each in text
    )
    plain = " ".join(plain.split())
    if len(escaped(plain)) <= limit:
        return escaped(plain)
    kept = ""
    for each in map(escaped, plain):
        if len(kept) + len(each) >= limit:
            break
        kept += each
    return f"{kept}…"


def escaped(text: str) -> str:
    """Return text with the three characters that Slack gives a meaning escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
