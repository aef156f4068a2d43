"""Waiting notices to Slack: claim, send or look, write down what became of it.

A notice is committed as `sending` before anything is sent, and nothing is open while Slack is asked. What a
dead sender left behind is looked for before it is sent again. Never composes a message.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import uuid4

from recon.doors.slack.posts import Slack
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.deliveries import Delivered, Finding, Held, NotSent, Outcome, Unreadable
from recon.model.records.notices import Notice, Thread
from recon.model.records.words import NoticeState
from recon.model.settings import Settings
from recon.rules import deliveries

PACE = timedelta(seconds=1)  # Slack takes one message a second and channel: asking for more only costs time.
_SHORTEST_WAIT = timedelta(seconds=1)  # Between two turns: another sender may hold what is due.

Clock = Callable[[], datetime]
Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What one turn, or several, did.

    enabled: False without a token: notices wait. sent: delivered or found. postponed: to be tried again.
    given_up: became undeliverable now. left: how many are in each state but sent. reasons: what
    went wrong, each once. away: Slack is not there or does not know our token: trying more had no use.
    """

    enabled: bool
    away: bool = False
    sent: int = 0
    postponed: int = 0
    given_up: int = 0
    left: Mapping[NoticeState, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def waiting(self) -> int:
        """Return how many notices are still to be delivered."""
        return sum(self.left.get(state, 0) for state in outbox.ON_THE_WAY)

    @property
    def complete(self) -> bool:
        """Return whether everything that could go out has gone out."""
        return not self.enabled or (self.waiting == 0 and self.given_up == 0)


def deliver(
    database: Database,
    slack: Slack | None,
    settings: Settings,
    *,
    clock: Clock,
    limit: int = 200,
    sleep: Sleep = time.sleep,
) -> DeliveryReport:
    """Try every notice that is due once, at most `limit` of them, and return what became of them.

    slack: None when there is no token; nothing is tried then.

    Raises:
        DatabaseUnavailable: what was written down before it stands; a message sent already is found later.
    """
    if slack is None:
        return DeliveryReport(enabled=False, left=outbox.undelivered(database))
    turn = _Turn(database, slack, settings, clock, sleep)
    tried: list[Notice] = []
    for _ in range(limit):
        notice = turn.once()
        if notice is None:
            break
        tried.append(notice)
        if turn.away:
            break
    return DeliveryReport(
        enabled=True,
        away=turn.away,
        sent=sum(notice.state is NoticeState.SENT for notice in tried),
        postponed=sum(notice.state in outbox.ON_THE_WAY for notice in tried),
        given_up=sum(notice.state is NoticeState.UNDELIVERABLE for notice in tried),
        left=outbox.undelivered(database),
        reasons=tuple(dict.fromkeys(notice.error for notice in tried if notice.error)),
    )


def deliver_all(
    database: Database,
    slack: Slack | None,
    settings: Settings,
    *,
    clock: Clock,
    budget: timedelta,
    sleep: Sleep = time.sleep,
) -> DeliveryReport:
    """Take turns until nothing waits, the budget would be spent or Slack is away; return what all did.

    Raises:
        DatabaseUnavailable: what was written down before it stands.
    """
    deadline = clock() + budget
    whole = deliver(database, slack, settings, clock=clock, sleep=sleep)
    while whole.enabled and whole.waiting and not whole.away:
        due, now = outbox.next_due(database), clock()
        wait = max(due - now, _SHORTEST_WAIT) if due is not None else _SHORTEST_WAIT
        if now + wait > deadline:
            break
        sleep(wait.total_seconds())
        turn = deliver(database, slack, settings, clock=clock, sleep=sleep)
        whole = replace(
            turn,
            sent=whole.sent + turn.sent,
            postponed=whole.postponed + turn.postponed,
            given_up=whole.given_up + turn.given_up,
            reasons=tuple(dict.fromkeys(whole.reasons + turn.reasons)),
        )
    return whole


@dataclass(slots=True)
class _Turn:
    """One sender's turn: what it has posted where and when, and whom it has looked up."""

    database: Database
    slack: Slack
    settings: Settings
    clock: Clock
    sleep: Sleep
    sender: str = field(default_factory=lambda: f"{os.getpid()}-{uuid4().hex[:12]}")
    posted_at: dict[str, datetime] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    away: bool = False

    def once(self) -> Notice | None:
        """Claim one notice, try it, and return it as it is afterwards; None when nothing is due.

        One at a time, so that a claim never runs out while others of its batch are being sent.
        """
        claim = self.settings.slack.claim
        claimed = outbox.claim(self.database, self.sender, now=self.clock(), claim=claim, limit=1)
        if not claimed:
            return None
        notice = claimed[0]
        thread = outbox.threads(self.database, [notice.thread_key])[notice.thread_key]
        outcome: Outcome | Finding
        if notice.state is NoticeState.UNKNOWN:
            notice, outcome = self._look(notice, thread)
        else:
            notice, outcome = self._send(notice, thread)
        if isinstance(outcome, NotSent):
            self.away = not outcome.counted and outcome.retry_after_seconds is None
        after = deliveries.after(notice, outcome, now=self.clock(), settings=self.settings.slack)
        moved = None
        if notice.verb == "edit" and isinstance(outcome, Delivered) and outcome.ts != thread.root_ts:
            moved = replace(thread, channel=outcome.channel, root_ts=outcome.ts)
        outbox.record(self.database, after, sender=self.sender, moved=moved)
        return after

    def _send(self, notice: Notice, thread: Thread) -> tuple[Notice, Outcome]:
        if notice.verb == "root":
            return self._root(self._shown(notice, thread))
        if thread.root_ts is None or thread.channel is None:
            return notice, Held("the thread's first message is not sent yet")
        if notice.verb == "reply":
            outcome = self._post(notice, thread.channel, thread_ts=thread.root_ts)
            return self._root(notice) if isinstance(outcome, NotSent) and outcome.gone else (notice, outcome)
        if outbox.outdated(self.database, notice):
            # A later one shows the thread as it stands now: sending this would put the past over it.
            return notice, Delivered(thread.channel, thread.root_ts)
        notice = self._shown(notice, thread)
        outcome = self.slack.edit(
            notice.message, delivery_id=notice.delivery_id, channel=thread.channel, ts=thread.root_ts
        )
        if isinstance(outcome, NotSent) and outcome.gone:
            return self._root(notice)
        return notice, outcome

    def _shown(self, notice: Notice, thread: Thread) -> Notice:  # noqa: ARG002 - it stands as it was planned
        """Return a root or an edit as its thread stands now, just before it goes out."""
        return notice

    def _root(self, notice: Notice) -> tuple[Notice, Outcome]:
        """Post into the target's channel, or to the operators where the target can take no message."""
        channel = self._channel(notice.target)
        if isinstance(channel, Unreadable):
            return notice, NotSent(channel.reason, counted=False)
        outcome = self._post(notice, channel)
        operators = self.settings.slack.operators_channel
        if isinstance(outcome, NotSent) and outcome.permanent and channel != operators:
            channel, outcome = operators, self._post(notice, operators)
        return replace(notice, channel=channel), outcome

    def _post(self, notice: Notice, channel: str, *, thread_ts: str | None = None) -> Outcome:
        before = self.posted_at.get(channel)
        rest = PACE - (self.clock() - before) if before is not None else timedelta(0)
        if rest > timedelta(0):
            self.sleep(min(rest, PACE).total_seconds())
        timeout = timedelta(seconds=self.settings.slack.timeout_seconds)
        if notice.claimed_until is not None and self.clock() + timeout > notice.claimed_until:
            # Whoever claims it next must not look before this send is over.
            return Held("too little was left of the claim")
        outcome = self.slack.post(
            notice.message, delivery_id=notice.delivery_id, channel=channel, thread_ts=thread_ts
        )
        self.posted_at[channel] = self.clock()
        if isinstance(outcome, Delivered):  # The same channel by the name that replies use.
            self.posted_at[outcome.channel] = self.posted_at[channel]
        return outcome

    def _look(self, notice: Notice, thread: Thread) -> tuple[Notice, Finding]:
        # A channel of its own is noted only where it was posted as a root, whatever it was meant to be.
        in_thread = notice.verb == "reply" and notice.channel is None
        channel = notice.channel or thread.channel or self._channel(notice.target)
        if isinstance(channel, Unreadable):
            return notice, channel
        return notice, self.slack.find(
            notice.delivery_id,
            channel=outbox.place(self.database, channel) or channel,
            thread_ts=thread.root_ts if in_thread else None,
            oldest=notice.first_sent_at or notice.created_at,
        )

    def _channel(self, target: str) -> str | Unreadable:
        """Return what a message is posted to: the target, the person with that address, or the operators."""
        if re.fullmatch(r"S[A-Z0-9]{5,}", target):
            return self.settings.slack.operators_channel  # A user group reads nowhere of its own.
        if target.startswith("#") or "@" not in target:
            return target
        if target not in self.people:
            found = self.slack.person(target)
            if isinstance(found, Unreadable):
                return found
            self.people[target] = found or self.settings.slack.operators_channel
        return self.people[target]
