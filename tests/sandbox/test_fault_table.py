"""Every fault on every path of the provider's: what a client meets, what happened, and what its key holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import Street

# Longer than the sandbox takes to read a request on a busy machine, and paid for each hang.
PATIENCE_S = 0.5
HANGING = ("hang_before", "hang_after", "drip")
CUT = (stripe.APIConnectionError, None)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a fault comes to: the error met, whether the request was executed, and what its key then holds."""

    met: tuple[type[stripe.StripeError], int | None] | None
    happened: bool
    kept: str
    after_s: float | None = None


FAULTS = {
    "drop_before": Fault(CUT, happened=False, kept="nothing"),
    "hang_before": Fault(CUT, happened=False, kept="nothing"),
    "500_before": Fault((stripe.APIError, 500), happened=False, kept="nothing"),
    "429": Fault((stripe.RateLimitError, 429), happened=False, kept="nothing"),
    "429_lock": Fault((stripe.RateLimitError, 429), happened=False, kept="nothing"),
    "409": Fault((stripe.APIError, 409), happened=False, kept="nothing"),
    "403": Fault((stripe.PermissionError, 403), happened=False, kept="nothing"),
    "drop_after": Fault(CUT, happened=True, kept="answer"),
    "hang_after": Fault(CUT, happened=True, kept="answer"),
    "cut_body_after": Fault(CUT, happened=True, kept="answer"),
    "html_200_after": Fault((stripe.APIError, 200), happened=True, kept="answer"),
    "drip": Fault(CUT, happened=True, kept="answer"),
    "latency": Fault(None, happened=True, kept="answer", after_s=0.05),
    "500_after": Fault((stripe.APIError, 500), happened=True, kept="500"),
}


@dataclass(frozen=True, slots=True)
class Write:
    """A path that changes something: how it is asked, and how to see that it was executed."""

    on: str
    ask: Callable[[stripe.StripeClient, str, Any], stripe.Refund]
    done: Callable[[list[stripe.Refund]], bool]


WRITES = {
    "create": Write(
        "POST /v1/refunds",
        lambda client, _, key: client.v1.refunds.create(
            params={"payment_intent": "pi_1", "amount": 5}, options=key
        ),
        lambda found: [refund.amount for refund in found] == [5, 400],
    ),
    "update": Write(
        "POST /v1/refunds/{id}",
        lambda client, made, key: client.v1.refunds.update(
            made, params={"metadata": {"a": "b"}}, options=key
        ),
        lambda found: [refund.to_dict()["metadata"] for refund in found] == [{"a": "b"}],
    ),
    "cancel": Write(
        "POST /v1/refunds/{id}/cancel",
        lambda client, made, key: client.v1.refunds.cancel(made, options=key),
        lambda found: [refund.status for refund in found] == ["canceled"],
    ),
}
READS: dict[str, Callable[[stripe.StripeClient, str, str], object]] = {
    "/v1/refunds": lambda client, _made, _event: client.v1.refunds.list(),
    "/v1/refunds/{id}": lambda client, made, _: client.v1.refunds.retrieve(made),
    "/v1/payment_intents/{id}": lambda client, _made, _event: client.v1.payment_intents.retrieve("pi_1"),
    "/v1/charges/{id}": lambda client, _made, _event: client.v1.charges.retrieve("ch_1"),
    "/v1/events": lambda client, _made, _event: client.v1.events.list(),
    "/v1/events/{id}": lambda client, _, event: client.v1.events.retrieve(event),
    "/v1/account": lambda client, _made, _event: client.v1.accounts.retrieve_current(),
}


def begun(street: Street) -> str:
    """A payment with a refund that waits for its customer; the refund's id."""
    street.payment("pi_1", 10_000, charge="ch_1", refund_status="requires_action")
    return str(street.control("refunds", payment="pi_1", amount=400)["id"])


def outcome(ask: Callable[[], object]) -> tuple[type[stripe.StripeError], int | None] | None:
    try:
        ask()
    except stripe.StripeError as met:
        return type(met), met.http_status
    return None


def free(ask: Callable[[], stripe.Refund]) -> tuple[str, bool]:
    """What the key holds once nothing runs under it, and whether it was held before."""
    for _ in range(300):
        try:
            last = ask().last_response
        except stripe.APIError as met:
            if met.http_status == 409:  # The sandbox has yet to see that the client went.
                threading.Event().wait(0.01)
                continue
            return "500", "Idempotent-Replayed" in (met.headers or {})
        assert last is not None
        replayed = "Idempotent-Replayed" in last.headers
        return "answer" if replayed else "nothing", replayed
    raise AssertionError("the key was in use for three seconds after its client had gone")


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_meets_it_leaves_what_it_left_and_its_key_holds_it(
    sandbox: Street, fault: str, path: str
) -> None:
    write, expected = WRITES[path], FAULTS[fault]
    made, patient = begun(sandbox), provider(sandbox)
    hasty = provider(sandbox, timeout_s=PATIENCE_S) if fault in HANGING else patient
    key: Any = {"idempotency_key": "K"}
    sandbox.fault(write.on, fault, after_s=expected.after_s)

    met = outcome(lambda: write.ask(hasty, made, key))
    happened = write.done(patient.v1.refunds.list().data)
    held, replayed = free(lambda: write.ask(patient, made, key))

    assert (met, happened, held) == (expected.met, expected.happened, expected.kept)
    assert replayed is (expected.kept != "nothing")
    # Whoever sends it again with its key does it once.
    assert write.done(patient.v1.refunds.list().data)
    first = sandbox.requests("POST")[0]
    assert (first["fault"], first["key"]) == (fault, "K")


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "409"])
def test_a_read_meets_it_on_every_path_and_the_next_one_is_well(sandbox: Street, fault: str) -> None:
    expected, made = FAULTS[fault], begun(sandbox)
    patient = provider(sandbox)
    hasty = provider(sandbox, timeout_s=PATIENCE_S) if fault in HANGING else patient
    event = patient.v1.events.list().data[0].id
    for path in READS:
        sandbox.fault(f"GET {path}", fault, after_s=expected.after_s)

    with ThreadPoolExecutor(len(READS)) as pool:
        met = [pool.submit(outcome, partial(ask, hasty, made, event)) for ask in READS.values()]
    again = [outcome(partial(ask, patient, made, event)) for ask in READS.values()]

    assert {path: found.result() for path, found in zip(READS, met, strict=True)} == dict.fromkeys(
        READS, expected.met
    )
    assert again == [None] * len(READS)
    assert [refund.amount for refund in patient.v1.refunds.list().data] == [400]
    assert len(patient.v1.events.list().data) == 2


def test_what_appears_later_is_kept_as_a_500_before_and_after(sandbox: Street) -> None:
    begun(sandbox)
    client = provider(sandbox)
    create, key = WRITES["create"], {"idempotency_key": "K"}
    sandbox.fault(create.on, "500_then_appears", after_s=90)

    met = outcome(lambda: create.ask(client, "", key))
    seen = []
    for seconds in (0, 85, 5):
        sandbox.advance(seconds)
        held, replayed = free(lambda: create.ask(client, "", key))
        seen.append((held, replayed, len(client.v1.refunds.list().data)))

    assert met == (stripe.APIError, 500)
    assert seen == [("500", True, 1), ("500", True, 1), ("500", True, 2)]


@pytest.mark.parametrize("fault", ["500_after", "500_then_appears"])
def test_what_is_refused_does_not_appear_behind_a_500(sandbox: Street, fault: str) -> None:
    begun(sandbox)
    client = provider(sandbox)
    sandbox.fault("POST /v1/refunds", fault, after_s=1)
    sent: Any = {"payment_intent": "pi_1", "amount": 10_000}

    met = outcome(lambda: client.v1.refunds.create(params=sent))
    sandbox.advance(2)

    assert met == (stripe.APIError, 500)
    assert [refund.amount for refund in client.v1.refunds.list().data] == [400]


@pytest.mark.parametrize("path", ["refunds", "events"])
def test_what_is_young_is_hidden_in_lists_and_by_id(sandbox: Street, path: str) -> None:
    begun(sandbox)
    client = provider(sandbox)
    sandbox.advance(100)
    sandbox.control("refunds", payment="pi_1", amount=5)
    everything = getattr(client.v1, path).list().data
    sandbox.fault(f"GET /v1/{path}", "invisible", times=3, after_s=60)

    listed = getattr(client.v1, path).list().data
    young = outcome(lambda: getattr(client.v1, path).retrieve(everything[0].id))
    old = outcome(lambda: getattr(client.v1, path).retrieve(everything[-1].id))
    spent = getattr(client.v1, path).list().data

    half = len(everything) // 2
    assert [found.id for found in listed] == [found.id for found in everything[half:]]
    assert (young, old) == ((stripe.InvalidRequestError, 404), None)
    assert len(spent) == len(everything)


@pytest.mark.parametrize("on", ["* /v1/refunds", "* /v1/refunds/{id}"])
def test_any_verb_may_meet_it(sandbox: Street, on: str) -> None:
    made = begun(sandbox)
    sandbox.fault(on, "429", times=2)
    client = provider(sandbox)
    write = WRITES["update" if "{" in on else "create"]

    met = [
        outcome(lambda: READS[on[2:]](client, made, "")),
        outcome(lambda: write.ask(client, made, {})),
        outcome(lambda: READS[on[2:]](client, made, "")),
    ]

    assert met == [FAULTS["429"].met, FAULTS["429"].met, None]


def test_a_read_does_not_spend_the_fault_of_a_key(sandbox: Street) -> None:
    made = begun(sandbox)
    sandbox.fault("* /v1/refunds", "409")
    client = provider(sandbox)

    read = outcome(lambda: READS["/v1/refunds"](client, made, ""))
    written = outcome(lambda: WRITES["create"].ask(client, made, {}))

    assert (read, written) == (None, FAULTS["409"].met)
