"""How a case's next version is put together: the case after it, and the entry that explains it.

Rules decide what a case becomes; this only keeps version, times and entry in step. Never saves anything.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recon.model.characters import is_blank, keepable
from recon.model.phrases import minute
from recon.model.records.cases import Case, Change, Entry
from recon.model.records.words import Action, Actor, CaseState, RunId

REASON_LIMIT: Final = 2_000  # Characters of a person's reason: half a page, and it still fits one message.


@dataclass(frozen=True, slots=True)
class Illegal:
    """A move that this case does not allow; reason is one sentence for the person who tried."""

    reason: str


def written(reason: str) -> str | Illegal:
    """Return a person's reason as it is kept; a move without one, or with one too long, is none."""
    reason = keepable(reason).strip()
    if is_blank(reason):
        return Illegal("A reason is required: say in a sentence why.")
    if len(reason) > REASON_LIMIT:
        return Illegal(f"The reason has {len(reason)} characters; at most {REASON_LIMIT} are kept.")
    return reason


def to(
    case: Case,
    after: Case,
    action: Action,
    actor: Actor,
    reason: str,
    *,
    now: datetime,
    action_id: str,
    run_id: RunId | None = None,
) -> Change:
    """Return the change from a case to the one after it."""
    after = replace(after, version=case.version + 1, updated_at=now)
    entry = Entry(
        case_id=case.id,
        action=action,
        actor=actor,
        at=now,
        reason=reason,
        from_state=case.state,
        to_state=after.state,
        version=after.version,
        action_id=action_id,
        run_id=run_id,
        resolution=after.resolution if action is Action.RESOLVED else None,
    )
    return Change(after, entry, from_version=case.version)


def undecided(case: Case, state: CaseState) -> Case:
    """Return the case in a state that no decision and no snooze holds in."""
    return replace(
        case,
        state=state,
        resolution=None,
        decided_fence=None,
        decided_at=None,
        accepted_until=None,
        snoozed_until=None,
    )


def until(at: datetime) -> str:
    """Return how an entry tells a date that a person chose; their own words follow."""
    return f"Until {minute(at)}: "
