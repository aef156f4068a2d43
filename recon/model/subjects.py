"""What a mismatch and its case are about, as one text: an intent by its key, or a refund by its id.

Keys and ids may hold colons; the first one ends the side.
"""

from recon.model.records.words import Subject

INTENT, REFUND = "intent", "refund"  # The sides.
# What begins a subject of that side; statements of the store count on both being as long.
OF_INTENTS, OF_REFUNDS = f"{INTENT}:", f"{REFUND}:"


def of_intent(key: str) -> Subject:
    """Return the subject that an intent is."""
    return Subject(f"{OF_INTENTS}{key}")


def of_refund(refund_id: str) -> Subject:
    """Return the subject that a refund is."""
    return Subject(f"{OF_REFUNDS}{refund_id}")


def parted(subject: Subject) -> tuple[str, str]:
    """Return a subject's side, and the key or id there."""
    side, _, name = subject.partition(":")
    return side, name


def is_intent(subject: Subject) -> bool:
    """Return whether it is an intent; anything else is a refund."""
    return subject.startswith(OF_INTENTS)
