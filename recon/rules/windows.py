"""Which part of the provider's books a run reads, and what may be concluded from what it read.

Times are the provider's. Never reads anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recon.model.records.results import Coverage, Reading
from recon.model.records.runs import Account
from recon.model.records.words import AccountId
from recon.model.settings import PullSettings


@dataclass(frozen=True, slots=True)
class Window:
    """Creation times to read, both ends included."""

    from_at: datetime
    to_at: datetime


def created(account: Account, *, now: datetime, pull: PullSettings) -> Window:
    """Return the window of what is new: from the watermark less the overlap; a new account's first window.

    It begins earlier where less is covered than a first window would be: somebody has lengthened that since.
    """
    first = now - pull.first_window
    if account.watermark_at is None or account.covered_from is None or first < account.covered_from:
        return Window(first, now)
    return Window(min(account.watermark_at, now) - pull.overlap, now)


def relisted(cursor: datetime | None, *, fresh: Window, pull: PullSettings) -> Window | None:
    """Return the next slice of what was read before and may have failed since; None when there is none.

    cursor: where the slice before it ended; None begins anew, and so does one that has reached what is fresh
    or fallen out at the other end.
    """
    start = fresh.to_at - pull.relist
    if start >= fresh.from_at:
        return None
    if cursor is None or not start <= cursor < fresh.from_at:
        cursor = start
    return Window(cursor, min(cursor + pull.relist / pull.relist_slices, fresh.from_at))


def read(account: Account, window: Window) -> Account:
    """Return what is known of an account of which this window was read to the end."""
    known = account.covered_from
    connected = (
        known is not None and account.watermark_at is not None and window.from_at <= account.watermark_at
    )
    covered_from = min(known, window.from_at) if known is not None and connected else window.from_at
    return Account(account.account, account.livemode, covered_from, window.to_at)


def coverage(
    accounts: Mapping[AccountId, Account], complete: Iterable[AccountId], named: Iterable[AccountId]
) -> Coverage:
    """Return what was read of each account that has rows or was to be read.

    named: the accounts of the rows; one that nobody reads is not covered.
    """
    whole = frozenset(complete)
    refunds = {
        account: Reading(known.covered_from, known.watermark_at, complete=account in whole)
        for account, known in accounts.items()
    }
    return Coverage(
        refunds=refunds | {each: Reading(complete=False) for each in named if each not in refunds}
    )
