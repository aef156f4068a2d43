"""A database with a past: runs that find, clear and reopen, and people who answer in between.

Written through the store's own functions and the rules, as tests/seeds.py. What waited once each run had
saved is counted at that moment, so that whoever counts it later from the entries can be held to it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from sqlalchemy import func, select

from recon.doors import config
from recon.doors.store import cases, leases, reading
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.cases import Case, Change
from recon.model.records.results import Mismatch, Reject
from recon.model.records.runs import HOUR, AccountReading, Run
from recon.model.records.words import Action, Actor, Certainty, Kind, Resolution, RunId, Verdict
from recon.model.tables import cases as table
from recon.rules import cases as rules
from recon.rules import moves, ownership
from recon.rules.reports import documents
from tests import seeds
from tests.builders import PLATFORM, a_result

COUNTS = {"intents": 155, "refunds": 152, "matched": 124}


@dataclass
class Week:
    """Runs and people, one after the other. waited: what waited once each run had saved, by run and kind."""

    database: Database
    now: datetime
    random: Random = field(default_factory=lambda: Random(5))
    runs: int = 0
    clicks: int = 0
    waited: dict[RunId, Mapping[Kind, int]] = field(default_factory=dict)

    def everything(self) -> tuple[Case, ...]:
        """Return all cases, by account and subject."""
        return reading.read(self.database, full=True, mark=0, as_of=self.now).cases

    def run(
        self, found: Iterable[Mismatch] = (), *, complete: bool = True, rejects: tuple[Reject, ...] = ()
    ) -> Run:
        """Save a run that judged everything, found exactly these, and cleared what it did not find."""
        self.now += timedelta(hours=1)
        self.runs += 1
        result = a_result(*found, as_of=self.now - timedelta(minutes=1))
        lease = leases.take(
            self.database, HOUR, f"run {self.runs}", now=self.now, duration=timedelta(minutes=5)
        )
        stamp = rules.RunStamp(RunId(f"run_{self.runs}"), lease.fence, result.as_of, seeds.OVERLAP)
        known = self.everything()
        pairs = {(each.account, each.subject) for each in result.mismatches}
        pairs |= {(case.account, case.subject) for case in known}
        judged = rules.Judged(frozenset(pairs), frozenset({PLATFORM} if complete else ()))
        changes = rules.plan(result, known, judged, run=stamp, now=self.now)
        owners = ownership.parse(config.load({}).owners)
        owned = ownership.assign(changes, owners, as_of=result.as_of)
        actions = Counter(change.entry.action for change in changes)
        run = Run(
            id=stamp.id,
            fence=lease.fence,
            started_at=self.now - timedelta(seconds=47),
            finished_at=self.now,
            as_of=result.as_of,
            verdict=(Verdict.BREAKS if found else Verdict.RECONCILED) if complete else Verdict.INCOMPLETE,
            mark=0,
            policy_digest="week",
            full=self.runs == 1,
            counts=documents.counts(result.counts) | COUNTS | {"rejected": len(rejects)},
            at_risk=_at_risk(result.mismatches),
            opened=actions[Action.OPENED],
            cleared=actions[Action.CLEARED],
            healed=self.random.randrange(4),
            accounts=(self._reading(complete=complete),),
        )
        saving = Saving(run, changes=owned, judged=frozenset(pairs), rejects=rejects)
        cases.save_run(self.database, lease, saving)
        leases.release(self.database, lease)
        self.waited[run.id] = self.waiting()
        return run

    def waiting(self) -> Mapping[Kind, int]:
        """Return how many cases wait now, by kind, each kind that has some."""
        query = select(table.c.kind, func.count()).where(table.c.waiting).group_by(table.c.kind)
        with self.database.read() as connection:
            return {Kind(row[0]): int(row[1]) for row in connection.execute(query)}

    def people(self, moved: int) -> None:
        """Let somebody do something to so many cases, whatever their state allows."""
        self.now += timedelta(minutes=7)
        known = self.everything()
        for case in self.random.sample(known, min(moved, len(known))):
            self.clicks += 1
            action = self.random.choice(moves.offered(case, ()))
            if (change := self._pressed(case, action)) is not None:
                cases.move(self.database, change)

    def _pressed(self, case: Case, action: Action) -> Change | None:
        actor, now, action_id = Actor("ana"), self.now, f"click_{self.clicks}"
        reason = "Seen, and answered."
        match action:
            case Action.ACKNOWLEDGED:
                found = moves.acknowledge(case, actor=actor, reason=reason, now=now, action_id=action_id)
            case Action.RESOLVED:
                fence, code = leases.newest(self.database, HOUR), Resolution.RECOVERED
                found = moves.resolve(
                    case, code=code, fence=fence, actor=actor, reason=reason, now=now, action_id=action_id
                )
            case Action.ACCEPTED:
                until, fence = now + timedelta(hours=4), leases.newest(self.database, HOUR)
                found = moves.accept(
                    case, until=until, fence=fence, actor=actor, reason=reason, now=now, action_id=action_id
                )
            case Action.REOPENED:
                found = moves.reopen(case, actor=actor, reason=reason, now=now, action_id=action_id)
            case _:
                found = moves.comment(case, actor=actor, reason=reason, now=now, action_id=action_id)
        return found if isinstance(found, Change) else None

    def _reading(self, *, complete: bool) -> AccountReading:
        return AccountReading(
            account=PLATFORM,
            from_at=self.now - timedelta(hours=2),
            to_at=self.now - timedelta(minutes=1),
            complete=complete,
            pages=3,
            refunds=212,
            changed=20,
            error=None if complete else "page 3 of the list broke off: the provider answered 502",
        )


def eventful(week: Week, runs: int) -> None:
    """Let so many runs and people's answers follow each other; some runs read only a part."""
    for _ in range(runs):
        found = [mismatch(each, week) for each in range(12) if week.random.random() < 0.4]
        week.run(found, complete=week.random.random() < 0.8)
        week.people(week.random.randrange(5))


def mismatch(number: int, week: Week) -> Mismatch:
    """Return a mismatch of one of a few orders: as it was, of more money, or of another kind."""
    double = seeds.duplicate(number, at=week.now - timedelta(hours=3))
    dice = week.random.random()
    if dice < 0.2:
        missing = replace(double, kind=Kind.MISSING, certainty=Certainty.CONFIRMED)
        return replace(missing, refund_ids=(), extra_refund_ids=())
    return seeds.duplicate(number, at=double.since, amount_minor=9800) if dice < 0.5 else double


def _at_risk(found: Iterable[Mismatch]) -> dict[str, int]:
    sums = Counter[str]()
    for each in found:
        sums[each.at_risk.currency] += each.at_risk.amount_minor
    return dict(sums)
