"""A law: above the limit two people decide, whatever runs, people and limits do, and a proposal ends once."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import limits, proposals
from recon.doors.store.engines import Database
from recon.model.errors import ReconError
from recon.model.records.cases import Case, Entry
from recon.model.records.people import Operator
from recon.model.records.proposals import APPROVED, BESIDE, SECONDED, ProposalId
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseState, Resolution, Role
from recon.model.settings import Settings
from recon.rules import stories
from tests import seeds
from tests.builders import NOON
from tests.databases import Fresh

PEOPLE = (
    Operator(Actor("Ana"), Role.OPERATOR),
    Operator(Actor("ANA "), Role.ADMIN),  # Ana once more.
    Operator(Actor("Bea"), Role.APPROVER),
    Operator(Actor("Cal"), Role.ADMIN),
    Operator(Actor("Vera"), Role.VIEWER),
)
ONE_PERSON = {"Ana": "ana", "ANA ": "ana"}
AMOUNTS = (100, 5000, 9000)
LIMITS: tuple[dict[str, int], ...] = ({}, {"usd": 5000}, {"usd": 5000}, {"usd": 9000}, {"eur": 1})

_people = st.sampled_from(PEOPLE)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["resolve", "accept", "reopen", "acknowledge", "comment"]), _people),
    st.tuples(st.sampled_from(["resolve", "approve", "decline", "approve_old"]), _people),
    st.tuples(st.just("run"), st.sampled_from(AMOUNTS)),
    st.tuples(st.sampled_from(["books", "settings"]), st.sampled_from(LIMITS)),
)


@dataclass
class Office:
    """One case, whoever comes to it, and what each may do alone at that moment."""

    database: Database
    told: dict[str, int] = field(default_factory=lambda: {"usd": 5000})
    now: datetime = NOON
    clicks: Any = field(default_factory=lambda: count(1))
    known: list[ProposalId] = field(default_factory=list)
    # The versions at which a second person was needed.
    seconded: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        limits.keep(self.database, self.told, now=self.now)
        self.case = self.run(9000)

    def run(self, minor: int) -> Case:
        """Let a run see that much at risk."""
        self.now += timedelta(hours=1)
        mismatch = replace(seeds.duplicate(8812, at=NOON), at_risk=Money(minor, "usd"))
        number = next(self.clicks)
        (self.case,) = seeds.run(self.database, [mismatch], now=self.now, number=number)
        return self.case

    def step(self, what: str, who: Any) -> None:  # noqa: ANN401 -- of a step
        """Do one thing, or be refused."""
        self.now += timedelta(minutes=1)
        if what == "run":
            self.run(who)
        elif what == "books":
            limits.keep(self.database, who, now=self.now)
        elif what == "settings":
            self.told = who
        else:
            self._move(what, who)

    def _move(self, what: str, who: Operator) -> None:
        before = self._stands()
        both = [each["usd"] for each in (self.told, limits.read(self.database)) if "usd" in each]
        alone = not both or before.mismatch.at_risk.amount_minor < min(both)
        waiting = proposals.waiting(self.database, before.id)
        self.known += [waiting.id] if waiting is not None and waiting.id not in self.known else []
        try:
            self._moves(what)(
                before.id,
                version=before.version,
                reason="Why.",
                operator=who,
                action_id=f"click-{next(self.clicks)}",
            )
        except ReconError:
            assert self._stands() == before
            return
        if not alone:
            self.seconded.add(before.version + 1)

    def _moves(self, what: str) -> Callable[..., object]:
        desk = Desk(self.database, Settings(four_eyes=self.told), clock=lambda: self.now)
        if what == "resolve":
            return lambda *a, **k: desk.resolve(*a, code=Resolution.WRITTEN_OFF, **k)
        if what == "accept":
            return lambda *a, **k: desk.accept(*a, until=self.now + timedelta(days=9), **k)
        if what in {"approve", "decline", "approve_old"}:
            named = self.known[0 if what == "approve_old" else -1] if self.known else ProposalId("P-NONE")
            move = desk.decline if what == "decline" else desk.approve
            return lambda *a, **k: move(*a, proposal_id=named, **k)
        return getattr(desk, what)  # type: ignore[no-any-return]  # a move of the desk

    def _stands(self) -> Case:
        found = book.get(self.database, self.case.id)
        assert found is not None
        return found

    def check(self) -> None:
        """Tell the story once more, slowly, and see that nobody decided alone what takes two."""
        told = tuple(stored.entry for stored in book.entries(self.database, self.case.id))
        open_since: Entry | None = None
        for entry in told:
            open_since = _after(entry, open_since)
            if entry.version in self.seconded and entry.action in SECONDED:
                assert entry.action_id.startswith(APPROVED), entry
        waiting = proposals.waiting(self.database, self.case.id)
        assert (waiting and waiting.proposed_at) == (open_since and open_since.at)
        assert stories.unexplained(self._stands(), told) is None
        assert book.verify(self.database) == ()


def _after(entry: Entry, waits: Entry | None) -> Entry | None:
    """Return the proposal that waits after an entry, by the entries alone."""
    voids = "This voids what" in entry.reason
    if entry.action is Action.PROPOSED:
        assert waits is None, entry
        return entry
    if entry.action is Action.DECLINED:
        assert waits is not None, entry
        return None
    if entry.action_id.startswith(APPROVED):
        assert waits is not None, entry
        one, other = (ONE_PERSON.get(each.actor, each.actor) for each in (waits, entry))
        assert one != other
        assert waits.actor in entry.reason
        return None
    if entry.action in BESIDE:
        return waits
    assert voids is (waits is not None), entry
    return None


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # Making a history shorter takes minutes.
)
@given(steps=st.lists(STEPS, min_size=4, max_size=14))
def test_what_is_above_the_limit_is_decided_by_two_and_a_proposal_ends_once(
    fresh: Fresh, steps: list[tuple[str, Any]]
) -> None:
    with fresh() as database:
        office = Office(database)
        for what, who in steps:
            office.step(what, who)
        office.check()


def test_the_law_meets_approvals_voids_and_declines(fresh: Fresh) -> None:
    ana, _, bea, cal, _ = PEOPLE
    with fresh() as database:
        office = Office(database)
        for what, who in (
            ("resolve", ana),
            ("run", 5000),
            ("resolve", bea),
            ("decline", cal),
            ("accept", ana),
            ("approve", ana),
            ("approve", bea),
            ("reopen", ana),
            ("settings", {}),
            ("resolve", cal),
            ("books", {}),
            ("resolve", cal),
        ):
            office.step(what, who)
        office.check()
        actions = [stored.entry.action for stored in book.entries(database, office.case.id)]

    assert actions == [
        Action.OPENED,
        Action.PROPOSED,
        Action.CHANGED,
        Action.PROPOSED,
        Action.DECLINED,
        Action.PROPOSED,
        Action.ACCEPTED,
        Action.REOPENED,
        Action.PROPOSED,
        Action.RESOLVED,
    ]
    assert office.case.state is CaseState.OPEN
