"""What a person may settle a stuck intent as, by our books and by what the provider shows at that moment.

Refuses in doubt: a refund that might be this intent's is not taken for absent, and one that might be
another's is not taken for this one's. Never asks anybody and never writes; recon/settling.py does.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recon.model import money
from recon.model.changes import REASON_LIMIT
from recon.model.phrases import in_full, opening, second, several
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Money, Reject
from recon.model.records.settlements import Books, Look, Retry, RetryKind, Sighting
from recon.model.records.words import DEAD, UNSETTLED, IntentStatus, RefundId
from recon.model.settings import GuardSettings

NAMED = 15  # Refunds that one sentence lists; a payment with more is looked at in the provider's dashboard.


def unconfirmed(
    books: Books,
    found: Sighting | Reject | None,
    refund_id: RefundId,
    *,
    now: datetime,
    guard: GuardSettings,
    skew: timedelta,
) -> str | None:
    """Return why the intent is not done by this refund, as a sentence; None where it is.

    found: what the provider shows under the id; None where the account has nothing there. skew: how far the
    provider's clock and ours may differ.
    """
    intent = books.intent
    refused = _untouchable(books, now, f"done, with the refund {refund_id}")
    if refused is not None:
        return refused
    if not isinstance(found, Sighting):
        return _unseen(intent, found, refund_id)
    return (
        _mistaken(found.refund, refund_id)
        or _unfit(intent, found.refund)
        or _anothers(intent, found)
        or _recorded(intent, found.refund)
        or _too_old(intent, found.refund, skew)
        # Nothing proves that it is what was sent: that may still arrive, beside it.
        or (None if intent.key in _keys(found.refund) else _under_way(books, now, guard))
    )


def unrefuted(
    books: Books, look: Look, *, now: datetime, guard: GuardSettings, skew: timedelta
) -> str | None:
    """Return why it is not proved that the intent was not refunded, as a sentence; None where it is.

    look: made after the books were read.
    """
    intent = books.intent
    return (
        _untouchable(books, now, "failed")
        or _under_way(books, now, guard)
        or _unread(intent, look)
        or _owned(intent, books, look)
        or _unclaimed(intent, look, skew)
    )


def retry(books: Books, sightings: Iterable[Sighting] = (), *, now: datetime, within: timedelta) -> Retry:
    """Return whether a request for an intent that was not refunded may be sent once more.

    sightings: of its payment, beside what the books know. within: how long after its first request the
    provider surely knows its key.
    """
    intent, first = books.intent, books.first_sent_at
    if first is None and intent.status is not IntentStatus.PENDING_UNKNOWN:
        return Retry(RetryKind.NEVER_SENT)
    until = (first or intent.created_at) + within
    own = [*books.named, *(each.refund for each in sightings if each.holder == intent.key)]
    if any(each.status in DEAD for each in own):
        return Retry(RetryKind.SPENT, until)
    return Retry(RetryKind.SAFE if now < until else RetryKind.OVER, until)


def shown(intent: Intent, look: Look, *, skew: timedelta) -> str:
    """Return what a look-up found, in words, and what can be made of it."""
    at = second(look.at)
    if look.failed is not None:
        return _fitting(f"At {at} not everything could be read, which proves nothing: {look.failed}")
    count = len(look.sightings)
    if not count:
        return f"At {at} all was read, and the payment {intent.payment} has no refund."
    listed = "; ".join(_listed(intent, each) for each in look.sightings[:NAMED])
    rest = f"; and {count - NAMED} more" if count > NAMED else ""
    told = f"At {at} all was read, and the payment {intent.payment} has {several(count, 'refund')}: "
    return _fitting(f"{told}{listed}{rest}. {_conclusion(intent, look.sightings, skew)}")


def likely(intent: Intent, look: Look, *, skew: timedelta) -> RefundId | None:
    """Return the one live refund that is the intent's, or else may be; None where none or several are."""
    found = _own(intent, look.sightings) or _strangers(intent, look.sightings, skew)
    return found[0].id if len(found) == 1 else None


def refuted(books: Books, look: Look, advice: str) -> str:
    """Return what an entry says of an intent that was not refunded; advice: on sending it again."""
    intent = books.intent
    told = f"At {second(look.at)} no refund of {intent.payment} was or may be this intent's: it is failed. "
    tool = (
        "The guarded tool sends nothing for it any more: it takes a new reference. " if books.guarded else ""
    )
    return f"{told}{tool}{advice} "


def stands(refund: Refund) -> str:
    """Return a refund with its amount and status, as sentences name it."""
    return f"refund {refund.id} ({_amount(refund)}, {refund.status or 'no status'})"


def whose(intent: Intent, sighting: Sighting) -> str:
    """Return whose a refund is, beside this intent."""
    if sighting.holder == intent.key:
        return "this intent's"
    if sighting.holder is not None:
        return f"the intent {sighting.holder}'s"
    if sighting.refund.system:
        return "the provider's own"
    named = sighting.refund.intent_key or sighting.refund.request_key
    return "nobody's" if named is None else f"nobody's; it names {named}, which we do not know"


def _untouchable(books: Books, now: datetime, became: str) -> str | None:
    """Return why nobody settles the intent here and now, whatever the provider shows."""
    intent = books.intent
    if books.mapped:
        return (
            f"Intent {intent.key} is copied from your own table, which is only read: set it there to "
            f"{became}, and the next run reads it."
        )
    if intent.status not in UNSETTLED:
        return f"Intent {intent.key} is {intent.status} by now: the next run judges it."
    if books.busy_until is not None and books.busy_until > now:
        return (
            f"The guarded tool is at work on intent {intent.key}, until {second(books.busy_until)} at the "
            "latest: try again then."
        )
    return None


def _under_way(books: Books, now: datetime, guard: GuardSettings) -> str | None:
    """Return that a request may still be at work or its refund not shown yet; None where neither can be."""
    sent = books.sent_at or books.first_sent_at or books.intent.created_at
    conclusive_at = sent + timedelta(seconds=guard.deadline_seconds) + guard.absent_after
    if now >= conclusive_at:
        return None
    return (
        f"A request for it may still be under way at the provider: try again from {second(conclusive_at)} on."
    )


def _unseen(intent: Intent, found: Reject | None, refund_id: RefundId) -> str:
    if found is not None:
        return f"Refund {refund_id} cannot be read at the provider: {found.reason}"
    return (
        f"The provider shows no refund {refund_id} in {in_full(intent.account)}: check the id, or ask again "
        "in a minute if it was made just now."
    )


def _mistaken(refund: Refund, refund_id: RefundId) -> str | None:
    if refund.id == refund_id:
        return None
    return f"The provider was asked for the refund {refund_id} and showed {refund.id}: nothing is proved."


def _too_old(intent: Intent, refund: Refund, skew: timedelta) -> str | None:
    if refund.created_at >= intent.created_at - skew:
        return None
    return (
        f"Refund {refund.id} was made at {second(refund.created_at)}, and the intent was written at "
        f"{second(intent.created_at)}: it cannot be what was asked for then."
    )


def _unread(intent: Intent, look: Look) -> str | None:
    """Return why the look-up does not show everything that there may be."""
    if not intent.payment:
        return (
            f"Intent {intent.key} names no payment, so that the provider cannot be asked for its refunds: "
            "nothing proves that there is none."
        )
    if look.failed is not None:
        return f"The look-up broke off and proves nothing: {look.failed}"
    if intent.refund_id is not None and intent.refund_id not in _ids(look):
        return (
            f"Intent {intent.key} recorded the refund {intent.refund_id}, which is not on its payment "
            f"{intent.payment}: look at it at the provider, and confirm the intent by it if it is right."
        )
    return None


def _owned(intent: Intent, books: Books, look: Look) -> str | None:
    """Return that a live refund is the intent's, as the provider shows it or else by our books."""
    listed = _ids(look)
    ours = (each for each in books.named if each.id not in listed and each.status not in DEAD)
    own = [*_own(intent, look.sightings), *ours]
    if not own:
        return None
    return f"{opening(stands(own[0]))} is this intent's: confirm it as refunded by that id."


def _unclaimed(intent: Intent, look: Look, skew: timedelta) -> str | None:
    strangers = _strangers(intent, look.sightings, skew)
    if not strangers:
        return None
    return (
        f"{opening(stands(strangers[0]))} of the same payment is nobody's, and may be this intent's: confirm "
        "the intent by it, or first adopt or link it."
    )


def _unfit(intent: Intent, refund: Refund) -> str | None:
    """Return why the refund is not what the intent meant."""
    if refund.status in DEAD:
        return f"Refund {refund.id} is {refund.status}: its money did not go to anybody."
    if refund.system:
        return f"Refund {refund.id} was made by the provider itself; no intent asks for those."
    if (refund.amount_minor, refund.currency) != (intent.amount_minor, intent.currency):
        return f"Refund {refund.id} is of {_amount(refund)}, and the intent is of {_amount(intent)}."
    payments = [each for each in (refund.payment_intent, refund.charge) if each]
    if intent.payment and intent.payment not in payments:
        named = " or ".join(payments) or "none"
        return f"Refund {refund.id} is of the payment {named}, and the intent is of {intent.payment}."
    return None


def _anothers(intent: Intent, found: Sighting) -> str | None:
    if found.holder is None or found.holder == intent.key:
        return None
    return f"Refund {found.refund.id} belongs to the intent {found.holder} by our books, not to {intent.key}."


def _recorded(intent: Intent, refund: Refund) -> str | None:
    if intent.refund_id in {None, refund.id}:
        return None
    return (
        f"Intent {intent.key} recorded the refund {intent.refund_id}, not {refund.id}: if that one came to "
        "nothing, link this one to the intent instead."
    )


def _own(intent: Intent, sightings: Iterable[Sighting]) -> list[Refund]:
    return [each.refund for each in sightings if each.holder == intent.key and each.refund.status not in DEAD]


def _strangers(intent: Intent, sightings: Iterable[Sighting], skew: timedelta) -> list[Refund]:
    """Return the refunds that are nobody's and could all the same be this intent's."""
    return [
        each.refund
        for each in sightings
        if each.holder is None
        and _unfit(intent, each.refund) is None
        and each.refund.created_at >= intent.created_at - skew
    ]


def _conclusion(intent: Intent, sightings: Iterable[Sighting], skew: timedelta) -> str:
    found = tuple(sightings)
    if own := _own(intent, found):
        return f"It was refunded: {own[0].id} is this intent's."
    if strangers := _strangers(intent, found, skew):
        return f"Whose {strangers[0].id} is has to be said first: it may be this intent's."
    return "None of them stands for this intent."


def _listed(intent: Intent, sighting: Sighting) -> str:
    refund = sighting.refund
    return f"{refund.id} of {_amount(refund)}, {refund.status or 'no status'}, {whose(intent, sighting)}"


def _keys(refund: Refund) -> tuple[str | None, ...]:
    return refund.intent_key, refund.request_key


def _ids(look: Look) -> frozenset[RefundId]:
    return frozenset(each.refund.id for each in look.sightings)


def _amount(record: Intent | Refund) -> str:
    return money.told(Money(record.amount_minor, record.currency))


def _fitting(sentence: str) -> str:
    """Return the sentence as it fits an entry."""
    return sentence if len(sentence) <= REASON_LIMIT else sentence[: REASON_LIMIT - 1] + "…"
