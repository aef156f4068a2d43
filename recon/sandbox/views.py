"""Modal views: what Slack refuses of one, and what a person filled into it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recon.sandbox import blocks, checks, slack
from recon.sandbox.told import WrongInputError

# https://docs.slack.dev/reference/views/modal-views.
BLOCKS_LIMIT = 100
TITLE_LIMIT = 24
PRIVATE_LIMIT = 3000
_LIMITS = {"private_metadata": PRIVATE_LIMIT, "callback_id": checks.ID_LIMIT, "external_id": checks.ID_LIMIT}


@dataclass(slots=True)
class View:
    """One open modal: as its app sent it, for whom, and what stands in its way.

    errors: by block id, as the app said them; "" stands for the whole view. state: what was sent last, by
    block and action. previous: the view under it.
    """

    id: str
    user: str
    content: dict[str, Any]
    hash: str
    errors: dict[str, str] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    previous: str | None = None
    root: str = ""

    def replace(self, content: dict[str, Any], *, now: float) -> None:
        """Let another content stand in this one's place."""
        self.content, self.hash = _named(content, self.id), _hash(now)
        self.errors, self.state = {}, {}

    def shown(self, state: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The view as Slack gives it; state: what was filled in, by block and action."""
        content = self.content
        return {
            "id": self.id,
            "team_id": slack.TEAM,
            "type": "modal",
            "blocks": content["blocks"],
            "private_metadata": content.get("private_metadata", ""),
            "callback_id": content.get("callback_id", ""),
            "state": {"values": dict(state or {})},
            "hash": self.hash,
            "title": content["title"],
            "clear_on_close": bool(content.get("clear_on_close")),
            "notify_on_close": bool(content.get("notify_on_close")),
            "close": content.get("close"),
            "submit": content.get("submit"),
            "previous_view_id": self.previous,
            "root_view_id": self.root or self.id,
            "app_id": slack.APP,
            "external_id": content.get("external_id", ""),
            "app_installed_team_id": slack.TEAM,
            "bot_id": slack.BOT,
        }


def opened(user: str, content: dict[str, Any], *, under: View | None = None, now: float) -> View:
    """A view that a person is shown, on top of another one or alone."""
    found = f"V0{secrets.token_hex(5).upper()}"
    view = View(found, user, _named(content, found), _hash(now))
    if under is not None:
        view.previous, view.root = under.id, under.root or under.id
    return view


def faults(view: object) -> list[str]:
    """Why Slack would refuse a modal, as its own messages; none when it takes it."""
    if not isinstance(view, dict):
        return [checks.complaint("must provide an object", "/view")]
    if view.get("type") != "modal":
        return [checks.complaint(f"unsupported type: {view.get('type')}", "/view/type")]
    found = [*checks.text(view.get("title"), "/view/title", TITLE_LIMIT, plain=True)]
    for name in ("submit", "close"):
        if view.get(name) is not None:
            found += checks.text(view[name], f"/view/{name}", TITLE_LIMIT, plain=True)
    for name, limit in _LIMITS.items():
        found += checks.length(view.get(name), f"/view/{name}", limit)
    if view.get("blocks") is None:
        return [*found, checks.complaint("missing required field: blocks", "/view")]
    found += blocks.faults(view["blocks"], at="/view/blocks", limit=BLOCKS_LIMIT)
    if view.get("submit") is None:
        found += [
            checks.complaint("must define `submit` to use an `input` block in modals", f"/view/blocks/{n}")
            for n, block in enumerate(checks.listed(view["blocks"]))
            if isinstance(block, dict) and block.get("type") == "input"
        ]
    return found


def inputs(view: View) -> list[dict[str, Any]]:
    """The input blocks of a view, in order."""
    return [block for block in view.content["blocks"] if block["type"] == "input"]


def filled(view: View, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a person filled in, as Slack's state gives it; what was not touched has its first value.

    Raises:
        ValueError: a value is not one that Slack's form takes, or a field that is not optional is empty.
            The view stays as it was.
    """
    known = {block["block_id"] for block in inputs(view)}
    strange = set(values) - known
    if strange:
        raise ValueError(f"expected values for any of {sorted(known)}, found {sorted(strange)}")
    state: dict[str, Any] = {}
    for block in inputs(view):
        element = block["element"]
        given = values.get(block["block_id"], {})
        if not isinstance(given, dict):
            raise WrongInputError(f'expected {block["block_id"]!r} as {{"{element["action_id"]}": value}}')
        found = _value(element, given.get(element["action_id"], _first(element)), block["block_id"])
        if not any(value for name, value in found.items() if name != "type") and not block.get("optional"):
            raise ValueError(f"{block['block_id']}: Please complete this required field.")
        state[block["block_id"]] = {element["action_id"]: found}
    return state


def _named(content: dict[str, Any], found: str) -> dict[str, Any]:
    return {**content, "blocks": blocks.named(content["blocks"], seed=found)}


def _hash(now: float) -> str:
    return f"{int(now)}.{secrets.token_hex(4)}"


def _first(element: Mapping[str, Any]) -> object:
    for name in ("initial_value", "initial_option", "initial_date_time"):
        if element.get(name) is not None:
            return element[name]
    return None


def _value(element: Mapping[str, Any], given: object, at: str) -> dict[str, Any]:
    kind = str(element["type"])
    if kind == "static_select":
        return {"type": kind, "selected_option": _chosen(element, given, at)}
    if kind == "datetimepicker":
        return {"type": kind, "selected_date_time": _seconds(given, at)}
    if given is not None and not isinstance(given, str):
        raise ValueError(f"{at}: expected a text, found {given!r}")
    text = given or None
    if text is not None and not (element.get("min_length") or 0) <= len(text) <= _longest(element):
        raise ValueError(f"{at}: expected at most {_longest(element)} characters, found {len(text)}")
    return {"type": kind, "value": text}


def _longest(element: Mapping[str, Any]) -> int:
    return int(element.get("max_length") or 3000)


def _chosen(element: Mapping[str, Any], given: object, at: str) -> dict[str, Any] | None:
    if given is None or given == "":
        return None
    groups = [group.get("options", ()) for group in element.get("option_groups", ())]
    options = [option for group in (element.get("options", ()), *groups) for option in group]
    for option in options:
        if given in (option, option["value"]):
            return dict(option)
    raise ValueError(f"{at}: expected one of {[option['value'] for option in options]}, found {given!r}")


def _seconds(given: object, at: str) -> int | None:
    if given is None or given == "":
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    try:
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{at}: expected seconds or an ISO 8601 time with its offset, found {given!r}")
    return int(moment.timestamp())
