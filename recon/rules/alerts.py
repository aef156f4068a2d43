"""Whether a tool's calls are odd: one intent again and again, several keys for one, too many at once.

And what is said of it to the operators: once per burst, in a thread of its own. Pure.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from recon.model import bursts, levers
from recon.model.records.notices import ALARM, Message, Notice
from recon.model.records.tools import Burst, Limits, Minute, Repeated, Switch, Tool, ToolCall, Twins
from recon.model.records.words import AccountId, IntentKey
from recon.model.stored import EPOCH

ALERTS = "calls|"  # What the key of each alert, and of its thread, begins with.
SWITCHES = "switch|"  # The same of each word that somebody moved a kill switch.
DISABLED = "disabled"  # Answered by the kill switch: nothing was sent, and nothing is odd about asking.
AMOUNT = "amount"  # As it was typed; where amount_minor is there, that says whether the amount differs.
MINOR = "amount_minor"
CALLER = "caller"

Group = tuple[Hashable, ...]
_Alike = tuple[AccountId, tuple[tuple[str, str], ...]]
_Odd = tuple[ToolCall, list[tuple["_Watch", Group]]]  # An odd call, and the groups that it filled.


def burst(calls: Iterable[ToolCall], tool: Tool, *, read_from: datetime) -> Burst | None:
    """Return the latest burst of odd calls of a tool, whether it goes on or not; None where there is none.

    A call is odd that brings its intent, what looks like its intent, or all intents of a while to a limit.
    Odd calls with no longer pause between them than the window are one burst. calls: every call of the tool
    since read_from, in any order.
    """
    told = sorted((each for each in calls if each.answer != DISABLED), key=_order)
    window = tool.limits.window
    latest = _latest(_odd(told, tool), window)
    if not latest:
        return None
    (first, _), (last, _) = latest[0], latest[-1]
    begin, end = first.asked_at - window, _order(last)
    within = [each for each in told if begin < each.asked_at and _order(each) <= end]
    signs = {(watch.kind, group[:2]) for _, found in latest for watch, group in found}
    again = [each for each in within if ("repeats", _intent(each)) in signs]
    doubled = [each for each in within if ("twins", _alike(each, tool)) in signs]
    spike = _spike(within, tool) if ("spike", ()) in signs else 0
    return Burst(
        tool=tool.name,
        number=first.number,
        since=min(each.number for each in within),
        began_at=first.asked_at,
        last_at=last.asked_at,
        calls=len(within if spike else {each.number for each in (*again, *doubled)}),
        repeated=_repeated(again),
        twins=_twins(doubled, tool),
        spike=spike,
        whole=begin - max(window, tool.limits.spike_window) >= read_from,
        refunds=tool.refunds,
    )


def counted(
    calls: Iterable[ToolCall], switch: Switch, read_from: datetime
) -> tuple[tuple[ToolCall, ...], datetime]:
    """Return the calls of a tool that may be odd, and from when on they are all of those.

    A lifted switch is a person's word that what was before is dealt with: only calls after it count.
    """
    lifted_at = None if switch.thrown else switch.moved_at
    if lifted_at is None or lifted_at < read_from:
        return tuple(calls), read_from
    return tuple(each for each in calls if each.asked_at > lifted_at), EPOCH


def reach(tools: Iterable[Tool]) -> timedelta:
    """Return how far back calls are read, so that a burst that began a window ago is seen whole."""
    limits = [tool.limits for tool in tools] + [Limits()]
    return max(each.window * 2 + max(each.window, each.spike_window) for each in limits)


def by_tool(calls: Iterable[ToolCall]) -> Mapping[str, Sequence[ToolCall]]:
    """Return the calls of each tool that has some, in their order."""
    found: dict[str, list[ToolCall]] = defaultdict(list)
    for each in calls:
        found[each.tool].append(each)
    return found


def goes_on(found: Burst, tool: Tool, *, now: datetime) -> bool:
    """Return whether an odd call at this time would still belong to the burst."""
    return now - found.last_at <= tool.limits.window


def throws(found: Burst, tool: Tool, switch: Switch, *, now: datetime) -> bool:
    """Return whether the alert is to throw the tool's kill switch."""
    return tool.limits.throws and found.doubles and not switch.thrown and goes_on(found, tool, now=now)


def thread(found: Burst, known: Iterable[str], *, now: datetime) -> str:
    """Return the key of a burst's thread; one whose beginning nobody sees is told once a day.

    known: the keys of the tool's threads. A call that was written down late may have come before what a burst
    seemed to begin with: the thread that was begun then stays its own.
    """
    if not found.whole:
        return f"{ALERTS}{found.tool}|{now:%Y-%m-%d}"
    numbers = (key.removeprefix(f"{ALERTS}{found.tool}|") for key in known)
    mine = [int(each) for each in numbers if each.isdecimal() and int(each) >= found.since]
    return f"{ALERTS}{found.tool}|{min(mine, default=found.number)}"


def news(
    found: Burst,
    tool: Tool,
    switch: Switch,
    *,
    key: str,
    begun: bool,
    thrown: bool,
    now: datetime,
    dashboard_url: str,
    channel: str,
) -> tuple[Notice, ...]:
    """Return what a burst gives to say: itself, then each time it has doubled, and its end; in one thread.

    What was said has the key that it had then, so that whoever knows the keys says it once. switch: as it
    stands now. key: of its thread. begun: that is there. thrown: the alert has just thrown the switch.
    """

    def notice(name: str, verb: str, told: Message) -> Notice:
        return Notice.new(f"{key}|{name}", verb, told, thread_key=key, target=channel, urgency=ALARM, now=now)

    if begun and not goes_on(found, tool, now=now):
        quiet = int(tool.limits.window / timedelta(minutes=1))
        told = bursts.over(found, quiet_minutes=quiet, dashboard_url=dashboard_url)
        return (notice("over", "reply", told),)
    step = str(2 ** (found.subjects.bit_length() - 1))
    if not begun:
        return (notice(step, "root", bursts.begun(found, switch, dashboard_url=dashboard_url)),)
    said = [notice(step, "call", bursts.grown(found, switch, dashboard_url=dashboard_url))]
    if thrown:
        said.append(notice("thrown", "call", bursts.thrown(found, switch, dashboard_url=dashboard_url)))
    return tuple(said)


def moved(switch: Switch, *, now: datetime, dashboard_url: str, channel: str) -> Notice:
    """Return what operators are told of a person's move of a switch; switch: as it stands since then.

    What was thrown begins a thread, and its lifting is heard there; the alert says itself what it threw.
    """
    begun = switch.version if switch.thrown else switch.version - 1
    return Notice.new(
        f"{SWITCHES}{switch.tool}|{switch.version}",
        "root" if switch.thrown else "call",
        levers.moved(switch, dashboard_url=dashboard_url),
        thread_key=f"{SWITCHES}{switch.tool}|{begun}",
        target=channel,
        urgency=ALARM,
        now=now,
    )


def asked_again(calls: Iterable[ToolCall]) -> tuple[Repeated, ...]:
    """Return every intent that was asked for more than once, the most often first."""
    return tuple(each for each in _repeated(sorted(calls, key=_order)) if each.calls > 1)


def per_minute(calls: Iterable[ToolCall]) -> tuple[Minute, ...]:
    """Return the calls of each minute that has some, oldest first."""
    minutes: dict[datetime, list[int]] = defaultdict(lambda: [0, 0])
    seen: set[Group] = set()
    for each in sorted(calls, key=_order):
        intent = _intent(each)
        minutes[each.asked_at.replace(second=0, microsecond=0)][intent in seen] += 1
        seen.add(intent)
    return tuple(Minute(at, *numbers) for at, numbers in sorted(minutes.items()))


@dataclass(slots=True)
class _Watch:
    """Counts the different members of a group within a time before each call.

    kind: what a group is called that has reached the limit.
    """

    kind: str
    limit: int
    window: timedelta
    group: Callable[[ToolCall], Group | None]
    member: Callable[[ToolCall], Hashable]
    recent: deque[tuple[datetime, Group, Hashable]] = field(default_factory=deque)
    members: dict[Group, Counter[Hashable]] = field(default_factory=lambda: defaultdict(Counter))

    def full(self, call: ToolCall) -> Group | None:
        """Take the next call in time; return its group if that has reached the limit."""
        while self.recent and self.recent[0][0] <= call.asked_at - self.window:
            _, group, member = self.recent.popleft()
            counted = self.members[group]
            counted[member] -= 1
            if not counted[member]:
                del counted[member]
            if not counted:
                del self.members[group]
        own = self.group(call)
        if own is None:
            return None
        member = self.member(call)
        self.recent.append((call.asked_at, own, member))
        self.members[own][member] += 1
        return own if len(self.members[own]) >= self.limit else None


def _odd(told: Iterable[ToolCall], tool: Tool) -> list[_Odd]:
    """Return the odd calls, in their order, with what is odd about each."""
    watches = _watches(tool)
    found = []
    for call in told:
        signs = [(watch, group) for watch in watches if (group := watch.full(call)) is not None]
        if signs:
            found.append((call, signs))
    return found


def _watches(tool: Tool) -> tuple[_Watch, ...]:
    """Return what is counted of a tool's calls.

    Absent references are equal: a second key without one is no declared repeat.
    """
    limits, alike = tool.limits, partial(_alike, tool=tool)

    def undeclared(call: ToolCall) -> Group | None:
        same = alike(call)
        return None if same is None else (*same, _text(call, tool.repeat) if tool.repeat else None)

    return (
        _Watch("repeats", limits.repeats, limits.window, _intent, lambda call: call.number),
        _Watch("twins", limits.twins, limits.window, undeclared, lambda call: call.key),
        _Watch("twins", limits.declared_twins, limits.window, alike, lambda call: call.key),
        _Watch("spike", limits.spike, limits.spike_window, lambda _: (), _intent),
    )


def _latest(odd: Sequence[_Odd], window: timedelta) -> Sequence[_Odd]:
    """Return those since the last pause that is longer than the window."""
    for later in range(len(odd) - 1, 0, -1):
        if odd[later][0].asked_at - odd[later - 1][0].asked_at > window:
            return odd[later:]
    return odd


def _repeated(told: Iterable[ToolCall]) -> tuple[Repeated, ...]:
    """Return these calls by their intents, the most often asked for first."""
    of_intent: dict[Group, list[ToolCall]] = defaultdict(list)
    for each in told:
        of_intent[_intent(each)].append(each)
    found = (Repeated(mine[0].account, mine[0].key, len(mine), _drifted(mine)) for mine in of_intent.values())
    return tuple(sorted(found, key=lambda each: (-each.calls, each.account, each.key)))


def _twins(told: Iterable[ToolCall], tool: Tool) -> tuple[Twins, ...]:
    """Return the keys of these calls by what looks like one intent, the most keys first."""
    keys: dict[_Alike, dict[IntentKey, str | None]] = defaultdict(dict)
    for each in told:
        alike = _alike(each, tool)
        assert alike is not None, f"call {each.number} lacks what makes it a twin"
        keys[alike].setdefault(each.key, _text(each, tool.repeat) if tool.repeat else None)
    found = (
        Twins(account, dict(same), tuple(mine), declared=len(set(mine.values())) == len(mine))
        for (account, same), mine in keys.items()
    )
    return tuple(sorted(found, key=lambda each: (-len(each.keys), each.account, sorted(each.same.items()))))


def _spike(told: Iterable[ToolCall], tool: Tool) -> int:
    """Return how many intents there were within the spike window at the most."""
    counting = _Watch("spike", 1, tool.limits.spike_window, lambda _: (), _intent)
    most = 0
    for each in told:
        counting.full(each)
        most = max(most, len(counting.members[()]))
    return most


def _drifted(mine: Sequence[ToolCall]) -> tuple[str, ...]:
    """Return the names of what was not the same in all calls of one intent; the caller last."""
    names = sorted({name for each in mine for name in each.asked})
    if MINOR in names and AMOUNT in names:
        names.remove(AMOUNT)
    found = [name for name in names if len({_text(each, name) for each in mine}) > 1]
    if len({each.caller for each in mine}) > 1:
        found.append(CALLER)
    return tuple(found)


def _alike(call: ToolCall, tool: Tool) -> _Alike | None:
    """Return what calls agree in that look like one intent; None where one of these fields is absent."""
    told = [(name, value) for name in tool.fingerprint if (value := _text(call, name)) is not None]
    return (call.account, tuple(told)) if told and len(told) == len(tool.fingerprint) else None


def _text(call: ToolCall, name: str) -> str | None:
    """Return a field as it was asked, in one spelling; None where it is absent or empty."""
    value = call.asked.get(name)
    text = "" if value is None else str(value).strip()
    return (text.lower() if name == "currency" else text) or None


def _intent(call: ToolCall) -> Group:
    return (call.account, call.key)


def _order(call: ToolCall) -> tuple[datetime, int]:
    return (call.asked_at, call.number)
