"""What the words of other people's statuses seem to mean in ours.

Never maps a word that could mean two things: an error, for one, says that nobody knows.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pyarrow.compute as pc

from recon.model import fitting
from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.mapping import Column
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

FEW = 30  # Words; a column with more is no status.


def meaning(word: str, side: str) -> str | None:
    """Return what a word seems to mean; None where that is open."""
    plain = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    found = _MEANT[side].get(plain.removeprefix("refund_"))
    return None if found is None else str(found)


def strangers(raw: pd.Series, how: Column, side: str) -> dict[str, int]:
    """Return the words of a raw status that are none of ours, with their counts."""
    counted = pc.value_counts(fitting.texts(raw, how).values).to_pylist()
    return {each["values"]: each["counts"] for each in counted if each["values"] not in {None, *OURS[side]}}


def worded(how: Column, words: Mapping[str, int], side: str) -> Column:
    """Return a status with some words in ours, the commonest first; ? stands for what is open."""
    ordered = sorted(words, key=lambda word: (-words[word], word))
    said = {word: meaning(word, side) or "?" for word in ordered}
    return replace(how, sources=how.sources or ("status",), words=said)
