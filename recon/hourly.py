"""The hour: one pass over the books, in an order that is written here and nowhere else.

Lease, pull, read, diff, plan, save. No transaction is open while the network is waited for; every write is
under the run's fence. Never moves money.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256

from recon import lookback
from recon.doors.store import beginnings as store
from recon.doors.store import foreign, keeping, limits, mirror, reading, runs
from recon.doors.store.engines import Database
from recon.doors.store.keeping import Clock, Keeper
from recon.doors.stripe.provider import Provider
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Notice
from recon.model.records.progress import Pulling, Waiting
from recon.model.records.results import Healable, Policy, Result
from recon.model.records.runs import HOUR, Backfill, Lease, Older, ReadBack, Run
from recon.model.records.words import AccountId, CaseId, Kind, RunId, Verdict
from recon.model.settings import Settings
from recon.model.tally import Pulled
from recon.planning import Office, Plan, Quiet
from recon.pulling import Pull
from recon.rules import beginnings, linking, ownership, windows
from recon.rules.mismatches import finding
from recon.rules.reports import documents

Progress = Callable[[str | Pulling | Waiting], None]
Entering = Callable[[str, Lease], None]
Since = Mapping[AccountId, datetime]


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one pass did, or would have done.

    result: of what was read, and what else is in flight. changes: the cases that moved, as they were saved.
    heals: the intents that were finished; not_healed: those that no longer fitted. older: what is withheld
    because it is older than what is judged, as the last full run counted it, or more. said: what this run
    decided about that, and which accounts nobody reads, in sentences. copied: somebody else's table that the
    intents were copied from; None where they are recon's own. was: of what kind each case was whose kind is
    another now. back: the older window that it was asked to read, by account. untold: how many cases it
    opened about it without telling.
    dry: nothing was written but the mirror, and the copy of somebody else's intents table where there is one.
    """

    run: Run
    result: Result
    changes: tuple[Change, ...]
    notices: tuple[Notice, ...]
    heals: tuple[Healable, ...]
    not_healed: tuple[Healable, ...] = ()
    older: tuple[Older, ...] = ()
    said: tuple[str, ...] = ()
    back: tuple[ReadBack, ...] = ()
    untold: int = 0
    dry: bool = False
    copied: str | None = None
    was: Mapping[CaseId, Kind] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Return whether everything was read and judged that is not older than what was to be read."""
        readings = (*self.run.accounts, *(each.reading for each in self.back))
        return self.run.verdict is not Verdict.INCOMPLETE and all(each.complete for each in readings)

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
    wait: timedelta = keeping.AT_ONCE,
    back: Backfill | None = None,
) -> RunReport:
    """Pass over the books once, and return what came of it.

    as_of: judge at this time instead of the end of what was pulled. entering: told the name of each step as
    it begins, and the lease that is held by then: pull, copy, read, compare, plan, save. wait: how long for
    another run to end. back: an older window to read as well, and to judge.

    Raises:
        ConfigurationError: the settings do not fit, the key and the database are of different modes, or the
            window to read back is in the future or of no account that is read.
        ProviderRefused: the key is wrong.
        ProviderUnavailable: the provider is away, and no earlier run knows what time it is there.
        DatabaseUnavailable: it is away; what was saved before that stands.
        LeaseHeld: another run is at it. Nothing was written.
        LeaseLost: another run took over; pages of the mirror may have been written, nothing else.
    """
    owners = ownership.parse(settings.owners)
    provider.check_mode(mirror.accounts(database))
    foreign.check(database, settings.intents)  # A first pull takes long, and would be for nothing.
    duration, say = settings.lease.duration, progress or _silent
    with keeping.kept(database, HOUR, duration=duration, clock=clock, wait=wait, tell=say) as keeper:
        if not dry_run:
            limits.keep(database, settings.four_eyes, now=clock())
        hour = _Hour(
            database,
            provider,
            settings,
            owners,
            keeper,
            clock,
            say,
            entering or _silent,
            dry=dry_run,
            back=back,
        )
        return hour.pass_over(as_of)


def _silent(*_: object) -> None:
    """Say nothing."""


@dataclass(slots=True)
class _Hour:
    """One pass: its doors, and its steps in their order."""

    database: Database
    provider: Provider
    settings: Settings
    owners: ownership.Ownership
    keeper: Keeper
    clock: Clock
    say: Progress
    entering: Entering
    dry: bool
    back: Backfill | None = None

    def pass_over(self, asked: datetime | None) -> RunReport:
        """Take every step once."""
        started_at, last = self.clock(), runs.last_saved(self.database)
        self.enter("pull")
        pulled, back, end = self._pull(last)
        self.enter("copy")
        foreign.copy(self.database, self.keeper.current(), self.settings.intents)
        self.enter("read")
        since, said = self._begin(pulled, last)
        as_of, digest = asked or end, _digest(self.settings, pulled, since)
        full = last is None or last.policy_digest != digest
        snapshot = reading.read(self.database, full=full, mark=last.mark if last else 0, as_of=as_of)
        said += windows.unasked([each.account.account for each in pulled], _named(snapshot))
        self.say(f"Comparing {len(snapshot.intents.frame)} intents and {len(snapshot.refunds.frame)} refunds")
        self.enter("compare")
        result = self._judge(snapshot, pulled, since, as_of)
        older = self._older(snapshot, result, pulled, since, last)
        this = replace(
            self._run(snapshot, result, pulled, started_at),
            policy_digest=digest,
            counts=documents.counts(result.counts) | _standing(pulled, older, last),
        )
        backwards = last is not None and as_of < last.as_of
        plan = Plan(self._office(), this, snapshot, result, backwards, self._quiet(back), said)
        settled = plan.carry_out()
        return RunReport(
            settled.run,
            result,
            settled.changes,
            settled.notices,
            settled.healed,
            settled.not_healed,
            older=older,
            said=said,
            back=back,
            untold=settled.untold,
            dry=self.dry,
            copied=self.settings.intents.table if self.settings.intents else None,
            was=_was(snapshot.cases, settled.changes),
        )

    def _pull(self, last: Run | None) -> tuple[tuple[Pulled, ...], tuple[ReadBack, ...], datetime]:
        """Return what was read of each account, of an older window if one was asked for, and until when."""
        pull = Pull(self.database, self.provider, self.settings, self.keeper.current, self.say, self.dry)
        pulled, end = pull.everything(last)
        if self.back is None:
            return pulled, (), end
        looked = lookback.read(pull, self.back, pulled, end)
        return looked.pulled, looked.back, end

    def _run(
        self, snapshot: reading.Snapshot, result: Result, pulled: Iterable[Pulled], started_at: datetime
    ) -> Run:
        """Return this pass as it is before anything came of it; what it rests on is not yet written down."""
        fence = self.keeper.current().fence
        return Run(
            id=RunId(f"{result.as_of:%Y%m%dT%H%M%SZ}-{fence}"),
            fence=fence,
            started_at=started_at,
            finished_at=self.clock(),
            as_of=result.as_of,
            verdict=result.verdict,
            mark=snapshot.mark,
            policy_digest="",
            full=snapshot.full,
            counts={},
            at_risk=dict(result.at_risk),
            opened=0,
            cleared=0,
            healed=len(result.healable),
            accounts=tuple(each.reading for each in pulled),
        )

    def _quiet(self, back: Iterable[ReadBack]) -> Quiet:
        """Return what nobody is told of: what is older than what any run before this one has read."""
        if self.back is None or self.back.notify:
            return Quiet({})
        return Quiet({each.reading.account: each.before for each in back})

    def enter(self, step: str) -> None:
        """Say that a step begins."""
        self.entering(step, self.keeper.lease)

    def _office(self) -> Office:
        return Office(
            self.database,
            self.settings,
            self.owners,
            lease=self.keeper.current,
            clock=self.clock,
            enter=self.enter,
            livemode=bool(self.provider.livemode()),
            dry=self.dry,
        )

    def _begin(self, pulled: tuple[Pulled, ...], last: Run | None) -> tuple[Since, tuple[str, ...]]:
        """Return from when each account's intents count, where not from ever, and what was decided just now.

        It is decided when an account is first read to its end, and again when more of its past is. A reading
        that broke off is judged in the same way by what it saw, so that it opens nothing that the next one
        takes back, and decides nothing.
        """
        told = self.settings.pull.intents_from
        if told is not None:
            return dict.fromkeys((each.account.account for each in pulled), told), ()
        since, said = self._decided(pulled, last), []
        fresh = {each.account for each in beginnings.fresh((each.account for each in pulled), last)}
        for each in pulled:
            name = each.account.account
            if name in since or name not in fresh:
                continue
            begins = store.look(self.database, name)
            limit = self.settings.surge_limit
            at = beginnings.intents_from(begins, read_to=each.reading.to_at, limit=limit)
            if at is None:
                continue
            since[name] = at
            said.append(beginnings.told(begins, at))
            if each.reading.complete and not self.dry:
                store.save(self.database, self.keeper.current(), name, at)
        return since, tuple(said)

    def _decided(self, pulled: Iterable[Pulled], last: Run | None) -> dict[AccountId, datetime]:
        """Return what earlier runs decided, moved back where intents from before it have come since.

        That is looked for when everything is judged anew, as it is after a change of the intents' mapping.
        """
        since = store.decided(self.database)
        if since and (last is None or last.policy_digest != _digest(self.settings, pulled, since)):
            for name, at in since.items():
                since[name] = beginnings.moved_back(at, store.earliest(self.database, name))
                if since[name] != at and not self.dry:
                    store.save(self.database, self.keeper.current(), name, since[name])
        return since

    def _judge(
        self, snapshot: reading.Snapshot, pulled: Iterable[Pulled], since: Since, as_of: datetime
    ) -> Result:
        """Return what the diff finds in what was read, and what else is in flight."""
        accounts = {each.account.account: each.account for each in pulled}
        whole = [each.reading.account for each in pulled if each.reading.complete]
        rejects = tuple(reject for each in pulled for reject in each.rejects)
        refunds = replace(snapshot.refunds, rejects=(*snapshot.refunds.rejects, *rejects))
        policy = _policy(self.settings)
        result = finding.find(
            snapshot.intents,
            refunds,
            linking.link(snapshot.intents.frame, refunds.frame, policy),
            policy=policy,
            coverage=windows.coverage(accounts, whole, _named(snapshot), since),
            as_of=as_of,
        )
        return finding.beside(result, snapshot.in_flight)

    def _older(
        self,
        snapshot: reading.Snapshot,
        result: Result,
        pulled: Iterable[Pulled],
        since: Since,
        last: Run | None,
    ) -> tuple[Older, ...]:
        """Return what is older than what is judged, of all there is."""
        first = snapshot.intents.frame.groupby("account")["created_at"].min()
        earliest = {AccountId(str(name)): at.to_pydatetime() for name, at in first.items()}
        found = beginnings.older(result, [each.account for each in pulled], since, earliest)
        if snapshot.full or last is None:
            return found
        return beginnings.kept(found, beginnings.of_counts(last.counts))


def _was(before: Iterable[Case], changes: Iterable[Change]) -> dict[CaseId, Kind]:
    """Return the kind that each case had which is of another now."""
    kinds = {change.case.id: change.case.mismatch.kind for change in changes}
    return {
        case.id: case.mismatch.kind
        for case in before
        if case.mismatch.kind is not kinds.get(case.id, case.mismatch.kind)
    }


def _named(snapshot: reading.Snapshot) -> frozenset[AccountId]:
    """Return the accounts of the intents that were read."""
    return frozenset(map(AccountId, snapshot.intents.frame["account"].unique()))


def _standing(pulled: Iterable[Pulled], older: Iterable[Older], last: Run | None) -> dict[str, object]:
    """Return what a run's counts keep beside numbers: from when it judged, and what is older than that."""
    whole = [each.account for each in pulled if each.reading.complete]
    return {
        beginnings.OLDER: beginnings.as_counts(older),
        beginnings.COVERED: beginnings.judged(whole, last),
    }


def _policy(settings: Settings) -> Policy:
    """Return what this company's books are judged by.

    Somebody else's table is never written, so that nothing there can be healed: what the provider proves and
    they have not written down within the grace is theirs to answer, and not quiet for ever.
    """
    return settings.policy if settings.intents is None else replace(settings.policy, healing=False)


def _digest(settings: Settings, pulled: Iterable[Pulled], since: Since) -> str:
    """Return a name for what judgements rest on beside the rows; another name, everything anew.

    From when refunds are read and intents count is part of it: what was older than that before is judged once
    it no longer is. So is whose table the intents are in, and how it is read: without its URL, a secret.
    """
    coverage = sorted((each.account.account, str(each.account.covered_from)) for each in pulled)
    rests_on = (
        asdict(_policy(settings)),
        sorted(settings.provider.accounts),
        settings.provider.metadata_key,
        coverage,
        sorted((name, str(at)) for name, at in since.items()),
        settings.intents and asdict(replace(settings.intents, url=None)),
    )
    return sha256(repr(rests_on).encode()).hexdigest()[:16]
