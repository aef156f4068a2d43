"""Messages, threads and private words drawn as HTML, as people see them in Slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from typing import Any

from recon.sandbox import blocks, emoji, mrkdwn
from recon.sandbox.block_drawing import block
from recon.sandbox.interactivity import Ephemeral
from recon.sandbox.slack import BOT_NAME, Message
from recon.sandbox.viewing import Viewing

# A longer thread shows its latest replies, the others on demand, as Slack's own window does.
_REPLIES_SHOWN = 12
_EXCERPT_CHARACTERS = 90


def moment(ts: str) -> datetime:
    """The time that a message's ts tells."""
    return datetime.fromtimestamp(float(ts), UTC)


def thread(root: Message, replies: list[Message | Ephemeral], viewing: Viewing) -> str:
    """A message with its replies nested under it."""
    drawn = message(root, viewing)
    if not replies:
        return f'<section class="thread">{drawn}</section>'
    said = [reply for reply in replies if isinstance(reply, Message)]
    count = f"{len(said)} {'reply' if len(said) == 1 else 'replies'}"
    last = f"Last reply at {moment(replies[-1].ts):%H:%M}"
    return (
        f'<section class="thread">{drawn}<details class="replies" data-key="replies-{escape(root.ts)}" open>'
        f"<summary><b>{count}</b> <span>{last}</span></summary>{_replies(root, replies, viewing)}</details>"
        "</section>"
    )


def item(found: Message | Ephemeral, viewing: Viewing) -> str:
    """A message or a private word, wherever it stands."""
    return word(found, viewing) if isinstance(found, Ephemeral) else message(found, viewing)


def message(found: Message, viewing: Viewing, *, above: str = "", anchor: str = "m") -> str:
    """One message: who, when and what; `above` says how it came here."""
    edited = _edited(found, viewing) if found.edited_ts else ""
    body = _body(found.text, found.blocks, viewing, found.ts)
    name = escape(found.username or BOT_NAME)
    return _article(f"{anchor}{found.ts}", name, found.ts, f"{above}{body}{edited}", avatar=_avatar(found))


def broadcast(found: Message, viewing: Viewing) -> str:
    """A reply as the channel shows it, with the thread that it answers."""
    channel = viewing.workspace.channels[found.channel]
    root = channel.messages.get(found.thread_ts or "")
    about = "" if root is None else mrkdwn.spoken(root.text, viewing.workspace.name_of)
    about = " ".join(about.split())
    short = about if len(about) <= _EXCERPT_CHARACTERS else f"{about[:_EXCERPT_CHARACTERS].rstrip()}…"
    above = (
        f'<p class="above">replied to a thread: <a href="#m{escape(found.thread_ts or "")}">'
        f"{escape(short)}</a></p>"
    )
    return f'<section class="thread">{message(found, viewing, above=above, anchor="b")}</section>'


def word(found: Ephemeral, viewing: Viewing) -> str:
    """What one person was told privately."""
    seen = "you" if viewing.person else escape(viewing.workspace.name_of(found.user))
    above = f'<p class="above">{emoji.draw("eyes")} Only visible to {seen}</p>'
    body = _body(found.text, found.blocks, viewing, found.ts)
    drawn = _article(f"m{found.ts}", BOT_NAME, found.ts, f"{above}{body}", avatar=_ARROWS)
    return f'<div class="private">{drawn}</div>'


def _replies(root: Message, replies: list[Message | Ephemeral], viewing: Viewing) -> str:
    drawn = [_reply(found, viewing) for found in replies]
    earlier = len(drawn) - _REPLIES_SHOWN
    if earlier <= 1:
        return "".join(drawn)
    key = f"earlier-{escape(root.ts)}"
    return (
        f'<details class="earlier" data-key="{key}"><summary>Show {earlier} earlier replies</summary>'
        f"{''.join(drawn[:earlier])}</details>{''.join(drawn[earlier:])}"
    )


def _reply(found: Message | Ephemeral, viewing: Viewing) -> str:
    if isinstance(found, Ephemeral):
        return word(found, viewing)
    above = '<p class="above">Also sent to the channel</p>' if found.broadcast else ""
    return message(found, viewing, above=above)


def _article(anchor: str, name: str, ts: str, content: str, *, avatar: str) -> str:
    at = moment(ts)
    return (
        f'<article class="message" id="{escape(anchor)}">'
        f'<div class="avatar" aria-hidden="true">{avatar}</div>'
        f'<div class="content"><header><b>{name}</b> <i class="app">APP</i> '
        f'<time datetime="{at.isoformat()}" title="{at:%Y-%m-%d %H:%M:%S} UTC">{at:%H:%M}</time></header>'
        f"{content}</div></article>"
    )


def _body(text: str, found: list[dict[str, Any]], viewing: Viewing, ts: str) -> str:
    name_of = viewing.workspace.name_of
    if viewing.spoken:
        spoken = escape(mrkdwn.spoken(text, name_of)).replace("\n", "<br>\n")
        return f'<p class="text">{spoken}</p>' if text else '<p class="text silent">(nothing is read out)</p>'
    if not found:
        return f'<p class="text">{mrkdwn.draw(text, name_of)}</p>'
    # Blocks stand in place of the text, as in Slack.
    return "".join(block(part, viewing, ts) for part in blocks.named(found, seed=ts))


def _edited(found: Message, viewing: Viewing) -> str:
    count = f"{len(found.edits)} earlier {'version' if len(found.edits) == 1 else 'versions'}"
    shown = viewing.versions == found.ts
    address = escape(f"{viewing.address(versions='' if shown else found.ts)}#m{found.ts}")
    link = f'<p class="edited"><a href="{address}" title="{count}">(edited)</a></p>'
    if not shown:
        return link
    before = replace(viewing, still=True)
    versions = "".join(_version(version, before, found.ts) for version in reversed(found.edits))
    return f'{link}<div class="versions">{versions}</div>'


def _version(version: Mapping[str, Any], viewing: Viewing, ts: str) -> str:
    at = moment(version["ts"])
    body = _body(version["text"], version["blocks"], viewing, ts)
    return f'<div class="version"><small>As it was at {at:%H:%M:%S}</small>{body}</div>'


def _avatar(found: Message) -> str:
    return _ARROWS if found.icon is None else emoji.draw(found.icon.strip(":"))


# Two arrows that meet: the books agree.
_ARROWS = (
    '<svg viewBox="0 0 36 36" width="36" height="36"><rect width="36" height="36" rx="8"/>'
    '<path d="M9 14h14m-5-5 5 5-5 5M27 22H13m5-5-5 5 5 5"/></svg>'
)
