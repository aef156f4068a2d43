"""The provider's paths one refund at a time, as its own client in another language meets them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.sandbox.node import Client, Node
from tests.sandboxes import Street

INVALID = "StripeInvalidRequestError"
# The keys of the provider's published sample of a refund.
PUBLISHED = {
    "amount", "balance_transaction", "charge", "created", "currency", "customer", "customer_account",
    "destination_details", "id", "metadata", "object", "payment_intent", "payment_method", "reason",
    "receipt_number", "source_transfer_reversal", "status", "transfer_reversal",
}  # fmt: skip


@pytest.fixture
def client(node: Node, sandbox: Street) -> Client:
    sandbox.payment("pi_1", 10_000, charge="ch_1")
    return node.stripe(sandbox)


def typed(node: Node, file: str, name: str) -> tuple[set[str], set[str]]:
    """The fields that the client's own types say are always there, and those that may be."""
    text = (node.folder / "node_modules/stripe/esm/resources" / f"{file}.d.ts").read_text()
    body = re.split(rf"export interface {name}\b[^{{]*{{\n", text)[1].split("\n}", 1)[0]
    found = re.findall(r"^    (\w+)(\??): ", body, re.MULTILINE)
    return {field for field, maybe in found if not maybe}, {field for field, _ in found}


def test_a_created_refund_has_the_keys_of_the_published_one(client: Client) -> None:
    made = client.ask("refunds.create", {"payment_intent": "pi_1", "amount": 400, "metadata": {"a": "b"}})

    assert set(made.value) == PUBLISHED
    assert (made.value["charge"], made.value["amount"], made.value["metadata"]) == ("ch_1", 400, {"a": "b"})
    assert made.value["object"] == "refund"
    assert made.response["status"] == 200
    assert made.response["requestId"].startswith("req_")


def test_every_object_has_the_fields_that_the_clients_types_promise_and_no_others(client: Client) -> None:
    made = client.ask("refunds.create", {"charge": "ch_1", "expand": ["balance_transaction"]}).value

    charge = client.ask("charges.retrieve", "ch_1").value
    intent = client.ask("paymentIntents.retrieve", "pi_1").value
    event = client.ask("events.list").value["data"][0]
    account = client.ask("accounts.retrieveCurrent").value

    found = {
        "Refunds Refund": made,
        "BalanceTransactions BalanceTransaction": made["balance_transaction"],
        "Charges Charge": charge,
        "PaymentIntents PaymentIntent": intent,
        "Events EventBase": event,
        "Accounts Account": account,
    }
    types = {name: typed(client.node, *name.split()) for name in found}
    lacking = {name: always - set(found[name]) for name, (always, _) in types.items()}
    beyond = {name: set(found[name]) - known for name, (_, known) in types.items()}
    assert lacking == {name: set() for name in found}
    # The provider shows this one all the same.
    assert beyond == {name: set() for name in found} | {"Charges Charge": {"dispute"}}


@pytest.mark.parametrize(
    "params,amount,kind",
    [
        ({"payment_intent": "pi_1"}, 10_000, None),
        ({"charge": "ch_1", "amount": 1}, 1, None),
        ({"charge": "ch_1", "payment_intent": "pi_1", "amount": 2}, 2, None),
        ({"payment_intent": "pi_1", "amount": 10_000, "reason": "duplicate"}, 10_000, "duplicate"),
        ({"payment_intent": "pi_1", "amount": 3, "reason": "fraudulent"}, 3, "fraudulent"),
        ({"payment_intent": "pi_1", "amount": 4, "reason": "requested_by_customer", "currency": "usd"}, 4,
         "requested_by_customer"),
    ],
)  # fmt: skip
def test_a_refund_is_made(client: Client, params: dict[str, Any], amount: int, kind: str | None) -> None:
    made = client.ask("refunds.create", params).value

    assert (made["amount"], made["reason"], made["status"]) == (amount, kind, "succeeded")
    assert (made["payment_intent"], made["charge"]) == ("pi_1", "ch_1")


@pytest.mark.parametrize(
    "params,refusal,words",
    [
        ({}, (INVALID, 400, None, None), "payment_intent or charge"),
        ({"amount": 5}, (INVALID, 400, None, None), "payment_intent or charge"),
        ({"payment_intent": "pi_1", "amount": 10_001}, (INVALID, 400, None, "amount"),
         "Refund amount ($100.01) is greater than unrefunded amount on charge ($100.00)"),
        ({"payment_intent": "pi_1", "amount": 0}, (INVALID, 400, "parameter_invalid_integer", "amount"),
         "greater than or equal to 1"),
        ({"payment_intent": "pi_1", "amount": -1}, (INVALID, 400, "parameter_invalid_integer", "amount"),
         "greater than or equal to 1"),
        ({"payment_intent": "pi_1", "amount": 1.5}, (INVALID, 400, "parameter_invalid_integer", "amount"),
         "Invalid integer: 1.5"),
        ({"payment_intent": "pi_1", "amount": "4e2"}, (INVALID, 400, "parameter_invalid_integer", "amount"),
         "Invalid integer: 4e2"),
        ({"payment_intent": "pi_1", "currency": "usdz"}, (INVALID, 400, None, "currency"),
         "Invalid currency: usdz. Stripe currently supports these currencies: usd, aed, afn"),
        ({"payment_intent": "pi_1", "reason": "because"}, (INVALID, 400, None, "reason"),
         "must be one of duplicate, fraudulent, or requested_by_customer"),
        ({"payment_intent": "pi_1", "colour": "red"}, (INVALID, 400, "parameter_unknown", "colour"),
         "Received unknown parameter: colour"),
        ({"payment_intent": ""}, (INVALID, 400, "parameter_invalid_empty", "payment_intent"), "empty string"),
        ({"payment_intent": "pi_9"}, (INVALID, 404, "resource_missing", "payment_intent"), "'pi_9'"),
        ({"charge": "ch_9"}, (INVALID, 404, "resource_missing", "id"), "No such charge: 'ch_9'"),
        ({"charge": "ch_9", "payment_intent": "pi_1"}, (INVALID, 400, None, "charge"), "ch_9"),
        ({"payment_intent": "pi_1", "expand": ["status"]}, (INVALID, 400, None, "expand"),
         "cannot be expanded"),
        ({"charge": "ch_1", "metadata": {"k" * 41: "v"}}, (INVALID, 400, None, f"metadata[{'k' * 41}]"),
         "Metadata keys can have up to 40 characters, but you passed in a key that is 41 characters"),
        ({"charge": "ch_1", "metadata": {"k": "v" * 501}}, (INVALID, 400, None, "metadata[k]"),
         "Metadata values can have up to 500 characters, but you passed in a value that is 501 characters"),
        ({"charge": "ch_1", "metadata": {f"k{n}": "v" for n in range(51)}}, (INVALID, 400, None, "metadata"),
         "at most 50 keys"),
        ({"charge": "ch_1", "metadata": {"a[b]": "v"}}, (INVALID, 400, None, "metadata"), "square brackets"),
    ],
)  # fmt: skip
def test_a_refusal_is_mapped_to_its_class_and_nothing_happens(
    client: Client, params: dict[str, Any], refusal: tuple[object, ...], words: str
) -> None:
    refused = client.ask("refunds.create", params)

    assert refused.refusal == refusal
    assert words in refused.error["message"]
    assert refused.error["requestId"].startswith("req_")
    assert client.ask("refunds.list").value["data"] == []


@pytest.mark.parametrize(
    "state,code,words",
    [
        ("refunded", "charge_already_refunded", "Charge ch_2 has already been refunded."),
        ("disputed", "charge_disputed", "Charge ch_2 has been charged back; cannot issue a refund."),
    ],
)
def test_a_charge_that_may_not_be_refunded_says_why(
    sandbox: Street, client: Client, state: str, code: str, words: str
) -> None:
    sandbox.payment("pi_2", 500, charge="ch_2", disputed=state == "disputed")
    if state == "refunded":
        sandbox.control("refunds", payment="pi_2")

    refused = client.ask("refunds.create", {"payment_intent": "pi_2", "amount": 5}, {"idempotencyKey": "K"})
    again = client.ask("refunds.create", {"payment_intent": "pi_2", "amount": 5}, {"idempotencyKey": "K"})

    assert refused.refusal == again.refusal == (INVALID, 400, code, None)
    assert refused.error["message"] == words
    # Execution had begun, so this refusal is what the key stands for from now on.
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == refused.error["requestId"]


def test_the_limits_of_metadata_are_allowed_and_hold_over_updates(client: Client) -> None:
    full = {f"{n:040d}": "v" * 500 for n in range(50)}

    made = client.ask("refunds.create", {"charge": "ch_1", "amount": 1, "metadata": full}).value
    swapped = client.ask("refunds.update", made["id"], {"metadata": {f"{0:040d}": "", "new": "v"}})
    refused = client.ask("refunds.update", made["id"], {"metadata": {"one more": "v"}})
    emptied = client.ask("refunds.update", made["id"], {"metadata": ""})

    assert made["metadata"] == full
    assert len(swapped.value["metadata"]) == 50
    assert refused.refusal == (INVALID, 400, None, "metadata")
    assert emptied.value["metadata"] == {}


def test_only_metadata_may_be_updated(client: Client) -> None:
    made = client.ask("refunds.create", {"charge": "ch_1", "metadata": {"a": "1", "b": "2"}}).value

    merged = client.ask("refunds.update", made["id"], {"metadata": {"a": "", "c": "3"}}).value
    refused = client.ask("refunds.update", made["id"], {"amount": 5})
    missing = client.ask("refunds.update", "re_9", {"metadata": {"a": "1"}})

    assert merged["metadata"] == {"b": "2", "c": "3"}
    assert refused.refusal == (INVALID, 400, "parameter_unknown", "amount")
    assert missing.refusal == (INVALID, 404, "resource_missing", "refund")
    assert client.ask("refunds.retrieve", made["id"]).value == merged


@pytest.mark.parametrize("status", ["pending", "requires_action", "succeeded", "failed", "canceled"])
def test_only_what_waits_for_the_customer_is_cancelled(sandbox: Street, client: Client, status: str) -> None:
    made = sandbox.control("refunds", payment="pi_1", amount=1, status=status)

    cancelled = client.ask("refunds.cancel", made["id"])

    if status == "requires_action":
        assert cancelled.value["status"] == "canceled"
    else:
        assert cancelled.refusal == (INVALID, 400, None, None)
        assert cancelled.error["message"] == "Canceling this refund is unsupported."
        assert client.ask("refunds.retrieve", made["id"]).value == made


@pytest.mark.parametrize(
    "call,found,param",
    [
        ("refunds.retrieve", "re_9", "refund"),
        ("refunds.cancel", "re_9", "refund"),
        ("paymentIntents.retrieve", "pi_9", "intent"),
        ("charges.retrieve", "ch_9", "id"),
        ("events.retrieve", "evt_9", "id"),
    ],
)
def test_what_is_not_there_is_a_404(client: Client, call: str, found: str, param: str) -> None:
    missing = client.ask(call, found)

    assert missing.refusal == (INVALID, 404, "resource_missing", param)
    assert missing.error["message"].endswith(f": '{found}'")


@pytest.mark.parametrize(
    "path,words",
    [
        ("/v1/refundz", "Unrecognized request URL (GET: /v1/refundz). Please see https://stripe.com/docs"),
        ("/v1/refunds/", "If you are trying to list objects, remove the trailing slash."),
    ],
)
def test_an_unknown_path_is_a_404_in_the_providers_words(client: Client, path: str, words: str) -> None:
    lost = client.ask("rawRequest", "GET", path)

    assert lost.refusal == (INVALID, 404, None, None)
    assert words in lost.error["message"]


@pytest.mark.parametrize("key", ["nonsense", "pk_test_nobody", "sk_tset_00000000000000000000"])
def test_a_wrong_key_is_refused_and_hardly_shown(node: Node, sandbox: Street, key: str) -> None:
    refused = node.stripe(sandbox, key=key).ask("refunds.list")

    assert refused.refusal == ("StripeAuthenticationError", 401, None, None)
    assert refused.error["message"].startswith("Invalid API Key provided: ")
    assert key not in refused.error["message"]
    assert key not in json.dumps(sandbox.requests())


def test_an_account_is_another_world(sandbox: Street, client: Client) -> None:
    sandbox.payment("pi_A", 500, account="acct_A")
    there: dict[str, Any] = {"stripeAccount": "acct_A"}

    made = client.ask("refunds.create", {"payment_intent": "pi_A"}, there)
    elsewhere = client.ask("refunds.create", {"payment_intent": "pi_A"})
    hidden = client.ask("refunds.retrieve", made.value["id"])
    seen = client.ask("refunds.retrieve", made.value["id"], {}, there)

    assert made.headers["stripe-account"] == "acct_A"
    assert elsewhere.refusal == (INVALID, 404, "resource_missing", "payment_intent")
    assert hidden.refusal == (INVALID, 404, "resource_missing", "refund")
    assert seen.value == made.value
    assert client.ask("events.list").value["data"] == []
    assert len(client.ask("events.list", {}, there).value["data"]) == 2
    assert client.ask("accounts.retrieveCurrent", {}, there).value["id"] == "acct_A"


def test_what_is_no_account_is_forbidden(client: Client) -> None:
    refused = client.ask("refunds.list", {}, {"stripeAccount": "acme"})

    assert refused.refusal == ("StripePermissionError", 403, "account_invalid", None)
    assert "does not have access to account 'acme'" in refused.error["message"]


def test_ids_are_expanded_where_asked_for(client: Client) -> None:
    made = client.ask(
        "refunds.create",
        {"charge": "ch_1", "amount": 1, "expand": ["charge", "payment_intent.latest_charge"]},
    ).value
    listed = client.ask("refunds.list", {"expand": ["data.charge.refunds"]}).value["data"][0]

    assert (made["charge"]["id"], made["payment_intent"]["latest_charge"]["amount_refunded"]) == ("ch_1", 1)
    assert listed["charge"]["refunds"]["data"][0]["id"] == made["id"]
    assert listed["charge"]["refunds"]["total_count"] == 1


def test_a_version_of_years_ago_is_answered_in_kind(node: Node, sandbox: Street) -> None:
    sandbox.payment("pi_1", 100)

    made = node.stripe(sandbox, apiVersion="2020-08-27").ask("refunds.create", {"payment_intent": "pi_1"})

    assert made.value["status"] == "succeeded"
    assert made.headers["stripe-version"] == "2020-08-27"
