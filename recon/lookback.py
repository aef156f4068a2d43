"""An older window of the provider's refunds, read because somebody asks for it: part of step two of the hour.

Part of recon/hourly.py, which alone calls it. Extends what is covered where the window reaches it, and never
judges a refund.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from recon.model import phrases
from recon.model.errors import ConfigurationError, ProviderRefused
from recon.model.records.progress import Pulling
from recon.model.records.runs import Account, Backfill, ReadBack
from recon.model.records.words import AccountId
from recon.model.tally import Pulled, nothing
from recon.pulling import Pull
from recon.rules.windows import Window


@dataclass(frozen=True, slots=True)
class Looked:
    """What was read in all. pulled: the accounts as they are known after it, in their order."""

    pulled: tuple[Pulled, ...]
    back: tuple[ReadBack, ...]


def read(pull: Pull, back: Backfill, pulled: tuple[Pulled, ...], end: datetime) -> Looked:
    """Read the older window, and return what is known after it.

    Where a row of it could not be read, coverage stays as it was: the row must be met again.

    Raises:
        ConfigurationError: the window is not over yet, or nobody reads the account. Nothing was written.
        ProviderRefused: the key is wrong.
        LeaseLost: another run took over; some pages may have been saved.
    """
    names, window = _named(back, [each.account.account for each in pulled]), _past(back, end)
    known, found = {each.account.account: each for each in pulled}, []
    for number, name in enumerate(names, start=1):
        had = known[name]
        read = _read(pull, had.account, window, Pulling(name, number, len(names)))
        account = had.account if read.rejects else read.account
        known[name] = replace(had, account=account, rejects=(*had.rejects, *read.rejects))
        found.append(
            ReadBack(
                read.reading,
                before=had.account.covered_from or end,
                covered_from=account.covered_from,
                unread=len(read.rejects),
            )
        )
    return Looked(tuple(known.values()), tuple(found))


def _named(back: Backfill, names: Collection[AccountId]) -> tuple[AccountId, ...]:
    """Return the accounts that are to be read back, each once."""
    wanted = tuple(dict.fromkeys(names if back.accounts is None else back.accounts))
    for each in wanted:
        if each not in names:
            known = ", ".join(name or "platform" for name in names)
            raise ConfigurationError(f"No account {each} is read here; those that are: {known}.")
    return wanted


def _past(back: Backfill, end: datetime) -> Window:
    """Return what of the window is over; what is left of today may be asked for."""
    if back.from_at > end or back.to_at.date() > end.date():
        raise ConfigurationError(
            f"Only the past can be read back: it is {phrases.minute(end)} at the provider, and the window "
            f"is {back.from_at:%Y-%m-%d %H:%M} to {phrases.minute(back.to_at)}."
        )
    return Window(back.from_at, min(back.to_at, end))


def _read(pull: Pull, account: Account, window: Window, progress: Pulling) -> Pulled:
    """Return what was read of a window; a connected account that cuts us off leaves the others whole."""
    try:
        return pull.back(account, window, progress)
    except ProviderRefused as refused:  # Its owner has taken our access away.
        if not account.account:
            raise
        return nothing(account, window.from_at, window.to_at, str(refused))
