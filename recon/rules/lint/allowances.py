"""Comments that let one place break one rule: `recon: allow[rule] reason`.

Never lets anything pass without a reason.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from recon.model.records.flaws import Flaw, Rule

_COMMENT = re.compile(r"^[\s#/*<!{;-]*recon:\s*allow\s*\[([^\]\n]*)\]\s*:?(.*)")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_END = re.compile(r"(?:-->|#\}|\*/|\}\})\s*$")


@dataclass(frozen=True, slots=True)
class Allowance:
    """One comment.

    line: from 1. rules: what it allows. alone: nothing else stands on its line, so that it is of the next.
    """

    line: int
    rules: frozenset[Rule]
    alone: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """Where a comment stands, from 1, what it says, and whether it has the line to itself."""

    line: int
    column: int
    text: str
    alone: bool


def read(comments: Iterable[Comment]) -> tuple[tuple[Allowance, ...], tuple[Flaw, ...]]:
    """Return what comments allow, and what is wrong with those that would and do not."""
    found: list[Allowance] = []
    flaws: list[Flaw] = []
    for comment in comments:
        match = _COMMENT.match(comment.text)
        if match is None:
            continue
        names = [each.strip() for each in match[1].split(",") if each.strip()]
        known = frozenset(Rule(each) for each in names if each in set(Rule))
        if problem := _problem(names, _END.sub("", match[2])):
            flaws.append(Flaw(comment.line, comment.column, Rule.BAD_ALLOW, problem))
        else:
            found.append(Allowance(comment.line, known, comment.alone))
    return tuple(found), tuple(flaws)


def _problem(names: list[str], reason: str) -> str:
    """Return what is wrong with a comment; "" when nothing is."""
    unknown = [each for each in names if each not in set(Rule)]
    if unknown or not names:
        which = f"a rule that there is not, {unknown[0][:40]!r}" if unknown else "no rule"
        return f"This comment allows {which}: see --list-rules."
    if not _LETTERS.search(reason):
        return f"This comment gives no reason and allows nothing; write recon: allow[{names[0]}] and why."
    return ""


def kept(
    flaws: Iterable[Flaw], allowances: Iterable[Allowance], spans: Mapping[int, tuple[int, int]]
) -> Iterator[Flaw]:
    """Return the flaws that no comment allows: none on a line of its statement, or on the line above it.

    spans: for a line, the first and last line of the statement that it belongs to; itself where absent.
    """
    here = {each.line: each.rules for each in allowances}
    above = {each.line: each.rules for each in allowances if each.alone}
    for flaw in flaws:
        first, last = spans.get(flaw.line, (flaw.line, flaw.line))
        allowed = [
            above.get(first - 1, frozenset()),
            *(here.get(line, frozenset()) for line in range(first, last + 1)),
        ]
        if not any(flaw.rule in each for each in allowed):
            yield flaw
