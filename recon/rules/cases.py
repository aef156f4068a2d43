"""What a run makes of the cases: known cases and a result in, changes out.

What people make of them is in rules/moves.py. Never chooses an owner or a severity (rules/ownership.py does),
never saves anything (doors/store/cases.py does).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from recon.model import changes, subjects, wording
from recon.model.records.cases import JOB, Case, Change, Entry, case_id
from recon.model.records.results import Mismatch, Result
from recon.model.records.words import (
    AccountId,
    Action,
    CaseState,
    Certainty,
    Direction,
    Finding,
    Kind,
    RunId,
    Severity,
    Subject,
)

Pair = tuple[AccountId, Subject]

# Resolving one of these says that the books will agree; the other kinds never vanish from the books.
NEXT_RUN_WILL_AGREE = frozenset({Kind.MISSING, Kind.STUCK, Kind.STATUS_MISMATCH, Kind.OVERDUE})

_FINDING_RANK = {
    Finding.LANDED: 3,
    Finding.PROBABLE: 2,
    Finding.FAILED: 1,
    Finding.ABSENT: 1,
    Finding.UNKNOWN: 0,
    None: 0,
}


@dataclass(frozen=True, slots=True)
class RunStamp:
    """What a plan needs to know of its run.

    fence: of the run's lease. as_of: the time everything was judged at. overlap: how much later than it
    happened something may become visible at the provider.
    """

    id: RunId
    fence: int
    as_of: datetime
    overlap: timedelta


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run may draw conclusions from.

    subjects: the (account, subject) pairs whose rows were read. complete: the accounts whose refunds were
    read without a gap; of any other, absence proves nothing. gone: pairs whose rows no longer exist.
    """

    subjects: frozenset[Pair]
    complete: frozenset[AccountId]
    gone: frozenset[Pair] = frozenset()


def plan(
    result: Result, known: Iterable[Case], judged: Judged, *, run: RunStamp, now: datetime
) -> tuple[Change, ...]:
    """Return what this result changes: at most one change per case, in the result's order, then what cleared.

    A case whose facts are as they were does not change, so the same result twice changes nothing. New
    cases carry no owner and the lowest severity.
    """
    cases = {(case.account, case.subject): case for case in known}
    seen = {(mismatch.account, mismatch.subject) for mismatch in result.mismatches}
    moves = [
        _seen(cases.get((each.account, each.subject)), each, judged, run=run, now=now)
        for each in result.mismatches
    ]
    unsettled = _unsettled(result)
    moves += [
        _unseen(cases[pair], judged, run=run, now=now)
        for pair in sorted(cases)
        if pair not in seen and pair not in unsettled
    ]
    return tuple(move for move in moves if move is not None)


def weaker(new: Mismatch, old: Mismatch) -> bool:
    """Return whether new proves less than old, so that an incomplete reading must not put it in its place.

    Of one kind: less certain, a lesser finding, a refund fewer, or less money. Of two kinds: one that
    rests more on absence than the other does.
    """
    if new.kind is not old.kind:
        return _proof(new) < _proof(old)
    return (
        (old.certainty is Certainty.CONFIRMED and new.certainty is Certainty.PROBABLE)
        or _FINDING_RANK[new.finding] < _FINDING_RANK[old.finding]
        or not set(new.refund_ids) >= set(old.refund_ids)
        or (
            new.at_risk.currency == old.at_risk.currency
            and new.at_risk.amount_minor < old.at_risk.amount_minor
        )
    )


def _unsettled(result: Result) -> frozenset[Pair]:
    """Return the pairs that neither disagree nor agree yet, and those whose own row was rejected."""
    pairs = {(each.account, each.subject) for each in result.in_flight}
    pairs |= {(each.account, subjects.of_intent(each.intent_key)) for each in result.healable}
    pairs |= set(result.withheld)
    for reject in result.rejected:
        if reject.id is not None:
            either = (subjects.of_intent(reject.id), subjects.of_refund(reject.id))
            pairs |= {(reject.account, subject) for subject in either}
    return frozenset(pairs)


def _seen(
    case: Case | None, mismatch: Mismatch, judged: Judged, *, run: RunStamp, now: datetime
) -> Change | None:
    """Return what a mismatch that this run found does to its subject's case."""
    complete = mismatch.account in judged.complete
    if case is None:
        return _opened(mismatch, run=run, now=now)
    if case.state is CaseState.CLEARED:
        return _reopened(case, mismatch, "it had cleared", run=run, now=now)
    if not complete and weaker(mismatch, case.mismatch):
        # It disagrees still, which is enough for a date that has passed; what was known of it stands.
        return _after_acceptance(case, case.mismatch, run=run, now=now)
    if case.state is CaseState.RESOLVED:
        return _after_resolution(case, mismatch, complete=complete, run=run, now=now)
    if case.state is CaseState.ACCEPTED:
        return _after_acceptance(case, mismatch, run=run, now=now)
    return _again(case, mismatch, run=run, now=now)


def _opened(mismatch: Mismatch, *, run: RunStamp, now: datetime) -> Change:
    """Return the new case of a subject that never had one."""
    case = Case(
        id=case_id(mismatch.account, mismatch.subject),
        account=mismatch.account,
        subject=mismatch.subject,
        mismatch=mismatch,
        state=CaseState.OPEN,
        version=1,
        severity=Severity.LOW,
        owner=None,
        opened_at=now,
        updated_at=now,
    )
    entry = Entry(
        case_id=case.id,
        action=Action.OPENED,
        actor=JOB,
        at=now,
        reason=mismatch.why,
        from_state=None,
        to_state=CaseState.OPEN,
        version=1,
        action_id=f"{run.id}:{case.id}",
        run_id=run.id,
    )
    return Change(case, entry, from_version=0)


def _again(case: Case, mismatch: Mismatch, *, run: RunStamp, now: datetime) -> Change | None:
    """Return what new evidence does to a case that nobody has decided.

    Whoever took it on stays at it while its kind stays; another kind is another question, and open again. A
    snooze was for the evidence there was.
    """
    if mismatch.kind is not case.mismatch.kind:
        after = replace(case, mismatch=mismatch, state=CaseState.OPEN, snoozed_until=None)
        was, now_is = wording.named(case.mismatch.kind), wording.named(mismatch.kind)
        reason = f"Was: {was}. Is: {now_is}. {mismatch.why}"
        return _by_run(case, after, Action.RECLASSIFIED, reason, run=run, now=now)
    changed = _differences(mismatch, case.mismatch)
    if not changed:
        return None
    after = replace(case, mismatch=mismatch, snoozed_until=None)
    return _by_run(case, after, Action.CHANGED, f"Other {changed}: {mismatch.why}", run=run, now=now)


def _after_resolution(
    case: Case, mismatch: Mismatch, *, complete: bool, run: RunStamp, now: datetime
) -> Change | None:
    """Return what a mismatch that is still seen does to a case that a person has resolved.

    Where the resolution said that the next run will agree, only a run that began after it, and that saw
    past it by the overlap, may contradict; a stuck intent of an account that was not read completely
    contradicts nothing.
    """
    if {case.mismatch.kind, mismatch.kind} <= NEXT_RUN_WILL_AGREE:
        assert case.decided_fence is not None
        assert case.decided_at is not None
        saw_past_it = run.fence > case.decided_fence and run.as_of > case.decided_at + run.overlap
        if not saw_past_it or (mismatch.kind is Kind.STUCK and not complete):
            return None
        after = replace(changes.undecided(case, CaseState.OPEN), mismatch=mismatch)
        reason = f"Resolved as {wording.plain(str(case.resolution))}, and still seen: {mismatch.why}"
        return _by_run(case, after, Action.REGRESSED, reason, run=run, now=now)
    changed = _differences(mismatch, case.mismatch)
    if not changed:
        return None
    decided = f"resolved as {wording.plain(str(case.resolution))} for other {changed}"
    return _reopened(case, mismatch, decided, run=run, now=now)


def _after_acceptance(case: Case, mismatch: Mismatch, *, run: RunStamp, now: datetime) -> Change | None:
    """Return what a mismatch that is still seen does to a case that a person lives with until a date.

    Nothing to a case that nobody has accepted.
    """
    if case.state is not CaseState.ACCEPTED:
        return None
    changed = _differences(mismatch, case.mismatch)
    if changed:
        return _reopened(case, mismatch, f"accepted for other {changed}", run=run, now=now)
    if case.accepted_until is not None and case.accepted_until <= run.as_of:
        return _reopened(case, mismatch, f"accepted until {case.accepted_until:%Y-%m-%d}", run=run, now=now)
    return None


def _unseen(case: Case, judged: Judged, *, run: RunStamp, now: datetime) -> Change | None:
    """Return the case cleared, if it was judged in an account read completely, or if its rows are gone."""
    pair = (case.account, case.subject)
    if case.state is CaseState.CLEARED or case.account not in judged.complete:
        return None
    if pair in judged.gone:
        reason = f"Its rows no longer exist; it was last seen as: {wording.named(case.mismatch.kind)}."
    elif pair in judged.subjects:
        reason = f"The books agree as of {run.as_of:%Y-%m-%d %H:%M:%S} UTC."
    else:
        return None
    after = changes.undecided(case, CaseState.CLEARED)
    return _by_run(case, after, Action.CLEARED, reason, run=run, now=now)


def _reopened(case: Case, mismatch: Mismatch, before: str, *, run: RunStamp, now: datetime) -> Change:
    after = replace(changes.undecided(case, CaseState.OPEN), mismatch=mismatch)
    reason = f"Open again ({before}): {mismatch.why}"
    return _by_run(case, after, Action.REOPENED, reason, run=run, now=now)


def _by_run(case: Case, after: Case, action: Action, reason: str, *, run: RunStamp, now: datetime) -> Change:
    action_id = f"{run.id}:{case.id}"
    return changes.to(case, after, action, JOB, reason, now=now, action_id=action_id, run_id=run.id)


# What is said of a mismatch and is no evidence of it: in other words it is still the same.
_SAID_OF_IT = frozenset({"why", "reason"})


def _differences(new: Mismatch, old: Mismatch) -> str:
    """Return the names of the facts that differ, for people; empty when none does."""
    names = (field.name for field in fields(Mismatch) if field.name not in _SAID_OF_IT)
    other = [name for name in names if getattr(new, name) != getattr(old, name)]
    return ", ".join("money at risk" if name == "at_risk" else wording.plain(name) for name in other)


_PROOF: Mapping[Kind, int] = {
    Kind.DUPLICATE: 3,  # Both refunds are there.
    Kind.CURRENCY_MISMATCH: 3,
    Kind.STATUS_MISMATCH: 3,
    Kind.OVERDUE: 3,
    Kind.AMOUNT_MISMATCH: 3,
    Kind.REFUND_FAILED: 2,  # No other refund is there.
    Kind.MISSING: 1,
    Kind.ORPHAN: 1,  # No intent is there.
    Kind.STUCK: 1,
}


def _proof(mismatch: Mismatch) -> int:
    """Return how much of a mismatch rests on what was seen, not on what was not: 3 all of it, 0 nothing."""
    if mismatch.kind is Kind.STUCK and mismatch.finding is Finding.LANDED:
        return 2
    if mismatch.kind is Kind.STUCK and mismatch.finding in {Finding.UNKNOWN, None}:
        return 0
    if mismatch.certainty is Certainty.PROBABLE or mismatch.direction is Direction.UNDER:
        return min(2, _PROOF[mismatch.kind])
    return _PROOF[mismatch.kind]
