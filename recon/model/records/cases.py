"""The tracked life of a mismatch: cases, the entries that explain them, and the changes that save both.

Never moves a case: rules/cases.py decides, doors/store/cases.py saves.
"""

from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from recon.model.records.results import Mismatch
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseId,
    CaseState,
    Resolution,
    RunId,
    Severity,
    Subject,
)

CASE_ID_CHARACTERS = 10  # 50 bits: among 100,000 cases a collision has odds below one in 100,000.
JOB = Actor("recon")  # The actor of every entry that a run writes.
BY_HAND = "assigned by "  # Before a name, in the place of a rule: a person chose the owner.


def case_id(account: AccountId, subject: Subject) -> CaseId:
    """Return the id of the one case of this subject: the same in every process, before anything is saved."""
    digest = sha256(f"{account}\x00{subject}".encode()).digest()
    return CaseId("C-" + b32encode(digest).decode()[:CASE_ID_CHARACTERS])


@dataclass(frozen=True, slots=True)
class Owner:
    """Who must answer a case.

    name: as people say it, e.g. "payments on-call". target: the Slack user id, group id or channel the
    message goes to. rule: the name of the rule in owners.toml that chose it, or BY_HAND and a name when a
    person did.
    """

    name: str
    target: str
    rule: str


@dataclass(frozen=True, slots=True)
class Case:
    """One subject's mismatch across runs and people. One per (account, subject), whatever its kind.

    mismatch: the latest evidence. version: counts moves, from 1. pinned: a person chose the owner, rules must
    not. decided_fence: the fence of the latest run before a person's decision, None when nobody decided; a
    run with a greater fence saw the world after it. accepted_until, snoozed_until: None when neither holds.
    resolution: only while resolved. All times are aware UTC.
    """

    id: CaseId
    account: AccountId
    subject: Subject
    mismatch: Mismatch
    state: CaseState
    version: int
    severity: Severity
    owner: Owner | None
    opened_at: datetime
    updated_at: datetime
    pinned: bool = False
    snoozed_until: datetime | None = None
    accepted_until: datetime | None = None
    decided_fence: int | None = None
    decided_at: datetime | None = None
    resolution: Resolution | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """Why a case moved: who did what, when and for what reason. Append-only, hash-chained per case.

    action_id: unique per click or per run and case; a second save of the same action changes nothing. run_id:
    None when a person acted. reason: required of people, a sentence from runs. resolution: only of RESOLVED.
    from_state: None for the first entry. version: of the case after this entry.
    """

    case_id: CaseId
    action: Action
    actor: Actor
    at: datetime
    reason: str
    from_state: CaseState | None
    to_state: CaseState
    version: int
    action_id: str
    run_id: RunId | None = None
    resolution: Resolution | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A case as it will be and the entry that explains it; saved together or not at all.

    from_version: the version the change was planned from; 0 for a new case.
    """

    case: Case
    entry: Entry
    from_version: int
