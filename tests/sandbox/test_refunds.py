from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import Street


def statuses(client: stripe.StripeClient) -> list[str | None]:
    return [refund.status for refund in client.v1.refunds.list().data]


def test_a_partial_refund_names_both_ids_of_its_payment(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")

    refund = provider(sandbox).v1.refunds.create(
        params={"payment_intent": "pi_1", "amount": 4900, "metadata": {"intent_key": "K"}}
    )

    assert refund.id.startswith("re_")
    assert (refund.charge, refund.payment_intent, refund.amount) == ("ch_1", "pi_1", 4900)
    assert refund.to_dict()["metadata"] == {"intent_key": "K"}
    assert refund.status == "succeeded"


def test_a_refund_has_the_keys_of_the_providers_own(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)

    refund = provider(sandbox).v1.refunds.create(params={"payment_intent": "pi_1"}).to_dict()

    assert set(refund) == {
        "id", "object", "amount", "balance_transaction", "charge", "created", "currency", "customer",
        "customer_account", "destination_details", "metadata", "payment_intent", "payment_method", "reason",
        "receipt_number", "source_transfer_reversal", "status", "transfer_reversal",
    }  # fmt: skip


def test_no_amount_means_all_that_is_left(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    client.v1.refunds.create(params={"charge": "ch_1", "amount": 4000})

    rest = client.v1.refunds.create(params={"charge": "ch_1"})

    charge = client.v1.charges.retrieve("ch_1")
    assert (rest.amount, charge.amount_refunded, charge.refunded) == (6000, 10_000, True)


@pytest.mark.parametrize(
    "currency, words",
    [
        ("usd", "Refund amount ($60.01) is greater than unrefunded amount on charge ($60.00)"),
        ("jpy", "Refund amount (¥6,001) is greater than unrefunded amount on charge (¥6,000)"),
        ("kwd", "Refund amount (6.001 KWD) is greater than unrefunded amount on charge (6.000 KWD)"),
    ],
)
def test_more_than_is_left_is_refused_in_the_providers_words(
    sandbox: Street, currency: str, words: str
) -> None:
    sandbox.payment("pi_1", 10_000, currency)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 4000})

    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 6001})

    assert (refused.value.http_status, refused.value.param, refused.value.code) == (400, "amount", None)
    assert words in str(refused.value)
    assert len(client.v1.refunds.list().data) == 1


def test_exactly_what_is_left_is_refunded(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 4000})

    assert client.v1.refunds.create(params={"payment_intent": "pi_1", "amount": 6000}).amount == 6000


def test_a_refunded_charge_is_not_refunded_again(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1"})

    with pytest.raises(
        stripe.InvalidRequestError, match=r"Charge ch_1 has already been refunded\."
    ) as refused:
        client.v1.refunds.create(params={"payment_intent": "pi_1"})

    assert refused.value.code == "charge_already_refunded"


def test_a_disputed_charge_is_not_refunded(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, disputed=True)

    with pytest.raises(stripe.InvalidRequestError) as refused:
        provider(sandbox).v1.refunds.create(params={"payment_intent": "pi_1"})

    assert refused.value.code == "charge_disputed"


@pytest.mark.parametrize(
    "params, code, param, status",
    [
        ({}, None, None, 400),
        ({"payment_intent": "pi_1", "amount": "ten"}, "parameter_invalid_integer", "amount", 400),
        ({"payment_intent": "pi_1", "amount": "10.5"}, "parameter_invalid_integer", "amount", 400),
        ({"payment_intent": "pi_1", "amount": "\u0661\u0660"}, "parameter_invalid_integer", "amount", 400),
        ({"payment_intent": "pi_1", "amount": 0}, "parameter_invalid_integer", "amount", 400),
        ({"payment_intent": "pi_1", "amount": -5}, "parameter_invalid_integer", "amount", 400),
        ({"payment_intent": "pi_1", "colour": "red"}, "parameter_unknown", "colour", 400),
        ({"payment_intent": ""}, "parameter_invalid_empty", "payment_intent", 400),
        ({"payment_intent": "pi_1", "reason": "expired_uncaptured_charge"}, None, "reason", 400),
        ({"payment_intent": "pi_9"}, "resource_missing", "payment_intent", 404),
        ({"charge": "ch_9"}, "resource_missing", "id", 404),
        ({"payment_intent": "pi_1", "expand": ["balance"]}, None, "expand", 400),
        ({"payment_intent": "pi_1", "metadata": {"k" * 41: "v"}}, None, f"metadata[{'k' * 41}]", 400),
        ({"payment_intent": "pi_1", "metadata": {"k": "v" * 501}}, None, "metadata[k]", 400),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_nothing_happens(
    sandbox: Street, params: dict[str, object], code: str | None, param: str | None, status: int
) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)

    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.raw_request("post", "/v1/refunds", **params)

    assert (refused.value.code, refused.value.param, refused.value.http_status) == (code, param, status)
    assert client.v1.refunds.list().data == []


def test_a_refund_that_fails_gives_its_amount_back(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})

    sandbox.control(f"refunds/{refund.id}", status="failed", failure_reason="lost_or_stolen_card")

    failed = client.v1.refunds.retrieve(refund.id)
    assert (failed.status, failed.failure_reason) == ("failed", "lost_or_stolen_card")
    assert client.v1.charges.retrieve("ch_1").amount_refunded == 0
    assert client.v1.refunds.create(params={"payment_intent": "pi_1"}).amount == 10_000


def test_a_bank_that_takes_its_failure_back_cannot_refund_the_money_twice(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})
    sandbox.control(f"refunds/{refund.id}", status="failed")
    client.v1.refunds.create(params={"payment_intent": "pi_1"})

    with pytest.raises(AssertionError, match="only 0 of the payment is left"):
        sandbox.control(f"refunds/{refund.id}", status="succeeded")

    assert sorted(map(str, statuses(client))) == ["failed", "succeeded"]


def test_a_pending_refund_holds_its_amount_until_the_bank_speaks(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, refund_status="pending")
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.refunds.create(params={"payment_intent": "pi_1"})

    sandbox.control(f"refunds/{refund.id}", status="succeeded")

    assert (refund.status, refund.pending_reason) == ("pending", "processing")
    assert statuses(client) == ["succeeded"]


@pytest.mark.parametrize("begins, ends", [("requires_action", "canceled"), ("pending", "pending")])
def test_only_a_refund_that_waits_for_the_customer_is_cancelled(
    sandbox: Street, begins: str, ends: str
) -> None:
    sandbox.payment("pi_1", 10_000, refund_status=begins)
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1"})

    refusal = pytest.raises(stripe.InvalidRequestError, match="Canceling this refund is unsupported")
    outcome: AbstractContextManager[object] = refusal if begins == "pending" else nullcontext()
    with outcome:
        client.v1.refunds.cancel(refund.id)

    assert statuses(client) == [ends]


def test_metadata_is_merged_and_an_empty_value_removes_its_name(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund = client.v1.refunds.create(params={"payment_intent": "pi_1", "metadata": {"a": "1", "b": "2"}})

    client.v1.refunds.update(refund.id, params={"metadata": {"a": "", "c": "3"}})
    merged = client.v1.refunds.retrieve(refund.id).to_dict()["metadata"]
    client.v1.refunds.update(refund.id, params={"metadata": ""})

    assert merged == {"b": "2", "c": "3"}
    assert client.v1.refunds.retrieve(refund.id).to_dict()["metadata"] == {}


def test_ids_are_expanded_where_asked_for(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    client = provider(sandbox)
    refund = client.v1.refunds.create(
        params={"payment_intent": "pi_1", "amount": 1, "expand": ["charge", "payment_intent.latest_charge"]}
    ).to_dict()
    listed = client.v1.refunds.list(params={"expand": ["data.charge.refunds"]}).data[0].to_dict()

    assert (refund["charge"]["object"], refund["payment_intent"]["object"]) == ("charge", "payment_intent")
    assert refund["payment_intent"]["latest_charge"]["amount_refunded"] == 1
    assert [r["id"] for r in listed["charge"]["refunds"]["data"]] == [refund["id"]]


def test_a_payment_is_seen_as_its_intent_and_as_its_charge(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, "eur", charge="ch_1", customer="cus_1")
    client = provider(sandbox)

    intent, charge = client.v1.payment_intents.retrieve("pi_1"), client.v1.charges.retrieve("ch_1")

    assert (intent.latest_charge, intent.amount_received, intent.currency) == ("ch_1", 10_000, "eur")
    assert (charge.payment_intent, charge.customer, charge.livemode) == ("pi_1", "cus_1", False)


def test_a_payment_may_be_a_charge_alone(sandbox: Street) -> None:
    sandbox.payment("py_1", 10_000)

    refund = provider(sandbox).v1.refunds.create(params={"charge": "py_1"})

    assert refund.id.startswith("pyr_")
    assert (refund.charge, refund.payment_intent) == ("py_1", None)


def test_an_account_sees_only_its_own(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000, account="acct_A")
    client = provider(sandbox)
    client.v1.refunds.create(params={"payment_intent": "pi_1"}, options={"stripe_account": "acct_A"})

    with pytest.raises(stripe.InvalidRequestError) as elsewhere:
        client.v1.refunds.create(params={"payment_intent": "pi_1"})

    assert elsewhere.value.code == "resource_missing"
    assert client.v1.refunds.list().data == []
    assert len(client.v1.refunds.list(options={"stripe_account": "acct_A"}).data) == 1
    assert client.v1.accounts.retrieve_current(options={"stripe_account": "acct_A"}).id == "acct_A"


def test_the_platform_may_name_itself(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)

    own = client.v1.accounts.retrieve_current().id

    assert client.v1.payment_intents.retrieve("pi_1", options={"stripe_account": own}).amount == 10_000


@pytest.mark.parametrize("key, live", [("sk_test_x", False), ("rk_test_x", False), ("sk_live_x", True)])
def test_the_key_decides_the_mode(sandbox: Street, key: str, live: bool) -> None:  # noqa: FBT001  a column
    sandbox.payment("pi_1", 10_000, charge="ch_1")

    assert provider(sandbox, key=key).v1.charges.retrieve("ch_1").livemode is live


def test_a_wrong_key_is_refused_without_showing_it(sandbox: Street) -> None:
    with pytest.raises(stripe.AuthenticationError, match="Invalid API Key provided") as refused:
        provider(sandbox, key="no_key_of_ours_at_all").v1.refunds.list()

    assert refused.value.http_status == 401
    assert "key_of_ours" not in str(refused.value)


def test_an_unknown_path_is_refused_in_the_providers_words(sandbox: Street) -> None:
    with pytest.raises(stripe.InvalidRequestError, match=r"Unrecognized request URL \(GET: /v1/refundz\)"):
        provider(sandbox).raw_request("get", "/v1/refundz")


def test_every_answer_has_a_request_id_and_the_version_it_was_asked_in(sandbox: Street) -> None:
    client = provider(sandbox)

    answered = client.v1.refunds.list(options={"stripe_version": "2024-10-28.acacia"}).last_response
    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.v1.refunds.retrieve("re_9")

    assert answered is not None
    assert str(answered.headers["Request-Id"]).startswith("req_")
    assert answered.headers["Stripe-Version"] == "2024-10-28.acacia"
    assert str(refused.value.request_id).startswith("req_")
    body: Any = refused.value.json_body
    assert body["error"]["doc_url"].endswith("/error-codes/resource-missing")
