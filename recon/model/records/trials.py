"""What other graces would have reported: the values tried, and what came of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recon.model.records.results import Policy
from recon.model.records.words import Kind


@dataclass(frozen=True, slots=True)
class Rung:
    """One value of one grace to try. name, value: as files say them. usual: it is the policy's own."""

    name: str
    value: str
    policy: Policy
    usual: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rung's policy would have reported in all hours, each subject once, as it was last reported.

    settled: those of them that are no mismatch in the end. at_risk: of all reported, per currency in minor
    units; settled_at_risk: of those settled. in_flight: at the last of the hours.
    """

    rung: Rung
    reported: Mapping[Kind, int]
    settled: Mapping[Kind, int]
    at_risk: Mapping[str, int]
    settled_at_risk: Mapping[str, int]
    in_flight: int


@dataclass(frozen=True, slots=True)
class Trial:
    """A backtest. hours: when a run would have judged, in time order. end: when it is seen what settled."""

    hours: tuple[datetime, ...]
    end: datetime
    outcomes: tuple[Outcome, ...]
