"""Ids that are not what they look like: what nobody sees, what looks like another letter, line breaks.

Never changes an id: it is told, and stays as its source has it.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from recon.model import cells, sheets, spellings, texts
from recon.model.cells import Arrow
from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.mapping import Column
from recon.model.phrases import several
from recon.model.sheets import Part

IDS = {
    INTENTS: ("key", "account", "order_id", "reference", "payment", "refund_id"),
    REFUNDS: ("id", "account", "payment_intent", "charge", "intent_key", "request_key", "operator_key"),
}
"""By side, the columns by which rows are tied to each other."""

_BREAKS = "\n\u000b\f\r\u001c-\u001e\u0085\u2028\u2029"  # What Python ends a line at.
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # Of the category Zs, all but the plain one.
_CONTROLS = "\u0001-\u0008\t\u000e-\u001b\u001f\u007f-\u0084\u0086-\u009f"
_BEFORE = cells.SHOWN // 2  # Characters that are shown of an id before the one that is meant.


class Sort(StrEnum):
    """How an id differs from what it looks like."""

    BREAK = "break"  # Its cell goes on in another line.
    UNSEEN = "unseen"  # It holds what has no width or form, or a space of another kind.
    ALIKE = "alike"  # All of its letters look like ASCII, and some are not; or it is in another coding.


_PATTERNS = {
    Sort.BREAK: f"[{_BREAKS}]",
    Sort.UNSEEN: f"[{_CONTROLS}{_SPACES}{spellings.UNSEEN}]",
    Sort.ALIKE: f"[{spellings.ALIKE}]",
}
# Among other letters, such as the rest of a Russian word, nobody takes one for ASCII.
_ASCII_OR_ALIKE = f"^[ -~{spellings.ALIKE}]*$"
_SAID = {
    Sort.BREAK: ("a line break", "a quote out of place may have drawn other rows into it"),
    Sort.UNSEEN: ("characters that nobody sees", "an id that only looks the same is another one"),
    Sort.ALIKE: ("characters that look like others", "an id that only looks the same is another one"),
}


@dataclass(frozen=True, slots=True)
class Disguise:
    """Ids of one sort. count: how many; row, column, text: of the first, its column as a message has it."""

    count: int
    row: int
    column: str
    text: str


def find(column: str, ids: Arrow, rows: NDArray[np.int64]) -> dict[Sort, Disguise]:
    """Return what is in disguise in a column of ids. column: what a message calls it; rows: their numbers."""
    if texts.is_printable(ids):
        return {}
    found = {}
    for sort in Sort:
        places = np.flatnonzero(cells.flags_of(_which(sort, ids)))
        if len(places):
            first = int(places[0])
            found[sort] = Disguise(len(places), int(rows[first]), column, ids[first].as_py())
    return found


def look(side: str, part: Part, told: Mapping[str, Column]) -> dict[Sort, Disguise]:
    """Return what is in disguise in the ids of some rows of a side; told: how their columns are read."""
    seen: dict[Sort, Disguise] = {}
    for ours in IDS[side]:
        named = sheets.named(ours, told.get(ours, Column()).needs)
        for sort, each in find(named, part.columns[ours], part.rows).items():
            seen[sort] = both(seen.get(sort), each)
    return seen


def both(one: Disguise | None, other: Disguise) -> Disguise:
    """Return two findings of one sort in one source as one; within a row the one goes first."""
    if one is None:
        return other
    first = min(one, other, key=lambda each: each.row)
    return Disguise(one.count + other.count, first.row, first.column, first.text)


def told(sort: Sort, found: Disguise, line: int | None) -> str:
    """Return the sentence about ids of one sort; line: of the first, None where its source has no lines."""
    what, why = _SAID[sort]
    holds = f"{several(found.count, 'id')} {'holds' if found.count == 1 else 'hold'} {what}"
    where = f"{found.column} of row {found.row}{'' if line is None else f' (line {line})'}"
    first = where if found.count == 1 else f"the first is {where}"
    return f"{holds}: {first}, {_shown(sort, found.text)}; {why}."


def _which(sort: Sort, ids: Arrow) -> Arrow:
    """Return which ids are of a sort."""
    holds = pc.match_substring_regex(ids, _PATTERNS[sort])
    if sort != Sort.ALIKE:
        return holds
    # An accent may be a character of its own or part of its letter.
    recoded = pc.not_equal(pc.utf8_normalize(ids, form="NFC"), ids)
    alike = pc.and_(holds, pc.match_substring_regex(ids, _ASCII_OR_ALIKE))
    plain = pc.utf8_normalize(ids, form="NFKC")  # Of a ligature its letters, of a raised digit the digit.
    joined = pc.and_(pc.not_equal(plain, ids), pc.match_substring_regex(plain, "^[ -~]*$"))
    unseen = pc.match_substring_regex(
        ids, _PATTERNS[Sort.UNSEEN]
    )  # Of a space of another kind the plain one.
    return pc.or_(pc.or_(alike, recoded), pc.and_(joined, pc.invert(unseen)))


def _shown(sort: Sort, text: str) -> str:
    """Return the first character that is meant, by number and name, and what is around it."""
    match = re.search(_PATTERNS[sort], text)
    at = match.start() if match else _first_other(text)
    meant = f"U+{ord(text[at]):04X}"
    name = unicodedata.name(text[at], "").lower()
    begun = max(0, at - _BEFORE)
    before, after = text[begun:at], text[at + 1 : begun + cells.SHOWN]
    around = f"{spellings.revealed(before)}<{meant}>{spellings.revealed(after)}"
    around = f"{'...' if begun else ''}{around}{'...' if len(text) > begun + cells.SHOWN else ''}"
    return f"{meant}{name and f' ({name})'} in '{around}'"


def _first_other(text: str) -> int:
    """Return where a text first differs from what it looks like."""
    others = (at for at, each in enumerate(text) if unicodedata.normalize("NFKC", each) != each)
    return next(others, _first_recoded(text))


def _first_recoded(text: str) -> int:
    """Return where a text first differs from how its accents are mostly coded."""
    usual = unicodedata.normalize("NFC", text)
    pairs = zip(text, usual, strict=False)
    at = next((at for at, (one, other) in enumerate(pairs) if one != other), len(usual))
    return at + 1 if unicodedata.combining(text[at + 1 : at + 2] or " ") else at
