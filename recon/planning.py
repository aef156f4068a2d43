"""Steps five and six of the hour: what a result changes, what is said about it, and its saving.

Part of recon/hourly.py, which alone calls it. Everything is saved in one transaction under the run's fence.
Never reads the provider, and never decides what a case becomes: the rules do.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import pandas as pd

from recon.doors.store import cases as book
from recon.doors.store import outbox, reading, runs, threads
from recon.doors.store.engines import Database
from recon.model import subjects
from recon.model.phrases import several
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Manner, Notice
from recon.model.records.results import Healable, Result
from recon.model.records.runs import Lease, Run
from recon.model.records.words import AccountId, Action, RunId, Subject, Verdict
from recon.model.settings import Settings
from recon.rules import cases, notices, ownership
from recon.rules.cases import Judged, RunStamp
from recon.rules.ownership import Ownership

Name = tuple[str, str]

_REPLANS = 3  # A case that people move this often during one save is left to the next run.
_RUNS_BACK = 200  # A week of runs: where an outage began that is longer than that does not matter any more.


@dataclass(frozen=True, slots=True)
class Office:
    """What one pass works with. lease: returns its lease, renewed in time. enter: hears of each step."""

    database: Database
    settings: Settings
    owners: Ownership
    lease: Callable[[], Lease]
    clock: Callable[[], datetime]
    enter: Callable[[str], None]
    livemode: bool
    dry: bool


@dataclass(frozen=True, slots=True)
class Quiet:
    """What nobody is told of when it opens a case: old news, read back on purpose.

    before: what is older than this of its account, the subject itself or a refund that it rests on.
    """

    before: Mapping[AccountId, datetime]

    def untold(self, changes: Iterable[Change], snapshot: reading.Snapshot) -> tuple[Change, ...]:
        """Return those of the changes that nobody is told of."""
        opened = [
            change
            for change in changes
            if change.entry.action is Action.OPENED and change.case.account in self.before
        ]
        if not opened:
            return ()
        named = {name for change in opened for name in _names(change.case)}
        old = self._old(snapshot.intents.frame, "key", named) | self._old(snapshot.refunds.frame, "id", named)
        return tuple(
            change
            for change in opened
            if any((change.case.account, name) in old for name in _names(change.case))
        )

    def _old(self, frame: pd.DataFrame, column: str, named: Collection[Name]) -> set[tuple[AccountId, Name]]:
        """Return which of the named rows are that old."""
        side = _SIDES[column]
        some = frame[frame[column].isin([name for of, name in named if of == side])]
        rows = zip(some["account"], some[column], some["created_at"], strict=True)
        return {
            (account, (side, name))
            for account, name, at in rows
            if account in self.before and at < self.before[account]
        }


# A subject's side, by the column that holds its name.
_SIDES = {"key": subjects.INTENT, "id": subjects.REFUND}


def _names(case: Case) -> list[Name]:
    """Return the rows that a case is about or rests on, as side and name."""
    return [subjects.parted(case.subject), *((subjects.REFUND, each) for each in case.mismatch.refund_ids)]


@dataclass(frozen=True, slots=True)
class Settled:
    """What a result has led to: the run and its changes as they were saved, or would have been.

    untold: how many of the changes nobody is told of.
    """

    run: Run
    changes: tuple[Change, ...]
    notices: tuple[Notice, ...]
    untold: int
    healed: tuple[Healable, ...]
    not_healed: tuple[Healable, ...] = ()


@dataclass(slots=True)
class Plan:
    """What a result leads to, and its saving.

    backwards: it is judged at a time before the last run's. What agreed then may disagree by now: nothing is
    cleared, and no evidence weakened. said: what operators hear beside an alarm, if there is one.
    """

    office: Office
    run: Run
    snapshot: reading.Snapshot
    result: Result
    backwards: bool
    quiet: Quiet
    said: tuple[str, ...]

    def carry_out(self) -> Settled:
        """Plan, say, and save, unless the run is dry."""
        self.office.enter("plan")
        known = self.snapshot.cases
        changes = self._changes(known)
        alarms = self._alarm() + self._unjudged()
        said = self._said(changes, known) + alarms
        actions = [change.entry.action for change in changes]
        opened, cleared = (actions.count(each) for each in (Action.OPENED, Action.CLEARED))
        run = replace(self.run, opened=opened, cleared=cleared)
        if self.office.dry:
            return Settled(run, changes, said, self._untold(changes), self.result.healable)
        saving = book.Saving(
            run=run,
            changes=changes,
            heals=self.result.healable,
            notices=said,
            anew=lambda moved: self._said_but(changes, known, moved) + alarms,
            judged=self.snapshot.judged | self.snapshot.gone,
            due=self.result.due,
            withheld=self._again_next_time(),
            rejects=self.result.rejected,
        )
        self.office.enter("save")
        saved = book.save_run(self.office.database, self.office.lease(), saving)
        done, more = self._again(changes, saved.moved)
        untold = self._untold(done)
        return Settled(saved.run, done, said + more, untold, saved.healed, saved.not_healed)

    def _untold(self, changes: tuple[Change, ...]) -> int:
        return len(self.quiet.untold(changes, self.snapshot))

    def _again_next_time(self) -> tuple[tuple[AccountId, Subject], ...]:
        """Return what was withheld and may be judged by the next run.

        What is only older than what is read stays so until the coverage changes, and then all is judged anew.
        """
        older = frozenset(self.result.older)
        return tuple(pair for pair in self.result.withheld if pair not in older)

    @property
    def _read(self) -> frozenset[AccountId]:
        """Return the accounts read completely."""
        return frozenset(each.account for each in self.run.accounts if each.complete)

    def _changes(self, known: tuple[Case, ...]) -> tuple[Change, ...]:
        """Return what the result changes in these cases, owned and rated."""
        as_of, now = self.run.as_of, self.office.clock()
        stamp = RunStamp(self.run.id, self.run.fence, as_of, self.office.settings.pull.overlap)
        proving = frozenset() if self.backwards else self._read
        judged = Judged(self.snapshot.judged, proving, self.snapshot.gone)
        planned = cases.plan(self.result, known, judged, run=stamp, now=now)
        changes = ownership.assign(planned, self.office.owners, as_of=as_of)
        moving = {change.case.id for change in changes}
        rest = (case for case in known if case.id not in moving)
        return changes + ownership.reconsider(
            rest, self.office.owners, run_id=self.run.id, as_of=as_of, now=now
        )

    def _said(self, changes: tuple[Change, ...], known: tuple[Case, ...]) -> tuple[Notice, ...]:
        """Return what these changes give to say."""
        untold = {change.case.id for change in self.quiet.untold(changes, self.snapshot)}
        told = [change for change in changes if change.case.id not in untold]
        before = {case.id: case for case in known}
        held, manner = self._kept_back(known), self._manner()
        after = [change.case for change in told]
        spoken_of = [*held, *after, *(before[case.id] for case in after if case.id in before)]
        topics = notices.topics(spoken_of, livemode=manner.livemode)
        return notices.compose(
            told,
            threads.known(self.office.database, topics, {case.id for case in spoken_of}),
            before=before,
            manner=manner,
            held=held,
            unread={each.account for each in self.run.accounts if not each.complete},
        )

    def _said_but(
        self, changes: tuple[Change, ...], known: tuple[Case, ...], moved: Collection[Change]
    ) -> tuple[Notice, ...]:
        """Return what these changes give to say without those whose case had moved."""
        return self._said(tuple(change for change in changes if change not in moved), known)

    def _kept_back(self, known: tuple[Case, ...]) -> list[Case]:
        """Return the cases that runs kept back and that have not settled themselves."""
        accounts = notices.unread_before(self._runs_back(), self._read)
        if not accounts:
            return []
        healing = self._healing
        open_now = {
            case.id: case
            for case in known
            if case.account in accounts and notices.may_be_kept_back(case)
            if (case.account, case.subject) not in healing
        }
        kept = threads.kept_back(self.office.database, open_now)
        return [case for case_id, case in open_now.items() if case_id in kept]

    @property
    def _healing(self) -> frozenset[tuple[AccountId, Subject]]:
        """Return the subjects that this run finishes: what was kept back about them has settled itself."""
        return frozenset((each.account, subjects.of_intent(each.intent_key)) for each in self.result.healable)

    def _runs_back(self) -> Iterator[Run]:
        """Yield the latest runs, newest first; where the newest was complete, nobody asks for more."""
        yield from runs.recent(self.office.database, 1)
        yield from runs.recent(self.office.database, _RUNS_BACK)[1:]

    def _alarm(self) -> tuple[Notice, ...]:
        """Return the alarm of an incomplete run; of a complete one the word that earlier alarms are over."""
        complete = runs.last_complete(self.office.database)
        if self.run.verdict is not Verdict.INCOMPLETE and len(self._read) == len(self.run.accounts):
            return self._over(complete.id if complete else None)
        reasons = list(self.result.incomplete)
        withheld = len(self._again_next_time())
        if withheld:
            reasons.append(f"{several(withheld, 'subject')} could not be judged with what was read.")
        reasons += self.said
        since = complete.id if complete else None
        return (notices.incomplete(self.run.accounts, reasons, since=since, manner=self._manner()),)

    def _over(self, since: RunId | None) -> tuple[Notice, ...]:
        """Return the word that what could not be read before has been read."""
        if all(run.id == since for run in runs.recent(self.office.database, 1)):
            return ()
        alarmed = outbox.threads_from(self.office.database, notices.INCOMPLETE)
        return notices.over(self._runs_back(), alarmed, since=since, manner=self._manner())

    def _unjudged(self) -> tuple[Notice, ...]:
        """Return the notice of the rows that were rejected; none where each could be judged."""
        rejects = self.result.rejected
        return (notices.rejected(rejects, manner=self._manner()),) if rejects else ()

    def _manner(self) -> Manner:
        return Manner.of(
            self.office.settings,
            self.office.owners.owners,
            livemode=self.office.livemode,
            as_of=self.run.as_of,
            now=self.office.clock(),
            run_id=self.run.id,
        )

    def _again(
        self, changes: tuple[Change, ...], moved: tuple[Change, ...]
    ) -> tuple[tuple[Change, ...], tuple[Notice, ...]]:
        """Plan the cases that people moved meanwhile once more, alone; return all that was saved."""
        database = self.office.database
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
            among = (*fresh, *(others[each] for each in others if each not in ids))
            said = self._said(planned, among)
            anew = partial(self._said_but, planned, among)
            moved = book.save_changes(database, self.office.lease(), planned, notices=said, anew=anew)
            done += tuple(change for change in planned if change not in moved)
            told += said
        return done, told
