import pytest

from recon.model import money, signs


@pytest.mark.parametrize(
    "text, number, beside",
    [
        ("49,90 €", "49,90", ("€",)),
        ("14.90 EUR", "14.90", ("EUR",)),
        ("$ 12.50", "12.50", ("$",)),
        ("$1,234.50 USD", "1,234.50", ("$", "USD")),
        ("1.049,00\N{NO-BREAK SPACE}€", "1.049,00", ("€",)),
        (
            "1\N{NARROW NO-BREAK SPACE}049,00\N{NARROW NO-BREAK SPACE}€",
            "1\N{NARROW NO-BREAK SPACE}049,00",
            ("€",),
        ),
        ("-49,90 €", "-49,90", ("€",)),
        ("€-12.50", "-12.50", ("€",)),
        ("- 12 kr", "-12", ("kr",)),
        ("(£12.50)", "(12.50)", ("£",)),
        ("12.50-CHF", "12.50-", ("CHF",)),
        ("Fr. 12.50", "12.50", ("Fr.",)),
        ("usd12", "12", ("usd",)),
        ("49,90", "49,90", ()),
        ("12 items", "12 items", ()),
        ("12 €/month", "12 €/month", ()),
        ("EUR", "EUR", ()),
        ("", "", ()),
        ("2 €1", "2 €1", ()),
    ],
)
def test_what_stands_beside_an_amount_is_taken_off_where_it_is_a_currency(
    text: str, number: str, beside: tuple[str, ...]
) -> None:
    assert signs.split(text) == (number, beside)


@pytest.mark.parametrize(
    "sign, currencies",
    [("€", {"eur"}), ("EUR", {"eur"}), ("C$", {"cad"}), ("¥", {"jpy", "cny"}), ("items", set()), ("", set())],
)
def test_a_sign_is_each_of_the_currencies_that_use_it(sign: str, currencies: set[str]) -> None:
    assert signs.currencies(sign) == currencies


def test_every_sign_is_of_currencies_that_the_provider_has() -> None:
    for sign in "$€£¥₹₩₪₺₽₴₫฿₱₦":
        assert signs.currencies(sign)
        assert signs.currencies(sign) <= set(money.EXPONENTS)
