"""What the words of a status seem to mean in ours.

Never maps a word that could mean two things: an error, for one, says that nobody knows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.records.maps import Word
from recon.model.records.words import IntentStatus, RefundStatus

_DONE = """
    done success succeeded successful complete completed refunded settled processed paid credited ok
    executed finished
    erstattet rückerstattet zurückerstattet bezahlt ausgezahlt abgeschlossen erledigt
    gutgeschrieben überwiesen durchgeführt ausgeführt erfolgreich fertig
    remboursé effectué terminé reembolsado completado pagado rimborsato completato
"""
_PENDING = """
    pending queued created new requested initiated processing in_progress open scheduled submitted started
    transit in_transit waiting
    offen in_bearbeitung ausstehend wartend angelegt vorgemerkt eingeplant
    en_attente en_cours pendiente en_proceso in_attesa in_corso
"""
_FAILED = """
    failed failure declined rejected refused unsuccessful denied
    abgelehnt fehlgeschlagen gescheitert zurückgewiesen verweigert
    échoué refusé fallido rechazado fallito rifiutato
"""
_GONE = """
    cancelled canceled void voided aborted withdrawn
    storniert abgebrochen annulliert zurückgezogen
    annulé cancelado anulado annullato
"""
_UNKNOWN = "unknown timeout timed_out pending_unknown indeterminate unklar unbekannt"
_ACTION = "requires_action action_required"

_MEANT: Mapping[str, Mapping[str, str]] = {
    INTENTS: {
        **dict.fromkeys(_DONE.split(), IntentStatus.DONE),
        **dict.fromkeys((_PENDING + _ACTION).split(), IntentStatus.PENDING),
        **dict.fromkeys(_UNKNOWN.split(), IntentStatus.PENDING_UNKNOWN),
        **dict.fromkeys(_FAILED.split(), IntentStatus.FAILED),
        **dict.fromkeys(_GONE.split(), IntentStatus.CANCELLED),
    },
    REFUNDS: {
        **dict.fromkeys(_DONE.split(), RefundStatus.SUCCEEDED),
        **dict.fromkeys(_PENDING.split(), RefundStatus.PENDING),
        **dict.fromkeys(_ACTION.split(), RefundStatus.REQUIRES_ACTION),
        **dict.fromkeys(_FAILED.split(), RefundStatus.FAILED),
        **dict.fromkeys(_GONE.split(), RefundStatus.CANCELED),
    },
}

OURS: Mapping[str, tuple[str, ...]] = {
    INTENTS: tuple(map(str, IntentStatus)),
    REFUNDS: tuple(map(str, RefundStatus)),
}
"""Our words by side."""

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

FEW = 30  # Words; a column with more is no status.


def words(cells: Iterable[object], side: str) -> tuple[Word, ...]:
    """Return the words of a status with their counts, the commonest first, and what each seems to mean."""
    counted = Counter(_spelled(cell) for cell in cells)
    return tuple(Word(theirs, count, meaning(theirs, side)) for theirs, count in counted.most_common())


def meaning(word: str, side: str) -> str | None:
    """Return what a word seems to mean; None where that is open."""
    plain = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    found = _MEANT[side].get(plain.removeprefix("refund_"))
    return None if found is None else str(found)


def _spelled(cell: object) -> str:
    """Return a cell as a map's words spell it."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell).strip()
