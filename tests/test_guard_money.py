"""A currency that is not the payment's: the provider asks for none, and other money goes back."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from recon.doors import intents
from recon.model.records.guarded import Outcome
from recon.model.records.words import IntentKey, IntentStatus
from tests.guards import LISTS, ORDER, PAYMENT, REFUNDS, Shop, statuses


def asked(shop: Shop, currency: str = "jpy") -> Outcome:
    return shop.refund(amount="1", currency=currency)


def again(shop: Shop) -> Outcome:
    asked(shop)
    return asked(shop)


def status(shop: Shop) -> Outcome:
    asked(shop)
    return shop.tool.check_refund_status(ORDER)


def looked_up(shop: Shop) -> Outcome:
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "500_before")
    assert str(asked(shop).status) == "pending_unknown"
    shop.pass_time(minutes=2)
    return asked(shop)


def replayed(shop: Shop) -> Outcome:
    """Let the second send find the first one's answer, which look-ups did not show."""
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "invisible", times=9, after_s=300)
    for _ in range(4):
        found = asked(shop)
        shop.pass_time(minutes=2)
    return found


def not_the_guards(shop: Shop) -> Outcome:
    """Let the books know of it by another way than the guard's."""
    asked(shop)
    known = replace(shop.intent(), key=IntentKey("theirs"), order_id="9", status=IntentStatus.DONE)
    with shop.database.write() as connection:
        intents.put(connection, known)
    return shop.tool.check_refund_status("9")


@pytest.mark.parametrize("comes", [asked, again, status, looked_up, replayed, not_the_guards])
def test_what_went_back_is_told_where_it_is_other_money(shop: Shop, comes: Callable[[Shop], Outcome]) -> None:
    outcome = comes(shop)

    (refund,) = shop.refunds()
    assert (refund.amount_minor, refund.currency) == (1, "usd")
    assert str(outcome.status) in {"done", "already_done"}
    assert (
        f"is done ({refund.id}), but 0.01 USD went back, not 1 JPY; hand it over to a person."
        in outcome.message
    )
    assert "Tell the customer" not in outcome.message


def test_another_currency_of_as_many_minor_units_is_other_money(shop: Shop) -> None:
    assert "but 1.00 USD went back, not 1.00 EUR; hand it over" in asked(shop, "eur").message


def test_a_call_that_corrects_it_is_not_told_that_what_was_asked_for_went_back(shop: Shop) -> None:
    asked(shop)
    corrected = shop.refund(amount="1", currency="usd", payment=PAYMENT)

    assert statuses(corrected) == ["rejected"]
    assert "What was asked for then, 1 JPY, is done" in corrected.message
    assert len(shop.posts()) == 1
