"""What a person says about whose a refund is or what became of an intent, and what the rows say then.

Never decides whether it may be said: rules/moves.py and rules/settling.py do; doors/store/claims.py and
settlements.py write it.
"""

from dataclasses import dataclass
from datetime import datetime

from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Money
from recon.model.records.settlements import Books
from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId


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
class _OfRefund:
    """What is said of a refund. refund: as it was read."""

    refund: Refund

    @property
    def money(self) -> Money:
        """Return how much money it is about, which may be more than its case has at risk."""
        return Money(self.refund.amount_minor, self.refund.currency)

    @property
    def rests_on(self) -> str:
        """Return the rows that it rests on, for messages."""
        return f"refund {self.refund.id} and its intent"


@dataclass(frozen=True, slots=True)
class Adoption(_OfRefund):
    """The refund becomes an intent of ours. intent: the row to write."""

    intent: Intent


@dataclass(frozen=True, slots=True)
class Link(_OfRefund):
    """The refund belongs to that intent of its account. intent_key: None unlinks."""

    intent_key: IntentKey | None


@dataclass(frozen=True, slots=True)
class Settlement:
    """The intent became that. books: as they were read before the provider was asked.

    refund: what it was done by, as the provider showed it; None where it was not done.
    """

    books: Books
    refund: Refund | None
    at: datetime

    @property
    def status(self) -> IntentStatus:
        """Return what the intent becomes."""
        return IntentStatus.FAILED if self.refund is None else IntentStatus.DONE

    @property
    def refund_id(self) -> RefundId | None:
        """Return the refund that the intent names then."""
        return self.books.intent.refund_id if self.refund is None else self.refund.id

    @property
    def money(self) -> Money:
        """Return how much money it is about, which may be more than its case has at risk."""
        return Money(self.books.intent.amount_minor, self.books.intent.currency)

    @property
    def rests_on(self) -> str:
        """Return the rows that it rests on, for messages."""
        beside = "" if self.refund is None else f", refund {self.refund.id}"
        return f"intent {self.books.intent.key}{beside} and what else speaks of it"


Claim = Adoption | Link | Settlement
