"""The tools that agents call: what each does, what makes its calls one intent, and when its calls are odd.

Light: the guarded tool reads it in other people's processes. Never reads a file; model/registry.py does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from recon.model.records.words import AccountId, Actor, IntentKey


class Effect(StrEnum):
    """What calling a tool does to the world, and so how it may be called again."""

    READ = "read"  # Nothing: retry freely.
    IDEMPOTENT = "idempotent"  # The same again changes nothing more: retry with the same arguments.
    SIDE_EFFECT = "side_effect"  # Each time something happens: only through the guard.


@dataclass(frozen=True, slots=True)
class Limits:
    """When calls of a tool are told to the operators. Source: tools.toml, alert.

    window: how far back calls count, and how long a burst may pause and still be one. repeats: calls for one
    intent. twins: keys for what looks like one intent. declared_twins: such keys where each carries a
    reference of its own. spike: intents within spike_window. throws: twins and spikes throw the switch.
    """

    window: timedelta = timedelta(minutes=15)
    repeats: int = 3
    twins: int = 2
    declared_twins: int = 5
    spike: int = 50
    spike_window: timedelta = timedelta(minutes=5)
    throws: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. Source: tools.toml.

    operation: what its keys begin with, the same for every tool that does the same. key: the fields that make
    a key; fingerprint: those that a key must always come with, and that look like one intent when they agree.
    repeat: the key field by which a repeat is declared as meant; None where there is none. finder: whether
    the world can be asked if it was done. keyed: whether the world does one key once, however often it comes;
    only then is anything sent a second time. looks_back: how old a refund that no intent asked for may be
    that keeps a first send of the same money back; 0 does not look.
    """

    name: str
    effect: Effect
    operation: str
    title: str
    key: tuple[str, ...] = ()
    fingerprint: tuple[str, ...] = ()
    repeat: str | None = None
    finder: bool = False
    keyed: bool = False
    looks_back: timedelta = timedelta(0)
    limits: Limits = Limits()

    @property
    def refunds(self) -> bool:
        """Return whether it makes refunds, which runs compare with the provider's; they compare no others."""
        return "payment" in self.fingerprint


Registry = Mapping[str, Tool]  # By name.


class SwitchMove(StrEnum):
    """What an entry says was done to a kill switch."""

    THROWN = "thrown"  # Nothing of this tool is sent from then on.
    LIFTED = "lifted"  # It is sent again.


TOPIC = "tool:"  # What the chain of a tool's entries is called, before its name.
# The state that each move leads to, as entries say it; a switch that was never moved is on.
LEADS_TO: Mapping[SwitchMove, str] = {SwitchMove.THROWN: "off", SwitchMove.LIFTED: "on"}


@dataclass(frozen=True, slots=True)
class Switch:
    """How a tool's kill switch stands. Source: the table switches.

    version: counts moves; 0 where nobody ever moved it, and then the rest says nothing.
    """

    tool: str
    thrown: bool = False
    version: int = 0
    moved_at: datetime | None = None
    moved_by: Actor | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SwitchEntry:
    """One move of a kill switch. Append-only, hash-chained in the topic tool:NAME. version: from 1."""

    tool: str
    move: SwitchMove
    actor: Actor
    at: datetime
    reason: str
    version: int


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One time that anybody asked a tool. Source: the table calls.

    asked: what was asked, field by field. answer: None while nobody answered, and where the process died.
    """

    number: int
    account: AccountId
    key: IntentKey
    tool: str
    asked_at: datetime
    asked: Mapping[str, object] = field(default_factory=dict)
    caller: str | None = None
    call_id: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """An intent that was asked for again: how often in all, and which fields differed between the calls."""

    account: AccountId
    key: IntentKey
    calls: int
    drifted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Twins:
    """Several keys for what looks like one intent.

    same: the fields that agree. keys: in the order in which they were first asked for. declared: each has a
    reference of its own, by which no run takes them for repeats.
    """

    account: AccountId
    same: Mapping[str, str]
    keys: tuple[IntentKey, ...]
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Minute:
    """The calls of one minute. first: for an intent that was not asked for before; again: the others."""

    at: datetime
    first: int
    again: int


@dataclass(frozen=True, slots=True)
class Burst:
    """Odd calls of one tool without a long pause: what the duplicate-call alert is about.

    number: of the first odd call; with the tool it names the burst. since: of the first call that counts
    towards it; no call of the burst before has one as high. began_at, last_at: of the first and the
    latest odd call. calls: all of the tool from a window before it began until its latest. repeated, twins:
    the largest first. spike: intents within the spike window at the most, 0 where the limit was not reached.
    whole: False where it may have begun before what was read. refunds: as of the tool.
    """

    tool: str
    number: int
    since: int
    began_at: datetime
    last_at: datetime
    calls: int
    repeated: tuple[Repeated, ...] = ()
    twins: tuple[Twins, ...] = ()
    spike: int = 0
    whole: bool = True
    refunds: bool = True

    @property
    def subjects(self) -> int:
        """Return how many intents, or what looks like one, it is about; a spike counts as its intents."""
        return max(len(self.repeated) + len(self.twins), self.spike)

    @property
    def doubles(self) -> bool:
        """Return whether something may be done twice; an intent that is only asked for again is not."""
        return bool(self.twins or self.spike)


@dataclass(frozen=True, slots=True)
class Activity:
    """What a tool was asked lately.

    minutes: those of the last hour that have a call. repeated: intents that were asked for more than once in
    it, the most often first. burst: the odd calls that go on now; None where there are none.
    """

    minutes: tuple[Minute, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    burst: Burst | None = None
