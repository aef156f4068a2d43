"""What time alone makes worth saying: a case that nobody answers, a date that runs out, a day that begins.

Never says whether it is time: rules/reminders.py does. Each has a name, under which it is said once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Self

from recon.model.records.cases import Case
from recon.model.records.owners import Profile
from recon.model.records.words import Kind, Severity
from recon.model.stored import microseconds

SNOOZE = "snooze until "  # What the name of a snooze's end begins with; microseconds follow.
ACCEPTANCE = "acceptance until "  # As above, of an acceptance's.
LOOKS = ""  # What the looks are about: no case in particular.


def escalation(number: int, owner: str) -> str:
    """Return what the name of an owner's step begins with; since which version a case is theirs follows."""
    return f"escalation {number} of {owner} since version "


def digest(day: date) -> str:
    """Return the name of a day's digest."""
    return f"digest {day:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """An open case that its owner was told of.

    since: the version by which it last became theirs to answer. told_at: when the first message about it
    since then went out. said: the names of what was said of it.
    """

    case: Case
    since: int
    told_at: datetime
    said: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was said, or that a louder one stood for. about: a case's id, or an owner's target."""

    about: str
    name: str

    @classmethod
    def snooze(cls, case: Case) -> Self:
        """Return that a snooze has run out."""
        assert case.snoozed_until is not None
        return cls(case.id, f"{SNOOZE}{microseconds(case.snoozed_until)}")

    @classmethod
    def acceptance(cls, case: Case) -> Self:
        """Return that an acceptance will have run out soon."""
        assert case.accepted_until is not None
        return cls(case.id, f"{ACCEPTANCE}{microseconds(case.accepted_until)}")


def look(profile: Profile) -> Note:
    """Return the look for what an owner has not answered; another one once the chain is another."""
    steps = ", ".join(f"{step.owner} after {step.after}" for step in profile.steps)
    return Note(LOOKS, f"chain of {profile.name}: {steps}")


@dataclass(frozen=True, slots=True)
class Pile:
    """An owner's waiting cases of one kind and severity. at_risk: minor units by currency."""

    kind: Kind
    severity: Severity
    waiting: int
    unanswered: int
    at_risk: Mapping[str, int]
    oldest_since: datetime


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything that a digest tells of one owner's cases, of which somebody was told.

    names: the owners who read there. known: whether one that waits was told before the digest was due.
    wakes_at: when the first of the snoozed does. ending: acceptances that end within a week, the first at
    ends_at. cleared, resolved: since the digest of the day before.
    oldest: the case that has waited longest. The times are None where there is no such case.
    """

    target: str
    names: tuple[str, ...]
    known: bool = True
    piles: tuple[Pile, ...] = ()
    snoozed: int = 0
    wakes_at: datetime | None = None
    ending: int = 0
    ends_at: datetime | None = None
    cleared: int = 0
    resolved: int = 0
    oldest: Case | None = None

    @property
    def waiting(self) -> int:
        """Return how many cases wait."""
        return sum(pile.waiting for pile in self.piles)
