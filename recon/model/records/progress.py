"""How far a run is, for whoever watches it."""

from dataclasses import dataclass
from datetime import datetime

from recon.model import phrases
from recon.model.records.words import AccountId


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another has the lease, and is waited for.

    until: when its lease lapses if it says nothing more; it may be given back sooner, or renewed.
    """

    holder: str
    until: datetime

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"Waiting for {self.holder}, which holds the lease until {phrases.clock(self.until)}."


@dataclass(frozen=True, slots=True)
class Pulling:
    """How far the reading of one account is.

    number: of this account among all, from 1. slices_read: of the slices that its window was cut into, those
    that were read to their end, now or by an earlier run.
    """

    account: AccountId
    number: int
    accounts: int
    pages: int = 0
    refunds: int = 0
    slices_read: int = 0
    slices: int = 0

    def __str__(self) -> str:
        """Return it as a sentence, without the counts that say nothing yet."""
        begun = f"Reading account {self.number} of {self.accounts}: {phrases.account(self.account)}"
        if not self.pages:
            return begun
        sliced = f", {self.slices_read} of {self.slices} slices" if self.slices > 1 else ""
        pages, refunds = phrases.several(self.pages, "page"), phrases.several(self.refunds, "refund")
        return f"{begun}, {pages}, {refunds}{sliced}"
