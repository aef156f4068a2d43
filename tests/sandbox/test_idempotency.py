from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest
import stripe

from tests.sandbox.clients import provider, wait_for_requests
from tests.sandboxes import Street


def refund(
    client: stripe.StripeClient, key: str, *, account: str = "", amount: int | None = None
) -> stripe.Refund:
    params: Any = {"payment_intent": "pi_1"} | ({} if amount is None else {"amount": amount})
    options: Any = {"idempotency_key": key} | ({"stripe_account": account} if account else {})
    return client.v1.refunds.create(params=params, options=options)


def replayed(answer: stripe.Refund) -> bool:
    assert answer.last_response is not None
    return answer.last_response.headers.get("Idempotent-Replayed") == "true"


def headers(refused: stripe.StripeError) -> dict[str, str]:
    assert refused.headers is not None
    return refused.headers


def test_the_first_answer_is_given_again(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    first = refund(client, "K", amount=400)
    sandbox.control(f"refunds/{first.id}", status="failed")

    again = refund(client, "K", amount=400)

    assert (again.to_dict(), replayed(first), replayed(again)) == (first.to_dict(), False, True)
    assert len(client.v1.refunds.list().data) == 1


def test_another_key_is_another_refund(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)

    assert refund(client, "K1", amount=400).id != refund(client, "K2", amount=400).id


def test_other_parameters_under_a_key_are_refused(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund(client, "K", amount=400)

    with pytest.raises(stripe.IdempotencyError, match="same parameters they were first used with") as drifted:
        refund(client, "K", amount=401)

    assert drifted.value.http_status == 400
    assert len(client.v1.refunds.list().data) == 1


def test_a_key_belongs_to_the_path_it_was_first_used_on(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    made = refund(client, "K", amount=400)

    with pytest.raises(stripe.IdempotencyError, match="same endpoint"):
        client.v1.refunds.update(made.id, params={"metadata": {"a": "1"}}, options={"idempotency_key": "K"})


def test_a_refusal_after_execution_began_is_kept(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    first = refund(client, "K0")
    with pytest.raises(stripe.InvalidRequestError):
        refund(client, "K", amount=400)
    sandbox.control(f"refunds/{first.id}", status="failed")

    with pytest.raises(stripe.InvalidRequestError) as again:
        refund(client, "K", amount=400)

    assert again.value.code == "charge_already_refunded"
    assert "Idempotent-Replayed" in headers(again.value)


def test_a_refused_parameter_is_not_kept(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    with pytest.raises(stripe.InvalidRequestError):
        refund(client, "K", amount=0)

    assert refund(client, "K", amount=400).amount == 400


@pytest.mark.parametrize("fault", ["500_before", "429", "429_lock", "409"])
def test_what_was_not_executed_is_not_kept(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault)
    client = provider(sandbox)
    with pytest.raises(stripe.StripeError):
        refund(client, "K", amount=400)

    assert replayed(refund(client, "K", amount=400)) is False


@pytest.mark.parametrize("fault", ["500_after", "500_then_appears"])
def test_a_500_is_kept_for_ever(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault)
    client = provider(sandbox)

    for tries in range(3):
        with pytest.raises(stripe.APIError) as broken:
            refund(client, "K", amount=400)
        assert broken.value.http_status == 500
        assert ("Idempotent-Replayed" in headers(broken.value)) is (tries > 0)
        sandbox.advance(100)

    assert len(client.v1.refunds.list().data) == 1


def test_a_key_is_pruned_after_a_day(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund(client, "K", amount=400)

    sandbox.advance(24 * 3600 - 30)
    kept = replayed(refund(client, "K", amount=400))
    sandbox.advance(30)
    pruned = replayed(refund(client, "K", amount=400))

    assert (kept, pruned) == (True, False)
    assert len(client.v1.refunds.list().data) == 2


def test_keys_of_accounts_and_modes_do_not_meet(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.payment("pi_1", 10_000, account="acct_A")
    test, live = provider(sandbox), provider(sandbox, key="sk_live_x")

    made = {
        refund(test, "K", amount=400).id,
        refund(test, "K", amount=400, account="acct_A").id,
        refund(live, "K", amount=400).id,
    }

    assert len(made) == 3


def test_a_key_has_at_most_255_characters(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    refund(client, "k" * 255, amount=400)

    with pytest.raises(stripe.IdempotencyError, match="at most 255 characters"):
        refund(client, "k" * 256, amount=400)

    assert len(client.v1.refunds.list().data) == 1


def test_a_read_knows_no_key(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    client = provider(sandbox)
    options: Any = {"idempotency_key": "K"}
    empty = client.v1.refunds.list(options=options)
    refund(client, "K", amount=400)

    assert (len(empty.data), len(client.v1.refunds.list(options=options).data)) == (0, 1)


@pytest.mark.parametrize("fault", ["latency", "hang_before"])
def test_a_key_that_is_running_is_in_use(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault, after_s=30)
    client = provider(sandbox, timeout_s=10)
    running = threading.Thread(target=_quietly, args=(provider(sandbox, timeout_s=0.8),))
    running.start()
    wait_for_requests(sandbox, 1)

    with pytest.raises(stripe.APIError) as busy:
        refund(client, "K", amount=400)
    running.join()

    # Once the first client has gone the key is free again, or keeps what was done.
    settled = until_not_in_use(client)
    assert (busy.value.http_status, getattr(busy.value.error, "code", None)) == (
        409,
        "idempotency_key_in_use",
    )
    assert replayed(settled) is (fault == "latency")
    assert len(client.v1.refunds.list().data) == 1


def test_a_lost_answer_is_kept_while_its_request_still_hangs(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", "hang_after", after_s=30)
    hanging = threading.Thread(target=_quietly, args=(provider(sandbox, timeout_s=0.8),))
    hanging.start()
    wait_for_requests(sandbox, 1)

    again = refund(provider(sandbox), "K", amount=400)
    hanging.join()

    assert replayed(again) is True


def test_eighteen_calls_at_once_under_one_key_make_one_refund(sandbox: Street) -> None:
    sandbox.payment("pi_1", 10_000)
    calls = [threading.Thread(target=_quietly, args=(provider(sandbox),)) for _ in range(18)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()

    assert len(sandbox.requests("POST", "/v1/refunds")) == 18
    assert len(provider(sandbox).v1.refunds.list().data) == 1


def _quietly(client: stripe.StripeClient) -> None:
    with contextlib.suppress(stripe.StripeError):
        refund(client, "K", amount=400)


def until_not_in_use(client: stripe.StripeClient) -> stripe.Refund:
    for _ in range(200):
        with contextlib.suppress(stripe.APIError):
            return refund(client, "K", amount=400)
        threading.Event().wait(0.01)
    raise AssertionError("the key stayed in use for two seconds after its client had gone")
