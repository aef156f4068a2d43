"""What people make of a case: each move, the change it leads to, or the sentence why it leads to none.

What a run makes of it is in rules/cases.py. Never saves anything: a change, and the claim that goes with it,
are saved together by doors/store/cases.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from recon.model import changes, subjects
from recon.model.changes import Illegal
from recon.model.characters import keepable
from recon.model.phrases import minute
from recon.model.records.cases import Case, Change, Entry, Owner
from recon.model.records.claims import Adoption, Known, Link, Settlement
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import (
    DEAD,
    AccountId,
    Action,
    Actor,
    CaseState,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    Resolution,
)

ACCEPTANCE_LIMIT = timedelta(days=366)  # Books are closed once a year; somebody looks at it again then.
SNOOZE_LIMIT = timedelta(days=31)  # Whoever needs longer than a month accepts it.

# What a person says became of a stuck intent; and that or whose a refund is, by which the next run judges.
SETTLEMENTS = frozenset({Action.CONFIRMED, Action.REFUTED})
CLAIMS = SETTLEMENTS | {Action.ADOPTED, Action.LINKED, Action.UNLINKED}

_ANY = frozenset(CaseState)
_UNDECIDED = frozenset({CaseState.OPEN, CaseState.ACKNOWLEDGED})
_OF_STUCK = SETTLEMENTS | {Action.LOOKED}
_DECIDED = frozenset({CaseState.RESOLVED, CaseState.ACCEPTED})

# The states that each move is made from, and what is said in any other; in the order of their buttons.
FROM: Mapping[Action, tuple[frozenset[CaseState], str]] = {
    Action.ACKNOWLEDGED: (frozenset({CaseState.OPEN}), "only an open case can be acknowledged"),
    Action.LOOKED: (_UNDECIDED, "only an open or acknowledged case waits for the provider's word"),
    Action.CONFIRMED: (_UNDECIDED, "only an open or acknowledged case can be confirmed"),
    Action.REFUTED: (_UNDECIDED, "only an open or acknowledged case can be confirmed"),
    Action.RESOLVED: (_UNDECIDED | {CaseState.ACCEPTED}, "there is nothing to resolve"),
    Action.ADOPTED: (_UNDECIDED, "only the refund of an open or acknowledged case can be adopted"),
    Action.LINKED: (_UNDECIDED, "only a refund of an open or acknowledged case can be linked"),
    Action.UNLINKED: (_ANY, ""),
    Action.ACCEPTED: (_UNDECIDED | {CaseState.ACCEPTED}, "there is nothing to accept"),
    Action.SNOOZED: (_UNDECIDED, "nobody has to look at it"),
    Action.ASSIGNED: (_UNDECIDED, "nobody has to answer it"),
    Action.REOPENED: (_DECIDED, "only a resolved or accepted case can be reopened"),
    Action.COMMENTED: (_ANY, ""),
}


def unjudged(entries: Iterable[Entry], judged_at: datetime | None) -> Entry | None:
    """Return what a person last said of a refund or an intent, while no run has judged by it; else None.

    entries: of one case, oldest first. judged_at: when the latest run that saved began; None
    before the first.
    """
    said = [entry for entry in entries if entry.action in CLAIMS]
    if not said or said[-1].action is Action.UNLINKED:  # After that it stands as if nothing had been said.
        return None
    return said[-1] if judged_at is None or judged_at < said[-1].at else None


def offered(case: Case, refunds: Iterable[Refund], *, waits: bool = False) -> tuple[Action, ...]:
    """Return the moves that a person may try on this case.

    refunds: those of the case as they are now; only a link that somebody made can be taken back. waits:
    somebody has said whose its refund is, or what became of its intent, and the next run judges by it: there
    is nothing to adopt or to settle.
    """
    lacking = set(SETTLEMENTS) if waits else set()
    if case.mismatch.kind is not Kind.STUCK:
        lacking |= _OF_STUCK
    if waits or subjects.is_intent(case.subject):
        lacking.add(Action.ADOPTED)
    if not any(refund.operator_key for refund in refunds):
        lacking.add(Action.UNLINKED)
    return tuple(
        action for action, (states, _) in FROM.items() if case.state in states and action not in lacking
    )


def refusal(case: Case, action: Action) -> Illegal | None:
    """Return why a move is none for this case as it stands; None where it is one."""
    states, otherwise = FROM[action]
    if case.state not in states:
        return Illegal(f"Case {case.id} is {case.state}; {otherwise}.")
    if action in _OF_STUCK and case.mismatch.kind is not Kind.STUCK:
        return Illegal(f"Case {case.id} is no longer about an intent that nobody knows the outcome of.")
    return None


def look(case: Case, *, actor: Actor, reason: str, now: datetime, action_id: str) -> Change | Illegal:
    """Return the case as it is, with what somebody saw at the provider; reason: what they saw."""
    return _moved(case, case, Action.LOOKED, actor, reason, now=now, action_id=action_id)


def settle(
    case: Case,
    settlement: Settlement,
    *,
    said: str,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> tuple[Change, Settlement] | Illegal:
    """Return the case with its intent settled by a person; the next run clears it.

    settlement: as rules/settling.py has nothing against it. said: what stands before the reason.
    """
    action = Action.REFUTED if settlement.refund is None else Action.CONFIRMED
    after = replace(case, state=CaseState.ACKNOWLEDGED)
    change = _moved(case, after, action, actor, reason, now=now, action_id=action_id, said=said)
    return change if isinstance(change, Illegal) else (change, settlement)


def acknowledge(case: Case, *, actor: Actor, reason: str, now: datetime, action_id: str) -> Change | Illegal:
    """Return the case with somebody at it; only an open case can be taken on."""
    after = replace(case, state=CaseState.ACKNOWLEDGED)
    return _moved(case, after, Action.ACKNOWLEDGED, actor, reason, now=now, action_id=action_id)


def resolve(
    case: Case,
    *,
    code: Resolution,
    fence: int,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> Change | Illegal:
    """Return the case settled by a person.

    fence: the lease's newest at this moment, 0 where no run ever began; only a run with a greater one may
    contradict.
    """
    after = replace(
        changes.undecided(case, CaseState.RESOLVED), resolution=code, decided_fence=fence, decided_at=now
    )
    return _moved(case, after, Action.RESOLVED, actor, reason, now=now, action_id=action_id)


def accept(
    case: Case,
    *,
    until: datetime,
    fence: int,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> Change | Illegal:
    """Return the case with a person who lives with its evidence until a date; another date once more."""
    if (wrong := _date(until, now, ACCEPTANCE_LIMIT, "accepted")) is not None:
        return wrong
    after = replace(
        changes.undecided(case, CaseState.ACCEPTED),
        accepted_until=until,
        decided_fence=fence,
        decided_at=now,
    )
    said = changes.until(until)
    return _moved(case, after, Action.ACCEPTED, actor, reason, now=now, action_id=action_id, said=said)


def reopen(case: Case, *, actor: Actor, reason: str, now: datetime, action_id: str) -> Change | Illegal:
    """Return the case with its decision taken back."""
    after = changes.undecided(case, CaseState.OPEN)
    return _moved(case, after, Action.REOPENED, actor, reason, now=now, action_id=action_id)


def snooze(
    case: Case, *, until: datetime, actor: Actor, reason: str, now: datetime, action_id: str
) -> Change | Illegal:
    """Return the case that nobody is reminded of before a date; it ends by itself, or with other evidence."""
    if (wrong := _date(until, now, SNOOZE_LIMIT, "snoozed")) is not None:
        return wrong
    after, said = replace(case, snoozed_until=until), changes.until(until)
    return _moved(case, after, Action.SNOOZED, actor, reason, now=now, action_id=action_id, said=said)


def assign(
    case: Case, owner: Owner, *, actor: Actor, reason: str, now: datetime, action_id: str
) -> Change | Illegal:
    """Return the case with the owner a person chose; rules leave it alone from now on."""
    if case.owner and case.pinned and (case.owner.name, case.owner.target) == (owner.name, owner.target):
        return Illegal(f"Case {case.id} is {owner.name}'s already.")
    after, said = replace(case, owner=owner, pinned=True), f"To {owner.name}: "
    return _moved(case, after, Action.ASSIGNED, actor, reason, now=now, action_id=action_id, said=said)


def comment(case: Case, *, actor: Actor, reason: str, now: datetime, action_id: str) -> Change | Illegal:
    """Return the case as it is, with a person's words beside it; any case takes a comment."""
    return _moved(case, case, Action.COMMENTED, actor, reason, now=now, action_id=action_id)


def adopt(
    case: Case, known: Known, *, actor: Actor, reason: str, now: datetime, action_id: str
) -> tuple[Change, Adoption] | Illegal:
    """Return the case with its refund made an intent of ours; the next run clears it.

    A refund beside a twin is declared a repeat by a reference of its own, or the same question would be asked
    about the new intent.
    """
    side, named = subjects.parted(case.subject)
    if side != subjects.REFUND:
        return Illegal(f"Case {case.id} is about an intent; only a refund that has none can be adopted.")
    refund = known.refund
    if refund is None:
        return Illegal(f"Account {_name(case.account)} has no refund {named} in the mirror.")
    if (wrong := _unfit(refund)) is not None:
        return wrong
    if known.holder is not None:
        return Illegal(
            f"Refund {refund.id} belongs to the intent {known.holder} by now; the next run judges the two."
        )
    intent = Intent(
        key=refund.intent_key or IntentKey(f"adopted:{refund.id}"),
        account=refund.account,
        amount_minor=refund.amount_minor,
        currency=refund.currency,
        status=IntentStatus.DONE,
        created_at=refund.created_at,
        updated_at=now,
        reference=f"adopted:{refund.id}" if case.mismatch.kind is Kind.DUPLICATE else None,
        payment=refund.payment_intent or refund.charge,
        refund_id=refund.id,
    )
    said = f"Refund {refund.id} is now the intent {intent.key}. "
    after = replace(case, state=CaseState.ACKNOWLEDGED)
    change = _moved(case, after, Action.ADOPTED, actor, reason, now=now, action_id=action_id, said=said)
    return change if isinstance(change, Illegal) else (change, Adoption(refund, intent))


def link(
    case: Case,
    known: Known,
    *,
    refund_id: RefundId,
    intent_key: IntentKey,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> tuple[Change, Link] | Illegal:
    """Return the case with one of its refunds, or a refund for its intent, linked by a person."""
    if not _about(case, refund_id, intent_key):
        return Illegal(f"Case {case.id} is about neither refund {refund_id} nor intent {intent_key}.")
    refund = known.refund
    if refund is None:
        return Illegal(f"Account {_name(case.account)} has no refund {refund_id} in the mirror.")
    wrong = _unfit(refund) or _elsewhere(case, known, intent_key) or _linked(refund, intent_key)
    if wrong is not None:
        return wrong
    said = f"Refund {refund_id} belongs to the intent {intent_key}. "
    after = replace(case, state=CaseState.ACKNOWLEDGED)
    change = _moved(case, after, Action.LINKED, actor, reason, now=now, action_id=action_id, said=said)
    return change if isinstance(change, Illegal) else (change, Link(refund, intent_key))


def unlink(
    case: Case,
    known: Known,
    *,
    refund_id: RefundId,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> tuple[Change, Link] | Illegal:
    """Return the case as it is, with a person's link taken back; the next run judges what that leaves."""
    refund = known.refund
    if refund is None or refund.operator_key is None:
        return Illegal(f"Refund {refund_id} is not linked by a person: there is nothing to take back.")
    if not _about(case, refund_id, refund.operator_key):
        return Illegal(f"Case {case.id} is about neither refund {refund_id} nor its intent.")
    said = f"Refund {refund_id} was linked to the intent {refund.operator_key}, and is no more. "
    if known.kept_by is not None:  # A run that finished the intent recorded the refund; or a key names it.
        said += f"It stays the intent {known.kept_by}'s, by a key or by that intent's record. "
    change = _moved(case, case, Action.UNLINKED, actor, reason, now=now, action_id=action_id, said=said)
    return change if isinstance(change, Illegal) else (change, Link(refund, None))


def _moved(
    case: Case,
    after: Case,
    action: Action,
    actor: Actor,
    reason: str,
    *,
    now: datetime,
    action_id: str,
    said: str = "",
) -> Change | Illegal:
    """Return a person's change, which needs a reason; said stands before it in the entry."""
    if (refused := refusal(case, action)) is not None:
        return refused
    kept = changes.written(reason)
    if isinstance(kept, Illegal):
        return kept
    return changes.to(case, after, action, actor, keepable(said) + kept, now=now, action_id=action_id)


def _date(until: datetime, now: datetime, limit: timedelta, done: str) -> Illegal | None:
    """Return what is wrong with the date of a move; None where it can be kept."""
    if until <= now:
        return Illegal(f"A case is {done} until a time to come; {minute(until)} has passed.")
    if until > now + limit:
        return Illegal(f"A case is {done} for at most {limit.days} days: until {now + limit:%Y-%m-%d}.")
    return None


def _unfit(refund: Refund) -> Illegal | None:
    """Return why no intent can have this refund; None where one can."""
    if refund.status in DEAD:
        return Illegal(f"Refund {refund.id} is {refund.status}: its money did not go to anybody.")
    if refund.system:
        return Illegal(f"Refund {refund.id} was made by the provider itself; no intent asks for those.")
    return None


def _elsewhere(case: Case, known: Known, intent_key: IntentKey) -> Illegal | None:
    """Return that the account has no such intent; None where it has."""
    if known.intent is not None:
        return None
    others = ", ".join(map(_name, known.elsewhere))
    found = f"account {others} has it, and a link stays within one account" if others else "no other has it"
    return Illegal(f"Account {_name(case.account)} has no intent {intent_key}; {found}.")


def _linked(refund: Refund, intent_key: IntentKey) -> Illegal | None:
    """Return that a person has linked the refund already; None where nobody has."""
    if refund.operator_key is None:
        return None
    if refund.operator_key == intent_key:
        return Illegal(f"Refund {refund.id} is linked to the intent {intent_key} already.")
    return Illegal(
        f"Refund {refund.id} is linked to the intent {refund.operator_key} by a person: unlink it first."
    )


def _about(case: Case, refund_id: RefundId, intent_key: IntentKey) -> bool:
    either = (subjects.of_refund(refund_id), subjects.of_intent(intent_key))
    return case.subject in either or refund_id in case.mismatch.refund_ids


def _name(account: AccountId) -> str:
    return account or "(the platform's own)"
