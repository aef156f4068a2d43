"""Who owns what by the rules as they are now: looked over, explained for one case, and carried out at once.

The hour carries them out as well; this is for whoever has just changed owners.toml. Never reads the provider,
and never sends a message: delivery does.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from recon.doors.store import cases as book
from recon.doors.store import keeping, mirror, queue, reminders, runs, threads
from recon.doors.store.engines import Database
from recon.doors.store.keeping import Clock, Tell
from recon.model.characters import keepable
from recon.model.conditions import Condition, Unfit
from recon.model.errors import Report
from recon.model.phrases import several
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.notices import Manner, Notice
from recon.model.records.owners import Profile, profile_of
from recon.model.records.queues import WAITING
from recon.model.records.remarks import Level, Remark, Section
from recon.model.records.runs import HOUR, Run
from recon.model.records.words import AccountId, Action, CaseId, CaseState, RunId, Severity
from recon.model.settings import Settings
from recon.rules import notices, ownership
from recon.rules.ownership import Ownership

_PAGE = 500  # Cases read at a time: some megabytes.
_REPLANS = 3  # A case that people move this often meanwhile is left to the next run.


@dataclass(frozen=True, slots=True)
class Entitled:
    """One rule of owners.toml, in words, and how many waiting cases it wins.

    says: an owner, or a severity. asks: per matcher. why: of a rule that leaves its cases unowned on purpose;
    else None.
    """

    name: str
    says: str
    target: str
    asks: Mapping[str, str]
    wins: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """The rules in force, and what is to be said about them.

    caught: the cases of the first rule, which fits whatever no other does, by account and team. pinned: cases
    whose owner a person chose. moves: cases that would be given another owner or severity now. judged_at: the
    time that ages are counted to; None where no run has saved anything, or no database was looked at.
    """

    rules: tuple[Entitled, ...]
    severities: tuple[Entitled, ...]
    owners: tuple[Profile, ...]
    remarks: tuple[Remark, ...]
    caught: Mapping[tuple[AccountId, str], int]
    pinned: int
    moves: int
    judged_at: datetime | None


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule, tried on one case. unfit: why it does not fit; None where it does. wins: it decides."""

    name: str
    says: str
    unfit: Unfit | None
    wins: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a case is whose it is, and what happens to it next.

    owner: as the rules say now; who has it is in the case. pinned_by: who gave it to somebody by hand, None
    where rules did. decided: nobody is to answer it now. profile: of whom it waits for. awake_at: when a
    message goes at the earliest; None where none does. resting: it waits for quiet hours to end. told_at:
    when its owner was told; None before that.
    """

    case: Case
    judged_at: datetime
    rules: tuple[Tried, ...]
    severities: tuple[Tried, ...]
    owner: Owner
    severity: Severity
    pinned_by: str | None
    decided: bool
    profile: Profile | None
    awake_at: datetime | None
    resting: bool
    told_at: datetime | None


@dataclass(frozen=True, slots=True)
class Applied:
    """What the rules have given to somebody else, or would have.

    was: the cases as they were, by id. moved: cases that people moved meanwhile and that are left as they
    are. pinned: cases that stay where a person put them. judged_at: None where no run has saved anything.
    """

    changes: tuple[Change, ...]
    was: Mapping[CaseId, Case]
    notices: tuple[Notice, ...]
    moved: int
    pinned: int
    judged_at: datetime | None
    dry: bool


def survey(settings: Settings, database: Database | None) -> Survey:
    """Return the rules in force, with what waits under each and what is wrong with them.

    database: None counts nothing.

    Raises:
        ConfigurationError: owners.toml is not as it should be.
    """
    owners = ownership.parse(settings.owners)
    last = runs.last_saved(database) if database is not None else None
    waiting = _waiting(database) if database is not None and last is not None else ()
    asked = [each.condition for each in owners.rules]
    rated = [each.condition for each in owners.severities]
    wins, levels, caught = Counter[int](), Counter[int](), Counter[tuple[AccountId, str]]()
    for case in waiting:
        assert last is not None, "a case without a run"
        place = _winner(asked, case, last.as_of)
        wins[place] += 1
        levels[_winner(rated, case, last.as_of)] += 1
        if place == 0:
            caught[case.account, case.mismatch.team or ""] += 1
    moves = len(_changes(waiting, owners, last, RunId("survey"), last.as_of)) if last is not None else 0
    return Survey(
        rules=tuple(
            Entitled(
                rule.owner.rule,
                rule.owner.name,
                rule.owner.target,
                rule.condition.asked,
                wins[place],
                rule.unowned,
            )
            for place, rule in enumerate(owners.rules)
        ),
        severities=tuple(
            Entitled(f"number {place + 1}", each.level, "", each.condition.asked, levels[place])
            for place, each in enumerate(owners.severities)
        ),
        owners=tuple(owners.owners.values()),
        remarks=(*ownership.remarks(owners), *_late(moves)),
        caught=dict(caught),
        pinned=sum(case.pinned for case in waiting),
        moves=moves,
        judged_at=last.as_of if last is not None else None,
    )


def explain(database: Database, settings: Settings, named: str, *, now: datetime) -> Explanation:
    """Return why a case is whose it is, and what happens to it next.

    Raises:
        ConfigurationError: owners.toml is not as it should be.
        Report: there is no such case.
    """
    owners = ownership.parse(settings.owners)
    case = book.get(database, CaseId(keepable(named.strip())))
    if case is None:
        raise Report(f"Expected a case, found none with the id {named.strip()[:40]!r}.")
    last = runs.last_saved(database)
    as_of = last.as_of if last is not None else now
    rules = [(rule.owner.rule, rule.owner.name, rule.condition) for rule in owners.rules]
    levels = [
        (f"number {place}", str(each.level), each.condition)
        for place, each in enumerate(owners.severities, start=1)
    ]
    decided = case.state not in WAITING
    told = not decided and case.owner is not None and bool(case.owner.target)
    profile = profile_of(case.owner, owners.owners) if told and case.owner is not None else None
    awake_at = None
    if profile is not None:
        awake_at = now if case.severity is Severity.CRITICAL else profile.awake_at(now)
    return Explanation(
        case=case,
        judged_at=as_of,
        rules=_tried(rules, case, as_of),
        severities=_tried(levels, case, as_of),
        owner=owners.owner(case.mismatch, as_of=as_of),
        severity=owners.severity(case.mismatch, as_of=as_of),
        pinned_by=_pinned_by(database, case),
        decided=decided,
        profile=profile,
        awake_at=awake_at,
        resting=awake_at is not None and awake_at > now,
        told_at=reminders.told_at(database, case.id) if case.state is CaseState.OPEN else None,
    )


def apply(
    database: Database,
    settings: Settings,
    *,
    clock: Clock,
    dry_run: bool = False,
    wait: timedelta = keeping.AT_ONCE,
    tell: Tell | None = None,
) -> Applied:
    """Give every undecided case the owner and the severity that the rules say now, and say so to the owners.

    Cases whose owner a person chose keep them. Ages are counted to the time of the latest run, so that the
    next one finds nothing else to say. wait, tell: as for `keeping.kept`.

    Raises:
        ConfigurationError: owners.toml is not as it should be. Nothing was written.
        LeaseHeld: a run is at it. Nothing was written.
        LeaseLost: a run took over; what was saved before that stands.
    """
    owners = ownership.parse(settings.owners)
    last = runs.last_saved(database)
    if dry_run or last is None:
        return _Pass(database, settings, owners, last, None, clock).carry_out()
    held = keeping.kept(database, HOUR, duration=settings.lease.duration, clock=clock, wait=wait, tell=tell)
    with held as keeper:
        last = runs.last_saved(database)  # It may have waited for one.
        return _Pass(database, settings, owners, last, keeper, clock).carry_out()


@dataclass(frozen=True, slots=True)
class _Pass:
    """One application of the rules. keeper: holds the lease; None where nothing is written."""

    database: Database
    settings: Settings
    owners: Ownership
    last: Run | None
    keeper: keeping.Keeper | None
    clock: Clock

    def carry_out(self) -> Applied:
        """Plan, say, and save where there is a lease; plan once more what people moved meanwhile."""
        waiting = _waiting(self.database) if self.last is not None else ()
        was = {case.id: case for case in waiting}
        changes, said = self._planned(waiting)
        if self.keeper is None:
            return self._applied(changes, was, said, ())
        done: tuple[Change, ...] = ()
        told: tuple[Notice, ...] = ()
        moved = changes
        for _ in range(_REPLANS):
            if not changes:
                break
            moved = book.save_changes(
                self.database,
                self.keeper.current(),
                changes,
                notices=said,
                anew=partial(self._said_but, changes, was),
            )
            done += tuple(change for change in changes if change not in moved)
            told += said
            again = (book.get(self.database, change.case.id) for change in moved)
            fresh = tuple(case for case in again if case is not None)
            was |= {case.id: case for case in fresh}
            changes, said = self._planned(fresh)
        return self._applied(done, was, told, changes)

    def _planned(self, cases: Sequence[Case]) -> tuple[tuple[Change, ...], tuple[Notice, ...]]:
        """Return what the rules change in these cases, and what is said about it."""
        if self.last is None:
            return (), ()
        now = self.clock()
        name = "dry" if self.keeper is None else str(self.keeper.lease.fence)
        changes = _changes(cases, self.owners, self.last, RunId(f"owners-{name}"), now)
        return changes, self._said(changes, {case.id: case for case in cases}, self.last, now)

    def _said_but(
        self, changes: Sequence[Change], was: Mapping[CaseId, Case], moved: Collection[Change]
    ) -> tuple[Notice, ...]:
        """Return what these changes give to say without those whose case had moved."""
        assert self.last is not None, "changes without a run"
        rest = [change for change in changes if change not in moved]
        return self._said(rest, was, self.last, changes[0].entry.at)

    def _said(
        self, changes: Sequence[Change], was: Mapping[CaseId, Case], last: Run, now: datetime
    ) -> tuple[Notice, ...]:
        """Return the notices of these changes; what the latest run kept back stays so."""
        livemode = mirror.livemode(self.database)
        manner = Manner.of(self.settings, self.owners.owners, livemode=livemode, as_of=last.as_of, now=now)
        among = [case for change in changes for case in (change.case, was[change.case.id])]
        topics = notices.topics(among, livemode=livemode)
        return notices.compose(
            changes,
            threads.known(self.database, topics, {case.id for case in among}),
            before=was,
            manner=manner,
            unread={each.account for each in last.accounts if not each.complete},
        )

    def _applied(
        self,
        changes: tuple[Change, ...],
        was: Mapping[CaseId, Case],
        said: tuple[Notice, ...],
        moved: Sequence[Change],
    ) -> Applied:
        return Applied(
            changes=changes,
            was=was,
            notices=said,
            moved=len(moved),
            pinned=sum(case.pinned for case in was.values()),
            judged_at=self.last.as_of if self.last is not None else None,
            dry=self.keeper is None,
        )


def _waiting(database: Database) -> tuple[Case, ...]:
    """Return every case that somebody must still answer."""
    found: list[Case] = []
    page = queue.page(database, limit=_PAGE)
    while True:
        found += page.cases
        if page.next is None:
            return tuple(found)
        page = queue.page(database, after=page.next, limit=_PAGE)


def _changes(
    cases: Sequence[Case], owners: Ownership, last: Run, run_id: RunId, now: datetime
) -> tuple[Change, ...]:
    return ownership.reconsider(cases, owners, run_id=run_id, as_of=last.as_of, now=now)


def _winner(these: Sequence[Condition], case: Case, as_of: datetime) -> int:
    """Return the place of the condition that decides: the last that fits; the first fits everything."""
    places = range(len(these) - 1, -1, -1)
    return next(at for at in places if these[at].fits(case.mismatch, as_of=as_of))


def _tried(rules: Sequence[tuple[str, str, Condition]], case: Case, as_of: datetime) -> tuple[Tried, ...]:
    wins = _winner([condition for _, _, condition in rules], case, as_of)
    return tuple(
        Tried(name, says, condition.unfit(case.mismatch, as_of=as_of), place == wins)
        for place, (name, says, condition) in enumerate(rules)
    )


def _pinned_by(database: Database, case: Case) -> str | None:
    """Return who gave the case to its owner by hand; None where rules did."""
    if not case.pinned:
        return None
    entries = (stored.entry for stored in book.entries(database, case.id))
    by_hand = [entry.actor for entry in entries if entry.action is Action.ASSIGNED and entry.run_id is None]
    return by_hand[-1] if by_hand else None


def _late(moves: int) -> Iterator[Remark]:
    """Yield that the rules have changed since the cases were given to their owners."""
    if moves:
        yield Remark(
            Section.OWNERS,
            Level.WARNING,
            f"{several(moves, 'open case')} would get another owner or severity now.",
            "recon owners apply gives it at once; else the next run does.",
        )
