"""Refunds of one intent that add up to what an int64 just holds, or no longer does."""

from typing import Any

import pytest

from tests.drawer import AS_OF
from tests.product import product_diff
from tests.rows import a_refund, an_intent

MOST = 2**63 - 1  # The largest amount that a row may have.


def found(meant: int, *parts: int) -> list[dict[str, Any]]:
    """The mismatches of one intent with these refunds."""
    refunds = [a_refund(f"re_{n}", amount_minor=part, intent_key="k1") for n, part in enumerate(parts)]
    document = product_diff([an_intent(amount_minor=meant)], refunds, as_of=AS_OF)
    mismatches: list[dict[str, Any]] = document["mismatches"]
    return mismatches


@pytest.mark.parametrize(
    "meant, parts",
    [
        (MOST, (MOST,)),
        (MOST - 100, (MOST - 100,)),
        (MOST - 100, (2**62, 2**62 - 101)),
        (2**33, (2**32, 2**32 - 1, 1)),
    ],
)
def test_what_adds_up_exactly_is_in_agreement(meant: int, parts: tuple[int, ...]) -> None:
    assert found(meant, *parts) == []


@pytest.mark.parametrize(
    "meant, parts",
    [
        (MOST, (MOST, MOST)),
        (MOST, (MOST, 1)),
        (MOST, (MOST, MOST, MOST)),
        (2**62, (2**62, 2**62, 2**62, 2**62)),
        (MOST - 100, (2**62, 2**62 - 100)),
        (0, (2**63 - 1, 2**63 - 1, 2)),
    ],
)
def test_a_sum_beyond_the_largest_amount_is_still_more_than_was_meant(
    meant: int, parts: tuple[int, ...]
) -> None:
    (mismatch,) = found(meant, *parts)

    assert (mismatch["kind"], mismatch["certainty"]) == ("duplicate", "confirmed")
    assert mismatch["amount_at_risk"] == sum(parts) - meant


@pytest.mark.parametrize("parts", [(MOST - 1,), (2**62, 2**62 - 2)])
def test_one_unit_less_than_the_largest_amount_is_too_little(parts: tuple[int, ...]) -> None:
    (mismatch,) = found(MOST, *parts)

    expected = ("amount_mismatch", "under", 1)
    assert (mismatch["kind"], mismatch["direction"], mismatch["amount_at_risk"]) == expected
