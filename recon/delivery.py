"""Waiting notices to Slack: claim, send or look, write down what became of it.

A notice is committed as `sending` before anything is sent, and nothing is open while Slack is asked. What a
dead sender left behind is looked for before it is sent again. Never decides whether anything is said.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self
from uuid import uuid4

from recon.doors.clock import Clock
from recon.doors.slack.posts import Slack
from recon.doors.store import outbox, runs, threads
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Absent, Delivered, Finding, Held, NotSent, Outcome, Unreadable
from recon.model.records.notices import Manner, Notice, Thread, Topic
from recon.model.records.owners import Profile, is_group
from recon.model.records.words import NoticeState
from recon.model.settings import Settings
from recon.rules import deliveries, notices, ownership, pacing
from recon.rules.pacing import EDITS, WORKSPACE, Pace

# Without a usable answer in a row: Slack is away, and every further message would have to be looked for.
SILENCES = 3
NOWHERE = ""  # Where an edit is that a later one made needless before its thread had a root.
ROOTS = 2  # Of a thread, in which a reply is looked for: the root may have moved since it was sent.
# One claim in so many goes to who waits longest, so that urgent ones hold up nobody for ever.
_OLDEST_EVERY = 5
_TURN = 200  # Notices in one turn, after which is counted again what waits.
_SHORTEST_WAIT = timedelta(seconds=1)  # Between two turns: another sender may hold what is due.

Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What one turn, or several, did.

    enabled: False without a token: notices wait. sent: delivered or found. postponed: to be tried again.
    given_up: became undeliverable now. left: how many are in each state but sent. late: how many of those
    should have gone out by now. reasons: what went wrong, each once. away: Slack is not there or does not
    know our token: trying more had no use.
    """

    enabled: bool
    away: bool = False
    sent: int = 0
    postponed: int = 0
    given_up: int = 0
    left: Mapping[NoticeState, int] = field(default_factory=dict)
    late: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def waiting(self) -> int:
        """Return how many notices are still to be delivered."""
        return sum(self.left.get(state, 0) for state in outbox.ON_THE_WAY)

    @property
    def resting(self) -> int:
        """Return how many of these wait for nothing but their owners' mornings."""
        return max(0, self.waiting - self.late)

    @property
    def complete(self) -> bool:
        """Return whether everything that could go out has gone out."""
        return not self.enabled or (self.late == 0 and self.given_up == 0)

    def then(self, later: Self) -> Self:
        """Return what this turn and a later one did."""
        return replace(
            later,
            sent=self.sent + later.sent,
            postponed=self.postponed + later.postponed,
            given_up=self.given_up + later.given_up,
            reasons=tuple(dict.fromkeys(self.reasons + later.reasons)),
        )


def deliver(
    database: Database,
    slack: Slack | None,
    settings: Settings,
    *,
    clock: Clock,
    limit: int = _TURN,
    sleep: Sleep = time.sleep,
) -> DeliveryReport:
    """Try every notice that is due once, at most `limit` of them, and return what became of them.

    slack: None when there is no token; nothing is tried then.

    Raises:
        DatabaseUnavailable: what was written down before it stands; a message sent already is found later.
    """
    if slack is None:
        return DeliveryReport(enabled=False, left=outbox.undelivered(database))
    return _Sender(database, slack, settings, clock, sleep).turn(limit)


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

    budget: nothing is begun after it. Without one, everything that is due is tried once.

    Raises:
        DatabaseUnavailable: what was written down before it stands.
    """
    if slack is None:
        return DeliveryReport(enabled=False, left=outbox.undelivered(database))
    deadline = clock() + budget
    sender = _Sender(database, slack, settings, clock, sleep)
    whole = sender.turn(_TURN, deadline=deadline if budget else None)
    while whole.waiting and not whole.away:
        due, now = outbox.next_due(database, lapse=sender.lapse), clock()
        wait = max(due - now, _SHORTEST_WAIT) if due is not None else _SHORTEST_WAIT
        if now + wait > deadline:
            break
        sleep(wait.total_seconds())
        whole = whole.then(sender.turn(_TURN, deadline=deadline))
    return whole


@dataclass(slots=True)
class _Sender:
    """One sender: what must rest for it, whom it has looked up, and how its turn goes."""

    database: Database
    slack: Slack
    settings: Settings
    clock: Clock
    sleep: Sleep
    sender: str = field(default_factory=lambda: f"{os.getpid()}-{uuid4().hex[:12]}")
    pace: Pace = field(default_factory=Pace)
    people: dict[str, str] = field(default_factory=dict)
    claims: int = 0
    silences: int = 0
    away: bool = False
    profiles: Mapping[str, Profile] = field(init=False)

    def __post_init__(self) -> None:
        try:
            self.profiles = ownership.owners_of(self.settings.owners)
        except ConfigurationError:  # The run says so; until then no group is mentioned, and all goes out.
            self.profiles = {}

    @property
    def lapse(self) -> timedelta:
        """Return how long after its end a claim has lapsed: its send may have begun just before."""
        told = self.settings.slack
        return max(timedelta(0), told.look_up_after - timedelta(seconds=told.timeout_seconds))

    def turn(self, limit: int, *, deadline: datetime | None = None) -> DeliveryReport:
        """Try every notice that is due once, at most `limit`, until a time; return what became of them."""
        tried: list[Notice] = []
        self.away, self.silences = False, 0
        while len(tried) < limit and not self.away and (deadline is None or self.clock() < deadline):
            notice = self._claim()
            if notice is None:
                break
            tried.append(self._try(notice))
        return DeliveryReport(
            enabled=True,
            away=self.away,
            sent=sum(notice.state is NoticeState.SENT for notice in tried),
            postponed=sum(notice.state in outbox.ON_THE_WAY for notice in tried),
            given_up=sum(notice.state is NoticeState.UNDELIVERABLE for notice in tried),
            left=outbox.undelivered(self.database),
            late=outbox.late(self.database, now=self.clock()),
            reasons=tuple(dict.fromkeys(notice.error for notice in tried if notice.error)),
        )

    def _claim(self) -> Notice | None:
        """Claim one notice, waiting where all that is due goes to resting channels; None where none is due.

        One at a time, so that a claim never runs out while others of its batch are being sent.
        """
        while True:
            now = self.clock()
            resting = self.pace.resting(now)
            claimed = outbox.claim(
                self.database,
                self.sender,
                now=now,
                claim=self.settings.slack.claim,
                limit=1,
                lapse=self.lapse,
                resting=resting,
                edits=EDITS not in resting,
                oldest=self.claims % _OLDEST_EVERY == _OLDEST_EVERY - 1,
            )
            if claimed:
                self.claims += 1
                return claimed[0]
            if not resting or not outbox.is_due(self.database, now=now, lapse=self.lapse):
                return None
            self.sleep(self.pace.wake(now).total_seconds())

    def _try(self, notice: Notice) -> Notice:
        """Send or look up a claimed notice, write down what became of it, and return it as it is then."""
        thread = outbox.threads(self.database, [notice.thread_key])[notice.thread_key]
        if thread.channel is not None:
            self.pace.name(thread.target, thread.channel)
        outcome: Outcome | Finding
        # An edit in its place is repeated and not looked for: once more does no harm.
        if notice.state is NoticeState.UNKNOWN and (notice.verb != "edit" or notice.channel is not None):
            notice, outcome = self._look(notice, thread)
        else:
            notice, outcome = self._send(notice, thread)
        self.silences = self.silences + 1 if deliveries.silent(outcome) else 0
        unreached = (
            isinstance(outcome, NotSent) and not outcome.counted and outcome.retry_after_seconds is None
        )
        self.away = unreached or self.silences >= SILENCES
        after = deliveries.after(notice, outcome, now=self.clock(), settings=self.settings.slack)
        posted = isinstance(outcome, Delivered) and outcome.ts not in {NOWHERE, thread.root_ts}
        moved = notice.verb == "edit" and posted
        outbox.record(self.database, after, sender=self.sender, moved=moved)
        return after

    def _send(self, notice: Notice, thread: Thread) -> tuple[Notice, Outcome]:
        if notice.verb == "root":
            return self._alone(self._shown(notice, thread))
        if notice.verb == "edit":
            return self._edit(notice, thread)
        if (
            thread.channel is None
            or thread.root_ts is None
            or outbox.is_rootless(self.database, notice, thread)
        ):
            return self._alone(notice)
        outcome = self._post(notice, thread.channel, thread_ts=thread.root_ts)
        notice = replace(notice, channel=None)  # As it was aimed.
        # The root was deleted, or its channel archived or left: whoever must hear is told elsewhere.
        lost = isinstance(outcome, NotSent) and (outcome.gone or outcome.astray)
        return self._alone(notice) if lost else (notice, outcome)

    def _edit(self, notice: Notice, thread: Thread) -> tuple[Notice, Outcome]:
        successor = outbox.next_root(self.database, notice)
        channel, root_ts = self._root_of(notice, thread, successor)
        if outbox.outdated(self.database, notice) or (successor is not None and not root_ts):
            # A later one shows the root as it stands now: sending this would put the past over it.
            return notice, Delivered(channel, root_ts)
        if not root_ts:  # Its root could not be delivered.
            return self._alone(self._shown(notice, thread))
        self._wait(EDITS)
        notice = self._shown(notice, thread, successor)
        outcome = self.slack.edit(notice.message, delivery_id=notice.delivery_id, channel=channel, ts=root_ts)
        now = self.clock()
        self.pace.use(EDITS, now + pacing.EDIT_PACE)
        pause = deliveries.rest(outcome, self.settings.slack)
        if pause is not None and isinstance(outcome, NotSent):
            outbox.rest_edits(self.database, until=now + pause, reason=outcome.reason)
        if not isinstance(outcome, NotSent) or not outcome.gone:
            return notice, outcome
        return self._alone(notice) if successor is None else (notice, Delivered(NOWHERE, NOWHERE))

    def _root_of(self, notice: Notice, thread: Thread, successor: int | None) -> tuple[str, str]:
        """Return where an edit goes: to the root of its thread, or to the one that it closes."""
        if successor is None:
            return thread.channel or NOWHERE, thread.root_ts or NOWHERE
        former = outbox.roots(self.database, thread.key, limit=1, before=notice.id)
        return former[0] if former else (NOWHERE, NOWHERE)

    def _shown(self, notice: Notice, thread: Thread, successor: int | None = None) -> Notice:
        """Return a root or an edit as its thread stands now, just before it goes out; an alarm as it is.

        successor: the id of the root that has begun the thread anew; this one shows how it ended before.
        """
        topic = Topic.read(thread.key)
        if topic is None:
            return notice
        last, now = runs.last_saved(self.database), self.clock()
        manner = Manner.of(
            self.settings,
            self.profiles,
            livemode=topic.livemode,
            as_of=last.as_of if last is not None else now,
            now=now,
        )
        if successor is None:
            stands = threads.standing(self.database, topic)
        else:
            stands = threads.ended(self.database, topic, before=successor)
        ping = notice.verb == "root"
        return replace(notice, message=notices.root(topic, stands, manner, ping=ping))

    def _alone(self, notice: Notice) -> tuple[Notice, Outcome]:
        """Post into the target's channel, or to the operators where the target can take no message."""
        channel, operators = self._channel(notice.target), self.settings.slack.operators_channel
        if isinstance(channel, Unreadable):
            return notice, Held(channel.reason, silent=channel.silent)
        meant = deliveries.addressed(notice.message, notice.target)
        nobody = channel == operators and "@" in notice.target
        outcome = self._post(replace(notice, message=meant) if nobody else notice, channel)
        if isinstance(outcome, NotSent) and outcome.astray and channel != operators:
            notice = replace(notice, channel=channel)
            channel, outcome = operators, self._post(replace(notice, message=meant), operators)
        return replace(notice, channel=channel), outcome

    def _post(self, notice: Notice, channel: str, *, thread_ts: str | None = None) -> Outcome:
        self._wait(channel, *([] if thread_ts else [notice.target]), WORKSPACE)
        # Before it is sent, or nobody knew where to look for it.
        aimed = channel if thread_ts is None else None
        if aimed != notice.channel and not outbox.aim(
            self.database, notice, sender=self.sender, channel=aimed
        ):
            return Held("another sender looks after it")
        timeout = timedelta(seconds=self.settings.slack.timeout_seconds)
        if notice.claimed_until is not None and self.clock() + timeout > notice.claimed_until:
            # Whoever claims it next must not look before this send is over.
            return Held("too little was left of the claim")
        outcome = self.slack.post(
            notice.message,
            delivery_id=notice.delivery_id,
            channel=channel,
            thread_ts=thread_ts,
            broadcast=thread_ts is not None and notice.verb == "call",
        )
        now = self.clock()
        self.pace.use(channel, now + pacing.PACE)
        self.pace.use(WORKSPACE, now + timedelta(minutes=1) / self.settings.slack.messages_per_minute)
        if isinstance(outcome, Delivered):
            self.pace.name(channel, outcome.channel)
        pause = deliveries.rest(outcome, self.settings.slack)
        if pause is not None and isinstance(outcome, NotSent):
            names = self.pace.names(channel) | {notice.target}
            outbox.rest(self.database, names, until=now + pause, reason=outcome.reason)
        return outcome

    def _wait(self, *places: str) -> None:
        rest = self.pace.rest(places, self.clock())
        if rest:
            self.sleep(rest.total_seconds())

    def _look(self, notice: Notice, thread: Thread) -> tuple[Notice, Finding]:
        """Look where the notice was aimed at: into a channel where one is noted, else into its thread."""
        since = notice.first_sent_at or notice.created_at
        known = ((thread.channel, thread.root_ts),) if thread.channel and thread.root_ts else ()
        if notice.channel is None and known and notice.verb in {"reply", "call"}:
            places = dict.fromkeys(known + outbox.roots(self.database, thread.key, limit=ROOTS))
            for channel, root_ts in places:
                found = self.slack.find(notice.delivery_id, channel=channel, thread_ts=root_ts, oldest=since)
                if not isinstance(found, Absent):
                    return notice, found
            return notice, Absent()
        place = notice.channel or self._channel(notice.target)
        if isinstance(place, Unreadable):
            return notice, place
        return notice, self.slack.find(notice.delivery_id, channel=place, thread_ts=None, oldest=since)

    def _channel(self, target: str) -> str | Unreadable:
        """Return what a message is posted to: the target, the person with that address, or the operators."""
        if is_group(target):
            return self.settings.slack.operators_channel  # A user group reads nowhere of its own.
        if target.startswith("#") or "@" not in target:
            return target
        if target not in self.people:
            found = self.slack.person(target)
            if isinstance(found, Unreadable):
                return found
            self.people[target] = found or self.settings.slack.operators_channel
        return self.people[target]
