"""What a stuck intent may be settled as: the refusals one by one, and the laws that hold for all."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import wording
from recon.model.changes import REASON_LIMIT
from recon.model.phrases import minute
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Reject
from recon.model.records.settlements import Books, Look, Retry, RetryKind, Sighting
from recon.model.records.words import DEAD, AccountId, IntentKey, IntentStatus, RefundId, RefundStatus
from recon.model.settings import GuardSettings
from recon.rules import settling
from tests.builders import NOON, a_refund, an_intent

SECOND = timedelta(seconds=1)
GUARD = GuardSettings(
    deadline_seconds=20, absent_after=timedelta(seconds=60), resend_within=timedelta(hours=23)
)
UNDER_WAY = 80 * SECOND  # The deadline and the time after which absence says something.
SKEW = 5 * SECOND
NOW = NOON + timedelta(hours=2)
KEY, OTHER = IntentKey("refund_order:8812"), IntentKey("refund_order:9000")
STUCK = an_intent(status=IntentStatus.PENDING_UNKNOWN, refund_id=None)
BOOKS = Books(STUCK, first_sent_at=NOON, sent_at=NOON)
OURS = a_refund()
NOBODYS = a_refund(intent_key=None)
DEAD_ONE = a_refund(status="failed")


def seen(refund: Refund = OURS, holder: IntentKey | None = KEY, **changes: Any) -> Sighting:  # noqa: ANN401 -- any field
    return Sighting(replace(refund, **changes), holder)


def unconfirmed(found: Sighting | Reject | None, books: Books = BOOKS, now: datetime = NOW) -> str | None:
    return settling.unconfirmed(books, found, RefundId("re_8812"), now=now, guard=GUARD, skew=SKEW)


def unrefuted(*sightings: Sighting, books: Books = BOOKS, now: datetime = NOW) -> str | None:
    return settling.unrefuted(books, Look(now, sightings), now=now, guard=GUARD, skew=SKEW)


@pytest.mark.parametrize(
    "found",
    [
        seen(),
        seen(status="pending"),
        seen(status="requires_action"),
        seen(status="a new word"),
        seen(NOBODYS, None),
        seen(intent_key=IntentKey("a key that nobody knows"), holder=None),
        seen(payment_intent=None, charge="pi_8812"),
        seen(created_at=NOON - SKEW),
    ],
)
def test_a_live_refund_that_fits_confirms_its_intent(found: Sighting) -> None:
    assert unconfirmed(found) is None


@pytest.mark.parametrize(
    "found, said",
    [
        (None, "The provider shows no refund re_8812 in the platform's own account"),
        (Reject("provider", 1, "re_8812", "Its amount is no number."), "cannot be read at the provider: Its"),
        (seen(id=RefundId("re_2")), "asked for the refund re_8812 and showed re_2"),
        (seen(status="failed"), "Refund re_8812 is failed"),
        (seen(status="canceled"), "Refund re_8812 is canceled"),
        (seen(system=True), "made by the provider itself"),
        (seen(amount_minor=4901), "is of 49.01 USD, and the intent is of 49.00 USD"),
        (seen(currency="eur"), "is of 49.00 EUR, and the intent is of 49.00 USD"),
        (seen(payment_intent="pi_2"), "is of the payment pi_2 or ch_8812, and the intent is of pi_8812"),
        (seen(payment_intent=None, charge=None), "is of the payment none, and the intent is of pi_8812"),
        (
            seen(holder=OTHER),
            "belongs to the intent refund_order:9000 by our books, not to",
        ),
        (
            seen(created_at=NOON - SKEW - SECOND),
            "was made at 2026-03-06 11:59:54 UTC, and the intent was written at 2026-03-06 12:00:00 UTC",
        ),
    ],
)
def test_a_refund_that_proves_nothing_is_refused_with_both_values(
    found: Sighting | Reject | None, said: str
) -> None:
    told = unconfirmed(found)

    assert told is not None
    assert said in told


def test_an_intent_that_names_no_payment_is_confirmed_by_a_refund_of_any() -> None:
    books = replace(BOOKS, intent=replace(STUCK, payment=None))

    assert unconfirmed(seen(payment_intent="pi_2"), books) is None


def test_an_intent_that_recorded_another_refund_is_not_confirmed() -> None:
    books = replace(BOOKS, intent=replace(STUCK, refund_id=RefundId("re_1")))

    assert "recorded the refund re_1, not re_8812" in (unconfirmed(seen(), books) or "")


@pytest.mark.parametrize("status", [IntentStatus.DONE, IntentStatus.FAILED, IntentStatus.CANCELLED])
def test_a_settled_intent_is_settled_by_nobody_else(status: IntentStatus) -> None:
    books = replace(BOOKS, intent=replace(STUCK, status=status))

    assert f"is {status} by now" in (unconfirmed(seen(), books) or "")
    assert f"is {status} by now" in (unrefuted(books=books) or "")


def test_a_row_of_somebody_elses_table_is_settled_there() -> None:
    books = replace(BOOKS, mapped=True)

    assert "set it there to done, with the refund re_8812" in (unconfirmed(seen(), books) or "")
    assert "set it there to failed" in (unrefuted(books=books) or "")


@pytest.mark.parametrize("late, held", [(SECOND, True), (timedelta(0), False), (-SECOND, False)])
def test_nobody_settles_what_the_guarded_tool_is_at_work_on(late: timedelta, held: bool) -> None:  # noqa: FBT001 -- a table
    books = replace(BOOKS, busy_until=NOW + late)

    assert ["at work" in (told or "") for told in (unconfirmed(seen(), books), unrefuted(books=books))] == [
        held,
        held,
    ]


@pytest.mark.parametrize("after, waits", [(UNDER_WAY - SECOND, True), (UNDER_WAY, False)])
def test_absence_says_nothing_while_a_request_may_be_under_way(after: timedelta, waits: bool) -> None:  # noqa: FBT001 -- a table
    books = replace(BOOKS, sent_at=NOW - after)  # Sent once more, long after the first time.
    said = f"try again from {NOW - after + UNDER_WAY:%Y-%m-%d %H:%M:%S} UTC on"

    assert (said in (unrefuted(books=books) or "")) is waits
    assert (said in (unconfirmed(seen(NOBODYS, None), books) or "")) is waits
    assert unconfirmed(seen(), books) is None  # It carries the key: it is what was sent.


def test_what_was_never_sent_counts_from_when_it_was_written() -> None:
    books = Books(replace(STUCK, status=IntentStatus.PENDING, first_sent_at=None))

    assert "under way" in (unrefuted(books=books, now=NOON + UNDER_WAY - SECOND) or "")
    assert unrefuted(books=books, now=NOON + UNDER_WAY) is None


def test_what_was_sent_long_after_it_was_written_counts_from_when_it_was_sent() -> None:
    books = Books(STUCK, first_sent_at=NOW - UNDER_WAY + SECOND)

    assert "under way" in (unrefuted(books=books) or "")
    assert unrefuted(books=books, now=NOW + SECOND) is None


@pytest.mark.parametrize(
    "sightings",
    [
        (),
        (seen(status="failed"),),
        (seen(status="canceled"),),
        (seen(holder=OTHER),),
        (seen(NOBODYS, None, amount_minor=100),),
        (seen(NOBODYS, None, system=True),),
        (seen(NOBODYS, None, status="failed"),),
        (seen(NOBODYS, None, created_at=NOON - SKEW - SECOND),),
    ],
)
def test_an_intent_is_not_refunded_where_nothing_live_can_be_its(sightings: tuple[Sighting, ...]) -> None:
    assert unrefuted(*sightings) is None


@pytest.mark.parametrize(
    "sighting, said",
    [
        (seen(), "Refund re_8812 (49.00 USD, succeeded) is this intent's: confirm it as refunded"),
        (seen(amount_minor=100), "Refund re_8812 (1.00 USD, succeeded) is this intent's"),
        (seen(NOBODYS, None), "of the same payment is nobody's, and may be this intent's"),
        (seen(NOBODYS, None, status="pending"), "(49.00 USD, pending) of the same payment is nobody's"),
        (seen(NOBODYS, None, created_at=NOON - SKEW), "of the same payment is nobody's"),
    ],
)
def test_a_refund_that_is_or_may_be_its_own_stands_against_it(sighting: Sighting, said: str) -> None:
    told = unrefuted(seen(holder=OTHER, id=RefundId("re_1")), sighting)

    assert said in (told or "")


def test_a_refund_of_its_own_on_another_payment_stands_against_it() -> None:
    books = replace(BOOKS, named=(replace(OURS, payment_intent="pi_2"),))

    assert "re_8812 (49.00 USD, succeeded) is this intent's" in (unrefuted(books=books) or "")
    assert unrefuted(seen(status="failed"), books=books) is None  # The provider knows better than the mirror.
    assert unrefuted(books=replace(BOOKS, named=(DEAD_ONE,))) is None


def test_a_refund_that_was_recorded_and_is_not_on_the_payment_is_looked_at_first() -> None:
    books = replace(BOOKS, intent=replace(STUCK, refund_id=RefundId("re_1")))

    assert "recorded the refund re_1, which is not on its payment pi_8812" in (unrefuted(books=books) or "")
    assert unrefuted(seen(id=RefundId("re_1"), status="failed"), books=books) is None


def test_a_look_up_that_broke_off_or_cannot_be_made_proves_nothing() -> None:
    broken = settling.unrefuted(BOOKS, Look(NOW, failed="page 2 broke off."), now=NOW, guard=GUARD, skew=SKEW)
    without = replace(BOOKS, intent=replace(STUCK, payment=None))

    assert broken == "The look-up broke off and proves nothing: page 2 broke off."
    assert "names no payment" in (unrefuted(books=without) or "")


DAY = timedelta(hours=23)


@pytest.mark.parametrize(
    "books, sightings, now, expected",
    [
        (BOOKS, (), NOON + DAY - SECOND, Retry(RetryKind.SAFE, NOON + DAY)),
        (BOOKS, (), NOON + DAY, Retry(RetryKind.OVER, NOON + DAY)),
        (replace(BOOKS, sent_at=NOW), (), NOW, Retry(RetryKind.SAFE, NOON + DAY)),  # From the first on.
        (replace(BOOKS, first_sent_at=NOW), (), NOW, Retry(RetryKind.SAFE, NOW + DAY)),
        (BOOKS, (seen(status="failed"),), NOW, Retry(RetryKind.SPENT, NOON + DAY)),
        (BOOKS, (seen(status="failed", holder=OTHER),), NOW, Retry(RetryKind.SAFE, NOON + DAY)),
        (
            replace(BOOKS, named=(DEAD_ONE,)),
            (),
            NOW,
            Retry(RetryKind.SPENT, NOON + DAY),
        ),
        (Books(replace(STUCK, status=IntentStatus.PENDING)), (), NOW, Retry(RetryKind.NEVER_SENT)),
        (Books(replace(STUCK, status=IntentStatus.FAILED)), (), NOW, Retry(RetryKind.NEVER_SENT)),
        (Books(STUCK), (), NOW, Retry(RetryKind.SAFE, NOON + DAY)),  # Sent, and nobody wrote down when.
    ],
)
def test_the_key_protects_for_so_long_after_the_first_request(
    books: Books, sightings: Sequence[Sighting], now: datetime, expected: Retry
) -> None:
    assert settling.retry(books, sightings, now=now, within=DAY) == expected


def test_the_verdict_says_until_when_and_what_then() -> None:
    said = wording.retry(Retry(RetryKind.SAFE, NOON + DAY), minute(NOON + DAY))

    assert said.startswith("Safe to send again with the same key until 2026-03-07 11:00 UTC, not after")
    assert all("new reference" in wording.retry(Retry(kind, NOON), "x") for kind in RetryKind)


def test_a_look_tells_of_each_refund_how_it_stands_and_whose_it_is() -> None:
    found = (seen(), seen(NOBODYS, None, id=RefundId("re_2"), amount_minor=150, status="pending"))

    assert settling.shown(STUCK, Look(NOON, found), skew=SKEW) == (
        "At 2026-03-06 12:00:00 UTC all was read, and the payment pi_8812 has 2 refunds: re_8812 of 49.00 "
        "USD, succeeded, this intent's; re_2 of 1.50 USD, pending, nobody's. It was refunded: re_8812 is "
        "this intent's."
    )


@pytest.mark.parametrize(
    "look, said",
    [
        (Look(NOON), "the payment pi_8812 has no refund."),
        (Look(NOON, failed="It timed out."), "not everything could be read, which proves nothing: It timed"),
        (Look(NOON, (seen(NOBODYS, None),)), "Whose re_8812 is has to be said first"),
        (Look(NOON, (seen(holder=OTHER),)), "the intent refund_order:9000's. None of them stands for this"),
        (Look(NOON, (seen(holder=None, intent_key=IntentKey("k2")),)), "nobody's; it names k2, which we do"),
        (Look(NOON, (seen(NOBODYS, None, request_key="k3"),)), "nobody's; it names k3, which we do"),
        (Look(NOON, (seen(NOBODYS, None, system=True),)), "the provider's own."),
        (Look(NOON, (seen(NOBODYS, None, currency="xxx"),)), "4900 minor units of an unknown currency"),
    ],
)
def test_what_a_look_found_is_said_in_words(look: Look, said: str) -> None:
    assert said in settling.shown(STUCK, look, skew=SKEW)


@pytest.mark.parametrize(
    "sightings, found",
    [
        ((), None),
        ((seen(),), "re_8812"),
        ((seen(NOBODYS, None),), "re_8812"),
        ((seen(id=RefundId("re_1")), seen(NOBODYS, None)), "re_1"),  # Its own before what only may be.
        ((seen(), seen(id=RefundId("re_1"))), None),
        ((seen(NOBODYS, None), seen(NOBODYS, None, id=RefundId("re_1"))), None),
        ((seen(status="failed"),), None),
        ((seen(holder=OTHER),), None),
        ((seen(NOBODYS, None, amount_minor=100),), None),
    ],
)
def test_one_refund_is_likely_where_it_alone_is_or_may_be_its_own(
    sightings: tuple[Sighting, ...], found: str | None
) -> None:
    assert settling.likely(STUCK, Look(NOON, sightings), skew=SKEW) == found


def test_a_look_fits_an_entry_whatever_the_provider_calls_its_refunds() -> None:
    many = tuple(seen(id=RefundId(f"re_{number}" + "x" * 400)) for number in range(40))

    said = settling.shown(STUCK, Look(NOON, many), skew=SKEW)
    few = settling.shown(STUCK, Look(NOON, tuple(seen(id=RefundId(f"re_{n}")) for n in range(17))), skew=SKEW)
    beside = len(settling.shown(STUCK, Look(NOON, failed=""), skew=SKEW))
    just = settling.shown(STUCK, Look(NOON, failed="x" * (REASON_LIMIT - beside)), skew=SKEW)

    assert len(said) == len(just) == REASON_LIMIT
    assert said.endswith("…")
    assert just.endswith("x")
    assert "; and 2 more. It was refunded" in few


REFUNDS = st.builds(
    a_refund,
    id=st.sampled_from([RefundId("re_8812"), RefundId("re_2")]),
    amount_minor=st.sampled_from([4900, 4900, 100]),
    currency=st.sampled_from(["usd", "usd", "eur"]),
    status=st.sampled_from([*RefundStatus, "a new word"]),
    payment_intent=st.sampled_from(["pi_8812", "pi_8812", "pi_2"]),
    intent_key=st.sampled_from([KEY, OTHER, None]),
    created_at=st.sampled_from([NOON - timedelta(hours=1), NOON, NOON + timedelta(hours=1)]),
    system=st.sampled_from([False, False, True]),
)
SIGHTINGS = st.builds(Sighting, REFUNDS, st.sampled_from([KEY, OTHER, None]))
INTENTS = st.builds(
    an_intent,
    status=st.sampled_from(IntentStatus),
    payment=st.sampled_from(["pi_8812", "pi_8812", None]),
    refund_id=st.sampled_from([None, None, RefundId("re_8812"), RefundId("re_1")]),
    account=st.just(AccountId("")),
)
BOOKSES = st.builds(
    Books,
    INTENTS,
    mapped=st.sampled_from([False, False, True]),
    first_sent_at=st.sampled_from([NOON, None]),
    sent_at=st.sampled_from([NOON, None, NOW - SECOND]),
    busy_until=st.sampled_from([None, NOON, NOW + SECOND]),
)


@given(BOOKSES, SIGHTINGS)
def test_what_is_confirmed_is_this_intents_own_money_and_unsettled(books: Books, found: Sighting) -> None:
    intent, refund = books.intent, found.refund
    if settling.unconfirmed(books, found, refund.id, now=NOW, guard=GUARD, skew=SKEW) is not None:
        return

    assert not books.mapped
    assert intent.status in {IntentStatus.PENDING, IntentStatus.PENDING_UNKNOWN}
    assert (refund.amount_minor, refund.currency) == (intent.amount_minor, intent.currency)
    assert refund.status not in DEAD
    assert found.holder in {None, intent.key}
    assert intent.payment in {None, refund.payment_intent}
    assert intent.refund_id in {None, refund.id}


@given(BOOKSES, st.lists(SIGHTINGS, max_size=4), st.booleans())
def test_no_intent_is_both_confirmed_and_refuted_by_one_look(
    books: Books,
    sightings: list[Sighting],
    backwards: bool,  # noqa: FBT001 -- drawn
) -> None:
    look = Look(NOW, tuple(sightings))
    by = [
        each
        for each in sightings
        if settling.unconfirmed(books, each, each.refund.id, now=NOW, guard=GUARD, skew=SKEW) is None
        and books.intent.payment is not None
    ]
    told = settling.unrefuted(books, look, now=NOW, guard=GUARD, skew=SKEW)
    turned = replace(look, sightings=tuple(reversed(sightings)) if backwards else look.sightings)

    assert told is not None or not by
    assert (told is None) == (settling.unrefuted(books, turned, now=NOW, guard=GUARD, skew=SKEW) is None)


@given(INTENTS, st.lists(SIGHTINGS, max_size=4))
def test_a_broken_look_refutes_nothing(intent: Intent, sightings: list[Sighting]) -> None:
    look = Look(NOW, tuple(sightings), failed="It broke off.")

    assert settling.unrefuted(Books(intent), look, now=NOW, guard=GUARD, skew=SKEW) is not None
