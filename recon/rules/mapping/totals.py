"""Lines of a printed list that are no refunds: the total that closes it, and the header said once more.

Never takes a row for a total that has what a refund has, nor for a header one that has a cell of its own.
"""

from collections.abc import Iterator

from recon.model.mapping import Filter
from recon.model.samples import Sample
from recon.rules.mapping.names import normal

_WORDS = """
    total totals grand_total subtotal sum summe gesamt gesamtsumme zwischensumme endsumme somme total_general
    totale suma
"""
_FULL = 0.5  # Of its cells a row of a refund fills, and a closing line does not.


def filters(sample: Sample) -> tuple[Filter, ...]:
    """Return what leaves the closing line out; nothing where the last row is none."""
    rows = max(map(len, sample.columns.values()), default=0)
    last = next((place for place in reversed(range(rows)) if _filled(sample, place)), None)
    if last is None or not _closes(sample, last):
        return ()
    return tuple(_named(sample, last))[:1]


def headers(sample: Sample) -> frozenset[int]:
    """Return the places of the lines that repeat the header, as pages put together have them."""
    rows = max(map(len, sample.columns.values()), default=0)
    return frozenset(place for place in range(rows) if _is_header(sample, place))


def _is_header(sample: Sample, place: int) -> bool:
    """Return whether a row says in each cell that holds something what stands above it."""
    there = ((header, cells[place]) for header, cells in sample.columns.items())
    said = [cell == header for header, cell in there if cell is not None and cell != ""]
    return len(said) > 1 and all(said)


def _named(sample: Sample, last: int) -> Iterator[Filter]:
    """Yield each column by whose word the closing line is known and no other row is left out."""
    for header, cells in sample.columns.items():
        word = cells[last]
        if isinstance(word, str) and normal(word) in _WORDS.split():
            also = [place for place, cell in enumerate(cells) if cell == word]
            if all(_closes(sample, place) for place in also):
                yield Filter(header, (word,), keep=False)


def _closes(sample: Sample, place: int) -> bool:
    """Return whether a row has too little for a refund."""
    return _filled(sample, place) <= _FULL * len(sample.headers)


def _filled(sample: Sample, place: int) -> int:
    """Return how many cells of a row hold something."""
    return sum(cells[place] is not None and cells[place] != "" for cells in sample.columns.values())
