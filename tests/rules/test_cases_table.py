"""What becomes of a case, as one table: what it was, what a run saw, and whether it had read everything."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recon.model.records.cases import Case, Change
from recon.model.records.results import Healable, InFlight, Mismatch, Money, Reject, Result
from recon.model.records.words import (
    Action,
    Basis,
    CaseState,
    Certainty,
    Finding,
    IntentKey,
    Kind,
    RefundId,
    Resolution,
    RunId,
)
from recon.rules import cases, stories
from recon.rules.cases import Judged, RunStamp
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, a_result

AS_OF = NOON + timedelta(hours=5)
OVERLAP = timedelta(minutes=10)
RUN = RunStamp(RunId("run_9"), 9, AS_OF, OVERLAP)
TICK = timedelta(microseconds=1)
KEY = IntentKey("refund_order:8812")

# The mismatches that the table speaks of, all of one subject.
DUPLICATE = a_mismatch()
LESS = DUPLICATE.refund_ids[:1]
MORE = (*DUPLICATE.refund_ids, RefundId("re_8812_3"))
MISSING = replace(DUPLICATE, kind=Kind.MISSING, why="No refund is there.", refund_ids=(), extra_refund_ids=())
STUCK = replace(MISSING, kind=Kind.STUCK, finding=Finding.ABSENT)
MISMATCHES = {
    "duplicate": DUPLICATE,
    "duplicate, reworded": replace(DUPLICATE, why="In other words.", reason="requested_by_customer"),
    "duplicate of three": replace(DUPLICATE, refund_ids=MORE, at_risk=Money(9800, "usd")),
    "duplicate of less": replace(DUPLICATE, at_risk=Money(100, "usd")),
    "duplicate, probable": replace(DUPLICATE, certainty=Certainty.PROBABLE),
    "amount": replace(DUPLICATE, kind=Kind.AMOUNT_MISMATCH),
    "missing": MISSING,
    "missing of more": replace(MISSING, at_risk=Money(9800, "usd")),
    "missing of less": replace(MISSING, at_risk=Money(100, "usd")),
    "stuck": STUCK,
    "stuck, unknown": replace(STUCK, finding=Finding.UNKNOWN),
    "stuck, landed": replace(STUCK, finding=Finding.LANDED, refund_ids=LESS),
    "status": replace(DUPLICATE, kind=Kind.STATUS_MISMATCH, refund_ids=LESS),
}

# How a case stood. Decided "before": before this run began, and further back than the overlap; "lately": not
# further back; "since": after this run began.
LONG_AGO = {"decided_fence": 8, "decided_at": AS_OF - OVERLAP - TICK}
STATES: dict[str, dict[str, object]] = {
    "open": {},
    "open, snoozed": {"snoozed_until": AS_OF + timedelta(days=1)},
    "taken": {"state": CaseState.ACKNOWLEDGED},
    "taken, snoozed": {"state": CaseState.ACKNOWLEDGED, "snoozed_until": AS_OF + timedelta(days=1)},
    "resolved before": {"state": CaseState.RESOLVED, **LONG_AGO},
    "resolved lately": {
        "state": CaseState.RESOLVED,
        "decided_fence": 8,
        "decided_at": AS_OF - OVERLAP,
    },
    "resolved since": {
        "state": CaseState.RESOLVED,
        "decided_fence": 9,
        "decided_at": AS_OF - OVERLAP - TICK,
    },
    "accepted": {"state": CaseState.ACCEPTED, **LONG_AGO, "accepted_until": AS_OF + TICK},
    "accepted until now": {"state": CaseState.ACCEPTED, **LONG_AGO, "accepted_until": AS_OF},
    "cleared": {"state": CaseState.CLEARED},
}

# A dot is no change. Else what the entry says, then the state that the case is in.
TABLE = """
the case was       | with the evidence | the run saw         | of all it saw     | of a part
-------------------|-------------------|---------------------|-------------------|------------------
none               |                   | duplicate           | opened open       | opened open
none               |                   | missing             | opened open       | opened open
none               |                   | agreement           | .                 | .

open               | duplicate         | duplicate           | .                 | .
open               | duplicate         | duplicate, reworded | .                 | .
resolved before    | duplicate         | duplicate, reworded | .                 | .
accepted           | duplicate         | duplicate, reworded | .                 | .
open               | duplicate         | duplicate of three  | changed open      | changed open
open               | duplicate         | duplicate of less   | changed open      | .
open               | duplicate         | duplicate, probable | changed open      | .
open               | duplicate         | amount              | reclassified open | reclassified open
open               | duplicate         | missing             | reclassified open | .
open               | missing           | duplicate           | reclassified open | reclassified open
open               | missing           | stuck, unknown      | reclassified open | .
open               | stuck, unknown    | stuck               | changed open      | changed open
open               | stuck             | stuck, unknown      | changed open      | .
open               | stuck             | stuck, landed       | changed open      | changed open
open               | stuck, landed     | missing             | reclassified open | .
open               | duplicate         | agreement           | cleared cleared   | .
open               | duplicate         | no rows             | cleared cleared   | .
open               | duplicate         | in flight           | .                 | .
open               | duplicate         | healable            | .                 | .
open               | duplicate         | withheld            | .                 | .
open               | duplicate         | a rejected row      | .                 | .
open               | duplicate         | nothing of it       | .                 | .

open, snoozed      | duplicate         | duplicate           | .                 | .
open, snoozed      | duplicate         | duplicate of three  | changed open      | changed open
open, snoozed      | duplicate         | amount              | reclassified open | reclassified open
open, snoozed      | duplicate         | agreement           | cleared cleared   | .

taken              | duplicate         | duplicate           | .                 | .
taken              | duplicate         | duplicate of three  | changed taken     | changed taken
taken              | duplicate         | duplicate of less   | changed taken     | .
taken              | duplicate         | amount              | reclassified open | reclassified open
taken              | duplicate         | missing             | reclassified open | .
taken              | duplicate         | agreement           | cleared cleared   | .
taken              | duplicate         | no rows             | cleared cleared   | .
taken              | duplicate         | in flight           | .                 | .
taken              | duplicate         | healable            | .                 | .
taken              | duplicate         | withheld            | .                 | .
taken              | duplicate         | a rejected row      | .                 | .
taken              | duplicate         | nothing of it       | .                 | .
taken, snoozed     | duplicate         | duplicate of three  | changed taken     | changed taken
taken, snoozed     | duplicate         | duplicate of less   | changed taken     | .
taken, snoozed     | duplicate         | amount              | reclassified open | reclassified open

resolved before    | duplicate         | duplicate           | .                 | .
resolved before    | duplicate         | duplicate of three  | reopened open     | reopened open
resolved before    | duplicate         | duplicate of less   | reopened open     | .
resolved before    | duplicate         | amount              | reopened open     | reopened open
resolved before    | duplicate         | missing             | reopened open     | .
resolved since     | duplicate         | duplicate of three  | reopened open     | reopened open
resolved lately    | duplicate         | duplicate of three  | reopened open     | reopened open
resolved before    | duplicate         | agreement           | cleared cleared   | .
resolved before    | duplicate         | no rows             | cleared cleared   | .
resolved before    | duplicate         | in flight           | .                 | .
resolved before    | duplicate         | withheld            | .                 | .
resolved before    | duplicate         | nothing of it       | .                 | .

resolved before    | missing           | missing             | regressed open    | regressed open
resolved lately    | missing           | missing             | .                 | .
resolved since     | missing           | missing             | .                 | .
resolved before    | missing           | missing of more     | regressed open    | regressed open
resolved since     | missing           | missing of more     | .                 | .
resolved before    | missing           | missing of less     | regressed open    | .
resolved before    | missing           | status              | regressed open    | regressed open
resolved since     | missing           | status              | .                 | .
resolved before    | missing           | stuck               | regressed open    | .
resolved before    | stuck             | stuck               | regressed open    | .
resolved before    | stuck             | missing             | regressed open    | regressed open
resolved lately    | stuck             | stuck               | .                 | .
resolved since     | stuck             | stuck               | .                 | .
resolved before    | missing           | duplicate           | reopened open     | reopened open
resolved since     | missing           | duplicate           | reopened open     | reopened open
resolved since     | missing           | agreement           | cleared cleared   | .
resolved since     | missing           | no rows             | cleared cleared   | .
resolved before    | missing           | in flight           | .                 | .
resolved before    | missing           | healable            | .                 | .

accepted           | duplicate         | duplicate           | .                 | .
accepted           | duplicate         | duplicate of three  | reopened open     | reopened open
accepted           | duplicate         | duplicate of less   | reopened open     | .
accepted           | duplicate         | amount              | reopened open     | reopened open
accepted           | missing           | missing             | .                 | .
accepted           | missing           | stuck               | reopened open     | reopened open
accepted           | duplicate         | agreement           | cleared cleared   | .
accepted           | duplicate         | no rows             | cleared cleared   | .
accepted           | duplicate         | in flight           | .                 | .
accepted           | duplicate         | nothing of it       | .                 | .
accepted until now | duplicate         | duplicate           | reopened open     | reopened open
accepted until now | missing           | missing             | reopened open     | reopened open
accepted until now | duplicate         | duplicate of less   | reopened open     | reopened open
accepted until now | duplicate         | agreement           | cleared cleared   | .
accepted until now | duplicate         | in flight           | .                 | .
accepted until now | duplicate         | withheld            | .                 | .
accepted until now | duplicate         | nothing of it       | .                 | .

cleared            | duplicate         | duplicate           | reopened open     | reopened open
cleared            | duplicate         | duplicate of less   | reopened open     | reopened open
cleared            | duplicate         | missing             | reopened open     | reopened open
cleared            | missing           | missing             | reopened open     | reopened open
cleared            | duplicate         | agreement           | .                 | .
cleared            | duplicate         | no rows             | .                 | .
cleared            | duplicate         | in flight           | .                 | .
cleared            | duplicate         | nothing of it       | .                 | .
"""
ROWS = [tuple(cell.strip() for cell in line.split("|")) for line in TABLE.strip().splitlines()[2:] if line]
WORDS = {"taken": "acknowledged"}


def stood(state: str, evidence: str) -> Case | None:
    if state == "none":
        return None
    changes = dict(STATES[state])
    if changes.get("state") is CaseState.RESOLVED:
        changes["resolution"] = Resolution.RECOVERED
    return a_case(MISMATCHES[evidence], pinned=True, version=4, **changes)


def saw(what: str) -> tuple[Result, frozenset[str]]:
    """Return a result, and which of judged and gone the subject is in."""
    subject = DUPLICATE.subject
    none = a_result()
    results = {
        "agreement": (none, {"judged"}),
        "no rows": (none, {"gone"}),
        "nothing of it": (none, set()),
        "in flight": (
            a_result(in_flight=(InFlight(PLATFORM, subject, Kind.MISSING, AS_OF + OVERLAP),)),
            {"judged"},
        ),
        "healable": (
            a_result(healable=(Healable(PLATFORM, KEY, RefundId("re_1"), Basis.INTENT_KEY),)),
            {"judged"},
        ),
        "withheld": (a_result(withheld=((PLATFORM, subject),)), {"judged"}),
        "a rejected row": (a_result(rejected=(Reject("intents", 1, KEY, "no amount"),)), {"judged"}),
    }
    result, places = results.get(what) or (a_result(MISMATCHES[what]), {"judged"})
    return result, frozenset(places)


def becomes(case: Case | None, what: str, *, complete: bool) -> tuple[Change, ...]:
    result, places = saw(what)
    pair = frozenset({(PLATFORM, DUPLICATE.subject)})
    judged = Judged(
        subjects=pair if "judged" in places else frozenset(),
        complete=frozenset({PLATFORM} if complete else ()),
        gone=pair if "gone" in places else frozenset(),
    )
    return cases.plan(result, [case] if case else [], judged, run=RUN, now=AS_OF + OVERLAP)


def stands(was: Case | None, what: str, now: Change, *, complete: bool) -> Mismatch:
    """Return the evidence that must stand after a change: the new, or what was known where that is more."""
    new = MISMATCHES.get(what)
    if was is None or new is None:
        assert was or new
        return new if was is None else was.mismatch  # type: ignore[return-value]  # one of the two is there
    kept = not complete and cases.weaker(new, was.mismatch) and was.state is not CaseState.CLEARED
    return was.mismatch if kept else new


@pytest.mark.parametrize("complete", [True, False], ids=["all", "part"])
@pytest.mark.parametrize("row", ROWS, ids=[" / ".join(row[:3]) for row in ROWS])
def test_a_case_becomes_what_the_table_says(row: tuple[str, ...], *, complete: bool) -> None:
    state, evidence, what = row[:3]
    expected = row[3 if complete else 4]
    was = stood(state, evidence)

    found = becomes(was, what, complete=complete)

    said = [f"{change.entry.action} {change.case.state}" for change in found]
    for short, word in WORDS.items():
        expected = expected.replace(short, word)
    assert said == ([] if expected == "." else [expected])
    for change in found:
        after = change.case
        assert after.mismatch == stands(was, what, change, complete=complete)
        assert (after.resolution, after.decided_fence, after.decided_at) == (None, None, None)
        assert (after.accepted_until, after.snoozed_until) == (None, None)
        assert (change.entry.from_state, change.entry.to_state) == (was and was.state, after.state)
        assert (change.entry.from_state, change.entry.to_state) in stories.STEPS[change.entry.action]
        assert (change.entry.version, change.from_version) == (after.version, after.version - 1)
        if was is not None:
            kept = ("id", "owner", "pinned", "severity", "opened_at")
            assert [getattr(after, name) for name in kept] == [getattr(was, name) for name in kept]
            assert after.version == was.version + 1


def test_the_table_speaks_of_every_state_and_every_sight() -> None:
    sights = {*MISMATCHES, "agreement", "no rows", "nothing of it"}
    sights |= {"in flight", "healable", "withheld", "a rejected row"}

    assert {row[0] for row in ROWS} == {"none", *STATES}
    assert {row[2] for row in ROWS} == sights
    assert len({row[:3] for row in ROWS}) == len(ROWS)
    assert {word for row in ROWS for word in row[3].split()[:1]} >= {
        Action.OPENED,
        Action.CHANGED,
        Action.RECLASSIFIED,
        Action.REOPENED,
        Action.REGRESSED,
        Action.CLEARED,
    }


@pytest.mark.parametrize("complete", [True, False], ids=["all", "part"])
@pytest.mark.parametrize("row", ROWS, ids=[" / ".join(row[:3]) for row in ROWS])
def test_what_became_of_it_stays_when_the_run_sees_the_same_again(
    row: tuple[str, ...], *, complete: bool
) -> None:
    state, evidence, what = row[:3]
    was = stood(state, evidence)
    found = becomes(was, what, complete=complete)
    now = found[0].case if found else was

    assert now is None or becomes(now, what, complete=complete) == ()
