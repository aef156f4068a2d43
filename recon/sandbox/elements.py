"""Slack's limits on what people can click, choose and fill in.

Source: https://docs.slack.dev/reference/block-kit/block-elements and /composition-objects. Kinds that this
product does not use are known by name, and are not looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recon.sandbox import checks

BUTTON_LIMIT = 75
VALUE_LIMIT = 2000
ADDRESS_LIMIT = 3000
OVERFLOW_LIMIT = 5
OPTIONS_LIMIT = 100
OPTION_LIMIT = 75
OPTION_VALUE_LIMIT = 150
PLACEHOLDER_LIMIT = 150
INPUT_LIMIT = 3000

_OTHER_SELECTS = frozenset(
    {
        f"{many}{what}_select"
        for many in ("", "multi_")
        for what in ("external", "users", "conversations", "channels")
    }
)
_CHOICES = frozenset({"static_select", "multi_static_select", "checkboxes", "radio_buttons"}) | _OTHER_SELECTS
# Which kinds stand where.
ACCESSORIES = _CHOICES | {"button", "overflow", "datepicker", "timepicker", "image", "workflow_button"}
ACTIONS = (ACCESSORIES | {"datetimepicker", "icon_button"}) - {"image"}
INPUTS = _CHOICES | {
    "plain_text_input",
    "datetimepicker",
    "datepicker",
    "timepicker",
    "email_text_input",
    "url_text_input",
    "number_input",
    "rich_text_input",
    "file_input",
}
_CONFIRM: Mapping[str, int] = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
# Ten digits: https://docs.slack.dev/reference/block-kit/block-elements/datetime-picker-element.
_SECONDS = (1_000_000_000, 9_999_999_999)


def faults(element: object, at: str, *, allowed: frozenset[str]) -> Iterator[str]:
    """Why Slack would refuse an element at that place."""
    if not isinstance(element, dict):
        yield checks.complaint("must provide an object", at)
        return
    kind = element.get("type")
    if kind not in allowed:
        yield checks.complaint(f"unsupported type: {kind}", f"{at}/type")
        return
    if kind == "image":
        return
    yield from checks.length(element.get("action_id"), f"{at}/action_id", checks.ID_LIMIT)
    if element.get("confirm") is not None:
        yield from _confirm(element["confirm"], f"{at}/confirm")
    yield from _KINDS.get(str(kind), _nothing)(element, at)


def _nothing(_element: dict[str, Any], _at: str) -> Iterator[str]:
    yield from ()


def _button(element: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.text(element.get("text"), f"{at}/text", BUTTON_LIMIT, plain=True)
    yield from checks.length(element.get("value"), f"{at}/value", VALUE_LIMIT)
    yield from checks.length(element.get("accessibility_label"), f"{at}/accessibility_label", BUTTON_LIMIT)
    yield from checks.length(element.get("url"), f"{at}/url", ADDRESS_LIMIT)
    if element.get("style") not in {None, "primary", "danger"}:
        yield checks.complaint(f"unsupported style: {element['style']}", f"{at}/style")


def _overflow(element: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.items(element.get("options"), f"{at}/options", OVERFLOW_LIMIT)
    yield from _options(element.get("options"), f"{at}/options", links=True)


def _select(element: dict[str, Any], at: str) -> Iterator[str]:
    groups = element.get("option_groups")
    if groups is None:
        yield from checks.items(element.get("options"), f"{at}/options", OPTIONS_LIMIT)
        yield from _options(element.get("options"), f"{at}/options", links=False)
    else:
        yield from checks.items(groups, f"{at}/option_groups", OPTIONS_LIMIT)
    if element.get("placeholder") is not None:
        yield from checks.text(element["placeholder"], f"{at}/placeholder", PLACEHOLDER_LIMIT, plain=True)
    chosen = element.get("initial_option")
    if chosen is not None and groups is None and chosen not in checks.listed(element.get("options")):
        yield checks.complaint("must match one of the provided options", f"{at}/initial_option")


def _text_input(element: dict[str, Any], at: str) -> Iterator[str]:
    if element.get("placeholder") is not None:
        yield from checks.text(element["placeholder"], f"{at}/placeholder", PLACEHOLDER_LIMIT, plain=True)
    yield from checks.length(element.get("initial_value"), f"{at}/initial_value", INPUT_LIMIT)
    for name, least in (("min_length", 0), ("max_length", 1)):
        found = element.get(name)
        if found is None:
            continue
        if not isinstance(found, int) or isinstance(found, bool):
            yield checks.complaint("must be an integer", f"{at}/{name}")
        elif not least <= found <= INPUT_LIMIT:
            yield checks.complaint(f"must be between {least} and {INPUT_LIMIT}", f"{at}/{name}")


def _moment(element: dict[str, Any], at: str) -> Iterator[str]:
    found = element.get("initial_date_time")
    if found is None:
        return
    low, high = _SECONDS
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        yield checks.complaint("must be a 10 digit integer", f"{at}/initial_date_time")


def _options(found: object, at: str, *, links: bool) -> Iterator[str]:
    for index, option in enumerate(checks.listed(found)):
        place = f"{at}/{index}"
        if not isinstance(option, dict):
            yield checks.complaint("must provide an object", place)
            continue
        yield from checks.text(option.get("text"), f"{place}/text", OPTION_LIMIT, plain=True)
        if option.get("value") is None:
            yield checks.complaint("missing required field: value", place)
        yield from checks.length(option.get("value"), f"{place}/value", OPTION_VALUE_LIMIT)
        if option.get("description") is not None:
            yield from checks.text(option["description"], f"{place}/description", OPTION_LIMIT, plain=True)
        if option.get("url") is not None and not links:
            yield checks.complaint("invalid additional property: url", place)
        elif links:
            yield from checks.length(option.get("url"), f"{place}/url", ADDRESS_LIMIT)


def _confirm(found: object, at: str) -> Iterator[str]:
    if not isinstance(found, dict):
        yield checks.complaint("must provide an object", at)
        return
    for name, limit in _CONFIRM.items():
        yield from checks.text(found.get(name), f"{at}/{name}", limit, plain=name != "text")


_KINDS: dict[str, Callable[[dict[str, Any], str], Iterator[str]]] = {
    "button": _button,
    "overflow": _overflow,
    "static_select": _select,
    "plain_text_input": _text_input,
    "datetimepicker": _moment,
}
