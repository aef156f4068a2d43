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
        fingerprint={"amount_minor": str(intent.amount_minor), "currency": intent.currency},
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
        status=row.status if row.sends else IntentStatus.PENDING,
        first_sent_at=row.first_sent_at or now,
        sent_at=now,
        sends=row.sends + 1,
        misses=0,
        missed_at=None,
        updated_at=now,
    )


def unsent(before: Guarded, now: datetime) -> Guarded:
    """Return what it is when nothing of the request that was begun left this machine: as before, proofs too.

    before: as it was when that began. Cancelled is pending then, because somebody asked for it.
    """
    status = IntentStatus.PENDING if before.status is IntentStatus.CANCELLED else before.status
    return replace(before, status=status, updated_at=now)


def turned_away(row: Guarded, now: datetime) -> Guarded:
    """Return what it is when the provider says that the request that was begun was not executed.

    That it was sent is not forgotten: somebody in between may have sent it twice.
    """
    left = row.sends - 1
    status = IntentStatus.PENDING_UNKNOWN if left > 0 else IntentStatus.PENDING
    return replace(row, status=status, sends=max(left, 0), updated_at=now)


def may_be_made(row: Guarded) -> bool:
    """Return whether a request may have been executed, or something that looks like one is there."""
    return row.sends > 0 or row.status is IntentStatus.PENDING_UNKNOWN


def answered(row: Guarded, answer: Answer, now: datetime) -> Guarded:
    """Return what it is after an answer; pending_unknown is what must be looked up.

    Of what was not executed, see unsent and turned_away.
    """
    if answer.kind is AnswerKind.DONE:
        return replace(row, status=IntentStatus.DONE, result_id=answer.id, refusal=None, updated_at=now)
    if answer.kind is AnswerKind.DEAD:
        return _dead(row, answer.id, answer.state, now)
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
    if finding.kind in {FindingKind.UNPROVED, FindingKind.UNREADABLE}:
        return unknown if row.sends else replace(unknown, status=row.status)
    return _missed(row, unknown, strangers, settings)


def longest_lease(now: datetime, settings: GuardSettings) -> datetime:
    """Return after what time no lease lapses that was taken by a clock like ours."""
    return now + 2 * settings.lease


def longest_rest(now: datetime, settings: GuardSettings) -> datetime:
    """Return after what time nothing is left alone by a sweep whose clock was like ours."""
    return now + max(settings.absent_after, _LONGEST_REST)


def may_send_again(row: Guarded, now: datetime, settings: GuardSettings) -> bool:
    """Return whether the same body may be sent once more with the same key, after a look-up.

    What the provider says it did not execute is as never sent once that is seen; until then, and for all
    else, its key must still protect.
    """
    first = row.first_sent_at
    assert first is not None, f"nothing was sent of {row.key}"
    in_time = first - _SKEW <= now < first + settings.resend_within
    if row.sends == 0:
        seen, unseen = row.status is IntentStatus.CANCELLED, row.status is IntentStatus.PENDING
        return seen or (unseen and in_time)
    unknown = row.status is IntentStatus.PENDING_UNKNOWN
    return unknown and row.misses >= PROOF and row.refusal is None and in_time


def twin(row: Guarded, strangers: Iterable[Refund], since: datetime) -> Refund | None:
    """Return a refund that somebody else made of the same money since then; None where there is none.

    strangers: live refunds of its payment that no intent of ours asked for. The latest of several.
    """
    prints = row.fingerprint
    same = [
        each
        for each in strangers
        if each.created_at >= since
        and prints.get("amount_minor") == str(each.amount_minor)
        and prints.get("currency") == each.currency
    ]
    return max(same, key=lambda each: (each.created_at, each.id), default=None)


def rest(row: Guarded, now: datetime, settings: GuardSettings) -> timedelta:
    """Return how long a sweep leaves it alone: longer, the longer nobody knows."""
    assert row.sent_at is not None, f"nothing was sent of {row.key}"
    return max(settings.absent_after, min((now - row.sent_at) / _RESTS, _LONGEST_REST))


def _missed(row: Guarded, unknown: Guarded, strangers: Iterable[Refund], settings: GuardSettings) -> Guarded:
    """Return what it is where everything was read and it is not there. unknown: as it is at that time."""
    now = unknown.updated_at
    if row.refusal is not None:
        # Refused because the money has gone. If all of it went to intents of ours, this one got none.
        clear = row.sends == 1 and not any(True for _ in strangers)
        return replace(unknown, status=IntentStatus.FAILED) if clear else unknown
    if any(_stands_for(each, row) for each in strangers):
        return unknown
    if row.sends == 0:  # The provider said so: nobody has to wait for it.
        return replace(unknown, status=IntentStatus.CANCELLED)
    counts = _counts(row, now, settings)
    return replace(unknown, misses=row.misses + 1, missed_at=now) if counts else unknown


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
