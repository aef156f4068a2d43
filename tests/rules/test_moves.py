"""What people may do to a case: every move from every state, and what each leaves behind."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from recon.model.changes import REASON_LIMIT, Illegal
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.claims import Known, Settlement
from recon.model.records.settlements import Books
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    Resolution,
    Subject,
)
from recon.rules import moves, stories
from recon.rules.moves import ACCEPTANCE_LIMIT, SNOOZE_LIMIT
from tests.builders import NOON, a_case, a_mismatch, a_refund, an_intent, an_owner

ANA = Actor("Ana")
NOW = NOON + timedelta(hours=2)
TOMORROW = NOON + timedelta(days=1)
TICK = timedelta(microseconds=1)
REFUND, KEY = RefundId("re_8812"), IntentKey("refund_order:8812")
ORPHAN = a_mismatch(
    kind=Kind.ORPHAN,
    subject=Subject(f"refund:{REFUND}"),
    intent_key=None,
    refund_ids=(REFUND,),
    extra_refund_ids=(),
)
STRAY = a_refund(intent_key=None)
STUCK = a_mismatch(kind=Kind.STUCK, refund_ids=(), extra_refund_ids=())
BOOKS = Books(an_intent(status=IntentStatus.PENDING_UNKNOWN, refund_id=None))
BY: dict[str, Any] = {"actor": ANA, "reason": "The customer called.", "now": NOW, "action_id": "click"}

Move = Callable[..., Any]
MOVES: dict[Action, Move] = {
    Action.ACKNOWLEDGED: moves.acknowledge,
    Action.RESOLVED: partial(moves.resolve, code=Resolution.RECOVERED, fence=3),
    Action.ACCEPTED: partial(moves.accept, until=TOMORROW, fence=3),
    Action.REOPENED: moves.reopen,
    Action.SNOOZED: partial(moves.snooze, until=TOMORROW),
    Action.ASSIGNED: partial(moves.assign, owner=Owner("Ada", "U1", "assigned by Ana")),
    Action.ADOPTED: partial(moves.adopt, known=Known(STRAY)),
    Action.LINKED: partial(moves.link, known=Known(STRAY, an_intent()), refund_id=REFUND, intent_key=KEY),
    Action.UNLINKED: partial(moves.unlink, known=Known(replace(STRAY, operator_key=KEY)), refund_id=REFUND),
    Action.COMMENTED: moves.comment,
    Action.LOOKED: moves.look,
    Action.CONFIRMED: partial(moves.settle, settlement=Settlement(BOOKS, a_refund(), NOW), said="Proved. "),
    Action.REFUTED: partial(moves.settle, settlement=Settlement(BOOKS, None, NOW), said="Proved. "),
}
OF_STUCK = {Action.LOOKED, Action.CONFIRMED, Action.REFUTED}

# The state each move leads to from each; a dot is refused.
TABLE = """
             | open         | acknowledged | resolved | accepted | cleared
acknowledged | acknowledged | .            | .        | .        | .
resolved     | resolved     | resolved     | .        | resolved | .
accepted     | accepted     | accepted     | .        | accepted | .
reopened     | .            | .            | open     | open     | .
snoozed      | open         | acknowledged | .        | .        | .
assigned     | open         | acknowledged | .        | .        | .
adopted      | acknowledged | acknowledged | .        | .        | .
linked       | acknowledged | acknowledged | .        | .        | .
unlinked     | open         | acknowledged | resolved | accepted | cleared
commented    | open         | acknowledged | resolved | accepted | cleared
looked       | open         | acknowledged | .        | .        | .
confirmed    | acknowledged | acknowledged | .        | .        | .
refuted      | acknowledged | acknowledged | .        | .        | .
"""
LINES = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip("\n").splitlines()]
ROWS = [
    (Action(line[0]), CaseState(state), to)
    for line in LINES[1:]
    for state, to in zip(LINES[0][1:], line[1:], strict=True)
]


def standing(state: CaseState, action: Action = Action.ADOPTED) -> Case:
    """Return the case that a move is about, with everything that this state may hold."""
    held: dict[CaseState, dict[str, object]] = {
        CaseState.OPEN: {"snoozed_until": NOW + TICK},
        CaseState.ACKNOWLEDGED: {"snoozed_until": NOW + TICK},
        CaseState.RESOLVED: {"resolution": Resolution.WRITTEN_OFF},
        CaseState.ACCEPTED: {"decided_fence": 1, "decided_at": NOON, "accepted_until": NOW + TICK},
        CaseState.CLEARED: {},
    }
    about = STUCK if action in OF_STUCK else ORPHAN
    return a_case(about, state=state, version=4, **held[state])


def done(found: object) -> Change:
    """Return the change of a move that was allowed."""
    change = found[0] if isinstance(found, tuple) else found
    assert isinstance(change, Change), found
    return change


@pytest.mark.parametrize("action, state, to", ROWS)
def test_a_move_is_allowed_as_the_table_says(action: Action, state: CaseState, to: str) -> None:
    was = standing(state, action)

    found = MOVES[action](was, **BY)

    if to == ".":
        assert isinstance(found, Illegal)
        assert found.reason.startswith(f"Case {was.id} is {state}; ")
        return
    change = done(found)
    after, entry = change.case, change.entry
    assert (after.state, after.version, after.updated_at) == (CaseState(to), 5, NOW)
    assert (entry.action, entry.from_state, entry.to_state) == (action, state, after.state)
    assert (entry.version, entry.at, entry.actor, entry.run_id) == (5, NOW, ANA, None)
    assert entry.reason.endswith("The customer called.")
    assert (entry.from_state, entry.to_state) in stories.STEPS[action]
    kept = ("id", "mismatch", "severity", "opened_at")
    assert [getattr(after, name) for name in kept] == [getattr(was, name) for name in kept]


@pytest.mark.parametrize("state", CaseState)
def test_what_is_offered_is_what_is_allowed(state: CaseState) -> None:
    everything = {action for action, of, to in ROWS if of is state and to != "."}
    allowed = everything - OF_STUCK

    assert set(moves.offered(standing(state), [replace(STRAY, operator_key=KEY)])) == allowed
    assert set(moves.offered(standing(state), [STRAY])) == allowed - {Action.UNLINKED}
    assert set(moves.offered(a_case(state=state), [])) == allowed - {Action.UNLINKED, Action.ADOPTED}
    waiting = moves.offered(standing(state), [STRAY], waits=True)
    assert set(waiting) == allowed - {Action.UNLINKED, Action.ADOPTED}
    stuck = standing(state, Action.LOOKED)
    assert set(moves.offered(stuck, [])) == everything - {Action.UNLINKED, Action.ADOPTED}
    settled = moves.offered(stuck, [], waits=True)
    assert set(settled) == everything - {Action.UNLINKED, Action.ADOPTED, Action.CONFIRMED, Action.REFUTED}


@pytest.mark.parametrize("action", sorted(OF_STUCK))
def test_what_is_not_stuck_is_not_settled_by_the_providers_word(action: Action) -> None:
    found = MOVES[action](standing(CaseState.OPEN), **BY)

    assert isinstance(found, Illegal)
    assert "no longer about an intent that nobody knows the outcome of" in found.reason


@pytest.mark.parametrize(
    "actions, judged_minutes, waits",
    [
        ((), None, None),
        ((Action.ADOPTED,), None, Action.ADOPTED),
        ((Action.ADOPTED,), -1, Action.ADOPTED),
        ((Action.ADOPTED,), 0, None),  # A run that began then has read it.
        ((Action.LINKED, Action.COMMENTED), -1, Action.LINKED),
        ((Action.LINKED, Action.UNLINKED), -1, None),
        ((Action.ADOPTED, Action.LINKED), -1, Action.LINKED),
        ((Action.RESOLVED,), -1, None),
    ],
)
def test_what_a_person_said_waits_until_a_run_has_judged_by_it(
    actions: tuple[Action, ...], judged_minutes: int | None, waits: Action | None
) -> None:
    entry = done(moves.comment(standing(CaseState.OPEN), **BY)).entry
    judged_at = None if judged_minutes is None else entry.at + timedelta(minutes=judged_minutes)
    found = moves.unjudged([replace(entry, action=action) for action in actions], judged_at)

    assert (found and found.action) == waits


@pytest.mark.parametrize("action", MOVES)
@pytest.mark.parametrize(
    "reason",
    ["", " \n", "\u200b\u202e", "x" * (REASON_LIMIT + 1)],
    ids=["none", "blank", "unseen", "too long"],
)
def test_every_move_needs_a_reason(action: Action, reason: str) -> None:
    state = next(state for of, state, to in ROWS if of is action and to != ".")

    found = MOVES[action](standing(state, action), **(BY | {"reason": reason}))

    assert isinstance(found, Illegal)
    assert "reason" in found.reason.lower()


# Decisions and dates.


@pytest.mark.parametrize("state", [CaseState.OPEN, CaseState.ACKNOWLEDGED, CaseState.ACCEPTED])
def test_a_resolution_holds_code_fence_and_time_and_nothing_else(state: CaseState) -> None:
    after = done(MOVES[Action.RESOLVED](standing(state), **BY)).case

    assert (after.resolution, after.decided_fence, after.decided_at) == (Resolution.RECOVERED, 3, NOW)
    assert (after.accepted_until, after.snoozed_until) == (None, None)


@pytest.mark.parametrize("state", [CaseState.OPEN, CaseState.ACKNOWLEDGED, CaseState.ACCEPTED])
def test_an_acceptance_holds_its_date_fence_and_time_and_nothing_else(state: CaseState) -> None:
    change = done(MOVES[Action.ACCEPTED](standing(state), **BY))

    after = change.case
    assert (after.accepted_until, after.decided_fence, after.decided_at) == (TOMORROW, 3, NOW)
    assert (after.resolution, after.snoozed_until) == (None, None)
    assert change.entry.reason == "Until 2026-03-07 12:00 UTC: The customer called."


def test_every_kind_can_be_accepted() -> None:
    for kind in Kind:
        assert done(MOVES[Action.ACCEPTED](a_case(a_mismatch(kind=kind)), **BY)).case.accepted_until


@pytest.mark.parametrize("state", [CaseState.RESOLVED, CaseState.ACCEPTED])
def test_reopening_leaves_no_decision(state: CaseState) -> None:
    after = done(moves.reopen(standing(state), **BY)).case

    assert (after.resolution, after.decided_fence, after.decided_at) == (None, None, None)
    assert (after.accepted_until, after.snoozed_until) == (None, None)


def test_snoozing_keeps_the_state_and_tells_the_date() -> None:
    change = done(MOVES[Action.SNOOZED](standing(CaseState.ACKNOWLEDGED), **BY))

    assert change.case.snoozed_until == TOMORROW
    assert change.entry.reason == "Until 2026-03-07 12:00 UTC: The customer called."


@pytest.mark.parametrize("move", [partial(moves.accept, fence=3), moves.snooze])
@pytest.mark.parametrize("until", [NOW, NOW - TICK])
def test_a_date_lies_ahead(move: Move, until: datetime) -> None:
    found = move(standing(CaseState.OPEN), until=until, **BY)

    assert isinstance(found, Illegal)
    assert "until a time to come" in found.reason


@pytest.mark.parametrize(
    "move, limit", [(partial(moves.accept, fence=3), ACCEPTANCE_LIMIT), (moves.snooze, SNOOZE_LIMIT)]
)
def test_a_date_has_a_limit(move: Move, limit: timedelta) -> None:
    assert done(move(standing(CaseState.OPEN), until=NOW + limit, **BY)).entry.version == 5

    found = move(standing(CaseState.OPEN), until=NOW + limit + TICK, **BY)
    assert isinstance(found, Illegal)
    assert f"for at most {limit.days} days" in found.reason


def test_an_assigned_owner_is_pinned_and_told() -> None:
    change = done(MOVES[Action.ASSIGNED](standing(CaseState.OPEN), **BY))

    assert (change.case.owner, change.case.pinned) == (Owner("Ada", "U1", "assigned by Ana"), True)
    assert change.entry.reason == "To Ada: The customer called."


@pytest.mark.parametrize("pinned", [True, False])
def test_a_case_is_given_to_its_owner_only_to_pin_it(*, pinned: bool) -> None:
    found = moves.assign(
        a_case(pinned=pinned),
        an_owner(rule="assigned by Ana"),
        **BY,
    )

    assert isinstance(found, Illegal) is pinned
