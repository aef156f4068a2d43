"""Slack's limits on blocks, checked as Slack checks them.

Source: https://docs.slack.dev/reference/block-kit/blocks; the total over all blocks is from public reports.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from recon.sandbox import checks, elements

BLOCKS_LIMIT = 50
SECTION_LIMIT = 3000
FIELDS_LIMIT = 10
FIELD_LIMIT = 2000
HEADER_LIMIT = 150
CONTEXT_LIMIT = 10
ACTIONS_LIMIT = 25
LABEL_LIMIT = 2000
TOTAL_LIMIT = 13_200

# What is drawn and never clicked.
_STILL = frozenset({"mrkdwn", "plain_text", "image"})
KNOWN = frozenset(
    {"header", "section", "context", "divider", "actions", "image", "rich_text", "markdown", "input"}
)


def faults(blocks: object, *, at: str = "/blocks", limit: int = BLOCKS_LIMIT) -> list[str]:
    """Why Slack would refuse these blocks, as its own messages; none when it takes them."""
    if not isinstance(blocks, list):
        return [checks.complaint("must be an array", at)]
    if len(blocks) > limit:
        return [checks.complaint(f"no more than {limit} items allowed", at)]
    found = [fault for index, block in enumerate(blocks) for fault in _block(block, f"{at}/{index}")]
    ids = ((b.get("block_id"), f"{at}/{n}") for n, b in enumerate(blocks) if isinstance(b, dict))
    return [*found, *checks.unique("block_id", ids)]


def total(blocks: list[dict[str, Any]]) -> int:
    """The characters of text over all blocks."""
    return sum(len(text) for block in blocks for text in texts(block))


def texts(part: object) -> Iterator[str]:
    """Every text in a block, in reading order."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == "text" and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(part, list):
        for item in part:
            yield from texts(item)


def named(blocks: list[dict[str, Any]], *, seed: str) -> list[dict[str, Any]]:
    """The same blocks, each block and what can be clicked in it with an id, as Slack makes one up."""
    return [_named(block, f"{seed}/{at}") for at, block in enumerate(blocks)]


def clickable(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The elements of a block that may have an action."""
    found = [*checks.listed(block.get("elements")), block.get("accessory"), block.get("element")]
    return [
        e for e in found if isinstance(e, dict) and e.get("type") not in {"mrkdwn", "plain_text", "image"}
    ]


def _named(block: dict[str, Any], seed: str) -> dict[str, Any]:
    content = {**block, "block_id": block.get("block_id") or _made_up(seed)}
    for name in ("accessory", "element"):
        if isinstance(content.get(name), dict):
            content[name] = _with_action(content[name], f"{seed}/{name}")
    if content["type"] == "actions":
        content["elements"] = [_with_action(e, f"{seed}/{n}") for n, e in enumerate(content["elements"])]
    return content


def _with_action(element: dict[str, Any], seed: str) -> dict[str, Any]:
    if element["type"] in _STILL or element.get("action_id"):
        return element
    return {**element, "action_id": _made_up(seed)}


def _made_up(seed: str) -> str:
    return b64encode(sha256(seed.encode()).digest(), b"+/").decode()[:5]


def _block(block: object, at: str) -> Iterator[str]:
    if not isinstance(block, dict) or block.get("type") not in KNOWN:
        found = block.get("type") if isinstance(block, dict) else block
        yield checks.complaint(f"unsupported type: {found}", f"{at}/type")
        return
    yield from checks.length(block.get("block_id"), f"{at}/block_id", checks.ID_LIMIT)
    yield from _KINDS.get(block["type"], _nothing)(block, at)


def _nothing(_block: dict[str, Any], _at: str) -> Iterator[str]:
    yield from ()


def _header(block: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.text(block.get("text"), f"{at}/text", HEADER_LIMIT, plain=True)


def _section(block: dict[str, Any], at: str) -> Iterator[str]:
    fields = block.get("fields")
    if block.get("text") is None and fields is None:
        yield checks.complaint("missing required field: text or fields", at)
    if block.get("text") is not None:
        yield from checks.text(block["text"], f"{at}/text", SECTION_LIMIT)
    if fields is not None:
        yield from checks.items(fields, f"{at}/fields", FIELDS_LIMIT)
        for index, item in enumerate(checks.listed(fields)):
            yield from checks.text(item, f"{at}/fields/{index}", FIELD_LIMIT)
    if block.get("accessory") is not None:
        yield from elements.faults(block["accessory"], f"{at}/accessory", allowed=elements.ACCESSORIES)


def _context(block: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.items(block.get("elements"), f"{at}/elements", CONTEXT_LIMIT)
    for index, element in enumerate(checks.listed(block.get("elements"))):
        if not isinstance(element, dict) or element.get("type") != "image":
            yield from checks.text(element, f"{at}/elements/{index}", SECTION_LIMIT)


def _actions(block: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.items(block.get("elements"), f"{at}/elements", ACTIONS_LIMIT)
    found = [(e, f"{at}/elements/{n}") for n, e in enumerate(checks.listed(block.get("elements")))]
    for element, place in found:
        yield from elements.faults(element, place, allowed=elements.ACTIONS)
    ids = ((element.get("action_id"), place) for element, place in found if isinstance(element, dict))
    yield from checks.unique("action_id", ids)


def _input(block: dict[str, Any], at: str) -> Iterator[str]:
    yield from checks.text(block.get("label"), f"{at}/label", LABEL_LIMIT, plain=True)
    if block.get("hint") is not None:
        yield from checks.text(block["hint"], f"{at}/hint", LABEL_LIMIT, plain=True)
    if block.get("element") is None:
        yield checks.complaint("missing required field: element", at)
    else:
        yield from elements.faults(block["element"], f"{at}/element", allowed=elements.INPUTS)


_KINDS: dict[str, Callable[[dict[str, Any], str], Iterator[str]]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "input": _input,
}
