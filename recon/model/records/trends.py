"""How things have been going: what waited when, how soon people answered, how old it is, what agreed.

Never adds two currencies. Of the past, an amount, a kind and an owner are the ones that a case has now: an
entry says how a case moved, not what it was worth then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from recon.model.records.words import Kind

AGES = (timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(days=30))
"""Where one bucket of ages ends and the next begins; the last has no end."""


class Answer(StrEnum):
    """What somebody waits for."""

    ACKNOWLEDGED = "acknowledged"  # From when a case is open until a person takes it on or decides it.
    SETTLED = "settled"  # From when a case waits until it waits for nobody.


@dataclass(frozen=True, slots=True)
class Group:
    """Cases of one kind, owner and currency. owner: "" is nobody."""

    kind: Kind
    owner: str
    currency: str


@dataclass(frozen=True, slots=True)
class Step:
    """By how much what waits of a group changed on one day, in UTC: more or, below zero, less."""

    day: date
    group: Group
    cases: int
    at_risk_minor: int


@dataclass(frozen=True, slots=True)
class Heap:
    """What waits of a group now, of one age. age: how many of AGES it has reached."""

    group: Group
    age: int
    cases: int
    at_risk_minor: int


@dataclass(frozen=True, slots=True)
class Took:
    """How many cases of one kind and owner took so many whole minutes to an answer."""

    answer: Answer
    kind: Kind
    owner: str
    minutes: int
    cases: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the complete runs of one day, in UTC, judged. matched: of the intents, those in agreement."""

    day: date
    runs: int
    intents: int
    matched: int


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of the days since a day, as of one moment. agreed: days with a complete run, in order."""

    now: datetime
    first: date
    heaps: tuple[Heap, ...]
    steps: tuple[Step, ...]
    took: tuple[Took, ...]
    agreed: tuple[Agreed, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """What waited at the end of a day in UTC; of the last day, now. at_risk: by currency, zeros left out."""

    day: date
    cases: int
    at_risk: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Speed:
    """How soon the cases of one name were answered: half of them, and nine in ten, within these minutes."""

    name: str
    cases: int
    median_minutes: int
    ninetieth_minutes: int


def between(first: date, last: date) -> Iterable[date]:
    """Return the days from the first to the last, both included."""
    return (first + timedelta(days=place) for place in range((last - first).days + 1))
