"""How a case's next version is put together: the case after it, and the entry that explains it.

Rules decide what a case becomes; this only keeps version, times and entry in step. Never saves anything.
"""

from dataclasses import replace
from datetime import datetime

from recon.model.phrases import minute
from recon.model.records.cases import Case, Change, Entry
from recon.model.records.words import Action, Actor, CaseState, RunId


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
