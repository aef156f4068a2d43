"""What stands around one case: what was told, its runs, its tool's calls, the cases it has to do with."""

from dataclasses import dataclass

from recon.model.records.cases import Case
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.records.tools import ToolCall


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known around a case.

    notices: the latest that speak of it, oldest first; told: how many there are in all. runs: those that
    wrote one of its entries, oldest first. related: other cases of its account with the same payment, order
    or customer, those that wait first, then the latest; tied: how many there are in all, counted up to a
    limit. livemode: the money is real. calls: the first that guarded tools recorded for its intents, oldest
    first; asked: how many there are in all.
    """

    notices: tuple[Notice, ...] = ()
    told: int = 0
    runs: tuple[Run, ...] = ()
    related: tuple[Case, ...] = ()
    tied: int = 0
    livemode: bool = False
    calls: tuple[ToolCall, ...] = ()
    asked: int = 0
