"""What a missing intent and an orphan say of what else is on their payment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.builders import NOON
from tests.product import Row, product_diff

INTENT = {
    "key": "k1",
    "account": "",
    "payment": "pi_1",
    "amount_minor": 10_000,
    "currency": "eur",
    "status": "done",
    "created_at": NOON.isoformat(),
}
REFUND = {
    "id": "re_1",
    "account": "",
    "payment_intent": "pi_1",
    "amount_minor": 9490,
    "currency": "eur",
    "status": "succeeded",
    "created_at": (NOON + timedelta(seconds=2)).isoformat(),
}
NONE = "The intent says done, but the provider has no refund of 100.00 EUR for it"


def whys(intents: Sequence[Row], refunds: Sequence[Row], **fields: Any) -> dict[str, str]:  # noqa: ANN401  # as_of and the like
    found = product_diff(intents, refunds, **({"as_of": NOON + timedelta(hours=2)} | fields))
    return {each["kind"]: each["why"] for each in found["mismatches"]}


def missing(*refunds: Row) -> str:
    return whys([INTENT], list(refunds))["missing"]


def test_a_missing_intent_names_the_refund_of_another_amount_on_its_payment() -> None:
    assert missing(REFUND) == (
        f"{NONE}; re_1 of 94.90 EUR on the same payment is nobody's: find out whether it is this one before"
        " anything is sent."
    )


def test_of_many_it_names_the_first_few() -> None:
    five = [{**REFUND, "id": f"re_{n}", "amount_minor": 100 * n} for n in range(1, 6)]

    assert missing(*five) == missing(*reversed(five))
    assert missing(*five) == (
        f"{NONE}; re_1 of 1.00 EUR, re_2 of 2.00 EUR, re_3 of 3.00 EUR and 2 more on the same payment are"
        " nobody's: find out whether one of them is this one before anything is sent."
    )


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_it_names_a_refund_that_did_not_go_through(status: str) -> None:
    assert missing({**REFUND, "status": status}) == (
        f"{NONE}; re_1 of 94.90 EUR on the same payment did not go through."
    )


def test_money_that_went_back_comes_before_money_that_did_not() -> None:
    assert "re_2 of 94.90 EUR on the same payment is nobody's" in missing(
        {**REFUND, "status": "failed"}, {**REFUND, "id": "re_2"}
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"payment_intent": "pi_2"},
        {"payment_intent": None},
        {"account": "acct_1"},
        {"system": True},
        {"system": True, "status": "failed"},
    ],
)
def test_what_is_elsewhere_or_the_providers_own_is_not_named(changes: dict[str, Any]) -> None:
    assert missing({**REFUND, **changes}) == f"{NONE}."


def test_a_refund_of_another_intent_is_not_named() -> None:
    other = {**INTENT, "key": "k2", "amount_minor": 9490}

    assert whys([INTENT, other], [{**REFUND, "intent_key": "k2"}]) == {"missing": f"{NONE}."}
    assert (
        whys([INTENT, other], [{**REFUND, "intent_key": "k2", "status": "failed"}])["missing"] == f"{NONE}."
    )


def test_a_refund_that_is_not_judged_is_nobodys_to_say() -> None:
    assert whys([INTENT], [REFUND], incomplete=frozenset({"intents"})) == {"missing": f"{NONE}."}


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_an_orphan_names_the_intent_that_says_it_was_never_made(status: str) -> None:
    assert whys([{**INTENT, "status": status}], [REFUND]) == {
        "orphan": "94.90 EUR went back in re_1, which names no intent; intent k1 of 100.00 EUR on the same"
        f" payment says {status}: find out whether it was carried out all the same."
    }


@pytest.mark.parametrize("changes", [{"payment": "pi_2"}, {"payment": None}, {"account": "acct_1"}])
def test_an_orphan_is_silent_about_other_intents(changes: dict[str, Any]) -> None:
    assert whys([{**INTENT, "status": "failed", **changes}], [REFUND])["orphan"] == (
        "94.90 EUR went back in re_1, which names no intent: find out who made it, and why."
    )


def test_of_several_an_orphan_names_the_earliest_in_whatever_order_they_come() -> None:
    declined = [{**INTENT, "key": key, "status": "failed"} for key in ("k1", "k2")]

    for ours in (declined, declined[::-1]):
        assert "; intent k1 of 100.00 EUR" in whys(ours, [REFUND])["orphan"]


def test_an_orphan_is_silent_about_an_intent_whose_own_refund_is_there() -> None:
    theirs = {**REFUND, "id": "re_2", "intent_key": "k1", "amount_minor": 10_000}

    found = whys([{**INTENT, "status": "failed"}], [REFUND, theirs])

    assert found["orphan"].endswith("which names no intent: find out who made it, and why.")


def test_an_orphan_names_the_intent_that_misses_its_refund_as_that_names_it() -> None:
    late = {**REFUND, "amount_minor": 10_000, "created_at": (NOON + timedelta(days=9)).isoformat()}

    found = whys([INTENT], [late], as_of=NOON + timedelta(days=10))

    assert found == {
        "missing": f"{NONE}; re_1 of 100.00 EUR on the same payment is nobody's: find out whether it is this"
        " one before anything is sent.",
        "orphan": "100.00 EUR went back in re_1, which names no intent; intent k1 of 100.00 EUR on the same"
        " payment has no refund: find out whether it is this one.",
    }


def test_of_several_that_miss_theirs_the_orphan_names_that_of_its_own_money() -> None:
    late = {**REFUND, "created_at": (NOON + timedelta(days=9)).isoformat()}
    equal = {**INTENT, "key": "k2", "amount_minor": 9490}
    declined = {**INTENT, "key": "k0", "status": "failed"}

    for ours in ([INTENT, equal, declined], [declined, equal, INTENT]):
        assert (
            "; intent k2 of 94.90 EUR on the same payment has no"
            in whys(ours, [late], as_of=NOON + timedelta(days=10))["orphan"]
        )


def test_an_intent_whose_refund_is_anothers_misses_none() -> None:
    claiming = {**INTENT, "refund_id": "re_2"}
    other = {**INTENT, "key": "k2", "payment": "pi_2"}
    theirs = {**REFUND, "id": "re_2", "intent_key": "k2", "amount_minor": 10_000, "payment_intent": "pi_2"}

    found = whys([claiming, other], [REFUND, theirs])

    assert found["missing"] == "The intent says done with re_2, but that belongs to intent k2."
    assert found["orphan"].endswith("which names no intent: find out who made it, and why.")
