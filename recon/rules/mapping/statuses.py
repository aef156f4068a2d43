"""The words of a status, counted, and how ours are explained to whoever has to choose one.

Never says what a word means: `meanings` does, as far as anybody can.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from recon.model import meanings
from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.records.maps import Word

MEANINGS: Mapping[str, str] = {
    INTENTS: (
        "done: the provider accepted it; pending: decided, not known to be sent; pending_unknown: sent,"
        " nobody knows what became of it; failed: refused, no money moved; cancelled: given up unsent"
    ),
    REFUNDS: (
        "succeeded: accepted; pending: on its way; requires_action: the customer has to give bank data first;"
        " failed: the money came back; canceled: called back before it left"
    ),
}
"""What our words say, for a person who has to choose one."""


def words(cells: Iterable[object], side: str) -> tuple[Word, ...]:
    """Return the words of a status with their counts, the commonest first, and what each seems to mean."""
    counted = Counter(_spelled(cell) for cell in cells)
    return tuple(
        Word(theirs, count, meanings.meaning(theirs, side)) for theirs, count in counted.most_common()
    )


def _spelled(cell: object) -> str:
    """Return a cell as a map's words spell it."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell).strip()
