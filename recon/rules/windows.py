"""Which part of the provider's books a run reads, and what may be concluded from what it read.

Times are the provider's. Never reads anything.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from recon.model.phrases import few
from recon.model.records.results import Coverage, Reading
from recon.model.records.runs import Account, Slice
from recon.model.records.words import AccountId
from recon.model.settings import PullSettings

SLICES = 48  # Of one window: more would not be read sooner, and each costs a request where it holds nothing.
SHORTEST = timedelta(hours=1)  # Of a slice: an ordinary hour is one, and asks as little as it can.
KEPT = timedelta(days=1)  # A slice that was read is good for that long; the re-list goes round as often.
_SECOND = timedelta(seconds=1)
_NAMED = 5  # Accounts in one sentence: enough to see which they are.


@dataclass(frozen=True, slots=True)
class Window:
    """Creation times to read, both ends included."""

    from_at: datetime
    to_at: datetime


def created(account: Account, *, now: datetime, pull: PullSettings) -> Window:
    """Return the window of what is new: from the watermark less the overlap; a new account's first window.

    It begins earlier where less is covered than a first window would be: somebody has lengthened that since.
    So it does where the watermark is later than now: the provider's clock was wrong, then or now, and nobody
    knows up to when it had shown its books.
    """
    first = now - pull.first_window
    if account.watermark_at is None or account.covered_from is None or first < account.covered_from:
        return Window(first, now)
    if account.watermark_at > now + pull.overlap:
        return Window(first, now)
    return Window(min(account.watermark_at, now) - pull.overlap, now)


def heard(cursor: datetime | None, fresh: Window) -> datetime:
    """Return from when events are asked for: from where they were read up to, unless that is yet to come."""
    return fresh.from_at if cursor is None or cursor > fresh.to_at else cursor


def settled(
    slices: Iterable[Slice], window: Window, *, now: datetime, overlap: timedelta
) -> tuple[Slice, ...]:
    """Return those of the slices read before that need not be read again for this window.

    Such a slice had ended by an overlap when it was read, so that nothing of it shows up later; it was read
    not long ago, and by the provider's present clock.
    """
    return tuple(
        each
        for each in slices
        if each.to_at + overlap <= each.read_at
        and now - KEPT < each.read_at <= now
        and each.from_at <= window.to_at
        and window.from_at <= each.to_at
    )


def parts(window: Window, done: Iterable[Slice] = ()) -> tuple[Window, ...]:
    """Return the window without what is done, cut into parts that can be read side by side, oldest first.

    In whole seconds, as the provider counts, both ends included: each second that is not done is in one part.
    At most SLICES, and one more for each slice that is done; none shorter than SHORTEST unless it is all that
    is left between two of these.
    """
    low, high = _seconds(window.from_at), _seconds(window.to_at)
    length = max(SHORTEST // _SECOND, -(-(high - low + 1) // SLICES))
    found = []
    for first, last in _gaps(low, high, done):
        seconds = last - first + 1
        number = max(1, seconds // length)
        edges = [first + seconds * each // number for each in range(number + 1)]
        found += [Window(_at(start), _at(end - 1)) for start, end in pairwise(edges)]
    return tuple(found)


def relisted(cursor: datetime | None, *, fresh: Window, pull: PullSettings) -> Window | None:
    """Return the next slice of what was read before and may have failed since; None when there is none.

    cursor: where the slice before it ended; None begins anew, and so does one that has fallen out at the far
    end or reached what is fresh. What is fresh moves on with each run: less than a slice before it has been
    reached, and the last slice takes along what would be left.
    """
    start, slice_ = fresh.to_at - pull.relist, pull.relist / pull.relist_slices
    if start >= fresh.from_at:
        return None
    if cursor is None or not start <= cursor <= fresh.from_at - slice_:
        cursor = start
    end = cursor + slice_
    return Window(cursor, end if end <= fresh.from_at - slice_ else fresh.from_at)


def read(account: Account, window: Window) -> Account:
    """Return what is known of an account of which this window was read to the end."""
    known = account.covered_from
    connected = (
        known is not None and account.watermark_at is not None and window.from_at <= account.watermark_at
    )
    covered_from = min(known, window.from_at) if known is not None and connected else window.from_at
    return Account(account.account, account.livemode, covered_from, window.to_at)


def read_back(account: Account, window: Window) -> Account:
    """Return what is known of an account of which this older window was read to the end.

    Where it does not reach what is covered, a gap remains, and coverage stays as it is.
    """
    known, end = account.covered_from, account.watermark_at
    if known is None or end is None or not window.from_at < known <= window.to_at + _SECOND:
        return account
    return replace(account, covered_from=window.from_at)


def coverage(
    accounts: Mapping[AccountId, Account],
    complete: Iterable[AccountId],
    named: Iterable[AccountId],
    intents_from: Mapping[AccountId, datetime],
) -> Coverage:
    """Return what was read of each account that has rows or was to be read; what is older is outside.

    named: the accounts of the rows; one that nobody reads is not covered. intents_from: from when an
    account's intents count, where not from ever. A refund from before all refunds were read is outside as
    well: whoever sees one of many cannot tell an orphan.
    """
    whole = frozenset(complete)
    refunds = {
        account: Reading(known.covered_from, known.watermark_at, complete=account in whole)
        for account, known in accounts.items()
    }
    began = {
        account: max(known.covered_from, intents_from.get(account, known.covered_from))
        for account, known in accounts.items()
        if known.covered_from is not None
    }
    return Coverage(
        refunds=refunds | {each: Reading(complete=False) for each in named if each not in refunds},
        intents={account: Reading(at) for account, at in (dict(intents_from) | began).items()},
        older_is_outside=True,
    )


def unasked(accounts: Collection[AccountId], named: Iterable[AccountId]) -> tuple[str, ...]:
    """Return a sentence about the accounts of the rows that no run asks the provider for; often none.

    accounts: those that are read. named: the accounts of the rows.
    """
    strange = sorted(set(named) - set(accounts))
    if not strange:
        return ()
    has = "Account {} has" if len(strange) == 1 else "Accounts {} have"
    sentence = (
        f"{has.format(few(strange, _NAMED))} intents here and no place in accounts under [provider]: their "
        "refunds are not read, and what is missing there is not judged."
    )
    return (sentence,)


def _gaps(low: int, high: int, done: Iterable[Slice]) -> Iterator[tuple[int, int]]:
    """Yield first and last second of what lies between what is done."""
    for first, last in sorted((_seconds(each.from_at), _seconds(each.to_at)) for each in done):
        if first > high:
            break
        if low < first:
            yield low, first - 1
        low = max(low, last + 1)
    if low <= high:
        yield low, high


def _seconds(at: datetime) -> int:
    return int(at.timestamp() // 1)


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
