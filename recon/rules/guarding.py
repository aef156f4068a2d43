"""One guarded side effect: what a call may do next, and what it becomes by an answer or a look-up.

Pure; the time is an argument. Done is never taken back, and nothing is sent again that may have been executed
unless two complete look-ups found nothing while the provider still knows the key.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from recon.model.records.guarded import Answer, AnswerKind, Finding, FindingKind, Guarded
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import IntentStatus
from recon.model.settings import GuardSettings

# One look-up is no proof: a refund can show late. Source: the provider shows objects within a minute.
PROOF = 2
# How far two machines' clocks may differ before what they say of hours proves nothing.
_SKEW = timedelta(minutes=5)
# A sweep looks again after a quarter of the time that it is unknown already. After an hour the hourly job has
# its case, in which a person may look at any time.
_RESTS = 4
_LONGEST_REST = timedelta(hours=6)


class Step(StrEnum):
    """What is to be done about a side effect."""

    SEND = "send"  # Nothing was ever sent.
    LOOK = "look"  # It was sent, and nobody knows what became of it.
    CONFIRM = "confirm"  # It is done; how it stands now is the provider's to say.
    TELL = "tell"  # It is settled.


def of_intent(intent: Intent, tool: str) -> Guarded:
    """Return an intent that came into the books by another way than the guard's."""
    sent_at = intent.first_sent_at
    if intent.status is IntentStatus.PENDING_UNKNOWN:
        sent_at = sent_at or intent.created_at
    return Guarded(
        account=intent.account,
        key=intent.key,
        tool=tool,
        status=intent.status,
        fingerprint={},
        body={},
        created_at=intent.created_at,
        updated_at=intent.updated_at,
        next_at=intent.updated_at,
        until=intent.updated_at,
        payment=intent.payment,
        result_id=intent.refund_id,
        first_sent_at=sent_at,
        sent_at=sent_at,
    )


def step(row: Guarded) -> Step:
    """Return what is to be done about it, by whoever may."""
    if row.status is IntentStatus.DONE:
        return Step.CONFIRM
    if row.status is IntentStatus.FAILED:
        return Step.TELL
    return Step.SEND if row.first_sent_at is None else Step.LOOK


def is_settled(row: Guarded) -> bool:
    """Return whether nobody needs to wait for it: it is done, or it never will be."""
    return row.status in {IntentStatus.DONE, IntentStatus.FAILED}


def begun(row: Guarded, now: datetime) -> Guarded:
    """Return what is committed before a request is sent."""
    return replace(
        row,
        status=IntentStatus.PENDING if row.first_sent_at is None else row.status,
        first_sent_at=row.first_sent_at or now,
        sent_at=now,
        sends=row.sends + 1,
        misses=0,
        missed_at=None,
        updated_at=now,
    )


def taken_back(row: Guarded, now: datetime) -> Guarded:
    """Return what it is when the request that was begun was certainly not executed."""
    left = row.sends - 1
    if left > 0:
        return replace(row, status=IntentStatus.PENDING_UNKNOWN, sends=left, updated_at=now)
    return replace(
        row, status=IntentStatus.PENDING, sends=0, first_sent_at=None, sent_at=None, updated_at=now
    )


def answered(row: Guarded, answer: Answer, now: datetime) -> Guarded:
    """Return what it is after an answer; pending_unknown is what must be looked up."""
    if answer.kind is AnswerKind.DONE:
        return replace(row, status=IntentStatus.DONE, result_id=answer.id, refusal=None, updated_at=now)
    if answer.kind is AnswerKind.DEAD:
        return _dead(row, answer.id, answer.state, now)
    if answer.kind in {AnswerKind.NOT_SENT, AnswerKind.LIMITED}:
        return taken_back(row, now)
    refusal = answer.said if answer.kind in {AnswerKind.REFUSED, AnswerKind.TAKEN} else row.refusal
    clear = answer.kind is AnswerKind.REFUSED and row.sends == 1  # No earlier request is unresolved.
    status = IntentStatus.FAILED if clear else IntentStatus.PENDING_UNKNOWN
    return replace(row, status=status, refusal=refusal, updated_at=now, next_at=now)


def looked(
    row: Guarded, finding: Finding, strangers: Iterable[Refund], now: datetime, settings: GuardSettings
) -> Guarded:
    """Return what it is after a look-up that began at that time.

    strangers: refunds of the same payment that no intent of ours asked for.
    """
    if finding.kind is FindingKind.LIVE:
        return replace(row, status=IntentStatus.DONE, result_id=finding.id, refusal=None, updated_at=now)
    if finding.kind is FindingKind.DEAD:
        return _dead(row, finding.id, finding.state, now)
    unknown = replace(row, status=IntentStatus.PENDING_UNKNOWN, updated_at=now, next_at=now)
    if finding.kind is FindingKind.UNREADABLE:
        return unknown
    if row.refusal is not None:
        # Refused because the money has gone. If all of it went to intents of ours, this one got none.
        clear = row.sends == 1 and not any(True for _ in strangers)
        return replace(unknown, status=IntentStatus.FAILED) if clear else unknown
    if any(_stands_for(each, row) for each in strangers) or not _counts(row, now, settings):
        return unknown
    return replace(unknown, misses=row.misses + 1, missed_at=now)


def longest_lease(now: datetime, settings: GuardSettings) -> datetime:
    """Return after what time no lease lapses that was taken by a clock like ours."""
    return now + 2 * settings.lease


def longest_rest(now: datetime, settings: GuardSettings) -> datetime:
    """Return after what time nothing is left alone by a sweep whose clock was like ours."""
    return now + max(settings.absent_after, _LONGEST_REST)


def may_send_again(row: Guarded, now: datetime, settings: GuardSettings) -> bool:
    """Return whether the same body may be sent once more with the same key."""
    first = row.first_sent_at
    assert first is not None, f"nothing was sent of {row.key}"
    in_time = first - _SKEW <= now < first + settings.resend_within
    return row.misses >= PROOF and row.refusal is None and in_time


def rest(row: Guarded, now: datetime, settings: GuardSettings) -> timedelta:
    """Return how long a sweep leaves it alone: longer, the longer nobody knows."""
    assert row.sent_at is not None, f"nothing was sent of {row.key}"
    return max(settings.absent_after, min((now - row.sent_at) / _RESTS, _LONGEST_REST))


def _counts(row: Guarded, now: datetime, settings: GuardSettings) -> bool:
    """Return whether a look-up that found nothing says anything.

    Not while the request may still be under way, nor right after another that found nothing.
    """
    assert row.sent_at is not None, f"nothing was sent of {row.key}"
    if now < row.sent_at + timedelta(seconds=settings.deadline_seconds):
        return False
    return row.missed_at is None or now >= row.missed_at + settings.absent_after


def _stands_for(refund: Refund, row: Guarded) -> bool:
    """Return whether a refund without our key may all the same be the one: a person has to say."""
    assert row.first_sent_at is not None, f"nothing was sent of {row.key}"
    same = row.fingerprint.get("amount_minor") == str(refund.amount_minor)
    return same and refund.created_at >= row.first_sent_at - _SKEW


def _dead(row: Guarded, result_id: str | None, state: str | None, now: datetime) -> Guarded:
    said = f"refund {result_id} was made and is {state}: the money did not arrive"
    return replace(row, status=IntentStatus.FAILED, result_id=result_id, refusal=said, updated_at=now)
