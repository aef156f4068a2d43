"""Which column of a file is which of ours: by how its cells begin, else by its name where the cells agree.

Never takes a column twice, and never a name against its cells.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recon.model import meanings, money
from recon.model.dtypes import INTENTS, KEYS
from recon.model.mapping import EPOCHS
from recon.model.samples import Sample
from recon.rules.mapping import amounts, statuses, times
from recon.rules.mapping.names import BEGINNINGS, NAMES, closeness

EMPTY = (
    *(
        "NULL",
        "null",
        "None",
        "N/A",
        "n/a",
        "n.a.",
        "#N/A",
        "#NV",
        "k.A.",
        "k. A.",
        "NaN",
        "nan",
        "-",
        "--",
        "\\N",
    ),
    *("\N{EN DASH}", "\N{EM DASH}"),
)
"""What tables write where there is nothing."""

PAYMENTS = ("payment", "payment_intent", "charge")
"""Columns that hold ids of the provider's, or they link nothing."""

_MOST = 0.6  # Of the cells must be what a column holds; the others are named when they are rejected.
_FULL = 0.5  # Of the rows must have a key.
_CODES = 0.8
# By name alone, only where it is the very name: each is a common word.
_EXACT = frozenset({"account", "reference", "tool", "team", "reason", "failure_reason", "first_sent_at"})
_SURE = 100  # Closeness of a whole name.
_AGAIN = 250  # Takes a key that repeats behind every other.


@dataclass(frozen=True, slots=True)
class Found:
    """Where one of our columns seems to be. why: what speaks for it."""

    sources: tuple[str, ...]
    why: str
    by_cells: bool = False


def choose(sample: Sample, side: str, taken: Mapping[str, Iterable[str]]) -> dict[str, Found]:
    """Return where our columns seem to be, each at one place at most; taken: what is settled already."""
    used = {source for sources in taken.values() for source in sources}
    found: dict[str, Found] = {}
    for ours, begins in BEGINNINGS[side].items():
        sources = () if ours in taken else _beginning(sample, begins)
        if sources:
            found[ours] = Found(sources, f"its cells begin with {' or '.join(begins)}", by_cells=True)
            used.update(sources)
    for ours, known in NAMES[side].items():
        if ours in found or ours in taken or ours in PAYMENTS:
            continue
        best = _named(sample, side, ours, known, used)
        if best is not None:
            found[ours] = Found((best,), "its name and its cells say so")
            used.add(best)
    alone = () if "created_at" in found or "created_at" in taken else timed(sample, used)
    if len(alone) == 1:
        found["created_at"] = Found(alone, "no other column holds times")
    return found


def timed(sample: Sample, used: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that hold times, but for those that are used."""
    gone = set(used)
    free = ((header, times.look(cells_of(sample, header))) for header in sample.columns if header not in gone)
    return tuple(header for header, seen in free if seen is not None and seen.format not in EPOCHS)


def counted(sample: Sample, used: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that hold amounts, but for those that are used."""
    gone = set(used)
    free = ((header, cells_of(sample, header)) for header in sample.columns if header not in gone)
    return tuple(header for header, cells in free if cells and _are_amounts(cells))


def telling(sample: Sample, used: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that tell rows apart, but for those that are used."""
    gone = set(used)
    free = ((header, cells_of(sample, header)) for header in sample.columns if header not in gone)
    return tuple(
        header for header, cells in free if cells and len(set(map(str, cells))) == len(cells) == sample.rows
    )


def worded(sample: Sample, side: str, used: Iterable[str]) -> tuple[str, ...]:
    """Return the columns whose cells are mostly words of a status, but for those that are used."""
    gone = set(used)
    return tuple(
        header
        for header in sample.columns
        if header not in gone and _are_statuses(cells_of(sample, header), side)
    )


def few(sample: Sample, used: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that hold few different words again and again, but for those that are used."""
    gone = set(used)
    free = ((header, cells_of(sample, header)) for header in sample.columns if header not in gone)
    return tuple(header for header, cells in free if _repeat_words(cells))


def unlike(sample: Sample, side: str, used: Iterable[str]) -> list[str]:
    """Return columns that are named as payments and hold no ids of the provider's."""
    gone = set(used)
    names = [name for ours in PAYMENTS if ours in NAMES[side] for name in NAMES[side][ours]]
    return [header for header in sample.columns if header not in gone and closeness(header, names) > _SURE]


def cells_of(sample: Sample, source: str) -> list[object]:
    """Return the cells of a column that hold something, placeholders aside."""
    return [cell for cell in sample.filled(source) if cell not in EMPTY]


def _beginning(sample: Sample, begins: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns whose cells begin so, in the order of the beginnings."""
    found: dict[str, int] = {}
    for header in sample.columns:
        cells = [cell for cell in cells_of(sample, header) if isinstance(cell, str)]
        fits = [place for cell in cells for place, each in enumerate(begins) if cell.startswith(each)]
        if cells and len(fits) >= _MOST * len(cells):
            found[header] = min(fits)
    whole = {header: place for header, place in found.items() if "." not in header and "[" not in header}
    chosen = whole or found
    return tuple(sorted(chosen, key=chosen.__getitem__))[: len(begins)]


def _named(sample: Sample, side: str, ours: str, known: Sequence[str], used: set[str]) -> str | None:
    """Return the column whose name fits best and whose cells do not speak against it."""
    scores: dict[str, int] = {}
    for header in sample.columns:
        score = closeness(header, known)
        if header in used or score == 0 or (ours in _EXACT and score <= _SURE):
            continue
        if sample.rows and not _fits(sample, side, ours, header):
            continue
        scores[header] = score - (_AGAIN if _repeats(sample, side, ours, header) else 0)
    return max(scores, key=scores.__getitem__, default=None)


def _fits(sample: Sample, side: str, ours: str, header: str) -> bool:
    """Return whether the cells of a column can be what one of ours holds."""
    cells = cells_of(sample, header)
    if not cells:
        return False
    if ours == KEYS[side]:
        return len(cells) >= _FULL * sample.rows
    if ours.endswith("_at"):
        return times.look(cells) is not None
    look = _LOOKS.get(ours)
    return look(cells) if look is not None else not any(isinstance(cell, bool) for cell in cells)


def _are_amounts(cells: Sequence[object]) -> bool:
    """Return whether cells are mostly amounts."""
    return amounts.look(cells).read >= _MOST * len(cells)


def _are_codes(cells: Sequence[object]) -> bool:
    """Return whether cells are mostly codes of currencies."""
    return sum(str(cell).lower() in money.EXPONENTS for cell in cells) >= _CODES * len(cells)


def _are_words(cells: Sequence[object]) -> bool:
    """Return whether cells are few words."""
    return len({str(cell) for cell in cells}) <= meanings.FEW and times.look(cells) is None


def _are_statuses(cells: Sequence[object], side: str) -> bool:
    """Return whether cells are few words, most of which a status says."""
    seen = statuses.words(cells, side) if _are_words(cells) else ()
    return bool(cells) and sum(word.count for word in seen if word.ours) >= _MOST * len(cells)


def _repeat_words(cells: Sequence[object]) -> bool:
    """Return whether cells are different words, few of them, that each stand there several times."""
    different = {str(cell) for cell in cells}
    lettered = all(any(map(str.isalpha, word)) for word in different)
    return lettered and 1 < len(different) <= min(meanings.FEW, len(cells) // 2)


_LOOKS: Mapping[str, Callable[[Sequence[object]], bool]] = {
    "amount": _are_amounts,
    "currency": _are_codes,
    "status": _are_words,
}


def _repeats(sample: Sample, side: str, ours: str, header: str) -> bool:
    """Return whether a key would not tell rows apart."""
    if ours != KEYS[side] or side != INTENTS:
        return False
    cells = [str(cell) for cell in cells_of(sample, header)]
    return len(set(cells)) < len(cells)
