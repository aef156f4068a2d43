"""People at the desk in the middle of a run: nothing of theirs is overwritten, and the run plans anew."""

from collections.abc import Callable

import pytest

from recon.doors.store import cases as book
from recon.doors.store.cases import Saved, Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.runs import Lease
from recon.model.records.words import (
    Action,
    CaseState,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
)
from tests.hours import Town, a_town, kinds, states
from tests.people import Ana, adopted, now, orphan, refund_of, sound, stuck
from tests.sandboxes import Street


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


@pytest.fixture
def ana(town: Town) -> Ana:
    return Ana(town)


def in_the_middle(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let somebody act once, between the next run's reading and its saving."""
    save, acts = book.save_run, iter([act])

    def save_late(database: Database, lease: Lease, saving: Saving) -> Saved:
        next(acts, lambda: None)()
        return save(database, lease, saving)

    monkeypatch.setattr(book, "save_run", save_late)


PLAIN = [
    Action.ACKNOWLEDGED,
    Action.RESOLVED,
    Action.ACCEPTED,
    Action.SNOOZED,
    Action.ASSIGNED,
    Action.COMMENTED,
]


@pytest.mark.parametrize("move", [*PLAIN, Action.ADOPTED, Action.LINKED])
def test_what_a_person_does_while_a_run_sees_other_evidence_is_kept_and_the_run_plans_anew(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch, move: Action
) -> None:
    case = orphan(town)
    named = refund_of(town, case).id
    town.refund("twin", payment="pi_hand", paid=False)
    theirs = town.intend("theirs")
    told = {"refund_id": named, "intent_key": theirs.key} if move is Action.LINKED else {}
    in_the_middle(monkeypatch, lambda: ana(move, case, **told))

    report = town.run()

    again = "reopened" if move in {Action.RESOLVED, Action.ACCEPTED} else "reclassified"
    assert kinds(report) == [f"{again} duplicate"]
    assert town.story(case) == ["opened", str(move), again]
    after = now(town, case)
    assert (after.state, after.version, after.pinned) == (CaseState.OPEN, 3, move is Action.ASSIGNED)
    assert (after.resolution, after.accepted_until, after.snoozed_until) == (None, None, None)
    assert sound(town)
    if move is Action.LINKED:
        assert refund_of(town, case).operator_key == theirs.key
    if move is Action.ADOPTED:
        assert adopted(town, case)[0] == f"adopted:{named}"
    if move in {Action.ADOPTED, Action.LINKED}:
        town.run()
        assert states(town)[case.subject] is CaseState.CLEARED


@pytest.mark.parametrize("move", [*PLAIN, Action.LINKED])
def test_what_a_person_does_while_a_run_sees_agreement_is_kept_and_the_case_clears(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch, move: Action
) -> None:
    case = orphan(town, metadata={"intent_key": "refund_order:late"})
    named = refund_of(town, case).id
    late = town.intend("late", payment="pi_hand", paid=False, refund_id=named)
    told = {"refund_id": named, "intent_key": late.key} if move is Action.LINKED else {}
    in_the_middle(monkeypatch, lambda: ana(move, case, **told))

    report = town.run()

    assert kinds(report) == ["cleared orphan"]
    assert town.story(case) == ["opened", str(move), "cleared"]
    assert sound(town)
    if move is Action.LINKED:
        assert refund_of(town, case).operator_key == late.key
    assert town.run().changes == ()


@pytest.mark.parametrize("move", [*PLAIN, Action.ADOPTED, Action.LINKED])
def test_what_a_person_does_while_a_run_changes_nothing_of_it_stands(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch, move: Action
) -> None:
    case = orphan(town)
    theirs = town.intend("theirs")
    told = {"refund_id": refund_of(town, case).id, "intent_key": theirs.key} if move is Action.LINKED else {}
    in_the_middle(monkeypatch, lambda: ana(move, case, **told))

    report = town.run()

    assert case.id not in {change.case.id for change in report.changes}
    assert town.story(case) == ["opened", str(move)]
    gone = move in {Action.ADOPTED, Action.LINKED}
    assert kinds(town.run()) == (["cleared orphan"] if gone else [])
    assert sound(town)


def test_a_case_reopened_while_a_run_opens_it_is_open_for_the_new_evidence(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = orphan(town)
    ana(Action.RESOLVED, case)
    town.refund("twin", payment="pi_hand", paid=False)
    in_the_middle(monkeypatch, lambda: ana(Action.REOPENED, case))

    town.run()

    assert town.story(case) == ["opened", "resolved", "reopened", "reclassified"]
    assert now(town, case).mismatch.kind is Kind.DUPLICATE
    assert sound(town)


def test_a_link_taken_back_while_a_run_relies_on_it_is_judged_by_the_next(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = stuck(town)
    case = orphan(town)
    ana(Action.LINKED, case, refund_id=refund_of(town, case).id, intent_key=intent.key)
    in_the_middle(monkeypatch, lambda: ana(Action.UNLINKED, case))

    report = town.run()
    town.pass_time(hours=1)
    after = town.run()

    assert (report.heals, [heal.basis for heal in report.not_healed]) == ((), ["operator"])
    assert town.status(intent) is IntentStatus.PENDING_UNKNOWN
    assert sorted(kinds(after)) == ["opened stuck", "reopened orphan"]
    assert sound(town)


def test_an_intent_whose_refund_a_person_gives_to_another_meanwhile_stays_in_flight(
    town: Town, ana: Ana, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = stuck(town, payment="pi_1", paid=True)
    town.pass_time(hours=1)
    town.run()
    (case,) = town.waiting()
    made, other = town.pay(intent), town.intend("other")
    in_the_middle(monkeypatch, lambda: _link_by_hand(town, made.id, other.key))

    report = town.run()

    assert (report.heals, len(report.not_healed)) == ((), 1)
    assert town.status(intent) is IntentStatus.PENDING_UNKNOWN
    assert case.id in {each.id for each in town.waiting()}
    assert sound(town)


def _link_by_hand(town: Town, refund_id: RefundId, key: IntentKey) -> None:
    """Write a link past every case, as a person with a database shell might."""
    with town.database.write() as connection:
        columns = tables.refunds.c
        connection.execute(tables.refunds.update().where(columns.id == refund_id).values(operator_key=key))
