"""How a person's move becomes a change: read the case, ask the rule, save it with what it gives to say.

A step of the flows in which people act. Rights are checked here, at every action and against the database. A
move names the version that was looked at: whoever comes second is told who was first, and nothing is
overwritten. From a limit on, what settles a case is saved as a proposal, and made when another person comes
with the same move and approves that. Never decides what a move makes of a case: rules/moves.py does.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NotRequired, TypedDict

from recon.doors.clock import Clock
from recon.doors.store import cases as book
from recon.doors.store import limits, mirror, operators, proposals, runs, sign_outs, stakes, threads
from recon.doors.store.engines import Database
from recon.model import phrases, wishes, wording
from recon.model.changes import Illegal
from recon.model.characters import keepable
from recon.model.errors import CaseMoved, ConfigurationError, NotPermitted, Report
from recon.model.records.cases import JOB, Case, Change, Entry
from recon.model.records.claims import Claim
from recon.model.records.notices import Manner, Notice
from recon.model.records.owners import Profile
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal, ProposalId, approval_id, proposal_id
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseId, ProposalState, Role
from recon.model.settings import Settings
from recon.rules import notices, ownership, permissions
from recon.rules import proposals as rules


class By(TypedDict):
    """What every rule is told of a move: who makes it, why and when, and the id that makes it one move."""

    actor: Actor
    reason: str
    now: datetime
    action_id: str


class Click(TypedDict):
    """What every move needs of the person who makes it.

    version: of the case that they looked at. approves: the open proposal of another person that this very
    move is; absent where they make a move of their own.
    """

    version: int
    reason: str
    operator: Operator
    action_id: str
    approves: NotRequired[ProposalId]


# What a rule makes of a move: a change, with what it says of the case's rows, or why there is none.
Planned = Change | tuple[Change, Claim] | Illegal
# A move as a flow offers it; what it returns waits for a second person.
Move = Callable[..., Proposal | None]


class Mover:
    """Makes people's moves; keeps nothing of anybody's."""

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    def standing(self, operator: Operator) -> Operator:
        """Return somebody as they stand now: a tab may be older than a decision about them."""
        stands = self._known(operator)
        return stands if self.ended(operator) is None else replace(stands, active=False)

    def ended(self, operator: Operator) -> str | None:
        """Return why somebody's sign-in no longer counts; None while it does."""
        if operator.since is None:
            return None
        return permissions.ended(
            operator,
            out_at=sign_outs.latest(self._database, operator.name),
            session=self._settings.sign_in.session,
            now=self._clock(),
        )

    def must(self, operator: Operator, needed: Role = Role.OPERATOR) -> None:
        """Return if somebody has this role now, or one above it.

        Raises:
            NotPermitted: they have not; the text says what it takes.
        """
        refused = self.ended(operator) or permissions.refusal(self._known(operator), needed)
        if refused is not None:
            raise NotPermitted(refused)

    def move(
        self,
        case_id: CaseId,
        click: Click,
        rule: Callable[..., Planned],
        told: Mapping[str, object] | None = None,
    ) -> Proposal | None:
        """Save what the rule makes of the case, once per action id, or that it waits for a second person.

        rule: takes the case and what By holds. told: what the move takes beside that, by the desk's names;
        None is nothing. Returns the proposal that was saved in the move's place; None where the move was
        made.

        Raises:
            CaseMoved: somebody moved it after this version; the text says who. Nothing was written.
            NotPermitted: the operator may only read, or may not approve. Nothing was written.
            Report: the case does not allow it, the reason is missing or too long, or another proposal waits.
                Nothing was written.
        """
        approves = click.get("approves")
        self.must(click["operator"], Role.OPERATOR if approves is None else Role.APPROVER)
        action_id = click["action_id"] if approves is None else approval_id(approves)
        case, by = self._case(case_id), self._by(click, action_id)
        if case.version != click["version"]:
            return self._tell(case, by)
        planned = rule(case, **by)
        if isinstance(planned, Illegal):
            if (now := book.get(self._database, case_id)) is not None and now.version != case.version:
                return self._tell(now, by)  # The rows were read after somebody had moved the case, and them.
            raise Report(planned.reason)
        change, claim = (planned, None) if isinstance(planned, Change) else planned
        kept = wishes.kept(told or {})
        if approves is not None:
            found = proposals.get(self._database, approves)
            self._vouched(found.proposed_by if found is not None else click["operator"].name)
            return self._save(case, by, rules.approve(change, kept, found), claim)
        if rules.seconded(case, change.entry.action, self.limits(), self._beside(case, claim)):
            self._vouched(click["operator"].name)
            waiting = proposals.waiting(self._database, case.id)
            return self._save(case, by, rules.propose(case, change.entry.action, kept, waiting, **by))
        return self._save(case, by, (change, None), claim)

    def carry_out(
        self,
        case_id: CaseId,
        click: Click,
        proposal_id: ProposalId,
        moves: Mapping[Action, Move],
    ) -> None:
        """Make the move that another person proposed, as they proposed it; raises as `move`.

        moves: those that whoever calls makes, which call `move`. Each is judged anew by its own rule, because
        time has passed since then.
        """
        proposal = proposals.get(self._database, proposal_id)
        if proposal is None or proposal.action not in moves:
            raise Report(f"Expected a proposal that can be carried out here, found {proposal_id!r}.")
        told = wishes.read(proposal.told)
        moves[proposal.action](case_id, **told, **(click | {"approves": proposal_id}))

    def decline(self, case_id: CaseId, click: Click, declines: ProposalId) -> None:
        """Decline an open proposal, or take one's own back; raises as `move`."""
        case, by = self._case(case_id), self._by(click, click["action_id"])
        found = proposals.get(self._database, declines)
        own = found is not None and rules.same_person(found.proposed_by, by["actor"])
        self.must(click["operator"], Role.OPERATOR if own else Role.APPROVER)
        if case.version != click["version"]:
            self._tell(case, by)
            return
        self._save(case, by, rules.decline(case, found, **by))

    def limits(self) -> Mapping[str, int]:
        """Return from which amount at risk on moves take two people, in minor units by currency.

        Where this process's settings and the database differ, the stricter of the two holds.
        """
        return rules.stricter(self._settings.four_eyes, limits.read(self._database))

    def _vouched(self, proposer: Actor) -> None:
        """Return if whoever proposes is known by the one name that they would approve by, or raise Report."""
        why = rules.unvouched(proposer, self._settings.dashboard.mode)
        if why is not None:
            raise Report(why)

    def _beside(self, case: Case, claim: Claim | None) -> tuple[Money, ...]:
        """Return what a claim is about and decides in other cases; nothing where there is none."""
        return () if claim is None else (claim.money, *stakes.beside(self._database, case, claim))

    def _case(self, case_id: CaseId) -> Case:
        case = book.get(self._database, CaseId(keepable(case_id)))
        if case is None:
            raise Report(f"Expected a case, found none with the id {case_id}.")
        return case

    def _by(self, click: Click, action_id: str) -> By:
        name, reason = click["operator"].name, click["reason"]
        return By(actor=name, reason=reason, now=self._clock(), action_id=action_id)

    def _save(
        self,
        case: Case,
        by: By,
        decided: tuple[Change, Proposal | None] | Illegal,
        claim: Claim | None = None,
    ) -> Proposal | None:
        """Save a change with the proposal that goes with it; return one that waits now."""
        if isinstance(decided, Illegal):
            raise Report(decided.reason)
        change, proposal = decided
        try:
            book.move(self._database, change, self._said(case, change), claim=claim, proposal=proposal)
        except CaseMoved as moved:  # Somebody was faster between our reading and our writing.
            return self._tell(case, by, moved)
        return proposal if proposal is not None and proposal.state is ProposalState.OPEN else None

    def _known(self, operator: Operator) -> Operator:
        return permissions.standing(operator, operators.get(self._database, operator.name))

    def _said(self, before: Case, change: Change) -> tuple[Notice, ...]:
        """Return what a move gives to say to those who were told of the case, or are its owners now."""
        last, now = runs.last_saved(self._database), self._clock()
        manner = Manner.of(
            self._settings,
            self._profiles(),
            livemode=mirror.livemode(self._database),
            as_of=last.as_of if last is not None else now,
            now=now,
        )
        topics = notices.topics([before, change.case], livemode=manner.livemode)
        known = threads.known(self._database, topics, [before.id])
        return notices.compose([change], known, before={before.id: before}, manner=manner)

    def _profiles(self) -> Mapping[str, Profile]:
        """Return what is known of owners; nothing where owners.toml is wrong: people may act all the same."""
        try:
            return ownership.owners_of(self._settings.owners)
        except ConfigurationError:  # The run says so; until then nobody rests, and no group is mentioned.
            return {}

    def _tell(self, read: Case, by: By, moved: CaseMoved | None = None) -> Proposal | None:
        """Say who moved the case; nothing to say when it was this very action, pressed twice.

        moved: what the store found; it stands where the rows moved and the case did not. Returns what that
        action proposed; None where it made its move.
        """
        entries = tuple(stored.entry for stored in book.entries(self._database, read.id))
        for entry in entries:
            if (entry.action_id, entry.actor) == (by["action_id"], by["actor"]):
                proposed = entry.action is Action.PROPOSED
                return proposals.get(self._database, proposal_id(entry.action_id)) if proposed else None
        if moved is not None and entries[-1].version == read.version:
            raise moved
        raise CaseMoved(_moved(entries[-1], self._clock()))


def _moved(latest: Entry, now: datetime) -> str:
    who = "A run" if latest.actor == JOB else latest.actor
    return (
        f"{who} {wording.DEEDS[latest.action]} this case {phrases.lately(latest.at, now)}, after you read "
        "it. Nothing of yours was saved: read it again, then decide."
    )
