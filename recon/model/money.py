"""The provider's currencies and their minor units, and exact ways from one unit to the other.

Never rounds and never sees a float: an amount that the currency cannot hold is refused.
"""

from decimal import Decimal, DecimalException, localcontext

from recon.model.records.results import Money

# Source: https://docs.stripe.com/currencies, the provider's table and not ISO 4217's, read in 2026.
_NO_DECIMALS = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf"
# The provider wants the last of the three digits to be 0, but counts in thousandths all the same.
_THREE_DECIMALS = "bhd jod kwd omr tnd"
# ISK and UGX stand here on purpose: they have no minor unit of their own, but are sent with two decimals.
_TWO_DECIMALS = """
    aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf
    cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils
    inr isk jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad
    ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl
    thb tjs top try ttd twd tzs uah ugx usd uyu uzs wst xcd xcg yer zar zmw
"""
# Refunds of payments made before the provider or their country gave these up are still on its books.
_TWO_DECIMALS_FORMERLY = "eek hrk ltl lvl mro sll svc vef"

EXPONENTS = (
    dict.fromkeys((_TWO_DECIMALS + _TWO_DECIMALS_FORMERLY).split(), 2)
    | dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
)
"""Decimals of each currency as the provider counts them, by lower-case code."""

LARGEST_MINOR = 2**63 - 1  # What an int64 column and a BIGINT hold.
_DIGITS = 40  # Twice what an int64 has: a number beyond that is not worth the memory of writing it out.


def minor(amount: str | int | Decimal, currency: str) -> int | None:
    """Return an amount in major units as minor units; None where the currency cannot hold it exactly.

    A currency that is not the provider's, an unreadable text, a negative amount and one beyond int64 are None
    too.
    """
    exponent = EXPONENTS.get(currency)
    if exponent is None:
        return None
    try:
        value = Decimal(amount)
    except DecimalException:  # A text that is not a number.
        return None
    if not value.is_finite() or value < 0:
        return None
    if value and (abs(value.adjusted()) > _DIGITS or len(value.as_tuple().digits) > _DIGITS):
        return None
    with localcontext(prec=3 * _DIGITS):  # Python's usual 28 digits would round.
        scaled = value.scaleb(exponent)
        whole = int(scaled)
        return whole if whole == scaled and whole <= LARGEST_MINOR else None


def major(amount_minor: int, currency: str) -> str:
    """Return minor units as a plain decimal text in major units: 4900 usd is "49.00", 500 jpy is "500"."""
    exponent = EXPONENTS[currency]
    if exponent == 0:
        return str(amount_minor)
    sign = "-" if amount_minor < 0 else ""
    digits = str(abs(amount_minor)).zfill(exponent + 1)
    return f"{sign}{digits[:-exponent]}.{digits[-exponent:]}"


def written(money: Money) -> str:
    """Return money as people write it: 1,234.50 USD."""
    whole, point, part = major(money.amount_minor, money.currency).partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{point}{part} {money.currency.upper()}"


def signed(money: Money) -> str:
    """Return a difference as people write it: +49.00 USD, -49.00 USD, 0.00 USD."""
    return f"{'+' if money.amount_minor > 0 else ''}{written(money)}"


def told(money: Money) -> str:
    """Return money as `written` does; in minor units where the currency is not the provider's."""
    if money.currency in EXPONENTS:
        return written(money)
    return f"{money.amount_minor} minor units of an unknown currency"
