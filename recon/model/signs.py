"""Signs and codes of currencies as people write them beside an amount: 49,90 €, EUR 14.90, $ 12.50.

Never says which of several currencies a sign is: a row's own currency is one of them, or it is not.
"""

import re
from collections.abc import Mapping

from recon.model import money

_SIGNS: Mapping[str, str] = {
    "$": "usd aud bbd bmd bnd bsd bzd cad fjd gyd hkd jmd kyd lrd mxn nad nzd sbd sgd srd ttd twd xcd"
    " ars clp cop uyu",
    "us$": "usd",
    "a$": "aud",
    "au$": "aud",
    "c$": "cad",
    "ca$": "cad",
    "nz$": "nzd",
    "hk$": "hkd",
    "s$": "sgd",
    "mx$": "mxn",
    "nt$": "twd",
    "r$": "brl",
    "€": "eur",
    "euro": "eur",
    "euros": "eur",
    "£": "gbp egp fkp gip shp",
    "¥": "jpy cny",
    "円": "jpy",
    "元": "cny",
    "₹": "inr",
    "₩": "krw",
    "₪": "ils",
    "₺": "try",
    "₽": "rub",
    "₴": "uah",
    "₫": "vnd",
    "฿": "thb",
    "₱": "php",
    "₦": "ngn",
    "fr.": "chf",
    "sfr.": "chf",
    "kr": "sek nok dkk isk",
    "kr.": "sek nok dkk isk",
    "kč": "czk",
    "zł": "pln",
    "ft": "huf",
    "lei": "ron mdl",
    "rm": "myr",
    "rp": "idr",
}

_BLANKS = r"[ \t\u00a0\u202f]*"
_SIGN = r"[^\s\d+\-()',_\u2019.][^\s\d+\-()',_\u2019]{0,5}"  # Longer than any: a word is no sign.
_NUMBER = rf"-?{_BLANKS}\d(?:[\d.,'\u2019_ \u00a0\u202f]*\d)?-?"
_BESIDE = re.compile(
    rf"(?P<opens>\(?)(?P<minus>-?){_BLANKS}(?P<before>{_SIGN})?{_BLANKS}"
    rf"(?P<number>{_NUMBER}){_BLANKS}(?P<after>{_SIGN})?(?P<closes>\)?)"
)


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """Return an amount without the signs and codes beside it, and these; all of a text that has none."""
    found = _BESIDE.fullmatch(text.strip())
    signs = () if found is None else tuple(one for one in (found["before"], found["after"]) if one)
    if found is None or not signs or not all(map(currencies, signs)):
        return text, ()
    number = found["number"].replace("-", "", 1).strip() if found["number"][0] == "-" else found["number"]
    minus = "-" if found["minus"] or found["number"][0] == "-" else ""
    return f"{found['opens']}{minus}{number}{found['closes']}", signs


def currencies(sign: str) -> frozenset[str]:
    """Return the currencies that a sign or a code may be, as codes; none where it is neither."""
    small = sign.lower()
    return frozenset({small} if small in money.EXPONENTS else _SIGNS.get(small, "").split())
