"""What the lines of a map say beside its TOML: questions nobody has answered, and what is said twice.

Never reads a file, and never answers a question.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

DECIDE = "DECIDE: "
"""How a comment begins that asks somebody; its answers stand below it, each as a comment."""

_AMOUNTS = frozenset({"amount", "amount_minor"})  # Either is an answer, and the other stays a comment.
_TABLE = re.compile(r"\s*\[(?P<name>[a-z]+)\]")
_LINE = re.compile(r"(?P<comment>\s*#\s*)?(?P<name>[a-z_]+)\s*=")
_AT_LINE = re.compile(r" \(at (line (?P<line>\d+), column \d+|end of document)\)")
_TWICE = "Cannot overwrite a value"  # As tomllib says it.


@dataclass(slots=True)
class Asked:
    """A question. side: whose table it stands in. line: from 1. names: what its answers say."""

    side: str
    line: int
    names: dict[str, None] = field(default_factory=dict)


def unanswered(text: str, side: str, told: Collection[str]) -> list[Asked]:
    """Return the questions of a side of which no answer was made a line; told: what its table says."""
    there = {*told, *(_AMOUNTS if _AMOUNTS.intersection(told) else ())}
    mine = (each for each in _asked(text) if each.side == side and each.names)
    return [each for each in mine if each.names.keys().isdisjoint(there)]


def unread(text: str, error: str) -> str:
    """Return why a text is no TOML, to end what a message says of its file; error: as the reader says it.

    A line that says a thing twice is named with the other one.
    """
    at = _AT_LINE.search(error)
    lines = text.rstrip().split("\n")
    twice = _twice(lines, int(at["line"] or len(lines))) if at is not None and _TWICE in error else None
    return f"must be a TOML file: {error}" if twice is None else twice


def _asked(text: str) -> Iterator[Asked]:
    """Yield the questions of a map, with what the answers below each say."""
    side, asked = "", None
    for number, line in enumerate(text.split("\n"), start=1):
        table, told = _TABLE.match(line), _LINE.match(line)
        if table is not None or told is None:
            if asked is not None:
                yield asked
            asked = None
        if table is not None:
            side = table["name"]
        elif line.startswith(f"# {DECIDE}"):
            asked = Asked(side, number)
        elif told is not None and told["comment"] and asked is not None:
            asked.names[told["name"]] = None
    if asked is not None:
        yield asked


def _twice(lines: list[str], at: int) -> str | None:
    """Return what to say of a line that says what another above it said; None where none is found."""
    second = _LINE.match(lines[at - 1])
    if second is None or second["comment"]:
        return None
    for number in range(at - 1, 0, -1):
        if _TABLE.match(lines[number - 1]):
            break
        first = _LINE.match(lines[number - 1])
        if first is not None and not first["comment"] and first["name"] == second["name"]:
            name = second["name"]
            return f"says {name} twice, on line {number} and on line {at}: put a # before one of them"
    return None
