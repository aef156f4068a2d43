"""What we tell whom: messages, the outbox rows that carry them, and the threads they live in.

Never says how to send one: rules/notices.py composes, doors/slack delivers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recon.model.records.owners import Profile
from recon.model.records.words import CaseId, NoticeState, RunId

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


@dataclass(frozen=True, slots=True)
class Manner:
    """What every notice of a run has in common.

    as_of: the time its cases were judged at. livemode: whether the money is real. dashboard_url: without
    a slash at its end. profiles: what is known of owners, by their names. answers: somebody listens to what
    is clicked in Slack; otherwise nothing can be.
    """

    run_id: RunId | None
    as_of: datetime
    now: datetime
    livemode: bool
    dashboard_url: str
    operators_channel: str
    surge_limit: int
    mentions: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    answers: bool = False

    @property
    def mode(self) -> str:
        """Return the word for whether the money is real."""
        return "live" if self.livemode else "test"
