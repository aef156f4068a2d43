"""Slack's mrkdwn drawn as HTML; whatever it does not understand is shown as text, and nothing is trusted."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape

from recon.sandbox import emoji

_STYLES = (
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])"), r"<em>\1</em>"),
    (re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])"), r"<s>\1</s>"),
)
_BLOCK_CODE = re.compile(r"```\n?(.+?)\n?```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"<([^<>\n]+)>")
# No emoji is named by two digits, and the minutes of every time would be one.
_COLON = re.compile(r":(?!\d\d:)([a-z0-9_+\-]+):")
_QUOTE = re.compile(r"(?m)^&gt; ?(.*)$")
_STASHED = re.compile("\x00(\\d+)\x00")


def draw(text: str, name_of: Callable[[str], str]) -> str:
    """The text as HTML; `name_of` says how people see a user, group or channel id."""
    stash: list[str] = []

    def put(html: str) -> str:
        stash.append(html)
        return f"\x00{len(stash) - 1}\x00"

    text = text.replace("\x00", "")
    text = _BLOCK_CODE.sub(lambda m: put(f"<pre>{_safe(m[1])}</pre>"), text)
    text = _CODE.sub(lambda m: put(f"<code>{_safe(m[1])}</code>"), text)
    text = _TOKEN.sub(lambda m: put(_token(m[1], name_of)), text)
    text = _COLON.sub(lambda m: put(emoji.draw(m[1])), text)
    text = _safe(text)
    for pattern, html in _STYLES:
        text = pattern.sub(html, text)
    text = _QUOTE.sub(r"<blockquote>\1</blockquote>", text)
    text = text.replace("</blockquote>\n", "</blockquote>").replace("\n", "<br>\n")
    return _unstash(text, stash)


def spoken(text: str, name_of: Callable[[str], str]) -> str:
    """The text as a screen reader says it, without marks and addresses; not yet HTML."""
    text = _BLOCK_CODE.sub(r"\1", text)
    text = _CODE.sub(r"\1", text)
    text = _TOKEN.sub(lambda m: _said(m[1], name_of), text)
    text = _COLON.sub(lambda m: f"{m[1].replace('_', ' ')} emoji", text)
    for pattern, _ in _STYLES:
        text = pattern.sub(r"\1", text)
    return _bare(text)


def plain(text: str) -> str:
    """Plain text as HTML; emoji names are drawn, nothing else."""
    parts: list[str] = []
    at = 0
    for match in _COLON.finditer(text):
        parts += [escape(text[at : match.start()]), emoji.draw(match[1])]
        at = match.end()
    return "".join([*parts, escape(text[at:])]).replace("\n", "<br>\n")


def _unstash(text: str, stash: list[str]) -> str:
    while _STASHED.search(text):
        text = _STASHED.sub(lambda m: stash[int(m[1])], text)
    return text


def _said(token: str, name_of: Callable[[str], str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("!date^"):
        return _date(target, label)
    if target.startswith("!subteam^"):
        return f"@{label.removeprefix('@') or name_of(target.removeprefix('!subteam^'))}"
    if target[:1] in {"@", "#"}:
        return f"{target[0]}{label or name_of(target[1:])}"
    if target in {"!here", "!channel", "!everyone"}:
        return f"@{target[1:]}"
    return label or target if _is_address(target) else f"<{token}>"


def _token(token: str, name_of: Callable[[str], str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return f'<span class="mention">@{_safe(label or name_of(target[1:]))}</span>'
    if target.startswith("#"):
        return f'<span class="mention">#{_safe(label or name_of(target[1:]))}</span>'
    if target.startswith("!subteam^"):
        shown = label.removeprefix("@") or name_of(target.removeprefix("!subteam^"))
        return f'<span class="mention">@{_safe(shown)}</span>'
    if target.startswith("!date^"):
        return _safe(_date(target, label))
    if target in {"!here", "!channel", "!everyone"}:
        return f'<span class="mention loud">@{target[1:]}</span>'
    return link(target, label or target) if _is_address(target) else _safe(f"<{token}>")


def link(address: str, label: str) -> str:
    """A link, or its label alone where the address is nothing that a person may follow."""
    if not _is_address(address):
        return _safe(label)
    return f'<a href="{_safe(address)}" rel="noopener noreferrer">{_safe(label)}</a>'


def _is_address(target: str) -> bool:
    return target.startswith(("http://", "https://", "mailto:"))


def _date(target: str, label: str) -> str:
    parts = target.split("^")
    try:
        moment = datetime.fromtimestamp(int(parts[1]), UTC)
    except (IndexError, ValueError, OverflowError, OSError):
        return label
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _safe(text: str) -> str:
    return escape(_bare(text))


def _bare(text: str) -> str:
    # Slack's three entities stand for what they say; everything is escaped once, for this page.
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
