from decimal import Decimal

import pytest

from recon.model import money
from recon.model.records.results import Money


@pytest.mark.parametrize(
    "amount, currency, expected",
    [
        ("49.00", "usd", 4900),
        ("8.03", "usd", 803),
        ("19.99", "usd", 1999),
        ("49", "usd", 4900),
        (49, "usd", 4900),
        (Decimal("0.29"), "usd", 29),
        ("49.0000", "usd", 4900),
        ("0.001", "usd", None),
        ("500", "jpy", 500),
        ("500.00", "jpy", 500),
        ("500.5", "jpy", None),
        ("5.120", "kwd", 5120),
        ("5", "isk", 500),
        ("0", "usd", 0),
        ("-1", "usd", None),
        ("NaN", "usd", None),
        ("Infinity", "usd", None),
        ("abc", "usd", None),
        ("1", "xxx", None),
        ("92233720368547758.07", "usd", 2**63 - 1),
        ("92233720368547758.08", "usd", None),
        ("1e999999999", "usd", None),
        ("1e-999999999", "usd", None),
        ("1.00000000000000000000000000000000001", "usd", None),
    ],
)
def test_major_units_become_minor_ones_exactly_or_not_at_all(
    amount: str | int | Decimal, currency: str, expected: int | None
) -> None:
    assert money.minor(amount, currency) == expected


@pytest.mark.parametrize(
    "amount_minor, currency, expected",
    [
        (4900, "usd", "49.00 USD"),
        (0, "usd", "0.00 USD"),
        (5, "usd", "0.05 USD"),
        (500, "jpy", "500 JPY"),
        (5120, "kwd", "5.120 KWD"),
        (-5, "eur", "-0.05 EUR"),
        (415800, "jpy", "415,800 JPY"),
        (123450, "usd", "1,234.50 USD"),
        (99999, "usd", "999.99 USD"),
        (-123456789, "usd", "-1,234,567.89 USD"),
    ],
)
def test_money_is_written_with_its_currencys_decimals(
    amount_minor: int, currency: str, expected: str
) -> None:
    assert money.written(Money(amount_minor, currency)) == expected


@pytest.mark.parametrize(
    "amount_minor, expected", [(4900, "+49.00 USD"), (0, "0.00 USD"), (-4900, "-49.00 USD")]
)
def test_a_difference_is_written_with_its_sign(amount_minor: int, expected: str) -> None:
    assert money.signed(Money(amount_minor, "usd")) == expected


def test_the_provider_counts_some_currencies_otherwise_than_the_iso_standard() -> None:
    exponents = {code: money.EXPONENTS[code] for code in ("isk", "ugx", "mga", "huf", "twd", "clp", "bhd")}

    assert exponents == {"isk": 2, "ugx": 2, "mga": 0, "huf": 2, "twd": 2, "clp": 0, "bhd": 3}


def test_there_and_back_is_the_same_for_every_currency() -> None:
    lost = [code for code in money.EXPONENTS if money.minor(money.major(1234, code), code) != 1234]

    assert lost == []
