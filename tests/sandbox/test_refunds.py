from __future__ import annotations

import pytest
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import Street


def test_a_partial_refund_names_both_ids_of_its_payment(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")

    refund = provider(sandbox).v1.refunds.create(
        params={"payment_intent": "pi_1", "amount": 4900, "metadata": {"intent_key": "K"}}
    )

    assert refund.id.startswith("re_")
    assert (refund.charge, refund.payment_intent, refund.amount) == ("ch_1", "pi_1", 4900)
    assert refund.to_dict()["metadata"] == {"intent_key": "K"}
    assert refund.status == "succeeded"


def test_no_amount_means_all_that_is_left(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    client.v1.refunds.create(params={"charge": "ch_1", "amount": 4000})

    rest = client.v1.refunds.create(params={"charge": "ch_1"})

    assert rest.amount == 6000
    assert client.v1.charges.retrieve("ch_1").refunded is True


def test_more_than_is_left_is_refused_in_the_providers_words(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 4000})

    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 6001})

    assert refused.value.http_status == 400
    assert refused.value.param == "amount"
    assert "($60.01) is greater than unrefunded amount on charge ($60.00)" in str(refused.value)
    assert len(client.v1.refunds.list().data) == 1
