"""What an operator may see and do: the queue, one case with both its sides and its story, and the moves.

Roles are checked here, at every action and against the database, never only on a page. A move names the
version that the operator looked at: whoever comes second is told who was first, and nothing is overwritten.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self, TypedDict

from recon.doors import config
from recon.doors.store import cases as book
from recon.doors.store import evidence, leases, migrations, operators, queue, runs
from recon.doors.store.engines import Database
from recon.model.errors import CaseMoved, NotPermitted, Report
from recon.model.records.cases import JOB, Case, Change, Entry
from recon.model.records.people import Operator
from recon.model.records.provider import Intent, Refund
from recon.model.records.queues import Cursor, QueueFilters, QueuePage, QueueSummary
from recon.model.records.runs import HOUR, AccountReading, Run
from recon.model.records.words import Action, Actor, CaseId, Resolution, Role, Verdict
from recon.model.settings import Settings
from recon.rules import cases as rules
from recon.rules import staleness

Clock = Callable[[], datetime]

ACTING: Final = frozenset({Role.OPERATOR, Role.ADMIN})

# How a sentence tells what somebody did to a case.
DEEDS: Final = {
    Action.OPENED: "opened",
    Action.CHANGED: "saw other evidence in",
    Action.RECLASSIFIED: "reclassified",
    Action.REOPENED: "reopened",
    Action.REGRESSED: "saw again what was resolved in",
    Action.CLEARED: "cleared",
    Action.HEALED: "healed",
    Action.ACKNOWLEDGED: "acknowledged",
    Action.ASSIGNED: "gave another owner to",
    Action.COMMENTED: "commented on",
    Action.RESOLVED: "resolved",
}


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case as an operator sees it.

    intents, refunds: the rows its mismatch speaks of as they are now, in time order. entries: its whole
    story, oldest first. moves: what this operator may do to it now; empty for who may only read.
    """

    case: Case
    intents: tuple[Intent, ...]
    refunds: tuple[Refund, ...]
    entries: tuple[Entry, ...]
    moves: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far what the desk shows can be trusted.

    last: the latest run that saved; complete: the latest that also read everything; None before the first.
    """

    now: datetime
    last: Run | None
    complete: Run | None
    stale_after: timedelta

    @property
    def stale(self) -> bool:
        """Return whether no complete run is as young as it should be."""
        latest = () if self.last is None else (self.last,)
        age = staleness.age(self.complete, latest, now=self.now)
        return staleness.is_stale(age, stale_after=self.stale_after)

    @property
    def incomplete(self) -> bool:
        """Return whether the latest run could not read everything."""
        return self.last is not None and self.last.verdict is Verdict.INCOMPLETE

    @property
    def unread(self) -> tuple[AccountReading, ...]:
        """Return the accounts that the latest run did not read to the end."""
        return () if self.last is None else tuple(each for each in self.last.accounts if not each.complete)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class Desk:
    """The one thing that the dashboard talks to; keeps nothing of anybody's, so that all tabs share it."""

    def __init__(self, database: Database, settings: Settings, clock: Clock = utc_now) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the desk over the database that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        settings = config.load(environ)
        database = Database.open(settings.database_url.reveal())
        migrations.check(database)
        return cls(database, settings)

    def local_operator(self) -> Operator:
        """Return who sits here in local mode: an operator, unless the database says else of the name."""
        name = Actor(self._settings.dashboard.operator)
        return operators.get(self._database, name) or Operator(name, Role.OPERATOR)

    def now(self) -> datetime:
        """Return the desk's time."""
        return self._clock()

    def freshness(self) -> Freshness:
        """Return how far what the desk shows can be trusted."""
        return Freshness(
            now=self._clock(),
            last=runs.last_saved(self._database),
            complete=runs.last_complete(self._database),
            stale_after=self._settings.stale_after,
        )

    def summary(self) -> QueueSummary:
        """Return what is open now: money per currency first, by kind and severity, and the oldest."""
        return queue.summary(self._database)

    def queue(self, filters: QueueFilters, *, after: Cursor | None = None) -> QueuePage:
        """Return one page of the queue, after the cursor of the page before."""
        return queue.page(self._database, filters, after=after, limit=self._settings.dashboard.queue_page)

    def case(self, named: str, *, operator: Operator) -> CaseView | None:
        """Return the case of this id with both its sides and its story; None where there is none."""
        case = book.get(self._database, CaseId(named))
        if case is None:
            return None
        intents, refunds = evidence.rows(self._database, case)
        entries = tuple(stored.entry for stored in book.entries(self._database, case.id))
        return CaseView(case, intents, refunds, entries, self._moves(case, operator))

    def acknowledge(
        self, case_id: CaseId, *, version: int, reason: str, operator: Operator, action_id: str
    ) -> None:
        """Take the case on.

        Raises:
            CaseMoved: somebody moved it after this version; the text says who. Nothing was written.
            NotPermitted: the operator may only read. Nothing was written.
            Report: the case does not allow it, or the reason is missing or too long. Nothing was written.
        """
        now = self._clock()

        def change(case: Case) -> Change | rules.Illegal:
            return rules.acknowledge(case, actor=operator.name, reason=reason, now=now, action_id=action_id)

        self._move(case_id, version, operator, action_id, change)

    def resolve(
        self,
        case_id: CaseId,
        *,
        version: int,
        code: Resolution,
        reason: str,
        operator: Operator,
        action_id: str,
    ) -> None:
        """Settle the case.

        Raises:
            CaseMoved, NotPermitted, Report: as `acknowledge`.
        """
        now = self._clock()
        fence = leases.newest(self._database, HOUR)

        def change(case: Case) -> Change | rules.Illegal:
            return rules.resolve(
                case, code=code, fence=fence, actor=operator.name, reason=reason, now=now, action_id=action_id
            )

        self._move(case_id, version, operator, action_id, change)

    def comment(
        self, case_id: CaseId, *, version: int, reason: str, operator: Operator, action_id: str
    ) -> None:
        """Write something into the case's story.

        Raises:
            CaseMoved, NotPermitted, Report: as `acknowledge`.
        """
        now = self._clock()

        def change(case: Case) -> Change | rules.Illegal:
            return rules.comment(case, actor=operator.name, reason=reason, now=now, action_id=action_id)

        self._move(case_id, version, operator, action_id, change)

    def _move(
        self,
        case_id: CaseId,
        version: int,
        operator: Operator,
        action_id: str,
        change: Callable[[Case], Change | rules.Illegal],
    ) -> None:
        """Save what the rule makes of the case, once per action id."""
        self._must_act(operator)
        case = book.get(self._database, case_id)
        if case is None:
            raise Report(f"Expected a case, found none with the id {case_id}.")
        if case.version != version:
            self._tell(case, action_id)
            return
        planned = change(case)
        if isinstance(planned, rules.Illegal):
            raise Report(planned.reason)
        try:
            book.move(self._database, planned)
        except CaseMoved:  # Somebody was faster between our reading and our writing.
            self._tell(case, action_id)

    def _tell(self, case: Case, action_id: str) -> None:
        """Say who moved the case; nothing to say when it was this very action, pressed twice."""
        entries = tuple(stored.entry for stored in book.entries(self._database, case.id))
        if any(entry.action_id == action_id for entry in entries):
            return
        raise CaseMoved(_moved(entries[-1], self._clock()))

    def _must_act(self, operator: Operator) -> None:
        now = self._known(operator)
        if not now.active:
            raise NotPermitted(f"{now.name} may no longer act at this desk.")
        if now.role not in ACTING:
            raise NotPermitted(
                f"{now.name} has the role {now.role}; acting on a case needs operator or admin."
            )

    def _known(self, operator: Operator) -> Operator:
        """Return the operator as the database has them now: a tab may be older than a decision about them."""
        return operators.get(self._database, operator.name) or operator

    def _moves(self, case: Case, operator: Operator) -> tuple[Action, ...]:
        """Return the moves that the rules would let this operator make now."""
        known = self._known(operator)
        if not known.active or known.role not in ACTING:
            return ()
        trial = _Trial(actor=known.name, reason="trial", now=self._clock(), action_id="trial")
        tried = {
            Action.ACKNOWLEDGED: rules.acknowledge(case, **trial),
            Action.RESOLVED: rules.resolve(case, code=Resolution.RECOVERED, fence=0, **trial),
            Action.COMMENTED: rules.comment(case, **trial),
        }
        return tuple(move for move, outcome in tried.items() if isinstance(outcome, Change))


class _Trial(TypedDict):
    """What every move takes, for asking the rules whether it is allowed."""

    actor: Actor
    reason: str
    now: datetime
    action_id: str


def _moved(latest: Entry, now: datetime) -> str:
    who = "A run" if latest.actor == JOB else latest.actor
    day = "" if latest.at.date() == now.date() else f"on {latest.at.day} {latest.at:%b} "
    return (
        f"{who} {DEEDS[latest.action]} this case {day}at {latest.at:%H:%M} UTC, after you read it. "
        "Nothing of yours was saved: read it again, then decide."
    )
