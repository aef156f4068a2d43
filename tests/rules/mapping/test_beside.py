from collections.abc import Mapping

import pytest

from recon.model import mapping_toml, samples
from recon.model.records.maps import Proposal, Stated
from recon.rules.mapping import amounts, proposing, writing

Row = Mapping[str, object]
SHOP: Row = {"idempotency_key": "k1", "status": "done", "date": "2026-03-06T17:00:00Z"}


def proposed(*cells: str, unit: str | None = None, **more: str) -> Proposal:
    rows: list[Row] = [
        {**SHOP, "idempotency_key": f"k{place}", "Betrag": cell, **more} for place, cell in enumerate(cells)
    ]
    return proposing.propose(samples.of("shop.csv", rows), stated=Stated(unit=unit))


def lines(proposal: Proposal) -> dict[str, str]:
    return {line.ours: mapping_toml.written_column(line.ours, line.told) for line in proposal.lines}


def answers(proposal: Proposal, about: str) -> list[str]:
    found = (each for each in proposal.questions if each.about == about)
    return [writing.answer(choice) for question in found for choice in question.choices]


def test_amounts_with_a_currency_beside_them_are_proposed_to_be_read_so_and_said() -> None:
    proposal = proposed("49,90 €", "5,00", "7,50", currency="EUR")

    assert lines(proposal)["amount"] == (
        'amount = { column = "Betrag", decimal = ",", currency_sign = true }'
    )
    (doubt,) = (doubt for line in proposal.lines for doubt in line.doubts)
    assert doubt.startswith("1 of 3 have a currency beside them (€)")


@pytest.mark.parametrize(
    "cells, currency",
    [
        (("49,90 €", "5,00 EUR"), 'currency = { constant = "eur" }'),
        (("49.90 EUR",), 'currency = { constant = "eur" }'),
        (("$ 5.00 USD", "5.00 USD"), 'currency = { constant = "usd" }'),
        (("$ 5.00 EUR", "5.00 EUR"), ""),
        (("$5.00",), ""),
        (("49.90 €", "5.00"), ""),
        (("49.90 €", "5.00 $"), ""),
    ],
)
def test_a_currency_is_taken_from_beside_amounts_where_each_has_it_and_it_is_one(
    cells: tuple[str, ...], currency: str
) -> None:
    proposal = proposed(*cells)

    assert lines(proposal).get("currency", "") == currency
    assert bool(answers(proposal, "currency")) is not bool(currency)


def test_a_currency_beside_some_amounts_is_the_first_answer() -> None:
    assert answers(proposed("49.90 £", "5.00"), "currency")[0] == 'currency = { constant = "egp" }'
    assert answers(proposed("49.90 CHF", "5.00"), "currency") == [
        'currency = { constant = "chf" }',
        'currency = { constant = "usd" }',
    ]


def test_currencies_that_differ_are_named() -> None:
    (question,) = proposed("49.90 €", "5.00 $").questions

    assert "beside amounts stand € and $" in question.text


@pytest.mark.parametrize(
    "cell, unit, name, line",
    [
        ("49 €", None, "amount", 'amount = { column = "Betrag", currency_sign = true }'),
        ("4900 €", "minor", "amount_minor", 'amount_minor = "Betrag"'),
    ],
)
def test_a_whole_number_with_a_currency_beside_it_is_in_major_units_unless_somebody_says_no(
    cell: str, unit: str | None, name: str, line: str
) -> None:
    assert lines(proposed(cell, unit=unit))[name] == line


def test_what_is_written_otherwise_is_what_the_others_style_does_not_read() -> None:
    seen = amounts.look(["49,90 €", "5,00", "7,50"])

    assert amounts.reads(seen, "1,25 €")
    assert not amounts.reads(seen, "1.25")
    assert not amounts.reads(seen, "many")
