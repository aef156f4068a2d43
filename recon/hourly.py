"""The hour: one pass over the books, in an order that is written here and nowhere else.

Lease, pull, read, diff, plan, save. No transaction is open while the network is waited for; every write is
under the run's fence. Never moves money.
"""

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256

from recon.doors.store import cases as book
from recon.doors.store import foreign, leases, mirror, outbox, reading, runs
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.errors import ConfigurationError
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Manner, Notice
from recon.model.records.progress import Pulling
from recon.model.records.results import Healable, Policy, Result
from recon.model.records.runs import HOUR, Account, Lease, Run
from recon.model.records.words import AccountId, Action, RunId, Verdict
from recon.model.settings import Settings
from recon.pulling import Pull, Pulled
from recon.rules import cases, linking, notices, ownership, reports, windows
from recon.rules.cases import Judged, RunStamp
from recon.rules.mismatches import finding
from recon.rules.ownership import Ownership

Clock = Callable[[], datetime]
Progress = Callable[[str | Pulling], None]
Entering = Callable[[str, Lease], None]

_REPLANS = 3  # A case that people move this often during one save is left to the next run.
_RUNS_BACK = 200  # A week of runs: where an outage began that is longer than that does not matter any more.


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one pass did, or would have done.

    result: of what was read. changes: the cases that moved, as they were saved. heals: the intents that were
    finished; not_healed: those that no longer fitted. dry: nothing was written but the mirror, and the copy
    of somebody else's intents table where there is one.
    """

    run: Run
    result: Result
    changes: tuple[Change, ...]
    notices: tuple[Notice, ...]
    heals: tuple[Healable, ...]
    not_healed: tuple[Healable, ...] = ()
    dry: bool = False

    @property
    def complete(self) -> bool:
        """Return whether everything was read and judged."""
        return self.run.verdict is not Verdict.INCOMPLETE and all(each.complete for each in self.run.accounts)

    @property
    def in_order(self) -> bool:
        """Return whether a caller may go by it alone: it is complete, and no row was rejected."""
        return self.complete and not self.result.rejected


def run(
    database: Database,
    provider: Provider,
    settings: Settings,
    *,
    clock: Clock,
    dry_run: bool = False,
    as_of: datetime | None = None,
    progress: Progress | None = None,
    entering: Entering | None = None,
) -> RunReport:
    """Pass over the books once, and return what came of it.

    as_of: judge at this time instead of the end of what was pulled. entering: told the name of each step as
    it begins, and the lease that is held by then: pull, copy, read, compare, plan, save.

    Raises:
        ConfigurationError: the settings do not fit, or the key and the database are of different modes.
        ProviderRefused: the key is wrong.
        ProviderUnavailable: the provider is away, and no earlier run knows what time it is there.
        DatabaseUnavailable: it is away; what was saved before that stands.
        LeaseHeld: another run is at it. Nothing was written.
        LeaseLost: another run took over; pages of the mirror may have been written, nothing else.
    """
    owners = ownership.parse(settings.owners)
    _check_mode(mirror.accounts(database), provider)
    with _leased(database, settings, clock) as keeper:
        hour = _Hour(
            database,
            provider,
            settings,
            owners,
            keeper,
            clock,
            progress or _silent,
            entering or _silent,
            dry=dry_run,
        )
        return hour.pass_over(as_of)


def _silent(*_: object) -> None:
    """Say nothing."""


def _check_mode(accounts: Iterable[Account], provider: Provider) -> None:
    """Raise where the key moves real money and the database's refunds do not, or the other way round."""
    livemode = provider.livemode()
    for account in accounts:
        if None not in {livemode, account.livemode} and account.livemode is not livemode:
            theirs, ours = ("live", "test") if account.livemode else ("test", "live")
            raise ConfigurationError(
                f"This database holds {theirs} refunds, and STRIPE_API_KEY is a {ours} key: "
                "use the key of the other mode, or another database (RECON_DATABASE_URL)."
            )


@dataclass(slots=True)
class _Keeper:
    """Holds the lease and renews it in time."""

    database: Database
    lease: Lease
    settings: Settings
    clock: Clock

    def current(self) -> Lease:
        """Return the lease, renewed once a third of it is gone."""
        duration, now = self.settings.lease.duration, self.clock()
        if self.lease.expires_at - now < duration * 2 / 3:
            self.lease = leases.renew(self.database, self.lease, now=now, duration=duration)
        return self.lease


@contextmanager
def _leased(database: Database, settings: Settings, clock: Clock) -> Iterator[_Keeper]:
    """Take the lease, and give it back unless another run has it by then."""
    holder = f"{platform.node()}, process {os.getpid()}"
    lease = leases.take(database, HOUR, holder, now=clock(), duration=settings.lease.duration)
    keeper = _Keeper(database, lease, settings, clock)
    try:
        yield keeper
    finally:
        leases.release(database, keeper.lease)


@dataclass(slots=True)
class _Hour:
    """One pass: its doors, and its steps in their order."""

    database: Database
    provider: Provider
    settings: Settings
    owners: Ownership
    keeper: _Keeper
    clock: Clock
    say: Progress
    entering: Entering
    dry: bool

    def pass_over(self, asked: datetime | None) -> RunReport:
        """Take every step once."""
        started_at = self.clock()
        last = runs.last_saved(self.database)
        pull = Pull(self.database, self.provider, self.settings, self.keeper.current, self.say, self.dry)
        self.enter("pull")
        pulled, end = pull.everything(last)
        self.enter("copy")
        foreign.copy(self.database, self.keeper.current(), self.settings.intents)
        self.enter("read")
        as_of, digest = asked or end, _digest(self.settings)
        full = last is None or last.policy_digest != digest
        snapshot = reading.read(self.database, full=full, mark=last.mark if last else 0, as_of=as_of)
        self.say(f"Comparing {len(snapshot.intents.frame)} intents and {len(snapshot.refunds.frame)} refunds")
        self.enter("compare")
        result = self._judge(snapshot, pulled, as_of)
        fence = self.keeper.current().fence
        this = Run(
            id=RunId(f"{as_of:%Y%m%dT%H%M%SZ}-{fence}"),
            fence=fence,
            started_at=started_at,
            finished_at=self.clock(),
            as_of=as_of,
            verdict=result.verdict,
            mark=snapshot.mark,
            policy_digest=digest,
            full=snapshot.full,
            counts=reports.counts(result.counts),
            at_risk=dict(result.at_risk),
            opened=0,
            cleared=0,
            healed=len(result.healable),
            accounts=tuple(each.reading for each in pulled),
        )
        backwards = last is not None and as_of < last.as_of
        return _Plan(self, this, snapshot, result, backwards).carry_out()

    def enter(self, step: str) -> None:
        """Say that a step begins."""
        self.entering(step, self.keeper.lease)

    def _judge(self, snapshot: reading.Snapshot, pulled: Iterable[Pulled], as_of: datetime) -> Result:
        """Return what the diff finds in what was read."""
        accounts = {each.account.account: each.account for each in pulled}
        whole = [each.reading.account for each in pulled if each.reading.complete]
        named = {AccountId(name) for name in snapshot.intents.frame["account"].unique()}
        rejects = tuple(reject for each in pulled for reject in each.rejects)
        refunds = replace(snapshot.refunds, rejects=(*snapshot.refunds.rejects, *rejects))
        policy = _policy(self.settings)
        return finding.find(
            snapshot.intents,
            refunds,
            linking.link(snapshot.intents.frame, refunds.frame, policy),
            policy=policy,
            coverage=windows.coverage(accounts, whole, named),
            as_of=as_of,
        )


@dataclass(slots=True)
class _Plan:
    """What a result leads to, and its saving.

    backwards: it is judged at a time before the last run's. What agreed then may disagree by now: nothing is
    cleared, and no evidence weakened.
    """

    hour: _Hour
    run: Run
    snapshot: reading.Snapshot
    result: Result
    backwards: bool

    def carry_out(self) -> RunReport:
        """Plan, say, and save, unless the run is dry."""
        self.hour.enter("plan")
        known = self.snapshot.cases
        changes = self._changes(known)
        said = self._said(changes, known) + self._alarm() + self._unjudged()
        actions = [change.entry.action for change in changes]
        opened, cleared = (actions.count(each) for each in (Action.OPENED, Action.CLEARED))
        run = replace(self.run, opened=opened, cleared=cleared)
        if self.hour.dry:
            return RunReport(run, self.result, changes, said, self.result.healable, dry=True)
        saving = book.Saving(
            run=run,
            changes=changes,
            heals=self.result.healable,
            notices=said,
            judged=self.snapshot.judged | self.snapshot.gone,
            due=self.result.due,
            withheld=self.result.withheld,
            rejects=self.result.rejected,
        )
        self.hour.enter("save")
        saved = book.save_run(self.hour.database, self.hour.keeper.current(), saving)
        done, more = self._again(changes, saved.moved)
        return RunReport(saved.run, self.result, done, said + more, saved.healed, saved.not_healed)

    @property
    def _read(self) -> frozenset[AccountId]:
        """Return the accounts read completely."""
        return frozenset(each.account for each in self.run.accounts if each.complete)

    def _changes(self, known: tuple[Case, ...]) -> tuple[Change, ...]:
        """Return what the result changes in these cases, owned and rated."""
        as_of, now = self.run.as_of, self.hour.clock()
        stamp = RunStamp(self.run.id, self.run.fence, as_of, self.hour.settings.pull.overlap)
        proving = frozenset() if self.backwards else self._read
        judged = Judged(self.snapshot.judged, proving, self.snapshot.gone)
        planned = cases.plan(self.result, known, judged, run=stamp, now=now)
        changes = ownership.assign(planned, self.hour.owners, as_of=as_of)
        moving = {change.case.id for change in changes}
        rest = (case for case in known if case.id not in moving)
        return changes + ownership.reconsider(
            rest, self.hour.owners, run_id=self.run.id, as_of=as_of, now=now
        )

    def _said(self, changes: tuple[Change, ...], known: tuple[Case, ...]) -> tuple[Notice, ...]:
        """Return what these changes give to say."""
        before = {case.id: case for case in known}
        after = before | {change.case.id: change.case for change in changes}
        manner = self._manner()
        waiting = notices.by_thread(after.values(), livemode=manner.livemode)
        former = notices.by_thread(before.values(), livemode=manner.livemode)
        return notices.compose(
            changes,
            waiting,
            frozenset(outbox.threads(self.hour.database, sorted({*waiting, *former}))),
            before=before,
            manner=manner,
            held=notices.kept_back(known, runs.recent(self.hour.database, _RUNS_BACK), self._read),
            unread={each.account for each in self.run.accounts if not each.complete},
        )

    def _alarm(self) -> tuple[Notice, ...]:
        """Return the alarm of an incomplete run; none of a complete one."""
        if self.run.verdict is not Verdict.INCOMPLETE and len(self._read) == len(self.run.accounts):
            return ()
        complete = runs.last_complete(self.hour.database)
        reasons = list(self.result.incomplete)
        if self.result.withheld:
            reasons.append(
                f"{len(self.result.withheld)} subjects could not be judged with what was read. Where intents "
                "are older than that, a longer first_window_days makes the next run read back."
            )
        since = complete.id if complete else None
        return (notices.incomplete(self.run.accounts, reasons, since=since, manner=self._manner()),)

    def _unjudged(self) -> tuple[Notice, ...]:
        """Return the notice of the rows that were rejected; none where each could be judged."""
        rejects = self.result.rejected
        return (notices.rejected(rejects, manner=self._manner()),) if rejects else ()

    def _manner(self) -> Manner:
        settings = self.hour.settings
        return Manner(
            run_id=self.run.id,
            as_of=self.run.as_of,
            now=self.hour.clock(),
            livemode=bool(self.hour.provider.livemode()),
            dashboard_url=settings.dashboard.url.rstrip("/"),
            operators_channel=settings.slack.operators_channel,
            surge_limit=settings.surge_limit,
            mentions=self.hour.owners.mentions(),
        )

    def _again(
        self, changes: tuple[Change, ...], moved: tuple[Change, ...]
    ) -> tuple[tuple[Change, ...], tuple[Notice, ...]]:
        """Plan the cases that people moved meanwhile once more, alone; return all that was saved."""
        database = self.hour.database
        told: tuple[Notice, ...] = ()
        done = tuple(change for change in changes if change not in moved)
        for _ in range(_REPLANS):
            ids = sorted({change.case.id for change in moved})
            fresh = tuple(case for each in ids if (case := book.get(database, each)) is not None)
            others = {case.id: case for case in self.snapshot.cases}
            others |= {change.case.id: change.case for change in done}
            planned = tuple(change for change in self._changes(fresh) if change.case.id in ids)
            if not planned:
                break
            said = self._said(planned, (*fresh, *(others[each] for each in others if each not in ids)))
            moved = book.save_changes(database, self.hour.keeper.current(), planned, notices=said)
            done += tuple(change for change in planned if change not in moved)
            told += said
        return done, told


def _policy(settings: Settings) -> Policy:
    """Return what this company's books are judged by.

    Somebody else's table is never written, so that nothing there can be healed: what the provider proves and
    they have not written down within the grace is theirs to answer, and not quiet for ever.
    """
    return settings.policy if settings.intents is None else replace(settings.policy, healing=False)


def _digest(settings: Settings) -> str:
    """Return a name for what judgements rest on beside the rows; another name, everything anew."""
    rests_on = (asdict(_policy(settings)), sorted(settings.provider.accounts), settings.provider.metadata_key)
    return sha256(repr(rests_on).encode()).hexdigest()[:16]
