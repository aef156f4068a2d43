"""What tables write where there is nothing: words that are known, and what stands again and again for an id.

Never calls something empty that another column that is read holds as well: a map says it of a whole side.
"""

from collections import Counter

from recon.model.mapping import Column
from recon.model.phrases import several
from recon.rules.mapping.choosing import EMPTY, cells_of
from recon.rules.mapping.fields import Drawn
from recon.rules.mapping.names import BEGINNINGS

_IDS = ("refund_id", "payment", "payment_intent", "charge")  # The provider's, by which rows are linked.
_OFTEN = 3  # Rows with the same text that is no id: it stands for none.
_MOST = 0.6  # Of the cells must be ids of the provider's: else they are somebody's own.


def find(drawn: Drawn) -> list[str]:
    """Return what counts as empty in the columns that are read; what nobody knows is said as a doubt too."""
    return [*_known(drawn), *_strangers(drawn)]


def _known(drawn: Drawn) -> list[str]:
    """Return the known words in the columns that are read."""
    sources = {source for line in drawn.lines for source in line.told.needs}
    held = {cell for source in sources for cell in drawn.sample.filled(source) if isinstance(cell, str)}
    return [word for word in EMPTY if word in held]


def _strangers(drawn: Drawn) -> list[str]:
    """Return what stands again and again where an id should, and say it of each."""
    ids = {source: line.ours for line in drawn.lines if line.ours in _IDS for source in line.told.needs}
    others = {cell for source in _read(drawn) - set(ids) for cell in map(str, cells_of(drawn.sample, source))}
    found: dict[str, None] = {}
    for source, ours in ids.items():
        for word, count in _often(drawn, source):
            free = word not in others
            found |= {word: None} if free else {}
            so = "counts as empty" if free else "is in other columns too: take it out of this one"
            drawn.doubts.append(f"{word!r:.40} is the {ours} of {several(count, 'row')}, and no id: it {so}.")
    return list(found)


def _often(drawn: Drawn, source: str) -> list[tuple[str, int]]:
    """Return what is no id in a column of ids and stands there in several rows, commonest first."""
    begins = tuple(begin for ours in _IDS for begin in BEGINNINGS[drawn.side].get(ours, ()))
    cells = [str(cell) for cell in cells_of(drawn.sample, source)]
    odd = Counter(cell for cell in cells if not cell.startswith(begins))
    if odd.total() > (1 - _MOST) * len(cells):
        return []
    return [(word, count) for word, count in odd.most_common() if count >= _OFTEN]


def _read(drawn: Drawn) -> set[str]:
    """Return the columns that lines read, or answers would."""
    columns: list[Column] = [line.told for line in drawn.lines]
    for question in drawn.questions:
        columns += [column for choice in question.choices for column in choice.columns.values()]
    return {source for column in columns for source in column.needs}
