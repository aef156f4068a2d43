from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from recon.model import frames, money
from recon.model.records.words import DEAD, IntentStatus, RefundStatus
from recon.rules.reports import totals
from tests.builders import NOON
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, Row, table

AMOUNTS = st.integers(0, 3) | st.integers(2**31, 2**34) | st.just(money.LARGEST_MINOR)
CURRENCIES = st.sampled_from(["usd", "eur", "jpy"])
OURS = st.tuples(st.sampled_from(IntentStatus), CURRENCIES, AMOUNTS)
THEIRS = st.tuples(st.sampled_from([*RefundStatus, "odd", None]), CURRENCIES, AMOUNTS, st.booleans())
NO_INTENTS = frames.intents(table([], INTENT_COLUMNS), source="intents")
NO_REFUNDS = frames.refunds(table([], REFUND_COLUMNS), source="refunds")


def row(place: int, status: str | None, currency: str, amount: int, **more: object) -> Row:
    at = NOON.isoformat()
    named = {"key": f"k{place}", "id": f"re_{place}"}
    return {
        **named,
        "status": status,
        "currency": currency,
        "amount_minor": amount,
        "created_at": at,
        **more,
    }


@given(st.lists(OURS))
def test_every_intent_counts_once_in_its_currency_and_status_and_once_together(
    rows: list[tuple[str, str, int]],
) -> None:
    raw = table([row(place, *each) for place, each in enumerate(rows)], INTENT_COLUMNS)
    found = totals.of(frames.intents(raw, source="intents"), NO_REFUNDS)
    number = Counter((currency, status) for status, currency, _ in rows)
    sums: Counter[tuple[str, str]] = Counter()
    for status, currency, amount in rows:
        sums[currency, status] += amount
        sums[currency, "together"] += amount

    assert {(each.amount.currency, each.status): each.number for each in found if not each.is_sum} == number
    assert {(each.amount.currency, each.status): each.amount.amount_minor for each in found} == sums
    assert sum(each.number for each in found if each.is_sum) == len(rows)
    assert {each.side for each in found} <= {"intents"}


@given(st.lists(THEIRS))
def test_live_refunds_are_neither_failed_nor_canceled_nor_the_providers_own(
    rows: list[tuple[str | None, str, int, bool]],
) -> None:
    raw = [
        row(place, status, currency, amount, system=system)
        for place, (status, currency, amount, system) in enumerate(rows)
    ]
    found = totals.of(NO_INTENTS, frames.refunds(table(raw, REFUND_COLUMNS), source="refunds"))
    live = Counter(currency for status, currency, _, system in rows if status not in DEAD and not system)
    sums = dict.fromkeys((currency for _, currency, _, _ in rows), 0)
    for status, currency, amount, system in rows:
        sums[currency] += 0 if status in DEAD or system else amount
    told = {each.amount.currency: each for each in found if each.status.startswith("live")}

    assert {currency: each.number for currency, each in told.items() if each.number} == live
    assert {currency: each.amount.amount_minor for currency, each in told.items()} == sums
    assert sum(each.number for each in found if not each.is_sum) == len(rows)
    assert sum(each.number for each in found if each.status == "together") == len(rows)
