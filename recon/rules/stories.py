"""Whether a case's entries explain how it stands: its story told again, and set beside the case.

Never mends anything: what does not fit is a sentence for a person.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product

from recon.model import changes
from recon.model.records.cases import Case, Entry, case_id
from recon.model.records.words import Action, CaseState, Resolution

_Step = tuple[CaseState | None, CaseState]

_OPEN, _TAKEN = CaseState.OPEN, CaseState.ACKNOWLEDGED
_RESOLVED, _ACCEPTED, _CLEARED = CaseState.RESOLVED, CaseState.ACCEPTED, CaseState.CLEARED


def _steps(came_from: Iterable[CaseState], led_to: CaseState) -> frozenset[_Step]:
    return frozenset(product(came_from, [led_to]))


_STAYS = frozenset((state, state) for state in (_OPEN, _TAKEN))
_STAYS_ANYWHERE = frozenset((state, state) for state in CaseState)

# The steps that each action can have been: from which state, to which.
STEPS: Mapping[Action, frozenset[_Step]] = {
    Action.OPENED: frozenset({(None, _OPEN)}),
    Action.CHANGED: _STAYS,
    Action.RECLASSIFIED: _steps((_OPEN, _TAKEN), _OPEN),
    Action.REOPENED: _steps((_RESOLVED, _ACCEPTED, _CLEARED), _OPEN),
    Action.REGRESSED: _steps((_RESOLVED,), _OPEN),
    Action.CLEARED: _steps((_OPEN, _TAKEN, _RESOLVED, _ACCEPTED), _CLEARED),
    Action.ACKNOWLEDGED: _steps((_OPEN,), _TAKEN),
    Action.RESOLVED: _steps((_OPEN, _TAKEN, _ACCEPTED), _RESOLVED),
    Action.ACCEPTED: _steps((_OPEN, _TAKEN, _ACCEPTED), _ACCEPTED),
    Action.SNOOZED: _STAYS,
    Action.ASSIGNED: _STAYS,
    Action.ADOPTED: _steps((_OPEN, _TAKEN), _TAKEN),
    Action.LINKED: _steps((_OPEN, _TAKEN), _TAKEN),
    Action.UNLINKED: _STAYS_ANYWHERE,
    Action.COMMENTED: _STAYS_ANYWHERE,
    Action.LOOKED: _STAYS_ANYWHERE,
    Action.CONFIRMED: _steps((_OPEN, _TAKEN), _TAKEN),
    Action.REFUTED: _steps((_OPEN, _TAKEN), _TAKEN),
    Action.PROPOSED: _STAYS_ANYWHERE,
    Action.DECLINED: _STAYS_ANYWHERE,
}

# What ends a decision or a snooze, whether another follows or not.
_ENDS_DECISIONS = frozenset(
    {Action.REOPENED, Action.REGRESSED, Action.CLEARED, Action.RESOLVED, Action.ACCEPTED}
)
_ENDS_SNOOZES = _ENDS_DECISIONS | {Action.CHANGED, Action.RECLASSIFIED}


@dataclass(frozen=True, slots=True)
class Told:
    """How a case stands by its entries alone.

    accepted, snoozed: the reason of the entry that did it, which tells the date; None where neither holds.
    pinned: a person chose the owner.
    """

    version: int = 0
    state: CaseState | None = None
    opened_at: datetime | None = None
    updated_at: datetime | None = None
    resolution: Resolution | None = None
    decided_at: datetime | None = None
    accepted: str | None = None
    snoozed: str | None = None
    pinned: bool = False


def tell(entries: Iterable[Entry]) -> Told | str:
    """Return what the entries, oldest first, tell together, or a sentence about the first that cannot be."""
    told = Told()
    for entry in entries:
        if entry.version != told.version + 1:
            return f"entry {entry.version} follows entry {told.version}"
        if entry.from_state is not told.state:
            return f"entry {entry.version} begins at {entry.from_state}, and the case was {told.state}"
        if (entry.from_state, entry.to_state) not in STEPS.get(entry.action, ()):
            return (
                f"entry {entry.version} says {entry.action}, which never leads from {entry.from_state} to "
                f"{entry.to_state}"
            )
        told = _after(told, entry)
    return told


def unexplained(case: Case, entries: Iterable[Entry]) -> str | None:
    """Return what the case's entries, oldest first, do not explain, as one sentence; None where all fits."""
    told = tell(entries)
    if isinstance(told, str):
        return f"{case.id}: {told}."
    pairs: Mapping[str, tuple[object, object]] = {
        # The id is made from these two: a case moved onto another subject would keep that one's silence.
        "account or subject": (case.id, case_id(case.account, case.subject)),
        "version": (case.version, told.version),
        "state": (case.state, told.state),
        "opening": (case.opened_at, told.opened_at),
        "last move": (case.updated_at, told.updated_at),
        "resolution": (case.resolution, told.resolution),
        "time of decision": (case.decided_at, told.decided_at),
        "choice of owner": (case.pinned, told.pinned),
        "end of acceptance": _dates(case.accepted_until, told.accepted),
        "end of snooze": _dates(case.snoozed_until, told.snoozed),
    }
    wrong = [name for name, (has, explained) in pairs.items() if has != explained]
    return f"{case.id}: its entries do not explain its {', '.join(wrong)}." if wrong else None


def _after(told: Told, entry: Entry) -> Told:
    if entry.action in _ENDS_DECISIONS:
        told = replace(told, resolution=None, decided_at=None, accepted=None)
    if entry.action in _ENDS_SNOOZES:
        told = replace(told, snoozed=None)
    if entry.action is Action.RESOLVED:
        told = replace(told, resolution=entry.resolution, decided_at=entry.at)
    elif entry.action is Action.ACCEPTED:
        told = replace(told, accepted=entry.reason, decided_at=entry.at)
    elif entry.action is Action.SNOOZED:
        told = replace(told, snoozed=entry.reason)
    pinned = told.pinned or (entry.action is Action.ASSIGNED and entry.run_id is None)
    return replace(
        told,
        version=entry.version,
        state=entry.to_state,
        opened_at=told.opened_at or entry.at,
        updated_at=entry.at,
        pinned=pinned,
    )


def _dates(at: datetime | None, reason: str | None) -> tuple[bool, bool]:
    """Return whether the case has a date, and whether an entry tells that very one."""
    if at is None or reason is None:
        return at is not None, reason is not None
    return True, reason.startswith(changes.until(at))
