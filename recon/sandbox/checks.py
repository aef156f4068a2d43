"""Slack's complaints about Block Kit, each in Slack's own words with the place of what it is about.

A check yields complaints and never raises, so that everything wrong is said at once, as Slack does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# Of block_id, action_id and callback_id: https://docs.slack.dev/reference/block-kit/blocks.
ID_LIMIT = 255


def complaint(words: str, at: str) -> str:
    """A complaint as Slack writes it."""
    return f"[ERROR] {words} [json-pointer:{at}]"


def text(found: object, at: str, limit: int, *, plain: bool = False) -> Iterator[str]:
    """What is wrong with a text object; a plain one takes no mrkdwn."""
    if found is None:
        yield complaint(f"missing required field: {at.rpartition('/')[2]}", at.rpartition("/")[0])
        return
    if not isinstance(found, dict):
        yield complaint("must provide an object", at)
        return
    allowed = ("plain_text",) if plain else ("plain_text", "mrkdwn")
    if found.get("type") not in allowed:
        yield complaint(f"unsupported type: {found.get('type')}", f"{at}/type")
    if not isinstance(found.get("text"), str):
        yield complaint("missing required field: text", at)
        return
    if not found["text"]:
        yield complaint("must be more than 0 characters", f"{at}/text")
    yield from length(found["text"], f"{at}/text", limit)


def length(found: object, at: str, limit: int) -> Iterator[str]:
    """What is wrong with a string that may be absent."""
    if found is None:
        return
    if not isinstance(found, str):
        yield complaint("must provide a string", at)
    elif len(found) > limit:
        yield complaint(f"must be less than {limit + 1} characters", at)


def items(found: object, at: str, most: int, *, least: int = 1) -> Iterator[str]:
    """What is wrong with the number of items in a list."""
    count = len(listed(found))
    if count < least:
        yield complaint(f"must provide at least {least} items", at)
    if count > most:
        yield complaint(f"no more than {most} items allowed", at)


def unique(name: str, found: Iterable[tuple[object, str]]) -> Iterator[str]:
    """Which of these ids, each with its place, were there before."""
    known = set()
    for value, at in found:
        if not isinstance(value, str) or not value:
            continue
        if value in known:
            yield complaint(f'`{name}` "{value}" already exists', f"{at}/{name}")
        known.add(value)


def listed(found: object) -> list[Any]:
    """A list, or an empty one where it is none."""
    return found if isinstance(found, list) else []
