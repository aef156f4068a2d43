"""What an outbox row becomes after an attempt to send it, or to find it.

An error is unknown, never failed: a message that may have been sent is looked for, twice and a minute apart,
before it is sent again. Never talks to Slack and never reads a clock.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from recon.model import blocks
from recon.model.records.deliveries import (
    Absent,
    Delivered,
    Finding,
    Held,
    NotSent,
    Outcome,
    Unknown,
    Unreadable,
)
from recon.model.records.notices import Message, Notice
from recon.model.records.words import NoticeState
from recon.model.settings import SlackSettings

LOOK_UPS = 2  # Complete readings that must not show a message before it is sent again.
BETWEEN_LOOK_UPS = timedelta(minutes=1)  # Messages can show late, by seconds; one reading is not absence.
FIRST_PAUSE = timedelta(seconds=15)  # Before the second attempt; doubled for each one after it.
# While Slack is not there, or our token is not good: no use in hurrying.
UNREACHED_PAUSE = timedelta(seconds=30)
HELD_PAUSE = timedelta(seconds=15)  # Where a person's id could not be asked for, or a claim was nearly over.
TEXT_LIMIT, BLOCK_LIMIT = 3_900, 49  # What a line more still fits into. Source: as in the door to Slack.
SHORTEST_PAUSE = timedelta(seconds=1)  # Slack takes one message a second and channel.


def after(notice: Notice, outcome: Outcome | Finding, *, now: datetime, settings: SlackSettings) -> Notice:
    """Return the notice as it is after an outcome, in any state but `sending`.

    notice: as it was claimed; the attempt that the outcome is of is counted in it already.
    """
    match outcome:
        case Delivered(channel, ts):
            return replace(
                notice, state=NoticeState.SENT, sent_at=now, channel=channel, ts=ts, misses=0, error=None
            )
        case NotSent():
            return _not_sent(notice, outcome, now=now, settings=settings)
        case Unknown():
            return _silence(notice, outcome, now=now, settings=settings)
        case Held(reason):
            return _taken_back(notice, reason, at=now + HELD_PAUSE)
        case Absent() | Unreadable():
            return _not_found(notice, outcome, now=now)


def rest(outcome: Outcome | Finding, settings: SlackSettings) -> timedelta | None:
    """Return how long nothing more is to be sent there, as Slack asked; None where it did not ask."""
    if not isinstance(outcome, NotSent) or outcome.retry_after_seconds is None:
        return None
    asked = timedelta(seconds=min(outcome.retry_after_seconds, settings.retry_after_limit.total_seconds()))
    return max(SHORTEST_PAUSE, asked)


def silent(outcome: Outcome | Finding) -> bool:
    """Return whether nothing usable came from Slack: a few of these in a row, and more would come of more."""
    return isinstance(outcome, Unknown) or (isinstance(outcome, Unreadable | Held) and outcome.silent)


def addressed(message: Message, target: str) -> Message:
    """Return a message that says whom it was meant for, because they could not be written to."""
    line = f"Meant for {blocks.clean(target)}, where Slack takes no message from us."
    text = f"{line} {message.text}"
    if len(text) > TEXT_LIMIT or (message.blocks and len(message.blocks) >= BLOCK_LIMIT):
        return message
    return Message(text, (blocks.context(line), *message.blocks) if message.blocks else ())


def _not_sent(notice: Notice, outcome: NotSent, *, now: datetime, settings: SlackSettings) -> Notice:
    if outcome.permanent:
        return _given_up(notice, outcome.reason)
    wanted = rest(outcome, settings)
    if not outcome.counted:
        pause = wanted if wanted is not None else min(UNREACHED_PAUSE, settings.retry_after_limit)
        return _taken_back(notice, outcome.reason, at=now + pause)
    pause = max(wanted or SHORTEST_PAUSE, _pause(notice, settings))
    return _again(notice, outcome.reason, now=now, pause=pause, settings=settings)


def _silence(notice: Notice, outcome: Unknown, *, now: datetime, settings: SlackSettings) -> Notice:
    if outcome.repeatable:
        return _taken_back(notice, outcome.reason, at=now + UNREACHED_PAUSE)
    return _unknown(notice, outcome.reason, misses=0, at=now + settings.look_up_after)


def _not_found(notice: Notice, finding: Absent | Unreadable, *, now: datetime) -> Notice:
    if isinstance(finding, Unreadable):
        return _unknown(notice, finding.reason, misses=notice.misses, at=now + BETWEEN_LOOK_UPS)
    misses = notice.misses + 1
    if misses < LOOK_UPS:
        return _unknown(notice, "not found at the first look", misses=misses, at=now + BETWEEN_LOOK_UPS)
    # Slack said nothing of it and does not have it: an outage, which may last a day, and loses no alert.
    sent_anew = _taken_back(notice, "not found, so it is sent again", at=now)
    return replace(sent_anew, misses=0, first_sent_at=notice.first_sent_at)


def _again(
    notice: Notice, reason: str, *, now: datetime, pause: timedelta, settings: SlackSettings
) -> Notice:
    if notice.attempts >= settings.attempt_limit:
        return _given_up(notice, f"{reason}; given up after {notice.attempts} attempts")
    return replace(notice, state=NoticeState.WAITING, next_at=now + pause, error=reason)


def _taken_back(notice: Notice, reason: str, *, at: datetime) -> Notice:
    """Return the notice as if this attempt had not begun: nothing was sent, and nothing speaks against it."""
    attempts = max(0, notice.attempts - 1)
    return replace(
        notice,
        state=NoticeState.WAITING,
        next_at=at,
        error=reason,
        attempts=attempts,
        first_sent_at=notice.first_sent_at if attempts else None,
    )


def _unknown(notice: Notice, reason: str, *, misses: int, at: datetime) -> Notice:
    return replace(notice, state=NoticeState.UNKNOWN, next_at=at, error=reason, misses=misses)


def _given_up(notice: Notice, reason: str) -> Notice:
    return replace(notice, state=NoticeState.UNDELIVERABLE, error=reason)


def _pause(notice: Notice, settings: SlackSettings) -> timedelta:
    doublings = min(max(0, notice.attempts - 1), 16)  # Far beyond any limit, and no overflow.
    return min(FIRST_PAUSE * (1 << doublings), settings.retry_after_limit)
