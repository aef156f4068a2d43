"""Laws of a case's whole life, over random histories of runs and people."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recon.model.changes import Illegal
from recon.model.records.cases import Case, Change, Entry, Owner
from recon.model.records.claims import Known, Settlement
from recon.model.records.results import Mismatch
from recon.model.records.settlements import Books
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    Certainty,
    IntentKey,
    Kind,
    RefundId,
    Resolution,
    RunId,
    Subject,
)
from recon.rules import cases, moves, ownership, stories
from recon.rules.cases import Judged, RunStamp
from tests.builders import NOON, PLATFORM, a_mismatch, a_refund, a_result, an_intent
from tests.hours import OWNERS

SUBJECT = Subject("refund:re_1")
REFUND = RefundId("re_1")
RULES = ownership.parse(
    OWNERS
    | {
        "severities": [
            {"level": "low"},
            {"level": "high", "older_than_minutes": 60 * 24 * 3},
        ]
    }
)
MISMATCH = st.builds(
    lambda kind, certainty, amount, refunds, why: replace(
        a_mismatch(kind=kind, certainty=certainty, subject=SUBJECT, why=why, refund_ids=refunds),
        at_risk=replace(a_mismatch().at_risk, amount_minor=amount),
    ),
    st.sampled_from([Kind.DUPLICATE, Kind.ORPHAN, Kind.MISSING, Kind.STUCK, Kind.STATUS_MISMATCH]),
    st.sampled_from(Certainty),
    st.sampled_from([100, 4900]),
    st.sampled_from([(REFUND,), (REFUND, RefundId("re_2"))]),
    st.sampled_from(["Why.", "Why so."]),
)
SIGHT = st.one_of(MISMATCH, st.sampled_from(["agreement", "no rows", "withheld", "nothing"]))
RUN = st.tuples(st.just("run"), SIGHT, st.booleans())
WAIT = st.tuples(st.just("wait"), st.sampled_from([1, 9, 11, 60, 60 * 24 * 2]))
MOVE = st.tuples(st.just("move"), st.sampled_from(list(moves.FROM)))


@dataclass
class Life:
    """One subject's case, its entries, and the runs and people that move it."""

    now: datetime = NOON
    fence: int = 0
    case: Case | None = None
    entries: tuple[Entry, ...] = ()

    def take(self, change: Change) -> None:
        """Save a change as the store does."""
        assert change.from_version == (self.case.version if self.case else 0)
        self.case, self.entries = change.case, (*self.entries, change.entry)

    def do(self, step: tuple[Any, ...]) -> None:
        name, *told = step
        getattr(self, f"do_{name}")(*told)

    def do_wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    def do_run(self, sight: Mismatch | str, complete: bool) -> None:  # noqa: FBT001 -- drawn
        self.fence += 1
        for change in self.planned(sight, complete=complete):
            self.take(change)

    def planned(self, sight: Mismatch | str, *, complete: bool) -> tuple[Change, ...]:
        """Return what a run that saw this would change, owned and rated as the hour does it."""
        pair = frozenset({(PLATFORM, SUBJECT)})
        none: frozenset[Any] = frozenset()
        result = a_result(sight) if isinstance(sight, Mismatch) else a_result()
        if sight == "withheld":
            result = replace(result, withheld=tuple(pair))
        judged = Judged(
            none if sight in {"nothing", "no rows"} else pair,
            frozenset({PLATFORM}) if complete else none,
            pair if sight == "no rows" else none,
        )
        known = (self.case,) if self.case else ()
        stamp = RunStamp(RunId(f"run_{self.fence}"), self.fence, self.now, timedelta(minutes=10))
        changes = cases.plan(result, known, judged, run=stamp, now=self.now)
        owned = ownership.assign(changes, RULES, as_of=self.now)
        rest = () if changes else known
        return owned + ownership.reconsider(rest, RULES, run_id=stamp.id, as_of=self.now, now=self.now)

    def do_move(self, action: Action) -> None:
        if self.case is None:
            return
        found = MOVES[action](
            self.case,
            actor=Actor("Ana"),
            reason="Because.",
            now=self.now,
            action_id=f"click_{len(self.entries)}",
            **self.told(action),
        )
        if not isinstance(found, Illegal):
            self.take(found[0] if isinstance(found, tuple) else found)

    def told(self, action: Action) -> Mapping[str, object]:
        """Return what this move takes beside who, why and when."""
        refund, key = a_refund(id=REFUND, intent_key=None), IntentKey("refund_order:8812")
        more: Mapping[Action, Mapping[str, object]] = {
            Action.RESOLVED: {"code": Resolution.RECOVERED, "fence": self.fence},
            Action.ACCEPTED: {"until": self.now + timedelta(days=1), "fence": self.fence},
            Action.SNOOZED: {"until": self.now + timedelta(days=1)},
            Action.ASSIGNED: {"owner": Owner("Ada", "U1", "assigned by Ana")},
            Action.ADOPTED: {"known": Known(refund)},
            Action.LINKED: {"known": Known(refund, an_intent()), "refund_id": REFUND, "intent_key": key},
            Action.UNLINKED: {"known": Known(replace(refund, operator_key=key)), "refund_id": REFUND},
            Action.CONFIRMED: {"settlement": Settlement(Books(an_intent()), refund, self.now), "said": ""},
            Action.REFUTED: {"settlement": Settlement(Books(an_intent()), None, self.now), "said": ""},
        }
        return more.get(action, {})


MOVES: dict[Action, Any] = {
    Action.ACKNOWLEDGED: moves.acknowledge,
    Action.RESOLVED: moves.resolve,
    Action.ACCEPTED: moves.accept,
    Action.REOPENED: moves.reopen,
    Action.SNOOZED: moves.snooze,
    Action.ASSIGNED: moves.assign,
    Action.ADOPTED: moves.adopt,
    Action.LINKED: moves.link,
    Action.UNLINKED: moves.unlink,
    Action.COMMENTED: moves.comment,
    Action.LOOKED: moves.look,
    Action.CONFIRMED: moves.settle,
    Action.REFUTED: moves.settle,
}
LIVES = st.lists(st.one_of(RUN, RUN, WAIT, MOVE), min_size=3, max_size=25)


def lived(steps: list[tuple[Any, ...]]) -> Life:
    life = Life()
    for step in steps:
        life.do(step)
    return life


SNOOZED_FOR = a_mismatch(kind=Kind.ORPHAN, subject=SUBJECT)


@given(steps=LIVES)
@example(
    steps=[
        ("run", SNOOZED_FOR, True),
        ("move", Action.SNOOZED),
        ("run", replace(SNOOZED_FOR, refund_ids=(REFUND,)), True),
    ]
)
def test_a_cases_entries_explain_how_it_stands(steps: list[tuple[Any, ...]]) -> None:
    life = lived(steps)

    if life.case is not None:
        assert stories.unexplained(life.case, life.entries) is None
        assert life.case.version == len(life.entries)
        assert len({entry.action_id for entry in life.entries}) == len(life.entries)


@given(steps=LIVES, sight=SIGHT, complete=st.booleans())
def test_the_same_run_twice_changes_nothing(
    steps: list[tuple[Any, ...]], sight: Mismatch | str, *, complete: bool
) -> None:
    life = lived(steps)
    life.do_run(sight, complete)

    assert life.planned(sight, complete=complete) == ()


@given(steps=LIVES, sight=SIGHT)
def test_an_incomplete_run_clears_nothing_and_weakens_nothing(
    steps: list[tuple[Any, ...]], sight: Mismatch | str
) -> None:
    life = lived(steps)
    was = life.case
    if was is None or was.state is CaseState.CLEARED:
        return
    life.do_run(sight, False)  # noqa: FBT003 -- drawn in other laws

    assert life.case is not None
    assert life.case.state is not CaseState.CLEARED
    assert not cases.weaker(life.case.mismatch, was.mismatch)


@given(steps=LIVES)
def test_no_run_takes_a_case_out_of_somebodys_hands_but_by_clearing_or_asking_anew(
    steps: list[tuple[Any, ...]],
) -> None:
    life = lived(steps)

    by_runs = [entry for entry in life.entries if entry.run_id is not None]
    assert {entry.to_state for entry in by_runs} <= {
        CaseState.OPEN,
        CaseState.CLEARED,
        CaseState.ACKNOWLEDGED,
    }
    for entry in by_runs:
        if entry.from_state is CaseState.ACKNOWLEDGED and entry.to_state is CaseState.OPEN:
            assert entry.action is Action.RECLASSIFIED


# What is not explained is found.

STORY = [("run", a_mismatch(kind=Kind.ORPHAN, subject=SUBJECT), True), ("wait", 60)]
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    "steps, harm, said",
    [
        ([], {"state": CaseState.CLEARED}, "state"),
        ([], {"version": 2}, "version"),
        ([], {"pinned": True}, "choice of owner"),
        ([], {"snoozed_until": NOON}, "end of snooze"),
        ([], {"accepted_until": NOON}, "end of acceptance"),
        ([], {"opened_at": NOON + DAY}, "opening"),
        ([], {"updated_at": NOON + DAY}, "last move"),
        ([("move", Action.RESOLVED)], {"resolution": Resolution.WRITTEN_OFF}, "resolution"),
        ([("move", Action.RESOLVED)], {"decided_at": NOON}, "time of decision"),
        ([("move", Action.ACCEPTED)], {"accepted_until": NOON + 9 * DAY}, "end of acceptance"),
        ([("move", Action.SNOOZED)], {"snoozed_until": NOON + 9 * DAY}, "end of snooze"),
        ([("move", Action.SNOOZED)], {"snoozed_until": None}, "end of snooze"),
        ([("move", Action.ASSIGNED)], {"pinned": False}, "choice of owner"),
    ],
)
def test_a_case_that_its_entries_do_not_explain_is_named(
    steps: list[tuple[Any, ...]], harm: Mapping[str, object], said: str
) -> None:
    life = lived([*STORY, *steps])
    assert life.case is not None
    harmed = replace(life.case, **harm)  # type: ignore[arg-type]  # any field

    assert stories.unexplained(harmed, life.entries) == (
        f"{harmed.id}: its entries do not explain its {said}."
    )


@pytest.mark.parametrize(
    "harm, said",
    [
        (lambda entries: entries[1:], "entry 2 follows entry 0"),
        (lambda entries: (entries[0], entries[2]), "entry 3 follows entry 1"),
        (
            lambda entries: (entries[0], replace(entries[1], from_state=CaseState.CLEARED), entries[2]),
            "entry 2 begins at cleared, and the case was open",
        ),
        (
            lambda entries: (entries[0], replace(entries[1], action=Action.CLEARED), entries[2]),
            "entry 2 says cleared, which never leads from open to acknowledged",
        ),
        (
            lambda entries: (replace(entries[0], action=Action.HEALED), *entries[1:]),
            "entry 1 says healed, which never leads from None to open",
        ),
    ],
)
def test_entries_that_cannot_follow_each_other_are_named(harm: Any, said: str) -> None:  # noqa: ANN401 -- a function
    life = lived([*STORY, ("move", Action.ACKNOWLEDGED), ("move", Action.RESOLVED)])
    assert life.case is not None

    assert stories.unexplained(life.case, harm(life.entries)) == f"{life.case.id}: {said}."
