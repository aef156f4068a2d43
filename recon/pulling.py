"""Step two of the hour: the provider's refunds into the mirror, account by account, page by page.

Part of recon/hourly.py, which alone calls it. Every write is under the run's fence. Never judges a refund.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from recon.doors.store import mirror
from recon.doors.store.engines import Database
from recon.doors.store.mirror import Cursors
from recon.doors.stripe.provider import Provider
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.provider import Refund, RefundEvent
from recon.model.records.results import Reject
from recon.model.records.runs import Account, AccountReading, Lease, Run
from recon.model.records.words import AccountId, RefundId
from recon.model.settings import Settings
from recon.rules import windows
from recon.rules.windows import Window

PLATFORM = AccountId("")
RETRIEVALS = 500  # Refunds fetched one by one per run and account: 20 seconds at 25 a second. The rest waits.


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was read of one account.

    account: what is known of it now. rejects: rows of the provider's that cannot be judged.
    """

    account: Account
    reading: AccountReading
    rejects: tuple[Reject, ...] = ()


@dataclass(frozen=True, slots=True)
class Pull:
    """One run's reading of the provider.

    lease: returns the run's lease, renewed in time. dry: what was read is left to be read again.
    """

    database: Database
    provider: Provider
    settings: Settings
    lease: Callable[[], Lease]
    say: Callable[[str], None]
    dry: bool

    def everything(self, last: Run | None) -> tuple[tuple[Pulled, ...], datetime]:
        """Return what was read of each account, and the provider's time up to which it was.

        Where the provider is away, nothing was read, up to the time that the last run was judged at.

        Raises:
            ProviderUnavailable: it is away, and there was no run before.
            ProviderRefused: the key is wrong.
            LeaseLost: another run took over; some pages may have been saved.
        """
        known = {account.account: account for account in mirror.accounts(self.database)}
        names = list(dict.fromkeys((PLATFORM, *self.settings.provider.accounts)))
        accounts = [known.get(name, Account(name)) for name in names]
        try:
            end = self._time()
        except ProviderUnavailable as away:  # An outage: say what stands, at the time it was last seen.
            if last is None:
                raise
            return tuple(_unread(account, last.as_of, str(away)) for account in accounts), last.as_of
        pulled = []
        for number, account in enumerate(accounts, start=1):
            self.say(f"Reading account {number} of {len(names)}: {account.account or 'the platform'}")
            pulled.append(self._account(account, end))
        return tuple(pulled), end

    def _time(self) -> datetime:
        """Return the provider's time."""
        self.provider.account()
        now = self.provider.now()
        if now is None:
            raise ProviderUnavailable("The provider answered without its time: a Date header was expected.")
        return now

    def _account(self, known: Account, now: datetime) -> Pulled:
        """Return what was read of one account; a page that fails makes it incomplete."""
        livemode = self.provider.livemode()
        known = replace(known, livemode=known.livemode if livemode is None else livemode)
        window = windows.created(known, now=now, pull=self.settings.pull)
        cursors = mirror.cursors(self.database, known.account)
        tally = _Tally(known, cursors)
        error = self._read(tally, window)
        # A row that could not be read must be met again; a dry run leaves what it read to the wet one.
        mirror.save_account(
            self.database, self.lease(), known if tally.rejects or self.dry else tally.account
        )
        if error is None and not self.dry:
            self._keep(known.account, tally)
        reading = AccountReading(
            known.account,
            window.from_at,
            window.to_at,
            complete=error is None,
            pages=tally.pages,
            refunds=tally.refunds,
            changed=tally.changed,
            error=error,
        )
        return Pulled(tally.account, reading, tuple(tally.rejects))

    def _read(self, tally: "_Tally", window: Window) -> str | None:
        """Read what is new, then a slice of what is old, then what events name; return what broke off."""
        name, pull = tally.account.account, self.settings.pull
        try:
            self._take_hints(tally, tally.cursors.events_at or window.from_at)
            self._take_pages(tally, window)
            tally.account = windows.read(tally.account, window)
            again = windows.relisted(tally.cursors.relist_at, fresh=window, pull=pull)
            if again is not None:
                self._take_pages(tally, again)
            self._follow_hints(tally)
        except ProviderUnavailable as away:  # A page broke off.
            return str(away)
        except ProviderRefused as refused:  # A connected account has cut us off; the others go on.
            if name == PLATFORM:
                raise
            return str(refused)
        relist_at = tally.cursors.relist_at if again is None else again.to_at
        tally.cursors = Cursors(relist_at, window.to_at - pull.overlap)
        return None

    def _take_hints(self, tally: "_Tally", since: datetime) -> None:
        """Note what happened to refunds since then, and what could not be looked at last time."""
        name = tally.account.account
        for hint in (*self.provider.refund_events(name, since), *mirror.hints(self.database, name)):
            if hint.refund_id not in tally.hints or hint.request_key is not None:
                tally.hints[hint.refund_id] = hint

    def _take_pages(self, tally: "_Tally", window: Window) -> None:
        """Save each page as it comes."""
        for page in self.provider.refunds(tally.account.account, window.from_at, window.to_at):
            tally.pages += 1
            tally.rejects += page.rejects
            self._save(tally, page.refunds)

    def _follow_hints(self, tally: "_Tally") -> None:
        """Retrieve the refunds that events name and no page held; one that is not shown yet waits."""
        for name in [each for each in tally.hints if each not in tally.seen][:RETRIEVALS]:
            refund = self.provider.retrieve(name, tally.account.account)
            if refund is not None:
                self._save(tally, (refund,))

    def _save(self, tally: "_Tally", refunds: Iterable[Refund]) -> None:
        """Save refunds in the mirror, with the keys of the requests that made them where an event told."""
        told = [_with_key(refund, tally.hints.get(refund.id)) for refund in refunds]
        tally.seen.update(refund.id for refund in told if refund.id in tally.hints)
        tally.refunds += len(told)
        tally.changed += mirror.save_page(self.database, self.lease(), told)

    def _keep(self, name: AccountId, tally: "_Tally") -> None:
        """Write down how far the other readings came, and what must be looked at again."""
        waiting = [hint for each, hint in tally.hints.items() if each not in tally.seen]
        mirror.save_cursors(self.database, self.lease(), name, tally.cursors)
        mirror.save_hints(self.database, self.lease(), name, waiting=waiting, retrieved=sorted(tally.seen))


@dataclass(slots=True)
class _Tally:
    """What has come of one account so far.

    hints: what events said of a refund, by id. seen: of those, the ones read since.
    """

    account: Account
    cursors: Cursors
    pages: int = 0
    refunds: int = 0
    changed: int = 0
    rejects: list[Reject] = field(default_factory=list)
    hints: dict[RefundId, RefundEvent] = field(default_factory=dict)
    seen: set[RefundId] = field(default_factory=set)


def _unread(account: Account, at: datetime, error: str) -> Pulled:
    """Return that nothing was read of an account."""
    nothing = AccountReading(
        account.account, at, at, complete=False, pages=0, refunds=0, changed=0, error=error
    )
    return Pulled(account, nothing)


def _with_key(refund: Refund, hint: RefundEvent | None) -> Refund:
    if hint is None or refund.request_key is not None:
        return refund
    return replace(refund, request_key=hint.request_key)
