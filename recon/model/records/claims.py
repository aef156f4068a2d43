"""What a person says about whose a refund is, and what the rows say when they say it.

Never decides whether it may be said: rules/moves.py does; doors/store/claims.py writes it.
"""

from dataclasses import dataclass

from recon.model.records.provider import Intent, Refund
from recon.model.records.words import AccountId, IntentKey


@dataclass(frozen=True, slots=True)
class Known:
    """The rows a claim rests on, in the account of its case.

    refund: as the mirror has it; None where there is none. intent: of the key that the claim names; None
    where it names none or there is none. holder: the intent that a key of the refund names or that recorded
    its id; None where no row does. elsewhere: the other accounts that have an intent of that key. kept_by:
    where a person has linked the refund, the holder that there is without that.
    """

    refund: Refund | None
    intent: Intent | None = None
    holder: IntentKey | None = None
    elsewhere: tuple[AccountId, ...] = ()
    kept_by: IntentKey | None = None


@dataclass(frozen=True, slots=True)
class Adoption:
    """The refund becomes an intent of ours. refund: as it was read. intent: the row to write."""

    refund: Refund
    intent: Intent


@dataclass(frozen=True, slots=True)
class Link:
    """The refund belongs to that intent of its account. refund: as it was read. intent_key: None unlinks."""

    refund: Refund
    intent_key: IntentKey | None


Claim = Adoption | Link
