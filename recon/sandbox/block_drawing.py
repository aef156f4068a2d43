"""Blocks drawn as HTML as Slack lays them out; what can be clicked is a form that works without a script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from recon.sandbox import blocks, checks, mrkdwn
from recon.sandbox.viewing import Viewing

_SAFE = ("http://", "https://")


def block(item: dict[str, Any], viewing: Viewing, ts: str) -> str:
    """One block of the message of that ts; a kind that this page does not draw is shown as its texts."""
    kind = item.get("type")
    if kind == "header":
        return f"<h3>{text(item.get('text'), viewing)}</h3>"
    if kind == "section":
        return _section(item, viewing, ts)
    if kind == "context":
        return f'<p class="context">{" ".join(_elements(item, viewing, ts))}</p>'
    if kind == "divider":
        return "<hr>"
    if kind == "actions":
        return f'<div class="actions">{" ".join(_elements(item, viewing, ts))}</div>'
    return f'<p class="text">{"<br>".join(mrkdwn.plain(found) for found in blocks.texts(item))}</p>'


def text(found: object, viewing: Viewing) -> str:
    """A text object."""
    if not isinstance(found, dict):
        return ""
    content = str(found.get("text", ""))
    if found.get("type") == "mrkdwn":
        return mrkdwn.draw(content, viewing.workspace.name_of)
    return mrkdwn.plain(content)


def bare(found: object) -> str:
    """A text object where only characters may stand: in an attribute, or as the label of an option."""
    return escape(str(found.get("text", ""))) if isinstance(found, dict) else ""


def _section(item: dict[str, Any], viewing: Viewing, ts: str) -> str:
    parts = []
    if item.get("text") is not None:
        parts.append(f'<p class="text">{text(item["text"], viewing)}</p>')
    if item.get("fields"):
        cells = "".join(f"<p>{text(field, viewing)}</p>" for field in item["fields"])
        parts.append(f'<div class="fields">{cells}</div>')
    drawn = "".join(parts)
    if item.get("accessory") is None:
        return drawn
    accessory = _element(item["accessory"], viewing, ts)
    return f'<div class="beside"><div>{drawn}</div><div class="accessory">{accessory}</div></div>'


def _elements(item: dict[str, Any], viewing: Viewing, ts: str) -> Iterable[str]:
    return (_element(element, viewing, ts) for element in checks.listed(item.get("elements")))


def _element(element: object, viewing: Viewing, ts: str) -> str:
    if not isinstance(element, dict):
        return ""
    kind = element.get("type")
    if kind == "image":
        # Drawing it would be a request to somebody else's server.
        return f'<span class="image">{escape(str(element.get("alt_text", "image")))}</span>'
    if kind == "button":
        return _button(element, viewing, ts)
    if kind == "overflow":
        return _overflow(element, viewing, ts)
    if kind == "static_select":
        return _select(element, viewing, ts)
    return f"<span>{text(element, viewing)}</span>"


def _button(element: dict[str, Any], viewing: Viewing, ts: str) -> str:
    label = text(element.get("text"), viewing)
    style = {"primary": " primary", "danger": " danger"}.get(str(element.get("style")), "")
    address = str(element.get("url", ""))
    if address.startswith(_SAFE):
        return _link(address, label, f"button{style}")
    if viewing.still or address:
        return f'<span class="button{style}" role="button" aria-disabled="true">{label}</span>'
    value = escape(str(element.get("value", "")))
    return _form(
        viewing, ts, element, f'<button class="button{style}" name="value" value="{value}">{label}</button>'
    )


def _overflow(element: dict[str, Any], viewing: Viewing, ts: str) -> str:
    if viewing.still:
        return '<span class="button dots" role="button" aria-disabled="true">&hellip;</span>'
    options = "".join(_option(option, viewing) for option in element.get("options", ()))
    key = escape(f"menu-{ts}-{element.get('action_id')}-{_first(element)}")
    return (
        f'<details class="menu" data-key="{key}"><summary class="button dots" aria-label="More actions">'
        f'&hellip;</summary><div class="options">{_form(viewing, ts, element, options)}</div></details>'
    )


def _option(option: Mapping[str, Any], viewing: Viewing) -> str:
    label = text(option.get("text"), viewing)
    address = str(option.get("url", ""))
    if address.startswith(_SAFE):
        return _link(address, label, "option")
    value = escape(str(option.get("value", "")))
    more = option.get("description")
    below = "" if more is None else f"<small>{text(more, viewing)}</small>"
    return f'<button class="option" name="value" value="{value}">{label}{below}</button>'


def _select(element: dict[str, Any], viewing: Viewing, ts: str) -> str:
    placeholder = bare(element.get("placeholder")) or "Choose an option"
    if viewing.still:
        return f'<span class="button" role="button" aria-disabled="true">{placeholder}</span>'
    inner = (
        f'<select class="button" name="value" data-sends aria-label="{placeholder}" required>'
        f'<option value="">{placeholder}</option>{options(element)}</select>'
        '<button class="button plain">Choose</button>'
    )
    return _form(viewing, ts, element, inner)


def options(element: Mapping[str, Any]) -> str:
    """The options of a select menu, the first one chosen that its app chose."""
    groups = [group.get("options", ()) for group in element.get("option_groups", ())]
    chosen = element.get("initial_option")
    return "".join(
        f'<option value="{escape(str(option["value"]))}"{" selected" if option == chosen else ""}>'
        f"{bare(option.get('text'))}</option>"
        for group in (element.get("options", ()), *groups)
        for option in group
    )


def _form(viewing: Viewing, ts: str, element: Mapping[str, Any], inner: str) -> str:
    channel = "" if viewing.channel is None else viewing.channel.id
    about = viewing.hidden(act="click", channel=channel, ts=ts, action_id=str(element.get("action_id", "")))
    return f'<form class="act" method="post" action="/slack/act">{about}{inner}</form>'


def _first(element: Mapping[str, Any]) -> str:
    return str(next((option.get("value") for option in element.get("options", ())), ""))


def _link(address: str, label: str, kind: str) -> str:
    return f'<a class="{kind}" href="{escape(address)}" rel="noopener noreferrer">{label}</a>'
