"""Rejected rows as lines for people: one line for many rows of one cause, so that no other cause is lost."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recon.model import phrases
from recon.model.records.results import Reject

_ROWS = 3  # Rows that a line of many names; as many of one cause still have a line each.
_LINE = re.compile(r" \(line \d+\)$")  # Where a row stands in its file: no part of the cause.
_HELD = re.compile(r"(?<=found )'.*?'(?=[,;]|$)|(?<=intent )'.*?'(?=[, ])")  # What a row holds: neither.
_VALUES = 3  # Of what the rows of one line hold.


@dataclass(frozen=True, slots=True)
class Line:
    """What a person reads of one rejected row, or of all rows of one file and cause. number: of rows."""

    text: str
    number: int


def lines(rejects: Iterable[Reject], *, ids: bool = False) -> tuple[Line, ...]:
    """Return a line for each row, but one for more than three rows of one file and cause; in their order.

    ids: whether the line of one row has its id.
    """
    groups: dict[tuple[str, ...], list[Reject]] = {}
    for each in rejects:
        cause = _HELD.split(_LINE.sub("", each.reason))
        groups.setdefault((each.source, *cause), []).append(each)
    found: list[Line] = []
    for (source, *cause), rows in groups.items():
        if len(rows) > _ROWS:
            first = ", ".join(f"{each.row}" for each in rows[:_ROWS])
            text = f"{source} rows {first} and {len(rows) - _ROWS:,} more: {_filled(cause, rows)}"
            found.append(Line(text, len(rows)))
        else:
            found += [Line(_one(each, ids=ids), 1) for each in rows]
    return tuple(found)


def _filled(cause: Sequence[str], rows: Iterable[Reject]) -> str:
    """Return a cause with the first few values that its rows hold between its parts."""
    held = zip(*(_HELD.findall(_LINE.sub("", each.reason)) for each in rows), strict=True)
    told = (
        f"{phrases.few(list(dict.fromkeys(values)), _VALUES)}{after}"
        for values, after in zip(held, cause[1:], strict=True)
    )
    return "".join([cause[0], *told])


def _one(reject: Reject, *, ids: bool) -> str:
    named = f" ({reject.id})" if ids and reject.id else ""
    return f"{reject.source} row {reject.row}{named}: {reject.reason}"
