"""The relay before a provider: passes on what it is given, and loses no more than it is told to lose."""

from collections.abc import Iterator
from contextlib import closing

import pytest
import requests

from recon.cli.smoking.relay import Relay
from recon.cli.smoking.stages import Paid
from recon.model.errors import ConfigurationError, ProviderUnavailable
from tests.sandboxes import STRIPE_KEY, Street


@pytest.fixture
def relay(sandbox: Street) -> Iterator[Relay]:
    sandbox.payment("pi_1", 10_000)
    with closing(Relay(sandbox.url, STRIPE_KEY, "pi_1")) as made:
        yield made


def refund(relay: Relay, key: str = "k1") -> requests.Response:
    return requests.post(
        f"{relay.url}/v1/refunds",
        data={"payment_intent": "pi_1", "amount": "4900"},
        auth=(STRIPE_KEY, ""),
        headers={"Idempotency-Key": key},
        timeout=10,
    )


def test_what_goes_through_is_the_same_on_both_sides(relay: Relay, sandbox: Street) -> None:
    first, second = refund(relay), refund(relay)
    (seen, _) = sandbox.requests("POST", "/v1/refunds")

    assert (seen["key"], seen["form"]) == ("k1", {"payment_intent": "pi_1", "amount": "4900"})
    assert (first.json(), second.json()) == (seen["answer"]["body"],) * 2
    assert second.headers["idempotent-replayed"] == "true"
    assert first.headers["request-id"] == seen["id"]
    made = first.json()["id"]
    assert [(each.key, each.refund_id, each.replayed, each.fault) for each in relay.sent()] == [
        ("k1", made, False, None),
        ("k1", made, True, None),
    ]
    assert STRIPE_KEY not in repr(relay.sent())


def test_a_lost_answer_was_given_all_the_same(relay: Relay) -> None:
    relay.arm("drop_after", times=1, after_s=0.0)
    with pytest.raises(requests.ConnectionError):
        refund(relay)
    relay.arm("500_after", times=1, after_s=0.0)
    broken = refund(relay, "k2")

    assert (broken.status_code, broken.json()["error"]["type"]) == (500, "api_error")
    assert [(each.status, each.fault, bool(each.refund_id)) for each in relay.sent()] == [
        (200, "drop_after", True),
        (200, "500_after", True),
    ]


def test_a_limit_sends_nothing_on_and_calm_takes_faults_back(relay: Relay, sandbox: Street) -> None:
    relay.arm("429", times=9, after_s=0.0)
    limited = refund(relay)
    relay.calm()

    assert (limited.status_code, limited.json()["error"]["code"]) == (429, "rate_limit")
    assert sandbox.requests("POST", "/v1/refunds") == []
    assert refund(relay).status_code == 200


def test_a_captured_payment_or_charge_is_taken(relay: Relay, sandbox: Street) -> None:
    paid = relay.payment("smoke_1")
    charge = sandbox.payment("ch_2", 500, "eur")["charge"]

    assert (paid.payment, paid.amount_minor, paid.currency) == ("pi_1", 10_000, "usd")
    with closing(Relay(sandbox.url, STRIPE_KEY, charge)) as other:
        assert other.payment("smoke_1") == Paid(charge, 500, "eur")


@pytest.mark.parametrize(
    "key, payment, found",
    [(STRIPE_KEY, "pi_0", r"pi_0: No such payment_intent: 'pi_0'\."), ("sk_live_1", "pi_1", r"pi_1: .*")],
)
def test_no_other_payment_is_taken(relay: Relay, sandbox: Street, key: str, payment: str, found: str) -> None:
    with (
        closing(Relay(sandbox.url, key, payment)) as other,
        pytest.raises(ConfigurationError, match=f"a captured payment of the test account; found {found}"),
    ):
        other.payment("smoke_1")


def test_a_provider_that_is_away_is_a_502_and_said_so() -> None:
    with closing(Relay("http://127.0.0.1:9", STRIPE_KEY, "pi_1")) as relay:
        with pytest.raises(ProviderUnavailable, match=r"to show pi_1, found no answer \(ConnectionError\)"):
            relay.payment("smoke_1")
        assert refund(relay).status_code == 502
        assert [each.status for each in relay.sent()] == [502]


def test_another_key_than_the_one_that_was_given_is_not_passed_on(relay: Relay, sandbox: Street) -> None:
    for auth in ((STRIPE_KEY.replace("test", "live"), ""), None):
        answer = requests.post(f"{relay.url}/v1/refunds", data={"amount": "1"}, auth=auth, timeout=10)
        assert (answer.status_code, answer.json()["error"]["type"]) == (401, "invalid_request_error")

    assert (sandbox.requests(), relay.sent()) == ([], ())
    assert requests.get(
        f"{relay.url}/v1/refunds", headers={"Authorization": f"Bearer {STRIPE_KEY}"}, timeout=10
    ).ok
