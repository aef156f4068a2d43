"""How far a run is, for whoever watches it."""

from dataclasses import dataclass

from recon.model.records.words import AccountId


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
        begun = f"Reading account {self.number} of {self.accounts}: {self.account or 'the platform'}"
        if not self.pages:
            return begun
        sliced = f", {self.slices_read} of {self.slices} slices" if self.slices > 1 else ""
        return f"{begun}, {_counted(self.pages, 'page')}, {_counted(self.refunds, 'refund')}{sliced}"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
