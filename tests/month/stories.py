"""What happens in a company: one function an episode, begun at its moment, with the rest of it to come.

What each leaves, and when, is for the judge to find out: nothing here says what is wrong.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from random import Random

from recon.model.records.provider import Intent
from recon.model.records.words import IntentStatus, RefundId
from recon.sandbox.provider import Refund
from tests.month.company import Company, Episode

AMOUNTS = (100, 1250, 4900, 19999)
Story = Callable[[Company, Episode], None]


def seconds(number: float) -> timedelta:
    """Return so many seconds."""
    return timedelta(seconds=number)


def some(chance: Random, low: float, high: float) -> timedelta:
    """Return some hours between the two."""
    return seconds(int(chance.uniform(low, high) * 3600))


def amount(company: Company) -> int:
    """Return what a refund may be about."""
    return company.chance.choice(AMOUNTS)


def paid(company: Company, episode: Episode, **changes: object) -> tuple[Intent, Refund]:
    """Do what a tool does that works: written down, sent, recorded seconds later."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor), **changes)
    refund = company.send(episode, intent)
    company.after(seconds(3), partial(company.done, intent, refund))
    return intent, refund


def fine(company: Company, episode: Episode) -> None:
    """Intended, paid, recorded."""
    paid(company, episode)


def twice(company: Company, episode: Episode) -> None:
    """One intent, and a key for each attempt; sometimes the bank lets the second fail."""
    intent, _ = paid(company, episode)

    def again() -> None:
        extra = company.send(episode, intent)
        if company.chance.random() < 0.4:
            company.after(some(company.chance, 2, 200), partial(company.mend, episode, extra, "failed"))

    company.after(seconds(company.chance.choice((1, 20, 4000))), again)


def by_attempt(company: Company, episode: Episode) -> None:
    """Two intents for one decision, both paid: nothing but their likeness tells."""
    intent, _ = paid(company, episode)

    def again() -> None:
        other = company.intend(episode, intent.amount_minor, intent.payment)
        refund = company.send(episode, other)
        company.after(seconds(2), partial(company.done, other, refund))

    company.after(seconds(company.chance.choice((5, 600, 90_000))), again)


def repeats(company: Company, episode: Episode) -> None:
    """The same amount on the same payment again: declared by a reference, or too long ago, or neither."""
    declared = company.chance.random() < 0.5
    minor = amount(company)
    payment = company.payment(episode, minor)

    def once(number: int) -> None:
        reference = f"line {number}" if declared else None
        intent = company.intend(episode, minor, payment, reference=reference)
        company.after(seconds(4), partial(company.done, intent, company.send(episode, intent)))

    once(1)
    company.after(some(company.chance, 1, 24 * 29), partial(once, 2))


def timed_out(company: Company, episode: Episode) -> None:
    """Nobody knows what became of it, and it landed: at once, or seconds, an hour or hours later."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor))
    company.after(seconds(30), partial(company.record, intent, status=IntentStatus.PENDING_UNKNOWN))
    late = company.chance.choice((1.0, 25.0, 3500.0, 9000.0))
    by_request = company.chance.random() < 0.5
    how = {"named": None, "request_key": intent.key} if by_request else {}
    company.after(seconds(late), lambda: company.send(episode, intent, **how))


def lost(company: Company, episode: Episode) -> None:
    """Nobody knows, and nothing landed; sometimes somebody cancels it in the end."""
    minor = amount(company)
    payment = company.payment(episode, minor) if company.chance.random() < 0.8 else None
    intent = company.intend(episode, minor, payment)
    company.after(seconds(30), partial(company.record, intent, status=IntentStatus.PENDING_UNKNOWN))
    if company.chance.random() < 0.5:
        settled = company.chance.choice((IntentStatus.CANCELLED, IntentStatus.FAILED))
        company.after(some(company.chance, 0.5, 60), partial(company.record, intent, status=settled))


def cancelled_too_soon(company: Company, episode: Episode) -> None:
    """It hung for hours and was given up, and then, or just before, the money went out."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor))
    given_up = some(company.chance, 1, 12)
    company.after(given_up, partial(company.record, intent, status=IntentStatus.CANCELLED))
    company.after(
        given_up + seconds(company.chance.choice((-900, -5, 300, 20_000))),
        lambda: company.send(episode, intent),
    )


def unnamed(company: Company, episode: Episode) -> None:
    """A refund that names no intent: only its likeness ties it, and a done intent is quiet about it."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor))
    assert intent.payment is not None
    company.after(seconds(2), partial(company.pay, episode, intent.payment, minor))
    word = company.chance.choice((IntentStatus.DONE, IntentStatus.PENDING_UNKNOWN))
    company.after(seconds(5), partial(company.record, intent, status=word))


def other_amount(company: Company, episode: Episode) -> None:
    """Mistaken units, a unit of rounding, or in parts of which the second comes later or never."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor))
    given = company.chance.choice((minor * 100, minor - 1, minor + 1, minor // 2))
    refund = company.send(episode, intent, minor=given)
    company.after(seconds(3), partial(company.done, intent, refund))
    if given == minor // 2 and company.chance.random() < 0.7:
        rest = partial(company.send, episode, intent, minor=minor - given)
        company.after(some(company.chance, 0.1, 40), rest)


def other_currency(company: Company, episode: Episode) -> None:
    """The tool thought that it was another currency."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor, currency="eur"))
    company.after(seconds(3), partial(company.done, intent, company.send(episode, intent)))


def fails_late(company: Company, episode: Episode) -> None:
    """It succeeded, and came back up to 21 days later; the event may be late or never show in time."""
    intent, refund = paid(company, episode)
    late = company.chance.choice((None, some(company.chance, 0.5, 60)))
    moment = some(company.chance, 1, 21 * 24)
    company.after(moment, partial(company.mend, episode, refund, "failed", told_after=late))
    if company.chance.random() < 0.3:
        company.after(moment + some(company.chance, 1, 50), lambda: company.send(episode, intent))


def slow_bank(company: Company, episode: Episode) -> None:
    """Pending for days, more than a week of them perhaps, and then paid or not, or never."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor, refund_status="pending"))
    refund = company.send(episode, intent)
    company.after(seconds(3), partial(company.done, intent, refund))
    end = company.chance.choice(("succeeded", "succeeded", "failed", "pending"))
    late = company.chance.choice((None, None, some(company.chance, 0.5, 30)))
    when = some(company.chance, 100, 260)
    company.after(when, partial(company.mend, episode, refund, end, told_after=late))


def by_hand(company: Company, episode: Episode) -> None:
    """A refund made in the provider's dashboard, of nobody's, or beside one of ours."""
    minor = amount(company)
    payment = company.payment(episode, minor)
    named = f"refund_order:nobody:{episode.name}" if company.chance.random() < 0.3 else None
    if company.chance.random() < 0.4:
        intent = company.intend(episode, minor, payment)
        company.after(seconds(3), partial(company.done, intent, company.send(episode, intent)))
        company.after(
            seconds(company.chance.choice((60, 7000))), partial(company.pay, episode, payment, minor)
        )
    else:
        refund = company.pay(episode, payment, minor, named=named)
        if company.chance.random() < 0.3:
            company.after(some(company.chance, 1, 100), partial(company.mend, episode, refund, "failed"))


def provider_made(company: Company, episode: Episode) -> None:
    """A refund that the provider makes by itself when nobody captures."""
    minor = amount(company)
    company.pay(episode, company.payment(episode, minor), minor, reason="expired_uncaptured_charge")


def never_sent(company: Company, episode: Episode) -> None:
    """Recorded as done, and nothing happened; sometimes it happens days later."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor), status=IntentStatus.DONE)
    if company.chance.random() < 0.4:
        company.after(some(company.chance, 0.2, 90), lambda: company.send(episode, intent))


def mistaken_word(company: Company, episode: Episode) -> None:
    """The books say failed or cancelled, then perhaps done, and the money went out."""
    intent, refund = paid(company, episode)
    word = company.chance.choice((IntentStatus.FAILED, IntentStatus.CANCELLED))
    company.after(some(company.chance, 0.01, 30), partial(company.record, intent, status=word))
    if company.chance.random() < 0.5:
        company.after(some(company.chance, 31, 90), partial(company.done, intent, refund))


def slow_row(company: Company, episode: Episode) -> None:
    """The refund is there, and the intent's row commits minutes or hours later."""
    minor = amount(company)
    intent = company.intent(episode, minor, company.payment(episode, minor), status=IntentStatus.DONE)
    late = company.chance.choice((seconds(120), some(company.chance, 0.5, 5)))
    company.write_slowly(intent, company.now + late)
    company.send(episode, intent)


def deleted(company: Company, episode: Episode) -> None:
    """A row that somebody deletes: with its refund at the provider, or without."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor), status=IntentStatus.DONE)
    if company.chance.random() < 0.5:
        company.send(episode, intent)
    company.after(some(company.chance, 0.1, 50), partial(company.forget, intent))


def moved(company: Company, episode: Episode) -> None:
    """An intent's payment, order or amount is put right afterwards, or put wrong."""
    intent, refund = paid(company, episode)
    changes: tuple[dict[str, object], ...] = (
        {"amount_minor": intent.amount_minor + 500},
        {"payment": f"{intent.payment}_other", "refund_id": None},
        {"order_id": f"order_{episode.name}_other"},
    )
    change = company.chance.choice(changes)
    company.after(some(company.chance, 0.1, 50), partial(company.record, intent, **change))
    back = {"amount_minor": intent.amount_minor, "payment": intent.payment, "refund_id": refund.id}
    if company.chance.random() < 0.5:
        company.after(some(company.chance, 51, 150), partial(company.record, intent, **back))


def claimed_twice(company: Company, episode: Episode) -> None:
    """Two intents that recorded the same refund: it belongs to one of them."""
    intent, refund = paid(company, episode)
    other = company.intend(episode, intent.amount_minor, None, order_id=f"order_{episode.name}_2")
    company.after(
        seconds(60),
        partial(company.record, other, status=IntentStatus.DONE, refund_id=RefundId(refund.id)),
    )


def refused(company: Company, episode: Episode) -> None:
    """A clear refusal: nothing was paid, and the books say so."""
    minor = amount(company)
    intent = company.intend(episode, minor, company.payment(episode, minor))
    company.after(seconds(2), partial(company.record, intent, status=IntentStatus.FAILED))


# What happens how often.
STORIES: tuple[tuple[Story, int], ...] = (
    (fine, 8),
    (twice, 4),
    (by_attempt, 3),
    (repeats, 3),
    (timed_out, 5),
    (lost, 3),
    (cancelled_too_soon, 3),
    (unnamed, 3),
    (other_amount, 3),
    (other_currency, 1),
    (fails_late, 5),
    (slow_bank, 4),
    (by_hand, 4),
    (provider_made, 1),
    (never_sent, 3),
    (mistaken_word, 3),
    (slow_row, 3),
    (deleted, 2),
    (moved, 3),
    (claimed_twice, 1),
    (refused, 1),
)
