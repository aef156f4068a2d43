"""A reset: nothing of what was there is left, and what was under way touches nothing of the new."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import stripe

from recon.sandbox.world import World
from tests.sandbox.clients import provider, slack, wait_for_requests
from tests.sandboxes import Street


def inside(found: object, above: frozenset[int] = frozenset()) -> object:
    """Everything that a world holds, down to plain values; what holds itself is not gone through again."""
    if found is None or isinstance(found, str | int | float | bytes):
        return found
    if id(found) in above:
        return "above"
    above |= {id(found)}
    if isinstance(found, Mapping):
        return {str(name): inside(value, above) for name, value in found.items()}
    if isinstance(found, list | tuple | set | frozenset | deque):
        return [inside(value, above) for value in found]
    names = [field.name for field in fields(found)] if is_dataclass(found) else list(vars(found))
    return {name: inside(getattr(found, name), above) for name in names}


def use(street: Street) -> None:
    """Leave something in every corner of the world."""
    street.payment("pi_1", 10_000, account="acct_A")
    street.payment("pi_1", 10_000)
    street.set_time("2020-01-01T00:00:00Z")
    client = provider(street)
    for fault in ("500_then_appears", None):
        if fault:
            street.fault("POST /v1/refunds", fault)
        sent: Any = {"payment_intent": "pi_1", "amount": 5}
        try:
            client.v1.refunds.create(params=sent, options={"idempotency_key": f"K {fault}"})
        except stripe.APIError:
            assert fault
    client.v1.refunds.list(params={"limit": 1})
    street.fault("GET /v1/refunds", "429", times=9)
    street.control("interactivity", url="http://127.0.0.1:9/", signing_secret="s")
    street.control("sockets", heard_within_s=9, attempts=1)
    street.control(
        "slack", rate_limit=False, per_minute=9, names_anywhere=False, open=False, scopes=["chat:write"]
    )
    street.control("slack", channels=[{"name": "ops", "id": "C0OPS"}])
    street.control(
        "slack", users=[{"email": "dana@example.com", "id": "U0DANA"}, {"email": "al@example.com"}]
    )
    street.control("slack", users=[{"email": "al@example.com", "removed": True}])
    street.control("slack", usergroups=[{"id": "S0OPS", "handle": "ops"}])
    element = {
        "type": "button",
        "action_id": "a",
        "value": "v",
        "text": {"type": "plain_text", "text": "Take"},
    }
    blocks = [{"type": "actions", "elements": [element]}]
    ts = slack(street).chat_postMessage(channel="#ops", text="hello", blocks=blocks)["ts"]
    street.control("clicks", channel="C0OPS", ts=ts, user="U0DANA", action_id="a")


def test_a_reset_world_is_as_a_new_one(sandbox: Street) -> None:
    new = inside(World(url=sandbox.url))
    use(sandbox)
    used = inside(sandbox.running.state)

    sandbox.control("reset")

    assert isinstance(new, dict)
    assert isinstance(used, dict)
    # Only its address survives; everything else had something in it.
    assert {name for name in new if new[name] == used[name]} == {"url"}
    assert inside(sandbox.running.state) == new


@pytest.mark.parametrize("fault", ["latency", "hang_before", "hang_after", "drip"])
def test_what_was_under_way_touches_nothing_of_the_new_world(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 10_000)
    sandbox.fault("POST /v1/refunds", fault, after_s=0.002 if fault == "drip" else 0.4)
    sent: Any = {"payment_intent": "pi_1", "amount": 400}
    key: Any = {"idempotency_key": "K"}

    with ThreadPoolExecutor(1) as pool:
        old = pool.submit(provider(sandbox).v1.refunds.create, sent, key)
        wait_for_requests(sandbox, 1)
        sandbox.control("reset")
        sandbox.payment("pi_1", 10_000)
        met = old.exception()

    client = provider(sandbox)
    assert isinstance(met, stripe.APIConnectionError if fault == "hang_before" else type(None))
    assert client.v1.refunds.list().data == []
    made = client.v1.refunds.create(sent, key)
    assert made.last_response is not None
    assert "Idempotent-Replayed" not in made.last_response.headers
    assert [request["answer"]["status"] for request in sandbox.requests("POST")] == [200]
