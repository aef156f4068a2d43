"""What an operator may see and do: the queue, one case with both its sides and its story, and the moves.

Roles are checked here, at every action and against the database, never only on a page. A move names the
version that the operator looked at: whoever comes second is told who was first, and nothing is overwritten.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Self, Unpack

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.doors.store import cases as book
from recon.doors.store import (
    claims,
    evidence,
    leases,
    limits,
    operators,
    proposals,
    queue,
    revisions,
    runs,
    sign_outs,
    surroundings,
)
from recon.doors.store.engines import Database
from recon.model import subjects
from recon.model.characters import keepable
from recon.model.errors import Report
from recon.model.provider_pages import ProviderPages
from recon.model.records.cases import BY_HAND, Case, Entry, Owner
from recon.model.records.people import Operator, Refused, Shut
from recon.model.records.proposals import Proposal, ProposalId
from recon.model.records.provider import Intent, Refund
from recon.model.records.queues import Cursor, QueueFigures, QueueFilters, QueuePage, QueueSummary
from recon.model.records.runs import HOUR, AccountReading, Run
from recon.model.records.stories import Surroundings
from recon.model.records.words import (
    Action,
    Actor,
    CaseId,
    IntentKey,
    RefundId,
    Resolution,
    Role,
    Verdict,
)
from recon.model.settings import Settings
from recon.moving import By, Click, Move, Mover, Planned
from recon.rules import moves as rules
from recon.rules import ownership, permissions, staleness
from recon.rules import proposals as four_eyes


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case as an operator sees it.

    intents, refunds: the rows its mismatch speaks of as they are now, in time order. entries: its whole
    story, oldest first. moves: what this operator may do to it now; empty for who may only read. unjudged:
    an adoption or a link that the next run is the first to judge by; None where there is none. around: what
    was told, the runs behind its entries, related cases. pages: where the provider shows its side.
    seconded: those of the moves that another person must approve. proposal: what waits for that, during which
    none of these can be made; None where nothing does. unapprovable: why this operator may not approve it;
    None where they may.
    """

    case: Case
    intents: tuple[Intent, ...]
    refunds: tuple[Refund, ...]
    entries: tuple[Entry, ...]
    moves: tuple[Action, ...]
    unjudged: Entry | None
    around: Surroundings
    pages: ProviderPages
    seconded: frozenset[Action] = frozenset()
    proposal: Proposal | None = None
    unapprovable: str | None = None


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


class Desk:
    """The one thing that the dashboard talks to; keeps nothing of anybody's, so that all tabs share it."""

    def __init__(self, database: Database, settings: Settings, clock: Clock = utc_now) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._mover = Mover(database, settings, clock)

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the desk over the database that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        settings = config.load(environ)
        desk = cls(revisions.ready(settings.database_url.reveal()), settings)
        desk.keep_limits()
        return desk

    def keep_limits(self) -> None:
        """Let the database want a second person from the amounts on that the settings say.

        Of processes whose settings differ the one that was opened last has it there; each of them still asks
        for a second person by its own settings as well.
        """
        limits.keep(self._database, self._settings.four_eyes, now=self._clock())

    def local_operator(self) -> Operator:
        """Return who sits here in local mode: an operator, unless the database says else of the name."""
        name = Actor(self._settings.dashboard.operator)
        return operators.get(self._database, name) or Operator(name, Role.OPERATOR)

    def standing(self, operator: Operator) -> Operator | Refused:
        """Return somebody who signed in as they stand now, or why they are out."""
        ended = self._mover.ended(operator)
        if ended is not None:
            return Refused(Shut.ENDED, ended, operator.name)
        now = permissions.standing(operator, operators.get(self._database, operator.name))
        if now.active:
            return now
        return Refused(Shut.REMOVED, f"{now.name} may no longer come in at this desk.", now.name)

    def sign_out(self, operator: Operator) -> None:
        """Let no sign-in of somebody count that was made before now, in whatever tab or browser."""
        now = self._clock()
        # Where the provider's clock is ahead of ours, the very sign-in that is to end is of a time to come.
        sign_outs.put(self._database, operator.name, max(now, operator.since or now))

    def operator_in_slack(self, slack_id: str) -> Operator | None:
        """Return who somebody in Slack is, whether they may act or not; None where nobody put them down."""
        return operators.in_slack(self._database, slack_id)

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

    def figures(self, filters: QueueFilters) -> QueueFigures:
        """Return how many cases the filters let through, and how much that is."""
        return queue.figures(self._database, filters.keepable())

    def queue(self, filters: QueueFilters, *, after: Cursor | None = None) -> QueuePage:
        """Return one page of the queue, after the cursor of the page before."""
        limit = self._settings.dashboard.queue_page
        return queue.page(self._database, filters.keepable(), after=after, limit=limit)

    def following(self, filters: QueueFilters, case: Case) -> Case | None:
        """Return what comes after a case in the queue, from its end on the first; None where nothing else."""
        for after in (Cursor(case.severity, case.opened_at, case.id), None):
            found = queue.page(self._database, filters.keepable(), after=after, limit=2)
            others = [each for each in found.cases if each.id != case.id]
            if others:
                return others[0]
        return None

    def count(self, filters: QueueFilters, *, limit: int) -> int:
        """Return how many cases the filters let through, counted no further than the limit."""
        return queue.count(self._database, filters.keepable(), limit=limit)

    def every(self, filters: QueueFilters) -> Iterator[tuple[Case, ...]]:
        """Yield all cases that the filters let through, some at a time, in the queue's order."""
        return queue.every(self._database, filters.keepable())

    def case(self, named: str, *, operator: Operator) -> CaseView | None:
        """Return the case of this id with both its sides and its story; None where there is none."""
        case = book.get(self._database, CaseId(keepable(named)))
        if case is None:
            return None
        intents, refunds = evidence.rows(self._database, case)
        entries = tuple(stored.entry for stored in book.entries(self._database, case.id))
        last = runs.last_saved(self._database)
        unjudged = rules.unjudged(entries, last.started_at if last is not None else None)
        moves = self._moves(case, refunds, operator, waits=unjudged is not None)
        around = surroundings.read(self._database, case, entries, [intent.key for intent in intents])
        pages = ProviderPages(self._settings.provider.dashboard_url, case.account, around.livemode)
        view = CaseView(case, intents, refunds, entries, moves, unjudged, around, pages)
        return self._with_proposal(view, operator)

    @property
    def vouched(self) -> bool:
        """Return whether somebody vouches for who comes here; in local mode a name proves nothing."""
        return self._settings.dashboard.mode != "local"

    def owners(self) -> tuple[Owner, ...]:
        """Return whom a case can be assigned to: the owners that owners.toml names, each once, by name."""
        told = ownership.parse(self._settings.owners).owners
        return tuple(Owner(name, told[name].target, rule="") for name in sorted(told) if told[name].target)

    def may_act(self, operator: Operator) -> bool:
        """Return whether somebody may act on cases now."""
        return permissions.allows(self._mover.standing(operator), Role.OPERATOR)

    def acknowledge(self, case_id: CaseId, **click: Unpack[Click]) -> None:
        """Take the case on.

        Raises:
            CaseMoved: somebody moved it after this version; the text says who. Nothing was written.
            NotPermitted: the operator may only read. Nothing was written.
            Report: the case does not allow it, or the reason is missing or too long. Nothing was written.
        """
        self._mover.move(case_id, click, rules.acknowledge)

    def resolve(self, case_id: CaseId, *, code: Resolution, **click: Unpack[Click]) -> Proposal | None:
        """Settle the case; raises as `acknowledge`.

        Returns the proposal that was saved in the move's place, where another person must approve it; None
        where the move was made.
        """
        fence = leases.newest(self._database, HOUR)
        rule = partial(rules.resolve, code=code, fence=fence)
        return self._mover.move(case_id, click, rule, {"code": code})

    def accept(self, case_id: CaseId, *, until: datetime, **click: Unpack[Click]) -> Proposal | None:
        """Live with the case as it is until a date; returns and raises as `resolve`."""
        fence = leases.newest(self._database, HOUR)
        rule = partial(rules.accept, until=until, fence=fence)
        return self._mover.move(case_id, click, rule, {"until": until})

    def reopen(self, case_id: CaseId, **click: Unpack[Click]) -> None:
        """Take a resolution or an acceptance back; raises as `acknowledge`."""
        self._mover.move(case_id, click, rules.reopen)

    def snooze(self, case_id: CaseId, *, until: datetime, **click: Unpack[Click]) -> None:
        """Look at the case again from a date on; raises as `acknowledge`."""
        self._mover.move(case_id, click, partial(rules.snooze, until=until))

    def assign(self, case_id: CaseId, *, owner: Owner, **click: Unpack[Click]) -> None:
        """Give the case to one of the `owners`; raises as `acknowledge`."""
        if (owner.name, owner.target) not in {(each.name, each.target) for each in self.owners()}:
            raise Report(f"Expected an owner that owners.toml names, found {owner.name!r}.")
        chosen = replace(owner, rule=f"{BY_HAND}{click['operator'].name}")
        self._mover.move(case_id, click, partial(rules.assign, owner=chosen))

    def take(self, case_id: CaseId, **click: Unpack[Click]) -> None:
        """Give the case to whoever acts, who hears of it in Slack; raises as `acknowledge`."""
        name, slack_id = click["operator"].name, click["operator"].slack_id
        if slack_id is None:
            raise Report(f"{name} is nobody in Slack yet: run recon operators add {name!r} --slack ID.")
        owner = Owner(name, slack_id, rule=f"{BY_HAND}{name}")
        self._mover.move(case_id, click, partial(rules.assign, owner=owner))

    def adopt(self, case_id: CaseId, **click: Unpack[Click]) -> Proposal | None:
        """Make the case's refund an intent of ours; returns and raises as `resolve`."""

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            refund_id = RefundId(subjects.parted(case.subject)[1])
            return rules.adopt(case, claims.read(self._database, case.account, refund_id), **by)

        return self._mover.move(case_id, click, rule)

    def link(
        self, case_id: CaseId, *, refund_id: RefundId, intent_key: IntentKey, **click: Unpack[Click]
    ) -> Proposal | None:
        """Say which intent of its account a refund belongs to; returns and raises as `resolve`."""

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            refund, intent = RefundId(keepable(refund_id)), IntentKey(keepable(intent_key))
            known = claims.read(self._database, case.account, refund, intent)
            return rules.link(case, known, refund_id=refund, intent_key=intent, **by)

        told = {"refund_id": refund_id, "intent_key": intent_key}
        return self._mover.move(case_id, click, rule, told)

    def unlink(self, case_id: CaseId, *, refund_id: RefundId, **click: Unpack[Click]) -> Proposal | None:
        """Take such a link back; returns and raises as `resolve`."""

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            named = RefundId(keepable(refund_id))
            known = claims.read(self._database, case.account, named)
            return rules.unlink(case, known, refund_id=named, **by)

        return self._mover.move(case_id, click, rule, {"refund_id": refund_id})

    def comment(self, case_id: CaseId, **click: Unpack[Click]) -> None:
        """Write something into the case's story; raises as `acknowledge`."""
        self._mover.move(case_id, click, rules.comment)

    def approve(self, case_id: CaseId, *, proposal_id: ProposalId, **click: Unpack[Click]) -> None:
        """Make the move that another person proposed, as they proposed it; raises as `acknowledge`."""
        moves: Mapping[Action, Move] = {
            Action.RESOLVED: self.resolve,
            Action.ACCEPTED: self.accept,
            Action.ADOPTED: self.adopt,
            Action.LINKED: self.link,
            Action.UNLINKED: self.unlink,
        }
        self._mover.carry_out(case_id, click, proposal_id, moves)

    def decline(self, case_id: CaseId, *, proposal_id: ProposalId, **click: Unpack[Click]) -> None:
        """Decline what another person proposed, or take one's own proposal back; raises as `acknowledge`."""
        self._mover.decline(case_id, click, proposal_id)

    def approvers(self, proposal: Proposal) -> tuple[Actor, ...]:
        """Return who may approve a proposal, by name, of those whom somebody put down in the database."""
        return tuple(
            each.name
            for each in operators.every(self._database)
            if permissions.allows(each, Role.APPROVER) and four_eyes.unapprovable(proposal, each.name) is None
        )

    def _with_proposal(self, view: CaseView, operator: Operator) -> CaseView:
        """Return the case with what takes a second person, and what waits for one."""
        found = self._mover.limits()
        seconded = frozenset(move for move in view.moves if four_eyes.seconded(view.case, move, found))
        proposal = proposals.waiting(self._database, view.case.id)
        if proposal is None:
            return replace(view, seconded=seconded)
        moves = tuple(move for move in view.moves if move not in seconded)
        refused = four_eyes.unvouched(proposal.proposed_by, self._settings.dashboard.mode)
        refused = refused or four_eyes.unapprovable(proposal, operator.name)
        refused = refused or permissions.refusal(self._mover.standing(operator), Role.APPROVER)
        return replace(view, moves=moves, seconded=seconded, proposal=proposal, unapprovable=refused)

    def _moves(
        self, case: Case, refunds: Iterable[Refund], operator: Operator, *, waits: bool
    ) -> tuple[Action, ...]:
        """Return the moves that the rules would let this operator try now."""
        return rules.offered(case, refunds, waits=waits) if self.may_act(operator) else ()
