"""Four eyes: which moves take two people, what a proposal is, and who may answer it how.

Never decides what a move makes of a case: rules/moves.py does, for the second person as for the first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from recon.model import changes, wishes
from recon.model.changes import Illegal
from recon.model.characters import keepable
from recon.model.phrases import minute
from recon.model.records.cases import Case, Change
from recon.model.records.proposals import SECONDED, Proposal, approval_id, proposal_id
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, ProposalState


def stricter(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    """Return the limits under both, in minor units by currency: the lower where both name a currency."""
    both = dict(one)
    for currency, minor in other.items():
        both[currency] = min(minor, both.get(currency, minor))
    return both


def seconded(case: Case, action: Action, limits: Mapping[str, int], beside: Iterable[Money] = ()) -> bool:
    """Return whether a move of this case takes a second person.

    limits: from which amount at risk on, in minor units by currency; a currency that is not named has none.
    beside: what the move decides about beyond the case: each amount counts by itself, or a large refund
    could be linked away from a small case.
    """
    return action in SECONDED and any(_large(each, limits) for each in (case.mismatch.at_risk, *beside))


def same_person(one: str, other: str) -> bool:
    """Return whether two names are one person's: case, spaces and normal form make no second one."""
    return wishes.spelling(one) == wishes.spelling(other)


def propose(
    case: Case,
    action: Action,
    told: Mapping[str, str],
    waiting: Proposal | None,
    *,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> tuple[Change, Proposal] | Illegal:
    """Return the case as it is with a proposal, while none waits.

    told: what the move takes beside a reason. waiting: the case's open proposal; None where there is none.
    """
    if waiting is not None:
        return Illegal(waits(waiting))
    kept = changes.written(reason)
    if isinstance(kept, Illegal):
        return kept
    proposal = Proposal(
        id=proposal_id(action_id),
        case_id=case.id,
        action=action,
        told={name: keepable(text) for name, text in told.items()},
        reason=kept,
        at_risk=case.mismatch.at_risk,
        proposed_by=actor,
        proposed_at=now,
    )
    said = f"{wishes.of(proposal)}: {kept}"
    return changes.to(case, case, Action.PROPOSED, actor, said, now=now, action_id=action_id), proposal


def approve(
    change: Change, told: Mapping[str, str], proposal: Proposal | None
) -> tuple[Change, Proposal] | Illegal:
    """Return the second person's move as it is saved, and its proposal as approved by it.

    change: what the rules make of the move now, with the second person as its actor. told: what it takes.
    proposal: as it stands; None where there is none.
    """
    entry = change.entry
    if (wrong := _unanswerable(proposal, change.case)) is not None:
        return wrong
    assert proposal is not None, "there is none to answer, and nobody said so"
    if (why := unapprovable(proposal, entry.actor)) is not None:
        return Illegal(why)
    if (entry.action, dict(told)) != (proposal.action, dict(proposal.told)):
        return Illegal(f"Expected what was proposed: {wishes.of(proposal)}; found another move.")
    entry = replace(entry, action_id=approval_id(proposal.id), reason=entry.reason + wishes.second(proposal))
    decided = _decided(proposal, ProposalState.APPROVED, change)
    return replace(change, entry=entry), decided


def decline(
    case: Case,
    proposal: Proposal | None,
    *,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> tuple[Change, Proposal] | Illegal:
    """Return the case as it is with its proposal declined, or taken back by whoever made it."""
    if (wrong := _unanswerable(proposal, case)) is not None:
        return wrong
    assert proposal is not None, "there is none to answer, and nobody said so"
    kept = changes.written(reason)
    if isinstance(kept, Illegal):
        return kept
    own = same_person(proposal.proposed_by, actor)
    whose = "Taken back" if own else f"Declined what {proposal.proposed_by} proposed"
    said = f"{whose}: {wishes.of(proposal)}. {kept}"
    change = changes.to(case, case, Action.DECLINED, actor, said, now=now, action_id=action_id)
    return change, replace(_decided(proposal, ProposalState.DECLINED, change), decided_reason=kept)


def waits(proposal: Proposal) -> str:
    """Return why nothing else can be proposed while this waits: who wants what since when."""
    return (
        f"{proposal.proposed_by} proposed on {minute(proposal.proposed_at)}: {wishes.of(proposal)}. "
        "It must be approved, declined or taken back before anything else is proposed."
    )


def unapprovable(proposal: Proposal, person: Actor) -> str | None:
    """Return why somebody may not approve this, whatever their role; None where they may."""
    if same_person(proposal.proposed_by, person):
        return f"{proposal.proposed_by} proposed this: another person must approve it."
    return None


def unvouched(name: str, mode: str) -> str | None:
    """Return why nobody proposes by a name, or is taken for another person by it; None where they may.

    mode: of the desk. Where people sign in, they are named by their address; whom an operator put down for
    Slack by another name would be two people, and approve at the desk what they proposed in Slack.
    """
    if mode == "local" or "@" in name:
        return None
    return (
        f"Nobody signs in as {name}, who may be the same person as whoever approves: put them down by the "
        f"e-mail address that they sign in with (recon operators remove {name!r}, then recon operators add "
        "ADDRESS --slack ID), and propose it anew."
    )


def _large(amount: Money, limits: Mapping[str, int]) -> bool:
    limit = limits.get(amount.currency)
    return limit is not None and amount.amount_minor >= limit


def _unanswerable(proposal: Proposal | None, case: Case) -> Illegal | None:
    """Return why nothing can be answered; None where the proposal is this case's and waits."""
    if proposal is None or proposal.case_id != case.id:
        return Illegal(f"Nothing of that kind was proposed for case {case.id}.")
    if proposal.state is not ProposalState.OPEN:
        at = "" if proposal.decided_at is None else f" since {minute(proposal.decided_at)}"
        return Illegal(f"What {proposal.proposed_by} proposed is {proposal.state}{at}: propose it anew.")
    return None


def _decided(proposal: Proposal, state: ProposalState, change: Change) -> Proposal:
    entry = change.entry
    return replace(
        proposal, state=state, decided_by=entry.actor, decided_at=entry.at, decided_reason=entry.reason
    )
