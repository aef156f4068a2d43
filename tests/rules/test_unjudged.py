"""What mismatches say of rejected rows on their payment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.builders import NOON
from tests.product import Row, product_diff
from tests.rules.test_neighbours import INTENT, NONE, REFUND

BAD: dict[str, Any] = {**REFUND, "id": "re_bad", "amount_minor": "100.00 EUR"}
BAD_INTENT: dict[str, Any] = {**INTENT, "key": "k_bad", "amount_minor": "94,90 EUR"}
MEND = ", which could not be judged, is on the same payment: mend it"


def found(intents: Sequence[Row], refunds: Sequence[Row], **fields: Any) -> dict[str, Any]:  # noqa: ANN401  # coverage
    result = product_diff(intents, refunds, as_of=NOON + timedelta(hours=2), **fields)
    return {each["kind"]: each for each in result["mismatches"]}


def test_a_missing_intent_names_the_row_that_could_not_be_judged_on_its_payment() -> None:
    mismatch = found([INTENT], [{**REFUND, "payment_intent": "pi_2"}, BAD])["missing"]

    assert mismatch["why"] == f"{NONE}; row 2 of refunds (re_bad){MEND} before anything is paid."
    assert mismatch["refund_ids"] == []


def test_several_such_rows_are_named_the_first_few_of_many() -> None:
    rows = [{**BAD, "id": f"re_{number}"} for number in range(1, 6)]

    assert found([INTENT], rows)["missing"]["why"] == (
        f"{NONE}; row 1 of refunds (re_1), row 2 of refunds (re_2), row 3 of refunds (re_3) and 2 more, which"
        " could not be judged, are on the same payment: mend them before anything is paid."
    )


def test_a_row_without_an_id_is_named_by_its_place() -> None:
    assert f"; row 1 of refunds{MEND}" in found([INTENT], [{**BAD, "id": None}])["missing"]["why"]


def test_versions_of_which_none_stands_are_named_as_well() -> None:
    two = [{**REFUND, "id": "re_2", "amount_minor": amount} for amount in (10_000, 1)]

    assert (
        "; row 1 of refunds (re_2) and row 2 of refunds (re_2), which could"
        in (found([INTENT], two)["missing"]["why"])
    )


@pytest.mark.parametrize(
    "kind, intent, refund, opening",
    [
        ("stuck", {"status": "pending_unknown"}, {"payment_intent": "pi_2"}, "Nobody knows whether "),
        ("refund_failed", {}, {"intent_key": "k1", "status": "failed"}, "The intent says done, but re_1 did"),
        ("amount_mismatch", {}, {"intent_key": "k1"}, "100.00 EUR was meant, 94.90 EUR went back in"),
    ],
)
def test_all_that_one_more_refund_might_explain_names_it(
    kind: str, intent: dict[str, Any], refund: dict[str, Any], opening: str
) -> None:
    why = found([INTENT | intent], [REFUND | refund, BAD])[kind]["why"]

    assert why.startswith(opening)
    assert why.endswith(f"; row 2 of refunds (re_bad){MEND} before anything is paid.")


def test_what_no_other_refund_could_explain_does_not_name_it() -> None:
    more = {**REFUND, "intent_key": "k1", "amount_minor": 10_001}

    assert "could not be judged" not in found([INTENT], [more, BAD])["amount_mismatch"]["why"]


def test_an_orphan_names_the_intent_that_could_not_be_judged_on_its_payment() -> None:
    assert found([BAD_INTENT], [REFUND])["orphan"]["why"] == (
        "94.90 EUR went back in re_1, which names no intent: find out who made it, and why; row 1 of intents"
        f" (k_bad){MEND} first."
    )


def test_a_refund_that_looks_like_a_second_one_names_it_too() -> None:
    twice = [{**REFUND, "intent_key": "k1"}, {**REFUND, "id": "re_2"}]

    why = found([{**INTENT, "amount_minor": 9490}, BAD_INTENT], twice)["duplicate"]["why"]

    assert why.endswith(
        f"the customer seems to have been refunded twice; row 2 of intents (k_bad){MEND} first."
    )


@pytest.mark.parametrize("changes", [{"payment_intent": "pi_2"}, {"payment_intent": None}, {"account": "a"}])
def test_rows_elsewhere_are_not_named(changes: dict[str, Any]) -> None:
    assert found([INTENT], [BAD | changes])["missing"]["why"] == f"{NONE}."


@pytest.mark.parametrize(
    "intent, bad, good",
    [
        ("ch_1", {"payment_intent": None, "charge": "ch_1"}, {"payment_intent": "pi_2"}),
        ("ch_1", {"charge": "ch_1"}, {"payment_intent": "pi_2"}),
        ("pi_1", {"payment_intent": None, "charge": "ch_1"}, {"charge": "ch_1"}),
        ("ch_1", {}, {"charge": "ch_1"}),
    ],
)
def test_a_charge_stands_for_its_payment(intent: str, bad: dict[str, Any], good: dict[str, Any]) -> None:
    ours = [{**INTENT, "payment": intent}, {**INTENT, "key": "k9", "payment": "pi_9", "amount_minor": 9490}]

    assert "(re_bad)" in found(ours, [REFUND | good | {"intent_key": "k9"}, BAD | bad])["missing"]["why"]
