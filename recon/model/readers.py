"""What a setting's value may be: each reader takes one value as TOML gives it and returns it as we keep it.

A reader that cannot take a value raises ValueError with what it would have taken, to end "must be"; of a
section that has a word too many it raises Unknown, which names that word alone.
Never names a key or a file: settings.build does.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from pathlib import PurePath

from recon.model import moments, money
from recon.model.records.words import AccountId, Role

Reader = Callable[[object], object]

_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_LONGEST_SECONDS = 3650 * 86400  # Ten years: beyond it somebody has mistaken the unit.
_TEXT_LIMIT = 500  # Characters of any one value; a name, an address and a path all fit.


class Unknown(ValueError):
    """A section has a word that it may not have; the text stands behind its name, and says which it may."""


def number(low: float, high: float, what: str = "a number") -> Reader:
    """Return a reader of a number from low to high."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"{what} from {low:g} to {high:.12g}")
        return float(value)

    return read


def count(low: int, high: int, what: str = "a whole number") -> Reader:
    """Return a reader of a whole number from low to high."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{what} from {low} to {high}")
        return value

    return read


def duration(unit: str, *, low: float = 0) -> Reader:
    """Return a reader of a time span, written as a number of the unit and kept as a timedelta."""
    amount = number(low, _LONGEST_SECONDS / _SECONDS[unit], f"a number of {unit}")

    def read(value: object) -> timedelta:
        units = amount(value)
        assert isinstance(units, float)
        return timedelta(seconds=units * _SECONDS[unit])

    return read


def flag(value: object) -> bool:
    """Return a boolean."""
    if value is True or value is False:
        return value
    raise ValueError("true or false")


def text(value: object) -> str:
    """Return a text of one line."""
    if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= _TEXT_LIMIT:
        return value
    raise ValueError(f"a text of one line, 1 to {_TEXT_LIMIT} characters")


def metrics_file_or_none(value: object) -> str | None:
    """Return the path of a file for metrics; None where it is empty. The exporter reads no other suffix."""
    if value == "":
        return None
    try:
        path = text(value)
    except ValueError:
        path = ""
    if PurePath(path).suffix != ".prom" or path.endswith("/"):
        raise ValueError("the path of a file whose name ends in .prom")
    return path


def web_address(value: object) -> str:
    """Return an http or https address without its last slash."""
    if isinstance(value, str) and re.fullmatch(r"https?://[^\s/]+[^\s]*", value):
        return value.rstrip("/")
    raise ValueError("a web address that begins with http:// or https://")


def web_address_or_none(value: object) -> str:
    """Return an http or https address without its last slash; "" where there is none."""
    return "" if value == "" else web_address(value)


def text_or_none(value: object) -> str:
    """Return a text of one line; "" where there is none."""
    return "" if value == "" else text(value)


def header_name(value: object) -> str:
    """Return the name of an HTTP header."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9-]{1,100}", value):
        return value
    raise ValueError("the name of an HTTP header: letters, digits and hyphens")


def roles_of(noun: str) -> Reader:
    """Return a reader of whose role is what, in order: a list of tables with the noun and a role."""
    words = ", ".join(Role)

    def read(value: object) -> tuple[tuple[str, Role], ...]:
        wrong = Unknown(f"must be a list of tables, each with {noun}, a text, and role, one of {words}")
        if not isinstance(value, list):
            raise wrong
        found = []
        for each in value:
            if not isinstance(each, dict) or set(each) != {noun, "role"} or each["role"] not in list(Role):
                raise wrong
            try:
                found.append((text(each[noun]).strip(), Role(each["role"])))
            except ValueError:
                raise wrong from None
        return tuple(found)

    return read


def amounts(value: object) -> Mapping[str, int]:
    """Return amounts in minor units by currency, written in major units as texts."""
    wrong = 'must be a table of amounts in major units by currency, such as usd = "500.00" or jpy = "60000"'
    if not isinstance(value, Mapping):
        raise Unknown(wrong)
    found: dict[str, int] = {}
    for currency, amount in value.items():
        minor = money.minor(amount, currency) if isinstance(amount, str) else None
        if not minor:
            raise Unknown(f"{wrong}; {currency} is not")
        found[currency] = minor
    return found


def moment_or_none(value: object) -> datetime | None:
    """Return a time; a date is the midnight, in UTC, that it begins with. None where the text is empty."""
    if value == "":
        return None
    told = value.isoformat() if isinstance(value, date) else value  # TOML has dates and times of its own.
    if isinstance(told, str) and len(told.strip()) == len("2026-03-06"):
        told = f"{told.strip()}T00:00:00Z"
    moment = moments.read(told) if isinstance(told, str) else None
    if moment is None:
        raise ValueError(
            "a date such as 2026-03-06, a time with its zone such as 2026-03-06T17:00:00Z, or empty"
        )
    return moment


def one_of(*words: str) -> Reader:
    """Return a reader of one of these words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise ValueError("one of " + ", ".join(words))

    return read


def accounts(value: object) -> tuple[AccountId, ...]:
    """Return connected account ids, each once."""
    if isinstance(value, list) and all(isinstance(account, str) for account in value):
        fits = all(re.fullmatch(r"acct_\w+", account) for account in value)
        if fits and len(set(value)) == len(value):
            return tuple(AccountId(account) for account in value)
    raise ValueError('a list of connected account ids such as ["acct_1AbC"], each once')


def metadata_key(value: object) -> str:
    """Return the name of a metadata field."""
    # Names of up to 40 characters, no brackets. Source: https://docs.stripe.com/metadata
    if isinstance(value, str) and re.fullmatch(r"[^\[\]\s]{1,40}", value):
        return value
    raise ValueError("a metadata name of 1 to 40 characters without spaces or brackets")


def table_name(value: object) -> str:
    """Return the name of a database table, with its schema where one is given."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", value):
        return value
    raise ValueError('the name of a table, such as "refund_requests" or "shop.refund_requests"')


def as_it_is(value: object) -> object:
    """Return what is read together with what stands beside it."""
    return value
