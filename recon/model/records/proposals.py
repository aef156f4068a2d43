"""Moves that one person proposed and that wait for another. Never says who may propose or approve what."""

from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final, NewType

from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseId, ProposalState

ProposalId = NewType("ProposalId", str)

ID_CHARACTERS: Final = 16  # 80 bits: a collision of two clicks' ids is not to be expected.
LIMIT: Final = "limit:"  # What the topic of a currency's limit begins with; the currency follows.
# What the action id of an approved move begins with; its proposal's id follows.
APPROVED: Final = "approved:"

# The moves that settle what money is about; from a limit on each of them takes two people.
SECONDED: Final = frozenset(
    {
        Action.RESOLVED,
        Action.ACCEPTED,
        Action.ADOPTED,
        Action.LINKED,
        Action.UNLINKED,
        Action.CONFIRMED,
        Action.REFUTED,
    }
)
# What leaves an open proposal as it is: the evidence stays, and nothing is decided or taken back. Whatever
# else is done to its case voids it.
BESIDE: Final = frozenset(
    {
        Action.ACKNOWLEDGED,
        Action.ASSIGNED,
        Action.COMMENTED,
        Action.SNOOZED,
        Action.LOOKED,
        Action.PROPOSED,
        Action.DECLINED,
    }
)


def proposal_id(action_id: str) -> ProposalId:
    """Return the id of what a click proposes: the same for the same click, however often it comes."""
    return ProposalId("P-" + b32encode(sha256(action_id.encode()).digest()).decode()[:ID_CHARACTERS])


def approval_id(proposal: ProposalId) -> str:
    """Return the action id of the one move that an approved proposal leads to."""
    return APPROVED + proposal


@dataclass(frozen=True, slots=True)
class Proposal:
    """A move that somebody wants and that takes a second person.

    told: what the move takes beside a reason, as texts by the desk's own names. reason: the proposer's words.
    at_risk: of the case when it was proposed. decided_by, decided_at, decided_reason: who approved, declined
    or took it back, or what voided it; None while it is open. Times are aware UTC.
    """

    id: ProposalId
    case_id: CaseId
    action: Action
    told: Mapping[str, str]
    reason: str
    at_risk: Money
    proposed_by: Actor
    proposed_at: datetime
    state: ProposalState = ProposalState.OPEN
    decided_by: Actor | None = None
    decided_at: datetime | None = None
    decided_reason: str | None = None
