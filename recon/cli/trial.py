"""One message to an owner, marked as a test, through the outbox; and what is seen of it on its way.

Never judges a case, and never sends what is not marked as a test by itself: it lets delivery do it.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from uuid import uuid4

from recon import delivery
from recon.cli import books
from recon.doctor import answers, reach
from recon.doctor.patients import Patient
from recon.doctor.reach import SLACK
from recon.doors.slack.posts import Slack
from recon.doors.slack.workspace import Channel, Workspace
from recon.doors.store import outbox
from recon.model import blocks
from recon.model.errors import ConfigurationError
from recon.model.particulars import mention
from recon.model.phrases import duration, minute
from recon.model.records.deliveries import Absent, Delivered, Finding, Unreadable
from recon.model.records.notices import ALARM, Message, Notice
from recon.model.records.owners import Profile, is_group
from recon.model.records.remarks import Remark
from recon.model.records.words import NoticeState
from recon.model.settings import Settings
from recon.rules.ownership import Ownership

_AT_ONCE = 10  # Notices that are tried before looking whether ours was among them.
_LOOKS = 3  # Messages can show late, by seconds.
_PAUSE_SECONDS = 1.0
Sleep = Callable[[float], None]
_TARGET = re.compile(r"#\S+|[UWCGDS][A-Z0-9]{5,}|\S+@\S+")


def chosen(ownership: Ownership, wanted: str) -> Profile:
    """Return the owner of that name, or who reads at that target; any target will do.

    Raises:
        ConfigurationError: it is neither; the nearest name is said. Nothing was sent.
    """
    known = ownership.owners
    if wanted in known:
        return known[wanted]
    if _TARGET.fullmatch(wanted):
        there = next((owner for owner in known.values() if owner.target == wanted), None)
        return there or Profile(wanted, wanted, group=wanted if is_group(wanted) else None)
    near = get_close_matches(wanted.lower(), [name.lower() for name in known], n=1, cutoff=0.0)
    nearest = next((name for name in known if name.lower() in near), "")
    raise ConfigurationError(f"owners.toml names no owner {wanted[:60]!r}; the nearest is {nearest!r}.")


def shown(owner: Profile, settings: Settings) -> Iterator[str]:
    """Yield what would be sent, and to whom, as lines."""
    now = datetime.now(UTC)
    for remark in told_of(owner, settings, now=now):
        yield remark.found
    message = composed(owner, settings, now=now)
    yield f"It would say: {message.text}"
    yield "Nothing was sent."


def told_of(owner: Profile, settings: Settings, *, now: datetime) -> Iterator[Remark]:
    """Yield what owners.toml says of an owner, as it matters to a message now."""
    where = owner.target
    if is_group(where):
        where = (
            f"{settings.slack.operators_channel}, since {where} is a user group and reads nowhere of its own"
        )
    yield SLACK.ok(f"Messages for {owner.name} go to {where}.")
    yield SLACK.ok(f"It mentions the user group {owner.group}." if owner.group else "It mentions nobody.")
    if owner.rest is None:
        yield SLACK.ok("Quiet hours: none.")
    else:
        begins, ends = (f"{each:%H:%M}" for each in owner.rest)
        awake_at = owner.awake_at(now)
        rest = "not now"
        if awake_at > now:
            rest = f"now; what is not critical would wait until {minute(awake_at)}, and this test does not"
        yield SLACK.ok(f"Quiet hours: {begins} to {ends} {owner.zone}, {rest}.")
    steps = ", ".join(f"{step.owner} after {duration(step.after)}" for step in owner.steps)
    yield SLACK.ok(f"Where nobody answers: {steps or 'nobody else is told'}.")


def composed(owner: Profile, settings: Settings, *, now: datetime) -> Message:
    """Return the message."""
    title = "Test of recon: nothing to do"
    told = f"For {_named(owner)}: `recon slack test` looks whether messages about refunds arrive there."
    link = blocks.escaped(settings.dashboard.url)
    laid_out = (
        blocks.header(title),
        blocks.section(f"{mention(owner)}{told}"),
        blocks.context(f"{minute(now)} · <{link}|Open the dashboard>"),
    )
    return Message(f"{title}. {told.replace('`', '')} {minute(now)}. {link}", laid_out)


def _named(owner: Profile) -> str:
    target = blocks.clean(owner.target)
    return target if owner.name == owner.target else f"{blocks.clean(owner.name)} at {target}"


@contextmanager
def opened(settings: Settings) -> Iterator[Patient]:
    """Open the database for a trial.

    Raises:
        ConfigurationError: there is no token, or the database is not there, or not of this version.
    """
    if not settings.slack.enabled:
        raise ConfigurationError(
            "SLACK_BOT_TOKEN is not set: make a Slack app (recon slack manifest) and set its bot token."
        )
    with books.opened(settings) as database:
        yield Patient(os.environ, None, settings, None, database, lambda: datetime.now(UTC))


class Trial:
    """One message on its way. arrived: it is where the owner reads."""

    def __init__(
        self, patient: Patient, owner: Profile, *, budget_seconds: int, sleep: Sleep = time.sleep
    ) -> None:
        """Send nothing yet."""
        assert patient.settings is not None
        assert patient.database is not None
        self.arrived = False
        self._patient, self._owner = patient, owner
        self._settings, self._database = patient.settings, patient.database
        self._budget = timedelta(seconds=budget_seconds)
        self._slack, self._sleep = Slack(self._settings.slack), sleep

    def remarks(self) -> Iterator[Remark]:
        """Yield what is seen, step by step, and send on the way.

        Raises:
            DatabaseUnavailable: what was written down before it stands.
        """
        yield from told_of(self._owner, self._settings, now=self._patient.clock())
        workspace = reach.opened(self._patient)
        if workspace is None:
            what = reach.wrong(self._settings.slack)
            yield SLACK.failure(f"Nothing was sent: SLACK_BOT_TOKEN holds {what}.", reach.COPY_ANEW)
            return
        bot = workspace.bot()
        if isinstance(bot, Unreadable):
            yield SLACK.failure(f"Nothing was sent: {bot.reason}.", reach.remedy(bot))
            return
        owner = self._owner
        who = "as asked for" if owner.name == owner.target else f"owner {owner.name!r}"
        targets = reach.sorted_out([(owner.target, who)], [(owner.group, who)])
        yield from reach.reached(workspace, bot, targets.places)
        yield from reach.mentioned(workspace, targets.groups)
        notice = self._sent()
        yield from self._landed(workspace, notice)
        if notice.state is NoticeState.SENT:
            yield self._found(notice)
        yield from answers.clicks(self._patient)

    def _sent(self) -> Notice:
        """Put the message into the outbox and let delivery go on until it is out, or the time is up."""
        now, key = self._patient.clock(), f"trial|{uuid4()}"
        notice = Notice.new(
            key,
            "root",
            composed(self._owner, self._settings, now=now),
            thread_key=key,
            target=self._owner.target,
            urgency=ALARM,  # Nobody waits for a test behind a digest.
            now=now,
        )
        with self._database.write() as connection:
            outbox.add(connection, [notice])
        while True:
            report = delivery.deliver(
                self._database,
                self._slack,
                self._settings,
                clock=self._patient.clock,
                limit=_AT_ONCE,
                sleep=self._sleep,
            )
            found = outbox.named(self._database, notice.dedupe_key)
            assert found is not None, "it was added just above"
            late = self._patient.clock() - now >= self._budget
            if found.state not in outbox.ON_THE_WAY or report.away or late:
                return found
            self._sleep(_PAUSE_SECONDS)

    def _landed(self, workspace: Workspace, notice: Notice) -> Iterator[Remark]:
        """Yield whether it was sent, and whether to where the owner reads."""
        if notice.state is not NoticeState.SENT:
            yield SLACK.failure(*_unsent(notice))
            return
        channel, target = notice.channel or "", self._owner.target
        joined = workspace.channels(public=True, private=True)
        known: tuple[Channel, ...] = () if isinstance(joined, Unreadable) else joined
        name = next((f"#{each.name} ({channel})" for each in known if each.id == channel), channel)
        when = f"{name} at {minute(notice.sent_at)}" if notice.sent_at else name
        if _elsewhere(target, channel, known):
            yield SLACK.failure(
                f"It fell back to {when}, ts {notice.ts}: Slack does not let it go to {target}.",
                "Put that right as said above, or name another target in owners.toml.",
            )
            return
        self.arrived = True
        yield SLACK.ok(f"Sent to {when}, ts {notice.ts}.")

    def _found(self, notice: Notice) -> Remark:
        """Return whether it is found again as after an unclear send."""
        finding: Finding = Absent()
        for look in range(_LOOKS):
            if look:
                self._sleep(_PAUSE_SECONDS)
            finding = self._slack.find(
                notice.delivery_id,
                channel=notice.channel or "",
                thread_ts=None,
                oldest=notice.first_sent_at or notice.created_at,
            )
            if isinstance(finding, Delivered):
                return SLACK.ok("It is found again by its delivery id, as after an unclear send.")
        if isinstance(finding, Unreadable):
            why = f"It is not found again: {finding.reason}"
            return SLACK.failure(why, reach.remedy(finding))
        return SLACK.failure(
            "It is not found again: the channel can be read, and does not show it with its delivery id.",
            "An unclear send would be repeated there. Look whether somebody deletes messages; try again.",
        )


def _unsent(notice: Notice) -> tuple[str, str]:
    """Return what became of a message that is not out, and what to do."""
    reason = notice.error or "other notices are before it, or another sender has it"
    if notice.state is NoticeState.UNDELIVERABLE:
        return f"Not sent, and given up: {reason}.", "Put that right, then test again."
    if notice.state is NoticeState.UNKNOWN:
        return (
            f"Nobody knows whether it was sent: {reason}.",
            "It is looked for before anything is sent again; --seconds 150 waits for that.",
        )
    return f"Not sent yet: {reason}.", "It waits in the outbox with the others, and goes out by itself."


def _elsewhere(target: str, channel: str, known: tuple[Channel, ...]) -> bool:
    """Return whether a message certainly is not where its target reads."""
    if is_group(target):
        return False
    if reach.is_person(target):
        return not channel.startswith("D")
    if not target.startswith("#"):
        return channel != target
    there = {each.id for each in known if f"#{each.name}" == target}
    others = {each.id for each in known} - there
    return channel in others
