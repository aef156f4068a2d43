"""Step two of the hour: the provider's refunds into the mirror, account by account, page by page.

Part of recon/hourly.py, which alone calls it. Threads read, one writer saves, every write is under the run's
fence. Never judges a refund, and never takes for read what did not show its end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from recon.doors.store import mirror, slices
from recon.doors.store.engines import Database
from recon.doors.stripe import together
from recon.doors.stripe.provider import Page, Provider
from recon.model import phrases
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.progress import Pulling
from recon.model.records.provider import Refund, RefundEvent
from recon.model.records.results import Reject
from recon.model.records.runs import Account, Cursors, Lease, Run, Slice
from recon.model.records.words import AccountId
from recon.model.settings import Settings
from recon.model.tally import Pulled, Tally, nothing
from recon.rules import windows
from recon.rules.windows import Window

PLATFORM = AccountId("")
RETRIEVALS = 500  # Refunds fetched one by one per run and account: 25 seconds at 20 a second. The rest waits.
READERS = 12  # At half a second a page they use up 20 requests a second, with some in hand.
EACH = 4  # Refunds to be fetched that are worth a reader of their own.
MANY_PAGES = 8  # Of one hour: then the re-list's next slice has hundreds, and is cut as well.
EVENTS_KEPT = timedelta(days=31)  # The provider keeps them for 30 days.

Say = Callable[[str | Pulling], None]


@dataclass(frozen=True, slots=True)
class Pull:
    """One run's reading of the provider.

    lease: returns the run's lease, renewed in time. dry: what was read is left to be read again.
    """

    database: Database
    provider: Provider
    settings: Settings
    lease: Callable[[], Lease]
    say: Say
    dry: bool

    def everything(self, last: Run | None) -> tuple[tuple[Pulled, ...], datetime]:
        """Return what was read of each account, and the provider's time up to which it was.

        Where the provider is away, or takes its time back, nothing was read, up to when the last run judged.

        Raises:
            ProviderUnavailable: it is so, and there was no run before.
            ProviderRefused: the key is wrong.
            LeaseLost: another run took over; some pages may have been saved.
        """
        known = {account.account: account for account in mirror.accounts(self.database)}
        names = list(dict.fromkeys((PLATFORM, *self.settings.provider.accounts)))
        accounts = [known.get(name, Account(name)) for name in names]
        self.provider.begin(PLATFORM)
        pulled = []
        try:
            end = self.time()
            for number, account in enumerate(accounts, start=1):
                pulled.append(self._account(account, end, Pulling(account.account, number, len(names))))
            self.provider.check_time(end, within=self.settings.pull.overlap)
        except ProviderUnavailable as away:  # An outage: say what stands, at the time it was last seen.
            if last is None:
                raise
            return tuple(
                nothing(account, last.as_of, last.as_of, str(away)) for account in accounts
            ), last.as_of
        if len(pulled) > 1:
            whole = sum(each.reading.complete for each in pulled)
            self.say(f"{whole} of {len(pulled)} accounts read")
        return tuple(pulled), end

    def back(self, known: Account, window: Window, progress: Pulling) -> Pulled:
        """Return what was read of an older window of an account; its watermark and its cursors stay.

        known: as this run judges it. What is written down stays where the run left it, which is behind that
        when the run is dry or met a row that it could not read.

        Raises:
            ProviderRefused: the key is wrong, or the account.
            LeaseLost: another run took over; some pages may have been saved.
        """
        self.provider.begin(known.account)
        written = {each.account: each for each in mirror.accounts(self.database)}
        kept = written.get(known.account, Account(known.account))
        tally = Tally(kept, Cursors(), progress)
        error = None
        try:
            now = self.time()
            self._take_window(tally, window, now=now)
        except ProviderUnavailable as away:  # A page broke off.
            error = str(away)
        else:
            tally.account = windows.read_back(kept, window)
            known = windows.read_back(known, window)
            self._save_account(tally, kept, window, now=now)
        return replace(tally.pulled(window.from_at, window.to_at, error), account=known)

    def time(self) -> datetime:
        """Return the provider's time.

        Raises:
            ProviderUnavailable: it is away, or does not say.
            ProviderRefused: the key is wrong.
        """
        self.provider.account()
        now = self.provider.now()
        if now is None:
            raise ProviderUnavailable("The provider answered without its time: a Date header was expected.")
        return now

    def _account(self, known: Account, now: datetime, progress: Pulling) -> Pulled:
        """Return what was read of one account; a page that fails makes it incomplete."""
        self.provider.begin(known.account)
        known = self._in_mode(known)
        window = windows.created(known, now=now, pull=self.settings.pull)
        tally = Tally(known, mirror.cursors(self.database, known.account), progress)
        self.say(tally.progress)
        error = self._read(tally, window)
        self._save_account(tally, known, window, now=window.to_at)
        if error is None and not self.dry:
            self._keep(known.account, tally)
        return tally.pulled(window.from_at, window.to_at, error)

    def _in_mode(self, known: Account) -> Account:
        """Return an account with the mode that the key shows."""
        livemode = self.provider.livemode()
        return replace(known, livemode=known.livemode if livemode is None else livemode)

    def _read(self, tally: Tally, window: Window) -> str | None:
        """Read what is new, then a slice of what is old, then what events name; return what broke off."""
        name, pull = tally.account.account, self.settings.pull
        try:
            self._take_hints(tally, windows.heard(tally.cursors.events_at, window), now=window.to_at)
            self._take_window(tally, window, now=window.to_at)
            tally.account = windows.read(tally.account, window)
            again = windows.relisted(tally.cursors.relist_at, fresh=window, pull=pull)
            if again is not None:
                self._take(tally, windows.parts(again) if tally.pages > MANY_PAGES else (again,))
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

    def _take_hints(self, tally: Tally, since: datetime, *, now: datetime) -> None:
        """Note what happened to refunds since then, and what could not be looked at last time."""
        name, since = tally.account.account, min(max(since, now - EVENTS_KEPT), now)
        # What happens meanwhile is heard of as well: no end. What fits one page is asked for once.
        few = tuple(islice(self.provider.refund_events(name, since), self.settings.provider.page_size))
        tally.note(few)
        if len(few) == self.settings.provider.page_size:
            self._take_events(tally, windows.parts(Window(since, now)))
        tally.listed = set(tally.hints)
        for hint in mirror.hints(self.database, name):
            tally.listed.discard(hint.refund_id)
            tally.note((hint,))

    def _take_events(self, tally: Tally, parts: Sequence[Window]) -> None:
        """Note the events of each part, of the last one up to now."""
        ends = [*(part.to_at for part in parts[:-1]), None]
        readings = [
            partial(_whole, partial(self.provider.refund_events, tally.account.account, part.from_at, end))
            for part, end in zip(parts, ends, strict=True)
        ]
        with closing(together.read(readings, readers=READERS)) as batches:
            for batch in batches:
                for _, events in batch:
                    tally.note(events)

    def _take_window(self, tally: Tally, window: Window, *, now: datetime) -> None:
        """Save what was created in a window, but for the slices that an earlier run read to their end.

        What changed in such a slice since is not missed: it was read a whole overlap after it had ended, so
        that nothing of it shows up later, and what happens to its refunds is told by events. Those are heard
        of from before the slice was read, because their cursor moves with a complete reading only; and the
        re-list comes by within a day.
        """
        name, overlap = tally.account.account, self.settings.pull.overlap
        known = slices.read(self.database, name)
        done = windows.settled(known, window, now=now, overlap=overlap)
        self._pass_over(tally, done)
        parts = windows.parts(window, done)
        page = None if done or len(parts) == 1 else self._look(name, window)
        parts = parts if page is None else (window,)
        tally.progress = replace(tally.progress, slices=len(done) + len(parts), slices_read=len(done))
        tally.sliced = bool(known)
        self._take(tally, parts, now=now, page=page)
        self.provider.check_time(now, within=overlap)
        tally.whole = True

    def _look(self, name: AccountId, window: Window) -> Page | None:
        """Return the one page that holds a whole window; None where slices are worth it."""
        page = next(self.provider.refunds(name, window.from_at, window.to_at), None)
        return page if page is not None and page.last else None

    def _pass_over(self, tally: Tally, done: Sequence[Slice]) -> None:
        """Leave out the hints that slices read earlier have answered: their events were older than these."""
        overlap = self.settings.pull.overlap
        old = [
            name
            for name in tally.listed
            if any(tally.hints[name].created_at + overlap <= each.read_at for each in done)
        ]
        for name, (made, key) in slices.mirrored(self.database, tally.account.account, old).items():
            hint = tally.hints[name]
            if (key is not None or hint.request_key is None) and any(
                each.from_at <= made <= each.to_at and hint.created_at + overlap <= each.read_at
                for each in done
            ):
                tally.seen.add(name)

    def _take(
        self,
        tally: Tally,
        parts: Sequence[Window],
        *,
        now: datetime | None = None,
        page: Page | None = None,
    ) -> None:
        """Save each page as it comes; now: write down which parts were read to their end, as of then.

        page: the only one there is of the only part, if it was read before.
        """
        name, overlap = tally.account.account, self.settings.pull.overlap
        readings: list[Callable[[], Iterable[Page]]] = [
            partial(self.provider.refunds, name, part.from_at, part.to_at) for part in parts
        ]
        if page is not None:
            readings = [lambda: (page,)]
        left, flawed = set(range(len(parts))), set[int]()
        with closing(together.read(readings, readers=READERS)) as batches:
            for batch in batches:
                self._save(tally, [refund for _, page in batch for refund in page.refunds])
                tally.rejects += [reject for _, page in batch for reject in page.rejects]
                ended = {number for number, page in batch if page.last}
                flawed |= {number for number, page in batch if page.rejects}  # These must be met again.
                left -= ended
                tally.turn(len(batch), 0 if now is None else len(ended))
                if now is not None:
                    read = [Slice(parts[each].from_at, parts[each].to_at, now) for each in ended - flawed]
                    self._keep_slices(tally, [each for each in read if each.to_at + overlap <= now])
                self.say(tally.progress)
        if left:
            raise ProviderUnavailable(
                f"The refunds of {phrases.account(name)} broke off: no page said that it is the last."
            )

    def _keep_slices(self, tally: Tally, read: Sequence[Slice]) -> None:
        """Write down that slices need not be read again, once their pages are saved."""
        if read and not self.dry:
            self.provider.check_time(read[0].read_at, within=self.settings.pull.overlap)
            tally.sliced = True
            slices.save(self.database, self.lease(), tally.account.account, read)

    def _follow_hints(self, tally: Tally) -> None:
        """Retrieve the refunds that events name and no page held; one that is not shown yet waits.

        So does one that cannot be read: it is met again by its hint, and keeps no window open.
        """
        name = tally.account.account
        flawed = {reject.id for reject in tally.rejects}
        ids = [each for each in tally.hints if each not in tally.seen and each not in flawed][:RETRIEVALS]
        readings = [partial(_one, partial(self.provider.retrieve, each, name)) for each in ids]
        with closing(together.read(readings, readers=max(1, min(READERS, len(ids) // EACH)))) as batches:
            for batch in batches:
                found = [each for _, each in batch]
                tally.unread += [each for each in found if isinstance(each, Reject)]
                self._save(tally, [each for each in found if isinstance(each, Refund)])

    def _save(self, tally: Tally, refunds: Sequence[Refund]) -> None:
        """Save refunds in the mirror, with the keys of the requests that made them where an event told."""
        told = [_with_key(refund, tally.hints.get(refund.id)) for refund in refunds]
        tally.seen.update(refund.id for refund in told if refund.id in tally.hints)
        tally.refunds += len(told)
        if told:
            tally.changed += mirror.save_page(self.database, self.lease(), told)

    def _save_account(self, tally: Tally, known: Account, window: Window, *, now: datetime) -> None:
        """Write down what is known of an account; forget slices that are behind it, and old ones."""
        # A row that could not be read must be met again; a dry run leaves what it read to the wet one.
        moves = tally.whole and not tally.rejects and not self.dry
        name = known.account
        mirror.save_account(self.database, self.lease(), tally.account if moves else known)
        if tally.sliced and not self.dry:
            slices.forget(
                self.database,
                self.lease(),
                name,
                within=(window.from_at, window.to_at) if moves else None,
                read_before=now - windows.KEPT,
            )

    def _keep(self, name: AccountId, tally: Tally) -> None:
        """Write down how far the other readings came, and what must be looked at again."""
        waiting = [hint for each, hint in tally.hints.items() if each not in tally.seen]
        mirror.save_cursors(self.database, self.lease(), name, tally.cursors)
        mirror.save_hints(self.database, self.lease(), name, waiting=waiting, retrieved=sorted(tally.seen))


def _whole(events: Callable[[], Iterable[RefundEvent]]) -> Iterator[tuple[RefundEvent, ...]]:
    """Yield a part's events in one."""
    yield tuple(events())


def _one(retrieve: Callable[[], Refund | Reject | None]) -> Iterator[Refund | Reject | None]:
    """Yield one refund."""
    yield retrieve()


def _with_key(refund: Refund, hint: RefundEvent | None) -> Refund:
    if hint is None or refund.request_key is not None:
        return refund
    return replace(refund, request_key=hint.request_key)
