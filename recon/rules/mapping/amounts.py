"""How the amounts of a column are written, by looking at all of them.

Never says which unit whole numbers are in: nobody can see that.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from recon.model import fitting, signs

_STYLES = (
    (".", ""),
    (",", ""),
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
    (".", "_"),
    (",", "\N{NO-BREAK SPACE}"),
    (",", "\N{NARROW NO-BREAK SPACE}"),
    (".", "\N{RIGHT SINGLE QUOTATION MARK}"),
)
_GROUP = 3  # Digits between two marks of thousands: with three behind it, a lone mark may be either.


@dataclass(frozen=True, slots=True)
class Written:
    """How amounts are written.

    count: cells that hold something. read: those that this style reads. decimals: those of them with a part
    behind the mark that is more than one 0. negative: those below zero. longest: most digits behind the mark,
    last zeros aside. either: the other style that reads all of them as well, with another meaning; None where
    there is none. signed: those that have a currency beside them. beside: its signs and codes.
    """

    count: int
    read: int = 0
    decimals: int = 0
    negative: int = 0
    longest: int = 0
    decimal: str = "."
    thousands: str = ""
    either: tuple[str, str] | None = None
    signed: int = 0
    beside: tuple[str, ...] = ()

    @property
    def currencies(self) -> frozenset[str]:
        """Return the currencies that all that stands beside these amounts may be; none where it differs."""
        return frozenset.intersection(*map(signs.currencies, self.beside)) if self.beside else frozenset()


def look(cells: Iterable[object]) -> Written:
    """Return how amounts are written, in the style that reads most of them."""
    bare = [signs.split(str(cell).strip()) for cell in cells if not isinstance(cell, bool)]
    beside = tuple(dict.fromkeys(sign for _, found in bare for sign in found))
    texts = [_signed(text) for text, _ in bare]
    seen = _styled(texts)
    return replace(seen, signed=sum(bool(found) for _, found in bare), beside=beside)


def reads(seen: Written, cell: object) -> bool:
    """Return whether an amount is written as others are."""
    return (
        look([cell]).read > 0
        and _in_style([_signed(signs.split(str(cell).strip())[0])], seen.decimal, seen.thousands).read > 0
    )


def _styled(texts: list[tuple[bool, str]]) -> Written:
    """Return how amounts are written, in the style that reads most of them."""
    best = max((_in_style(texts, *style) for style in _STYLES), key=lambda one: one.read)
    if best.read == 0 or not _could_be_groups(texts, best):
        return best
    other = (",", ".") if best.decimal == "." else (".", ",")
    as_groups = _in_style(texts, *other)
    return best if as_groups.read < best.read else replace(best, either=other)


def _signed(text: str) -> tuple[bool, str]:
    """Return whether an amount is below zero, and its digits: bookkeepers write (49.00) and 49.00-."""
    behind = next((found for each in fitting.BEHIND if (found := re.fullmatch(each, text))), None)
    if behind is not None:
        return True, behind[1].strip()
    return text.startswith("-"), text.removeprefix("-")


def _in_style(texts: list[tuple[bool, str]], decimal: str, thousands: str) -> Written:
    """Return how many amounts a style reads."""
    parts = [(below, part) for below, part in _parts(texts, decimal, thousands) if part is not None]
    kept = [part.rstrip("0") for _, part in parts]
    return Written(
        count=len(texts),
        read=len(parts),
        decimals=sum(part not in {"", "0"} for _, part in parts),
        negative=sum(below for below, _ in parts),
        longest=max(map(len, kept), default=0),
        decimal=decimal,
        thousands=thousands,
    )


def _parts(texts: list[tuple[bool, str]], decimal: str, thousands: str) -> Iterator[tuple[bool, str | None]]:
    """Yield the digits behind each amount's mark; None where the style does not read it."""
    pattern = re.compile(fitting.styled_as(decimal, thousands))
    for below, text in texts:
        match = pattern.fullmatch(text)
        yield below, None if match is None else match["part"] or ""


def _could_be_groups(texts: list[tuple[bool, str]], best: Written) -> bool:
    """Return whether what stands behind every mark has the length of thousands."""
    if best.thousands:
        return False
    parts = [part for _, part in _parts(texts, best.decimal, "") if part]
    return bool(parts) and all(len(part) == _GROUP for part in parts)
