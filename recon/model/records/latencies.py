"""How long guarded calls took: one call's times, what many come to, and the settings that follow.

Never holds a decision: rules/latencies.py makes them.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Timed:
    """One recorded call. Source: the tables calls and guarded.

    waited: from when it was asked until it was told; None where nobody was told, because it is under way or
    its process died. sent: from just before the commit that says it is sent until its answer was known; None
    where this call sent nothing, or what came of it is not known. unknown: it was told that nobody knows.
    """

    tool: str
    waited: timedelta | None
    sent: timedelta | None = None
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """What many durations come to, in seconds. number: of them; each percentile is one that was measured."""

    number: int
    p50: float
    p95: float
    p99: float
    longest: float


@dataclass(frozen=True, slots=True)
class ToolTimes:
    """The calls of one tool. None: there are none such. untold, unknown: numbers of calls, as Timed has them.

    odd: calls that ended before they began, by clocks that were set or differ; they are not among the others.
    """

    tool: str
    waited: Spread | None
    sent: Spread | None
    untold: int = 0
    unknown: int = 0
    odd: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The three settings of [guard] that times decide, in whole seconds unless somebody chose others."""

    send_timeout_seconds: float
    deadline_seconds: float
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the settings should be.

    tool: whose sends decided; None where none has enough, and nothing changes. kept: a limit would have
    become shorter, and was not because too many sends had no answer within it.
    """

    limits: Limits
    tool: str | None = None
    kept: bool = False
