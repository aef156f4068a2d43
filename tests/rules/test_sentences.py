"""What the sentences of probable mismatches name, and what they ask for."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.builders import NOON
from tests.product import Row, product_diff
from tests.rules.test_neighbours import INTENT, REFUND

FULL: dict[str, Any] = {**REFUND, "amount_minor": 10_000}
REPEAT = (
    "100.00 EUR went back in re_2, 56 minutes after re_1 of intent k1; intents k1 and k2 ask for the same"
    "{}: if these are two items, give each a `reference`, such as its order line."
)


def why(intents: Sequence[Row], refunds: Sequence[Row]) -> str:
    (mismatch,) = product_diff(intents, refunds, as_of=NOON + timedelta(hours=2))["mismatches"]
    return str(mismatch["why"])


@pytest.mark.parametrize(
    "reference, said", [(None, ", and neither has a reference"), ("line-1", " under one reference, line-1")]
)
def test_a_repeat_names_both_intents_and_what_would_tell_them_apart(reference: str | None, said: str) -> None:
    ours = [{**INTENT, "key": key, "reference": reference} for key in ("k1", "k2")]
    theirs = [
        {**FULL, "intent_key": "k1"},
        {
            **FULL,
            "id": "re_2",
            "intent_key": "k2",
            "created_at": (NOON + timedelta(minutes=56, seconds=3)).isoformat(),
        },
    ]

    assert why(ours, theirs) == REPEAT.format(said)


@pytest.mark.parametrize(
    "seconds, said", [(30, "30 seconds after"), (-4, "4 seconds before"), (0, "in the same second as")]
)
def test_a_stuck_intent_says_what_fits_and_what_it_lacks(seconds: int, said: str) -> None:
    intent = {**INTENT, "status": "pending_unknown"}
    refund = {**FULL, "created_at": (NOON + timedelta(seconds=seconds)).isoformat()}

    assert why([intent], [refund]) == (
        "Nobody knows whether 100.00 EUR went back: re_1 is on the same payment and of the same amount,"
        f" {said} the intent, but carries no key of it: look at it, and write its id to the intent if it is"
        " the one."
    )


def test_of_a_stuck_intent_another_intents_refund_on_its_payment_is_not_said_to_be_none() -> None:
    stuck = {**INTENT, "key": "k2", "amount_minor": 5_000, "status": "pending_unknown"}

    assert why([INTENT, stuck], [{**FULL, "intent_key": INTENT["key"]}]) == (
        "Nobody knows whether 50.00 EUR went back: the provider has no refund of it."
    )
