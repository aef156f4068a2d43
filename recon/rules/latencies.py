"""How long guarded calls took, and which time limits follow from it.

Pure. A limit that is too short makes unknown refunds of slow ones: from few calls nothing is proposed.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import timedelta

from recon.model.records.latencies import Limits, Proposal, Spread, Timed, ToolTimes
from recon.model.settings import GuardSettings

FEWEST = 200  # Sends: of fewer the 99th percentile is the one slowest.
# Seconds that a send gets at least. The provider answers a refund in two to three; to give up sooner saves an
# agent little, and costs a look-up each time.
_LEAST_SEND = 5
_MARGIN = 2  # Times the 99th percentile: tomorrow may be slower than the last weeks.
_DEADLINE = 2  # Times a send: a look-up after it takes as long at worst.
_LEASE = 2.25  # Times a deadline, as shipped: a call has ended before its lease does, with room for a pause.
_OFTEN = 0.01  # Of all sends: where so many had no answer, the 99th percentile is beyond the limit.
_LONGEST = 60  # Seconds of a send: whoever waits for a refund has left by then.


def by_tool(calls: Iterable[Timed]) -> tuple[ToolTimes, ...]:
    """Return what the calls of each tool come to, the tool with most calls first."""
    found: dict[str, list[Timed]] = {}
    for call in calls:
        found.setdefault(call.tool, []).append(call)
    times = (_times(tool, listed) for tool, listed in found.items())
    return tuple(sorted(times, key=lambda each: (-len(found[each.tool]), each.tool)))


def proposal(times: Iterable[ToolTimes], settings: GuardSettings) -> Proposal:
    """Return the limits that fit the tool whose sends are slowest among those with enough of them."""
    now = limits(settings)
    able = [each for each in times if each.sent is not None and each.sent.number >= FEWEST]
    slowest = max(able, key=lambda each: (_p99(each), each.tool), default=None)
    if slowest is None:
        return Proposal(now)
    waited = max(each.waited.p99 if each.waited is not None else 0.0 for each in able)
    send = min(max(math.ceil(_MARGIN * _p99(slowest)), _LEAST_SEND), _LONGEST)
    deadline = max(_DEADLINE * send, min(math.ceil(waited), _DEADLINE * _LONGEST))
    proposed = Limits(send, deadline, math.ceil(_LEASE * deadline))
    if proposed.send_timeout_seconds < now.send_timeout_seconds and any(map(_often_unknown, able)):
        return Proposal(now, slowest.tool, kept=True)
    return Proposal(proposed, slowest.tool)


def limits(settings: GuardSettings) -> Limits:
    """Return the limits in force."""
    return Limits(settings.send_timeout_seconds, settings.deadline_seconds, settings.lease.total_seconds())


def spread(durations: Sequence[timedelta]) -> Spread | None:
    """Return what durations come to, by nearest rank; None where there are none."""
    if not durations:
        return None
    seconds = sorted(each.total_seconds() for each in durations)
    p50, p95, p99 = (seconds[math.ceil(part * len(seconds)) - 1] for part in (0.5, 0.95, 0.99))
    return Spread(len(seconds), p50, p95, p99, seconds[-1])


def _times(tool: str, calls: Sequence[Timed]) -> ToolTimes:
    nothing = timedelta()
    sane = [each for each in calls if min(each.waited or nothing, each.sent or nothing) >= nothing]
    return ToolTimes(
        tool,
        spread([each.waited for each in sane if each.waited is not None]),
        spread([each.sent for each in sane if each.sent is not None]),
        untold=sum(each.waited is None for each in sane),
        unknown=sum(each.unknown for each in sane),
        odd=len(calls) - len(sane),
    )


def _p99(times: ToolTimes) -> float:
    assert times.sent is not None, f"{times.tool} has sends"
    return times.sent.p99


def _often_unknown(times: ToolTimes) -> bool:
    assert times.sent is not None, f"{times.tool} has sends"
    return times.unknown >= _OFTEN * (times.sent.number + times.unknown)
