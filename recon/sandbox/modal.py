"""An open dialog drawn as a form, as Slack lays one out over the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from typing import Any

from recon.sandbox import elements, views
from recon.sandbox.block_drawing import bare, block, options, text
from recon.sandbox.viewing import Viewing
from recon.sandbox.views import View


def draw(view: View, viewing: Viewing) -> str:
    """The dialog that a person has before them."""
    content = view.content
    body = "".join(_part(part, view, viewing) for part in content["blocks"])
    whole = view.errors.get("")
    said = "" if whole is None else f'<p class="error" role="alert">{escape(whole)}</p>'
    close = text(content.get("close"), viewing) or "Cancel"
    submit = ""
    if content.get("submit") is not None:
        label = text(content["submit"], viewing)
        submit = f'<button class="button primary" name="act" value="submit">{label}</button>'
    shut = '<button class="shut" name="act" value="close" formnovalidate aria-label="Close">&times;</button>'
    return (
        '<div class="backdrop"><form class="modal" role="dialog" aria-modal="true" aria-labelledby="dialog" '
        f'method="post" action="/slack/act" data-key="{escape(view.id)}-{escape(view.hash)}">'
        f"{viewing.hidden(view_id=view.id)}"
        f'<header><h2 id="dialog">{text(content["title"], viewing)}</h2>{shut}</header>'
        f'<div class="fill">{said}{body}</div><footer>'
        f'<button class="button" name="act" value="close" formnovalidate>{close}</button>{submit}'
        "</footer></form></div>"
    )


def name(block_id: str, action_id: str) -> str:
    """The name of a form's field; both ids may hold anything."""
    return f"field:{len(block_id)}:{block_id}:{action_id}"


def values(form: Mapping[str, str], view: View) -> dict[str, dict[str, str]]:
    """What was filled into the fields, by block and action; the browser's times are in UTC here."""
    found: dict[str, dict[str, str]] = {}
    for part in views.inputs(view):
        element = part["element"]
        value = form.get(name(part["block_id"], element["action_id"]))
        if value is not None:
            moment = element["type"] == "datetimepicker" and value
            found[part["block_id"]] = {element["action_id"]: f"{value}Z" if moment else value}
    return found


def _part(part: dict[str, Any], view: View, viewing: Viewing) -> str:
    if part["type"] != "input":
        # Slack lets people click here too; no dialog of ours asks them to, and a form holds no other form.
        return block(part, replace(viewing, still=True), view.id)
    element = part["element"]
    field = name(part["block_id"], element["action_id"])
    optional = ' <span class="optional">(optional)</span>' if part.get("optional") else ""
    error = view.errors.get(part["block_id"])
    said = "" if error is None else f'<p class="error" role="alert">{escape(error)}</p>'
    hint = "" if part.get("hint") is None else f'<p class="hint">{text(part["hint"], viewing)}</p>'
    filled = view.state.get(part["block_id"], {}).get(element["action_id"])
    drawn = _field(_refilled(element, filled), field, required=not part.get("optional"))
    return (
        f'<div class="field{"" if error is None else " wrong"}"><label for="{escape(field)}">'
        f"{text(part['label'], viewing)}{optional}</label>{drawn}{hint}{said}</div>"
    )


def _refilled(element: dict[str, Any], filled: dict[str, Any] | None) -> dict[str, Any]:
    """The element as the person left it, where the dialog was sent before and is still open."""
    if filled is None:
        return element
    return {
        **element,
        "initial_value": filled.get("value"),
        "initial_option": filled.get("selected_option"),
        "initial_date_time": filled.get("selected_date_time"),
    }


def _field(element: dict[str, Any], field: str, *, required: bool) -> str:
    about = f'id="{escape(field)}" name="{escape(field)}"{" required" if required else ""}'
    placeholder = bare(element.get("placeholder"))
    if element["type"] == "static_select":
        first = f'<option value="">{placeholder or "Select an option"}</option>'
        return f"<select {about}>{first}{options(element)}</select>"
    if element["type"] == "datetimepicker":
        seconds = element.get("initial_date_time")
        value = "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M}"
        return f'<span class="moment"><input type="datetime-local" {about} value="{value}"> UTC</span>'
    longest = f' maxlength="{int(element.get("max_length") or elements.INPUT_LIMIT)}"'
    value = escape(str(element.get("initial_value") or ""))
    if element.get("multiline"):
        return f'<textarea rows="4" {about}{longest} placeholder="{placeholder}">{value}</textarea>'
    return f'<input type="text" {about}{longest} placeholder="{placeholder}" value="{value}">'
