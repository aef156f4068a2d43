"""Two more uses of Guard, as a host writes them: a card is charged, which can be found; a letter cannot."""

import tomllib
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
import stripe

from recon.doors.store.engines import Database
from recon.guard import Guard, Outcome
from recon.handling import Finder, Sender
from recon.model import registry
from recon.model.errors import ProviderRefused
from tests.adapters.counter import Counter, counter
from tests.guards import LATE, statuses, told
from tests.sandboxes import STRIPE_KEY

TOOLS = """
[tools.charge_card]
title = "Charge a card"
effect = "side_effect"
key = ["invoice"]
fingerprint = ["amount", "currency", "customer"]
finder = true
keyed = true

[tools.send_letter]
title = "Post a letter"
effect = "side_effect"
key = ["ticket", "template"]
fingerprint = ["to"]
repeat = "template"
"""
BODY = {"amount": 4900, "currency": "usd", "customer": "cus_1", "payment_method": "pm_1"}


class Cards:
    """Charges a card under the key that it is given, and finds what a key made."""

    def __init__(self, url: str) -> None:
        self._client = stripe.StripeClient(STRIPE_KEY, base_addresses={"api": url}, max_network_retries=0)

    def send(self, key: str, body: Mapping[str, Any]) -> str:
        params: Any = {**body, "confirm": True, "off_session": True, "metadata": {"intent_key": key}}
        try:
            made = self._client.v1.payment_intents.create(params, {"idempotency_key": key})
        except stripe.CardError as refused:  # The one answer that says clearly that no money moved.
            raise ProviderRefused(str(refused.user_message)) from None
        return made.id

    def find(self, key: str, body: Mapping[str, Any]) -> str | None:
        """Look through the customer's own list, because the search shows a payment late."""
        listed = self._client.v1.payment_intents.list({"customer": body["customer"], "limit": 100})
        for each in listed.auto_paging_iter():
            if each.to_dict()["metadata"].get("intent_key") == key:
                return each.id
        return None


class Letters:
    """Posts a letter; nobody can be asked whether one was posted."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/letters"

    def send(self, _key: str, body: Mapping[str, Any]) -> None:
        data = urllib.parse.urlencode(body).encode()
        with urllib.request.urlopen(self._url, data, timeout=5):  # noqa: S310  loopback
            pass


class Clock:
    """The time, which a test moves on."""

    def __init__(self) -> None:
        self.now = LATE

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def there() -> Iterator[Counter]:
    with counter() as behind:
        yield behind


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guards(database: Database, there: Counter, clock: Clock) -> tuple[Guard, Guard]:
    declared = registry.parse([tomllib.loads(TOOLS)])

    def guard(tool: str, send: Sender, find: Finder | None = None) -> Guard:
        return Guard(tool, send, find, engine=database, clock=clock, declared=declared[tool])

    cards, letters = Cards(there.url), Letters(there.url)
    return guard("charge_card", cards.send, cards.find), guard("send_letter", letters.send)


def charged(guards: tuple[Guard, Guard], **changes: object) -> Outcome:
    return guards[0].call({"invoice": "INV-7"}, BODY | changes, noun="charge of 49.00 USD for INV-7")


def posted(guards: tuple[Guard, Guard], words: str = "We are sorry.") -> Outcome:
    fields = {"ticket": "T-1", "template": "apology"}
    return guards[1].call(fields, {"to": "ana@example.com", "text": words}, noun="letter to Ana")


def test_a_card_is_charged_once_though_the_answer_was_lost(
    guards: tuple[Guard, Guard], there: Counter
) -> None:
    there.faults += ["drop"]
    first, second, drifted = charged(guards), charged(guards), charged(guards, amount=5900)

    assert statuses(first, second, drifted) == ["done", "already_done", "rejected"]
    assert (first.refund_id, len(there.charges)) == ("pi_1", 1)
    assert "asked for before with another amount" in drifted.message


def test_a_charge_that_nobody_sees_is_made_under_the_same_key_after_two_looks(
    guards: tuple[Guard, Guard], there: Counter, clock: Clock
) -> None:
    there.faults += ["lost"]
    asked = [charged(guards)]
    for _ in range(3):
        clock.now += timedelta(minutes=2)
        asked.append(charged(guards))

    assert statuses(*asked) == ["pending_unknown", "pending_unknown", "done", "already_done"]
    assert (len(there.charges), len(there.kept)) == (1, 1)


def test_what_the_world_does_twice_for_one_key_is_not_sent_again_though_nobody_finds_it(
    database: Database, clock: Clock
) -> None:
    """A letter that hangs at the post's door lies in no list, and is posted all the same."""
    posted: list[str] = []
    sent: list[str] = []

    def send(key: str, _body: Mapping[str, Any]) -> str:
        sent.append(key)
        raise TimeoutError

    guard = Guard("send_letter", send, lambda *_: posted[0] if posted else None, engine=database, clock=clock)
    asked = []
    for _ in range(4):
        asked.append(guard.call({"ticket": "T-1"}, {}, noun="letter"))
        clock.now += timedelta(minutes=2)
    posted.append("letter_1")
    late = guard.call({"ticket": "T-1"}, {}, noun="letter")

    assert statuses(*asked, late) == ["pending_unknown"] * 4 + ["already_done"]
    assert "A person has to look into it." in asked[-1].message
    assert len(sent) == 1


def test_a_card_that_is_declined_is_not_asked_again(guards: tuple[Guard, Guard], there: Counter) -> None:
    first, second = (charged(guards, payment_method="pm_declined") for _ in range(2))

    assert told(first) == told(second)
    assert (statuses(first), "Your card was declined." in first.message) == (["rejected"], True)
    assert there.charges == []


def test_a_letter_is_posted_once_in_whatever_words_it_is_asked_for(
    guards: tuple[Guard, Guard], there: Counter
) -> None:
    first, second = posted(guards), posted(guards, "So sorry!")

    assert statuses(first, second) == ["done", "already_done"]
    assert [each["text"] for each in there.letters] == ["We are sorry."]


@pytest.mark.parametrize("fault, done", [("drop", True), ("lost", False)])
def test_a_letter_that_may_have_been_posted_waits_for_a_person(
    guards: tuple[Guard, Guard], there: Counter, clock: Clock, *, fault: str, done: bool
) -> None:
    there.faults += [fault]
    asked = [posted(guards)]
    for _ in range(3):
        clock.now += timedelta(hours=2)
        asked.append(posted(guards))
    fields = {"ticket": "T-1", "template": "apology"}
    said = guards[1].conclude(fields, done=done, by="maria", noun="letter to Ana")

    assert statuses(*asked) == ["pending_unknown"] * 4
    assert "A person has to look into it." in asked[-1].message
    assert statuses(said, posted(guards)) == ["already_done" if done else "rejected"] * 2
    assert len(there.letters) == int(done)
