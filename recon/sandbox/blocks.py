"""Slack's limits on blocks, checked as Slack checks them.

Source: https://docs.slack.dev/reference/block-kit/blocks; the total over all blocks is from public reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

BLOCKS_LIMIT = 50
SECTION_LIMIT = 3000
FIELDS_LIMIT = 10
FIELD_LIMIT = 2000
HEADER_LIMIT = 150
CONTEXT_LIMIT = 10
ACTIONS_LIMIT = 25
BUTTON_LIMIT = 75
VALUE_LIMIT = 2000
TOTAL_LIMIT = 13_200

KNOWN = frozenset({"header", "section", "context", "divider", "actions", "image", "rich_text", "markdown"})


def faults(blocks: object) -> list[str]:
    """Why Slack would refuse these blocks, as its own messages; none when it takes them."""
    if not isinstance(blocks, list):
        return ["[ERROR] must be an array [json-pointer:/blocks]"]
    if len(blocks) > BLOCKS_LIMIT:
        return [f"[ERROR] no more than {BLOCKS_LIMIT} items allowed [json-pointer:/blocks]"]
    return [fault for at, block in enumerate(blocks) for fault in _block(block, f"/blocks/{at}")]


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


def _block(block: object, at: str) -> Iterator[str]:
    if not isinstance(block, dict) or block.get("type") not in KNOWN:
        found = block.get("type") if isinstance(block, dict) else block
        yield f"[ERROR] unsupported type: {found} [json-pointer:{at}/type]"
        return
    kind = block["type"]
    if kind == "header":
        yield from _text(block.get("text"), f"{at}/text", HEADER_LIMIT, plain=True)
    elif kind == "section":
        yield from _section(block, at)
    elif kind == "context":
        yield from _elements(block, at, CONTEXT_LIMIT)
        for index, element in enumerate(_list(block.get("elements"))):
            if isinstance(element, dict) and element.get("type") != "image":
                yield from _text(element, f"{at}/elements/{index}", SECTION_LIMIT)
    elif kind == "actions":
        yield from _elements(block, at, ACTIONS_LIMIT)
        for index, element in enumerate(_list(block.get("elements"))):
            yield from _button(element, f"{at}/elements/{index}")


def _section(block: dict[str, Any], at: str) -> Iterator[str]:
    fields = block.get("fields")
    if block.get("text") is None and fields is None:
        yield f"[ERROR] missing required field: text or fields [json-pointer:{at}]"
    if block.get("text") is not None:
        yield from _text(block["text"], f"{at}/text", SECTION_LIMIT)
    if fields is not None:
        if not 0 < len(_list(fields)) <= FIELDS_LIMIT:
            yield f"[ERROR] must have between 1 and {FIELDS_LIMIT} items [json-pointer:{at}/fields]"
        for index, item in enumerate(_list(fields)):
            yield from _text(item, f"{at}/fields/{index}", FIELD_LIMIT)
    if block.get("accessory") is not None:
        yield from _button(block["accessory"], f"{at}/accessory")


def _elements(block: dict[str, Any], at: str, limit: int) -> Iterator[str]:
    if not 0 < len(_list(block.get("elements"))) <= limit:
        yield f"[ERROR] must have between 1 and {limit} items [json-pointer:{at}/elements]"


def _button(element: object, at: str) -> Iterator[str]:
    if not isinstance(element, dict):
        yield f"[ERROR] must be an object [json-pointer:{at}]"
    elif element.get("type") == "button":
        yield from _text(element.get("text"), f"{at}/text", BUTTON_LIMIT, plain=True)
        if len(str(element.get("value", ""))) > VALUE_LIMIT:
            yield f"[ERROR] must be less than {VALUE_LIMIT + 1} characters [json-pointer:{at}/value]"


def _text(text: object, at: str, limit: int, *, plain: bool = False) -> Iterator[str]:
    if not isinstance(text, dict) or not isinstance(text.get("text"), str):
        yield f"[ERROR] missing required field: text [json-pointer:{at}]"
        return
    allowed = ("plain_text",) if plain else ("plain_text", "mrkdwn")
    if text.get("type") not in allowed:
        yield f"[ERROR] must be of type {' or '.join(allowed)} [json-pointer:{at}/type]"
    if not text["text"]:
        yield f"[ERROR] must be more than 0 characters [json-pointer:{at}/text]"
    if len(text["text"]) > limit:
        yield f"[ERROR] must be less than {limit + 1} characters [json-pointer:{at}/text]"


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
