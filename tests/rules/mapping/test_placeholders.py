from collections.abc import Mapping, Sequence

import pytest

from recon.model import samples
from recon.model.records.maps import Proposal
from recon.rules.mapping import proposing

Row = Mapping[str, object]
SHOP: Row = {"total": "49.00", "currency": "EUR", "status": "done", "date": "2026-03-06T17:00:00Z"}


def proposed(header: str, *cells: str, **more: Sequence[str]) -> Proposal:
    rows: list[Row] = [
        {
            **SHOP,
            "idempotency_key": f"k{place}",
            header: cell,
            **{name: one[place] for name, one in more.items()},
        }
        for place, cell in enumerate(cells)
    ]
    return proposing.propose(samples.of("shop.csv", rows))


def said(proposal: Proposal) -> list[str]:
    return [doubt for doubt in proposal.doubts if "and no id" in doubt]


@pytest.mark.parametrize(
    "word, times, empty",
    [("unbekannt", 3, ("unbekannt",)), ("0", 4, ("0",)), ("unbekannt", 2, ()), ("k.A.", 1, ("k.A.",))],
)
def test_what_stands_again_and_again_for_a_payment_is_proposed_as_empty(
    word: str, times: int, empty: tuple[str, ...]
) -> None:
    proposal = proposed("pays", *[f"pi_{number}" for number in range(9)], *[word] * times)

    assert proposal.empty == empty
    assert said(proposal) == [
        f"{each!r} is the payment of {times} rows, and no id: it counts as empty."
        for each in empty
        if each != "k.A."
    ]


def test_it_is_proposed_for_a_refund_id_too() -> None:
    ids = [*[f"re_{number}" for number in range(9)], *["none yet"] * 3]

    assert proposed("paid", *ids, pays=[f"pi_{number}" for number in range(12)]).empty == ("none yet",)


def test_what_another_column_holds_too_is_a_doubt_and_not_empty() -> None:
    ids = [*[f"pi_{number}" for number in range(9)], *["0"] * 3]
    proposal = proposed("pays", *ids, order=["0", *map(str, range(100, 111))])

    assert proposal.empty == ()
    assert said(proposal) == [
        "'0' is the payment of 3 rows, and no id: it is in other columns too: take it out of this one."
    ]


def test_a_payment_that_returns_in_parts_is_an_id() -> None:
    assert said(proposed("pays", *["pi_1"] * 5)) == []
