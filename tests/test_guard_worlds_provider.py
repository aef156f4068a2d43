"""The small worlds' provider does as the sandbox does under each fault: the same meaning, the same effect."""

from dataclasses import dataclass, replace

import pytest

from recon.doors.stripe.provider import Provider
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.guarded import AnswerKind
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings, Secret
from recon.rules import answers
from recon.sandbox.faults import Kind
from tests.builders import PLATFORM
from tests.guard_worlds_provider import LOOKS, PAYMENT, WAYS, met
from tests.guard_worlds_state import Flight, World
from tests.sandboxes import STRIPE_KEY, Street

SEND, LIST, ONE = "POST /v1/refunds", "GET /v1/refunds", "GET /v1/refunds/{id}"
BODY = {"payment_intent": PAYMENT, "amount": 6000, "metadata": {"intent_key": "k1"}}
AFTER_S = {Kind.ERROR_THEN_APPEARS: 90.0, Kind.INVISIBLE: 60.0, Kind.LATENCY: 0.05}
SENT = [(way, kind) for way, kinds in WAYS.items() for kind in kinds]
LOOKED = [(way, kind) for way, kinds in LOOKS.items() for kind in kinds]


@dataclass(frozen=True, slots=True)
class Till:
    """A provider that is asked with little patience."""

    street: Street
    provider: Provider

    def send(self, key: str = "k1") -> tuple[AnswerKind, bool]:
        """Return what a request means, and whether its answer is an old one."""
        answer = answers.meaning(self.provider.send(BODY, key, PLATFORM))
        return answer.kind, answer.replayed

    def made(self) -> int:
        """Return how many refunds are shown."""
        return len(self.provider.find(PAYMENT, AccountId("")))


def modelled(way: str) -> list[tuple[tuple[AnswerKind, bool], int]]:
    """Return what the model says of a request, and of the same again: its meaning, and what is shown then."""
    world, found = World(), []
    for each in (way, "answered"):
        flight = Flight(None, "k1", 6000, "a body")
        world, heard, _ = met(replace(world, flights=(flight,)), flight, each)
        answer = answers.meaning(heard)
        shown = sum(refund.at <= world.time for refund in world.made)
        found.append(((answer.kind, answer.replayed), shown))
    return found


@pytest.fixture
def till(sandbox: Street) -> Till:
    sandbox.payment(PAYMENT, 10_000)
    settings = ProviderSettings(
        api_key=Secret(STRIPE_KEY), base_url=sandbox.url, read_timeout_seconds=0.3, retry_limit=0
    )
    return Till(sandbox, Provider(replace(settings, requests_per_second=1000.0)))


def test_every_fault_of_the_provider_is_in_a_way_of_the_model() -> None:
    slack = {Kind.FATAL_BEFORE, Kind.FATAL_AFTER}
    reads = {Kind.DROP_PAGE, Kind.INVISIBLE}

    assert {kind for _, kind in SENT} == set(Kind) - slack - reads
    assert {kind for _, kind in SENT + LOOKED} == set(Kind) - slack


@pytest.mark.parametrize("way, kind", SENT)
def test_a_request_under_a_fault_means_and_does_what_the_model_says(till: Till, way: str, kind: Kind) -> None:
    first, second = modelled(way)
    till.street.fault(SEND, kind, after_s=AFTER_S.get(kind, 0.5))

    assert (till.send(), till.made()) == first
    assert (till.send(), till.made()) == second
    till.street.advance(120)
    assert till.made() == 1


@pytest.mark.parametrize("way, kind", LOOKED)
def test_a_look_under_a_fault_shows_what_the_model_says(till: Till, way: str, kind: Kind) -> None:
    till.send()
    more = {"page": 1} if kind is Kind.DROP_PAGE else {}
    till.street.fault(LIST, kind, after_s=AFTER_S.get(kind, 0.5), **more)

    if way.startswith("broken"):
        with pytest.raises((ProviderUnavailable, ProviderRefused)):
            till.made()
    else:
        assert till.made() == int(way != "not shown")


def test_what_the_payment_does_not_hold_is_refused_and_the_refusal_is_kept(till: Till) -> None:
    assert till.send("k1") == (AnswerKind.DONE, False)
    assert till.send("k2") == (AnswerKind.TAKEN, False)
    assert till.send("k2") == (AnswerKind.TAKEN, True)


def test_another_body_under_a_key_is_unknown(till: Till) -> None:
    till.send()

    heard = till.provider.send(BODY | {"amount": 5000}, "k1", PLATFORM)

    assert answers.meaning(heard).kind is AnswerKind.UNKNOWN


def test_a_key_is_kept_for_a_day(till: Till) -> None:
    till.send()
    till.street.advance(24 * 3600 - 60)
    first = till.send()
    till.street.advance(120)

    assert (first, till.send()) == ((AnswerKind.DONE, True), (AnswerKind.TAKEN, False))
