from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.cases import Case, Change, Entry
from recon.model.records.results import Healable, InFlight, Mismatch, Money, Reject, Result
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    Basis,
    CaseState,
    Certainty,
    Direction,
    Finding,
    IntentKey,
    Kind,
    RefundId,
    Resolution,
    RunId,
    Subject,
)
from recon.rules import cases
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, a_result, an_owner

ANA = Actor("ana")
OVERLAP = timedelta(minutes=10)
DECIDED_AT = NOON + timedelta(minutes=30)
LATE = NOON + timedelta(hours=1)

DUPLICATE = a_mismatch()
MISSING = a_mismatch(kind=Kind.MISSING, refund_ids=(), extra_refund_ids=(), why="No refund.")
STUCK = replace(MISSING, kind=Kind.STUCK, finding=Finding.UNKNOWN, why="Nobody knows.")


def stamp(fence: int = 2, as_of: object = LATE) -> cases.RunStamp:
    assert as_of is not None
    return cases.RunStamp(RunId(f"run-{fence}"), fence, as_of, OVERLAP)  # type: ignore[arg-type]  # a datetime


def judged(*known: Case, complete: bool = True, gone: bool = False) -> cases.Judged:
    pairs = frozenset((case.account, case.subject) for case in known)
    return cases.Judged(
        subjects=frozenset() if gone else pairs,
        complete=frozenset({PLATFORM}) if complete else frozenset(),
        gone=pairs if gone else frozenset(),
    )


def plan_one(
    case: Case | None,
    result: Result,
    *,
    complete: bool = True,
    gone: bool = False,
    run: cases.RunStamp | None = None,
) -> Change | None:
    known = () if case is None else (case,)
    planned = cases.plan(
        result, known, judged(*known, complete=complete, gone=gone), run=run or stamp(), now=LATE
    )
    assert len(planned) <= 1
    return planned[0] if planned else None


def moved(change: Change | None) -> str:
    return "-" if change is None else f"{change.entry.action} {change.case.state}"


OPEN, TAKEN = a_case(), a_case(state=CaseState.ACKNOWLEDGED)
SETTLED = a_case(state=CaseState.RESOLVED, resolution=Resolution.LEGITIMATE_REPEAT)
ACCEPTED = a_case(state=CaseState.ACCEPTED, accepted_until=LATE + timedelta(days=1))
CLEARED = a_case(state=CaseState.CLEARED)
MORE = replace(DUPLICATE, at_risk=Money(9800, "usd"))
REWORDED = replace(DUPLICATE, why="Refunded twice, 2 hours ago.")


@pytest.mark.parametrize(
    "case, seen, expected",
    [
        (None, DUPLICATE, "opened open"),
        (OPEN, DUPLICATE, "-"),
        (OPEN, REWORDED, "-"),
        (OPEN, MORE, "changed open"),
        (OPEN, MISSING, "reclassified open"),
        (OPEN, None, "cleared cleared"),
        (TAKEN, DUPLICATE, "-"),
        (TAKEN, MORE, "changed acknowledged"),
        (TAKEN, MISSING, "reclassified open"),
        (TAKEN, None, "cleared cleared"),
        (SETTLED, DUPLICATE, "-"),
        (SETTLED, MORE, "reopened open"),
        (SETTLED, MISSING, "reopened open"),
        (SETTLED, None, "cleared cleared"),
        (ACCEPTED, DUPLICATE, "-"),
        (ACCEPTED, REWORDED, "-"),
        (ACCEPTED, MORE, "reopened open"),
        (ACCEPTED, MISSING, "reopened open"),
        (ACCEPTED, None, "cleared cleared"),
        (replace(ACCEPTED, accepted_until=LATE), DUPLICATE, "reopened open"),
        (replace(ACCEPTED, accepted_until=LATE + timedelta(microseconds=1)), DUPLICATE, "-"),
        (CLEARED, DUPLICATE, "reopened open"),
        (CLEARED, MISSING, "reopened open"),
        (CLEARED, None, "-"),
    ],
)
def test_a_complete_run_moves_a_case_by_state_and_evidence(
    case: Case | None, seen: Mismatch | None, expected: str
) -> None:
    result = a_result(*([seen] if seen else []))

    assert moved(plan_one(case, result)) == expected


@pytest.mark.parametrize(
    "kind, fence, past, expected",
    [
        (Kind.MISSING, 2, 1, "regressed open"),
        (Kind.STUCK, 2, 1, "regressed open"),
        (Kind.STATUS_MISMATCH, 2, 1, "regressed open"),
        (Kind.OVERDUE, 2, 1, "regressed open"),
        (Kind.MISSING, 1, 1, "-"),  # The run began before the decision.
        (Kind.MISSING, 2, 0, "-"),  # Its view ends with what may still become visible.
        (Kind.MISSING, 2, -1, "-"),
        (Kind.DUPLICATE, 2, 1, "-"),  # These never vanish from the books.
        (Kind.REFUND_FAILED, 2, 1, "-"),
        (Kind.AMOUNT_MISMATCH, 2, 1, "-"),
        (Kind.CURRENCY_MISMATCH, 2, 1, "-"),
        (Kind.ORPHAN, 2, 1, "-"),
    ],
)
def test_a_resolution_that_promised_agreement_regresses_only_before_a_later_run(
    kind: Kind, fence: int, past: int, expected: str
) -> None:
    seen = replace(MISSING, kind=kind)
    case = a_case(seen, state=CaseState.RESOLVED, resolution=Resolution.RECOVERED)
    run = stamp(fence, DECIDED_AT + OVERLAP + timedelta(seconds=past))

    assert moved(plan_one(case, a_result(seen), run=run)) == expected


def test_a_promised_agreement_that_turns_into_another_kind_of_promise_waits_for_the_later_run_too() -> None:
    case = a_case(STUCK, state=CaseState.RESOLVED, resolution=Resolution.RECOVERED)

    assert moved(plan_one(case, a_result(MISSING), run=stamp(1))) == "-"
    assert moved(plan_one(case, a_result(MISSING), run=stamp(2))) == "regressed open"


@pytest.mark.parametrize(
    "unsettled",
    [
        {"in_flight": (InFlight(PLATFORM, DUPLICATE.subject, Kind.STUCK, LATE),)},
        {
            "healable": (
                Healable(PLATFORM, IntentKey("refund_order:8812"), RefundId("re_8812"), Basis.INTENT_KEY),
            )
        },
        {"withheld": ((PLATFORM, DUPLICATE.subject),)},
        {"rejected": (Reject("intents", 7, "refund_order:8812", "negative amount"),)},
    ],
)
def test_only_agreement_clears(unsettled: dict[str, object]) -> None:
    assert plan_one(OPEN, a_result(**unsettled)) is None
    assert moved(plan_one(OPEN, a_result())) == "cleared cleared"


def test_a_subject_that_was_not_read_stays_as_it_is() -> None:
    other = cases.Judged(frozenset(), frozenset({PLATFORM}))

    assert cases.plan(a_result(), [OPEN], other, run=stamp(), now=LATE) == ()


def test_a_case_whose_rows_are_gone_is_cleared_and_says_so() -> None:
    change = plan_one(OPEN, a_result(), gone=True)

    assert change is not None
    assert change.case.state is CaseState.CLEARED
    assert "no longer exist" in change.entry.reason
    assert plan_one(OPEN, a_result(), gone=True, complete=False) is None


PROBABLE = replace(DUPLICATE, certainty=Certainty.PROBABLE)
FEWER = replace(DUPLICATE, refund_ids=(RefundId("re_8812"),))
CHEAPER = replace(DUPLICATE, at_risk=Money(4899, "usd"))
LANDED = replace(STUCK, finding=Finding.LANDED)
ABSENT = replace(STUCK, finding=Finding.ABSENT)
OVER = replace(DUPLICATE, kind=Kind.AMOUNT_MISMATCH, direction=Direction.OVER)
UNDER = replace(OVER, direction=Direction.UNDER)


@pytest.mark.parametrize(
    "before, seen, expected",
    [
        (None, DUPLICATE, "opened open"),
        (None, STUCK, "opened open"),
        (DUPLICATE, None, "-"),
        (DUPLICATE, PROBABLE, "-"),
        (DUPLICATE, FEWER, "-"),
        (DUPLICATE, CHEAPER, "-"),
        (DUPLICATE, MORE, "changed open"),
        (DUPLICATE, STUCK, "-"),
        (DUPLICATE, UNDER, "-"),
        (PROBABLE, DUPLICATE, "changed open"),
        (ABSENT, STUCK, "-"),
        (LANDED, ABSENT, "-"),
        (STUCK, ABSENT, "changed open"),
        (STUCK, DUPLICATE, "reclassified open"),
        (OVER, UNDER, "changed open"),
        (UNDER, OVER, "changed open"),
        (MISSING, STUCK, "-"),
        (MISSING, OVER, "reclassified open"),
    ],
)
def test_an_incomplete_run_opens_what_it_proves_and_weakens_nothing(
    before: Mismatch | None, seen: Mismatch | None, expected: str
) -> None:
    case = None if before is None else a_case(before)
    result = a_result(*([seen] if seen else []))

    assert moved(plan_one(case, result, complete=False)) == expected


def test_a_stuck_intent_of_an_account_read_in_part_contradicts_no_resolution() -> None:
    case = a_case(STUCK, state=CaseState.RESOLVED, resolution=Resolution.RECOVERED)

    assert plan_one(case, a_result(STUCK), complete=False) is None
    assert moved(plan_one(case, a_result(STUCK))) == "regressed open"


def test_another_account_read_completely_clears_beside_one_that_was_not() -> None:
    elsewhere = a_mismatch(account=AccountId("acct_2"))
    known = (a_case(), a_case(elsewhere))
    both = frozenset((case.account, case.subject) for case in known)

    planned = cases.plan(a_result(), known, cases.Judged(both, frozenset({PLATFORM})), run=stamp(), now=LATE)

    assert [change.case.account for change in planned] == [PLATFORM]


def test_a_cleared_case_holds_no_decision_any_more() -> None:
    change = plan_one(SETTLED, a_result())

    assert change is not None
    assert (change.case.resolution, change.case.decided_fence, change.case.decided_at) == (None, None, None)


# An operator's moves.

STATES = {
    CaseState.OPEN: OPEN,
    CaseState.ACKNOWLEDGED: TAKEN,
    CaseState.RESOLVED: SETTLED,
    CaseState.ACCEPTED: ACCEPTED,
    CaseState.CLEARED: CLEARED,
}


def move(name: str, case: Case, reason: str = "because") -> Change | cases.Illegal:
    if name == "acknowledge":
        return cases.acknowledge(case, actor=ANA, reason=reason, now=LATE, action_id="a")
    if name == "resolve":
        return cases.resolve(
            case, code=Resolution.RECOVERED, fence=7, actor=ANA, reason=reason, now=LATE, action_id="a"
        )
    if name == "assign":
        return cases.assign(case, an_owner(name="Bo"), actor=ANA, reason=reason, now=LATE, action_id="a")
    return cases.comment(case, actor=ANA, reason=reason, now=LATE, action_id="a")


@pytest.mark.parametrize(
    "name, allowed",
    [
        ("acknowledge", {CaseState.OPEN}),
        ("resolve", {CaseState.OPEN, CaseState.ACKNOWLEDGED, CaseState.ACCEPTED}),
        ("assign", {CaseState.OPEN, CaseState.ACKNOWLEDGED}),
        ("comment", set(CaseState)),
    ],
)
def test_a_move_is_refused_on_a_state_that_does_not_allow_it(name: str, allowed: set[CaseState]) -> None:
    legal = {state for state, case in STATES.items() if isinstance(move(name, case), Change)}

    assert legal == allowed


@pytest.mark.parametrize("name", ["acknowledge", "resolve", "assign", "comment"])
@pytest.mark.parametrize("reason", ["", "  \n", "x" * (cases.REASON_LIMIT + 1)])
def test_a_move_needs_a_reason_of_a_bearable_length(name: str, reason: str) -> None:
    assert isinstance(move(name, OPEN, reason), cases.Illegal)


def test_a_resolution_says_who_when_how_and_after_which_run() -> None:
    change = move("resolve", OPEN, " got it back ")

    assert isinstance(change, Change)
    assert change.case.decided_fence == 7
    assert change.case.decided_at == LATE
    assert change.case.resolution is change.entry.resolution is Resolution.RECOVERED
    assert (change.entry.actor, change.entry.reason, change.entry.run_id) == (ANA, "got it back", None)


def test_an_assignment_pins_the_owner() -> None:
    change = move("assign", OPEN)

    assert isinstance(change, Change)
    assert (change.case.owner, change.case.pinned) == (an_owner(name="Bo"), True)
    assert isinstance(move("assign", change.case), cases.Illegal)


# Laws.

EVIDENCE = st.sampled_from(
    [None, DUPLICATE, MORE, PROBABLE, MISSING, STUCK, LANDED, ABSENT, OVER, UNDER, REWORDED]
)
MOVES = ["acknowledge", "resolve", "assign", "comment"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), EVIDENCE, st.booleans()),
        st.tuples(
            st.sampled_from(["acknowledge", "resolve", "assign", "comment"]), st.none(), st.just(value=True)
        ),
    ),
    max_size=12,
)


def walk(steps: list[tuple[str, Mismatch | None, bool]]) -> tuple[Case | None, list[Entry], list[Change]]:
    case: Case | None = None
    entries: list[Entry] = []
    repeats: list[Change] = []
    for number, (name, seen, complete) in enumerate(steps):
        if name == "run":
            result = a_result(*([seen] if seen else []))
            run = stamp(number + 8, LATE + timedelta(hours=number))
            change = plan_one(case, result, complete=complete, run=run)
            after = change.case if change else case
            again = plan_one(after, result, complete=complete, run=run)
            repeats += [again] if again else []
        else:
            attempt = None if case is None else move(name, case)
            change = attempt if isinstance(attempt, Change) else None
        if change:
            assert change.from_version == (case.version if case else 0)
            case = change.case
            entries.append(change.entry)
    return case, entries, repeats


@given(STEPS)
def test_the_entries_explain_the_state(steps: list[tuple[str, Mismatch | None, bool]]) -> None:
    case, entries, _ = walk(steps)

    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.from_state for entry in entries] == [None, *(entry.to_state for entry in entries)][
        : len(entries)
    ]
    if case:
        assert entries[-1].to_state is case.state
        assert entries[-1].version == case.version


@given(STEPS)
def test_the_same_result_twice_changes_nothing(steps: list[tuple[str, Mismatch | None, bool]]) -> None:
    assert walk(steps)[2] == []


@given(
    st.permutations(
        [
            DUPLICATE,
            replace(MISSING, subject=Subject("intent:b")),
            replace(STUCK, subject=Subject("intent:c")),
        ]
    )
)
def test_the_order_of_known_cases_changes_nothing(order: list[Mismatch]) -> None:
    known = [a_case(each) for each in order]
    planned = cases.plan(a_result(), known, judged(*known), run=stamp(), now=LATE)

    assert [change.case.subject for change in planned] == sorted(each.subject for each in order)
    assert {change.entry.action for change in planned} == {Action.CLEARED}
