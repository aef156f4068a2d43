"""Messages and their blocks drawn as HTML, as Slack lays them out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

from recon.sandbox import blocks, emoji, mrkdwn
from recon.sandbox.slack import BOT_NAME, Message, Workspace


def moment(ts: str) -> datetime:
    """The time that a message's ts tells."""
    return datetime.fromtimestamp(float(ts), UTC)


def thread(root: Message, replies: list[Message], workspace: Workspace) -> str:
    """A message with its replies nested under it."""
    drawn = message(root, workspace)
    if not replies:
        return f'<section class="thread">{drawn}</section>'
    count = f"{len(replies)} {'reply' if len(replies) == 1 else 'replies'}"
    last = f"{moment(replies[-1].ts):%H:%M}"
    inner = "".join(message(reply, workspace) for reply in replies)
    return (
        f'<section class="thread">{drawn}<details class="replies" open><summary><b>{count}</b> '
        f"<span>Last reply at {last}</span></summary>{inner}</details></section>"
    )


def message(item: Message, workspace: Workspace) -> str:
    """One message: who, when and what; blocks stand in place of the text, as in Slack."""
    at = moment(item.ts)
    name = escape(item.username or BOT_NAME)
    edits = f"{len(item.edits)} earlier {'version' if len(item.edits) == 1 else 'versions'}"
    edited = f' <small class="edited" title="{edits}">(edited)</small>' if item.edited_ts else ""
    body = (
        "".join(block(b, workspace) for b in item.blocks) + edited
        if item.blocks
        else f'<p class="text">{_draw(item.text, workspace)}{edited}</p>'
    )
    return (
        f'<article class="message" id="m{escape(item.ts)}"><div class="avatar" aria-hidden="true">'
        f"{_avatar(item)}</div>"
        f'<div class="content"><header><b>{name}</b> <i class="app">APP</i> '
        f'<time datetime="{at.isoformat()}" title="{at:%Y-%m-%d %H:%M:%S} UTC">{at:%H:%M}</time></header>'
        f"{body}</div></article>"
    )


def block(item: dict[str, Any], workspace: Workspace) -> str:
    """One block; a kind that this page does not draw is shown as its texts."""
    kind = item.get("type")
    if kind == "header":
        return f"<h3>{_text(item.get('text'), workspace)}</h3>"
    if kind == "section":
        return _section(item, workspace)
    if kind == "context":
        return f'<p class="context">{" ".join(_elements(item, workspace))}</p>'
    if kind == "divider":
        return "<hr>"
    if kind == "actions":
        return f'<p class="actions">{" ".join(_elements(item, workspace))}</p>'
    return f'<p class="text">{"<br>".join(mrkdwn.plain(text) for text in blocks.texts(item))}</p>'


def _section(item: dict[str, Any], workspace: Workspace) -> str:
    parts = []
    if item.get("text") is not None:
        parts.append(f'<p class="text">{_text(item["text"], workspace)}</p>')
    if item.get("fields"):
        cells = "".join(f"<p>{_text(field, workspace)}</p>" for field in item["fields"])
        parts.append(f'<div class="fields">{cells}</div>')
    drawn = "".join(parts)
    if item.get("accessory") is None:
        return drawn
    accessory = _element(item["accessory"], workspace)
    return f'<div class="beside"><div>{drawn}</div><p class="actions">{accessory}</p></div>'


def _elements(item: dict[str, Any], workspace: Workspace) -> Iterable[str]:
    return (_element(element, workspace) for element in item.get("elements", []))


def _element(element: dict[str, Any], workspace: Workspace) -> str:
    kind = element.get("type")
    if kind == "image":
        # Drawing it would be a request to somebody else's server.
        return f'<span class="image">{escape(str(element.get("alt_text", "image")))}</span>'
    if kind != "button":
        return f"<span>{_text(element, workspace)}</span>"
    label = _text(element.get("text"), workspace)
    style = {"primary": " primary", "danger": " danger"}.get(str(element.get("style")), "")
    address = str(element.get("url", ""))
    if address.startswith(("http://", "https://")):
        return f'<a class="button{style}" href="{escape(address)}" rel="noopener noreferrer">{label}</a>'
    return f'<span class="button{style}" role="button" aria-disabled="true">{label}</span>'


def _text(text: object, workspace: Workspace) -> str:
    if not isinstance(text, dict):
        return ""
    content = str(text.get("text", ""))
    return _draw(content, workspace) if text.get("type") == "mrkdwn" else mrkdwn.plain(content)


def _draw(text: str, workspace: Workspace) -> str:
    return mrkdwn.draw(text, workspace.name_of)


def _avatar(item: Message) -> str:
    if item.icon is not None:
        return emoji.draw(item.icon.strip(":"))
    # Two arrows that meet: the books agree.
    return (
        '<svg viewBox="0 0 36 36" width="36" height="36"><rect width="36" height="36" rx="7"/>'
        '<path d="M9 14h14m-5-5 5 5-5 5M27 22H13m5-5-5 5 5 5"/></svg>'
    )
