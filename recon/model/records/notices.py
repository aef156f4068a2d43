"""What we tell whom: messages, the outbox rows that carry them, and the threads they live in.

Never says how to send one: rules/notices.py composes, doors/slack delivers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Self
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

from recon.model.records.cases import Case, Owner
from recon.model.records.owners import Profile, profile_of
from recon.model.records.words import AccountId, CaseId, Kind, NoticeState, RunId, Severity
from recon.model.settings import Settings

# What goes first where not everything can go at once: what is wrong with the system itself, then the cases.
ALARM = 3
URGENCY = {Severity.CRITICAL: 3, Severity.HIGH: 2, Severity.MEDIUM: 1, Severity.LOW: 0}

_DELIVERIES = UUID("7b1f6a0e-4d0c-5a51-9d0e-3b0c6f2f8f11")  # Our namespace of delivery ids; any would do.
_PARTS = 5  # Of the key of a thread of cases.
Block = dict[str, Any]  # A Slack block, as JSON has it. Source: Slack, Block Kit.


@dataclass(frozen=True, slots=True)
class Message:
    """What people see.

    text: the whole message in plain words, for screen readers and previews. blocks: the same, laid out.
    """

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """One root message about one owner's cases of one kind and severity; or an alarm of the system itself.

    key: unique, from owner target, kind, severity, account and mode. channel: as Slack named it in its
    answer, None until the root was sent. root_ts: Slack's timestamp of the latest root, None until known.
    root_id: the id of the notice that is that root, None as long.
    """

    key: str
    target: str
    channel: str | None = None
    root_ts: str | None = None
    root_id: int | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """What one thread of cases is about."""

    target: str
    kind: Kind
    severity: Severity
    account: AccountId
    livemode: bool

    @classmethod
    def of(cls, case: Case, *, livemode: bool) -> Self | None:
        """Return the topic that a case is told in; None where nobody is to be told."""
        if case.owner is None or not case.owner.target:
            return None
        return cls(case.owner.target, case.mismatch.kind, case.severity, case.account, livemode)

    @classmethod
    def read(cls, key: str) -> Self | None:
        """Return the topic of a thread by its key; None of an alarm's."""
        parts = key.rsplit("|", 4)
        if len(parts) != _PARTS or parts[1] not in set(Kind) or parts[2] not in set(Severity):
            return None
        target, kind, severity, account, mode = parts
        return cls(target, Kind(kind), Severity(severity), AccountId(unquote(account)), mode == "live")

    @property
    def key(self) -> str:
        """Return the key of the thread."""
        mode = "live" if self.livemode else "test"
        return f"{self.target}|{self.kind}|{self.severity}|{quote(self.account)}|{mode}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a thread stands: the cases of which somebody was told.

    waiting: those that wait in it. over: those that left it since its root, the latest first.
    """

    waiting: tuple[Case, ...] = ()
    over: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What was said before some changes.

    standing: how each thread stands that they may be told in, by key. begun: those of them that have a root,
    or one on its way. expected: those whose root is on its way: what it will show is not decided yet. told:
    the cases that some notice has spoken of.
    """

    standing: Mapping[str, Standing] = field(default_factory=dict)
    begun: frozenset[str] = frozenset()
    expected: frozenset[str] = frozenset()
    told: frozenset[CaseId] = frozenset()

    def active(self, key: str) -> bool:
        """Return whether something waits in a thread, so that its root is where people look."""
        waits = key in self.standing and bool(self.standing[key].waiting)
        return key in self.expected or (key in self.begun and waits)


@dataclass(frozen=True, slots=True)
class Notice:
    """One outgoing message: an outbox row.

    dedupe_key: unique; the same news said twice is one row. delivery_id: unique, sent in the message's
    metadata. verb: "root" posts the thread's root, "reply" posts into it, "call" does so and shows it in the
    channel as well, "edit" rewrites the root. urgency: what goes first, 3 is critical and 0 a digest.
    attempts: sends begun. next_at: not before. claimed_by, claimed_until: the sender at it. first_sent_at:
    when the first send began. misses: complete look-ups that did not find it. error: the last thing that went
    wrong, without secrets.
    """

    id: int | None
    dedupe_key: str
    delivery_id: str
    thread_key: str
    target: str
    verb: str
    message: Message
    case_ids: tuple[CaseId, ...]
    state: NoticeState
    created_at: datetime
    next_at: datetime
    run_id: RunId | None = None
    urgency: int = 1
    attempts: int = 0
    misses: int = 0
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    first_sent_at: datetime | None = None
    sent_at: datetime | None = None
    channel: str | None = None
    ts: str | None = None
    error: str | None = None

    @classmethod
    def new(
        cls,
        dedupe_key: str,
        verb: str,
        message: Message,
        *,
        thread_key: str,
        target: str,
        urgency: int,
        now: datetime,
        next_at: datetime | None = None,
        case_ids: tuple[CaseId, ...] = (),
        run_id: RunId | None = None,
    ) -> Self:
        """Return a notice that waits to be sent; the same key gives the same delivery id.

        next_at: not before; None is at once.
        """
        return cls(
            id=None,
            dedupe_key=dedupe_key,
            delivery_id=str(uuid5(_DELIVERIES, dedupe_key)),
            thread_key=thread_key,
            target=target,
            verb=verb,
            message=message,
            case_ids=case_ids,
            state=NoticeState.WAITING,
            created_at=now,
            next_at=next_at or now,
            run_id=run_id,
            urgency=urgency,
        )


@dataclass(frozen=True, slots=True)
class Manner:
    """What the notices of one run, one move or one look at the time have in common.

    run_id: None where no run says it. as_of: the time its cases were judged at. livemode: whether the money
    is real. dashboard_url: without a slash at its end. profiles: what is known of owners, by their names.
    answers: somebody listens to what is clicked in Slack; otherwise nothing can be.
    """

    run_id: RunId | None
    as_of: datetime
    now: datetime
    livemode: bool
    dashboard_url: str
    operators_channel: str
    surge_limit: int
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    answers: bool = False

    @classmethod
    def of(
        cls,
        settings: Settings,
        profiles: Mapping[str, Profile],
        *,
        livemode: bool,
        as_of: datetime,
        now: datetime,
        run_id: RunId | None = None,
    ) -> Self:
        """Return the manner that the settings ask for."""
        return cls(
            run_id=run_id,
            as_of=as_of,
            now=now,
            livemode=livemode,
            dashboard_url=settings.dashboard.url.rstrip("/"),
            operators_channel=settings.slack.operators_channel,
            surge_limit=settings.surge_limit,
            profiles=profiles,
            answers=settings.slack.answers,
        )

    def profile(self, owner: Owner) -> Profile:
        """Return what is known of a case's owner."""
        return profile_of(owner, self.profiles)

    @property
    def mode(self) -> str:
        """Return the word for whether the money is real."""
        return "live" if self.livemode else "test"


def key_of(parts: Iterable[str]) -> str:
    """Return a short name of a set of texts, in whatever order: a part of the key of a notice or a thread."""
    return sha256("\n".join(sorted(parts)).encode()).hexdigest()[:20]
