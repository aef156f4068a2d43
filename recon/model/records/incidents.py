"""What one evening did: a window, a kind, and who and what was affected by it.

Never adds two currencies, and holds no judgement of its own: each case carries its evidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recon.model.records.cases import Case
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import CaseState, Kind


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, in which a disagreement began or not; its end is not part of it."""

    from_at: datetime
    to_at: datetime


@dataclass(frozen=True, slots=True)
class Totals:
    """What all cases of a window come to, however many of them are listed.

    customers, orders: different ones of the cases that name one; without_customer: cases that name none.
    states: every word, zeros too. at_risk: minor units by currency, zeros left out. first_at, last_at: when
    the first and the last disagreement began; None where there is none.
    """

    cases: int
    customers: int
    orders: int
    without_customer: int
    states: Mapping[CaseState, int]
    at_risk: Mapping[str, int]
    first_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Incident:
    """Who was affected by mismatches of one kind that began in a window.

    cases: in the order in which they began, the first of them where there are too many to list. refunds:
    those that take part in the cases, as the provider has them. intents: those that the refunds or the cases
    name. Both are in time order.
    """

    kind: Kind
    window: Window
    totals: Totals
    cases: tuple[Case, ...]
    refunds: tuple[Refund, ...]
    intents: tuple[Intent, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """What happened in one step of a timeline.

    standing, extra: refunds made, those that should stand and those beyond. decided: intents written down.
    sent: intents that were first sent.
    """

    at: datetime
    standing: int = 0
    extra: int = 0
    decided: int = 0
    sent: int = 0
