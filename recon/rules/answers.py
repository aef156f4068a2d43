"""What the provider's answer or its absence means for a refund that was asked for, and what a look-up proves.

Pure. Only an answer in the provider's own words says that nothing happened; everything else is unknown.
Sources: https://docs.stripe.com/api/idempotent_requests, https://docs.stripe.com/error-codes
"""

from collections.abc import Iterable
from dataclasses import replace

from recon.model.records.guarded import Answer, AnswerKind, Finding, FindingKind, Guarded, Heard
from recon.model.records.provider import Refund
from recon.model.records.results import Money
from recon.model.records.words import DEAD, IntentKey

# Statuses with which the provider refuses before or instead of acting, if the body is its own.
_REFUSALS = {400, 402, 404}
# The key may not do it, or is none: it gets no further, and nothing is kept under the idempotency key.
_LOCKED_OUT = {401, 403}
_RATE_LIMIT = 429
_SUCCESS = range(200, 300)
# The code of a 429 that is no rate limit: another request, often our own, is at work on the payment.
_LIMITS = {None, "rate_limit"}
_GONE = {"charge_already_refunded"}


def answer(heard: Heard, asked: Guarded) -> Answer:
    """Return what came of the one request that makes the refund that was asked for."""
    other = None if heard.refund is None else _other(heard.refund, asked)
    if other is None:
        return meaning(heard)
    # The answer to somebody else's request, mixed up on the way: ours has an answer that nobody saw.
    return Answer(AnswerKind.UNKNOWN, f"it was answered with a refund of another {other}")


def meaning(heard: Heard) -> Answer:
    """Return what an answer means, whose refund, if any, is the one that was asked for."""
    refund = heard.refund
    return Answer(
        _kind(heard),
        said=heard.said,
        id=None if refund is None else refund.id,
        state=None if refund is None else refund.status,
        retry_after_seconds=heard.retry_after_seconds,
        replayed=heard.replayed,
    )


def finding(refunds: Iterable[Refund], key: IntentKey) -> Finding:
    """Return what a complete list of a payment's refunds says of the intent with that key.

    Of several with its key a live one stands, the earliest first.
    """
    listed = sorted(refunds, key=lambda each: (each.status in DEAD, each.created_at, each.id))
    ours = next((each for each in listed if each.intent_key == key), None)
    others = tuple(
        each for each in listed if each.intent_key != key and each.status not in DEAD and not each.system
    )
    if ours is None:
        return Finding(FindingKind.ABSENT, others=others)
    return replace(standing(ours), others=others)


def standing(refund: Refund) -> Finding:
    """Return how a refund stands: live or dead, where a status that nobody knows is live, and its money."""
    kind = FindingKind.DEAD if refund.status in DEAD else FindingKind.LIVE
    return Finding(kind, refund.id, refund.status, money=Money(refund.amount_minor, refund.currency))


def _other(refund: Refund, asked: Guarded) -> str | None:
    """Return in what a refund is not the one that was asked for; None where it is."""
    paid = {refund.payment_intent, refund.charge}
    prints = asked.fingerprint
    same = {
        "key": refund.intent_key == asked.key,
        "payment": prints.get("payment") in paid,
        "amount": prints.get("amount_minor") == str(refund.amount_minor),
        "currency": prints.get("currency") == refund.currency,
    }
    return next((name for name, fits in same.items() if not fits), None)


def _kind(heard: Heard) -> AnswerKind:
    if heard.unsent:
        return AnswerKind.NOT_SENT
    if heard.status in _SUCCESS and heard.refund is not None:
        return AnswerKind.DEAD if heard.refund.status in DEAD else AnswerKind.DONE
    # A page of some proxy's, or the word that our key already has another outcome or a request at work.
    if not heard.refused or heard.kind == "idempotency_error":
        return AnswerKind.UNKNOWN
    return _refusal(heard)


def _refusal(heard: Heard) -> AnswerKind:
    """Return what an error in the provider's own words means."""
    if heard.status in _LOCKED_OUT:
        return AnswerKind.TURNED_AWAY
    if heard.status == _RATE_LIMIT and heard.code in _LIMITS:
        return AnswerKind.LIMITED
    if heard.status in _REFUSALS:
        # "Greater than unrefunded amount" has no code of its own.
        gone = heard.code in _GONE or (heard.code is None and heard.param == "amount")
        return AnswerKind.TAKEN if gone else AnswerKind.REFUSED
    return AnswerKind.UNKNOWN
