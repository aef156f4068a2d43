"""Single settings of a map: each as it is read, or what is wrong with it.

Never takes a word that it does not know. What a ValueError says goes after the name of our column.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from recon.model import mapping, money
from recon.model.dtypes import INTENTS
from recon.model.records.words import IntentStatus, RefundStatus

LIMIT = 500
"""Words, candidates or filters of one entry: more is a table of data, not a map."""

PROBE = datetime(2026, 3, 6, 17, 4, 5, tzinfo=UTC)

_Word = TypeVar("_Word", bound=StrEnum)


def names(value: object, setting: str) -> tuple[str, ...]:
    """Return headers or paths, in order."""
    listed = [value] if isinstance(value, str) else value
    if isinstance(listed, list) and 0 < len(listed) <= LIMIT and all_texts(listed) and all(listed):
        return tuple(dict.fromkeys(listed))
    raise ValueError(f"must map to the name of a column, or a list of names in order ({setting})")


def all_texts(listed: Iterable[object]) -> bool:
    """Return whether all of a list are texts."""
    return all(isinstance(each, str) for each in listed)


def standing(side: str, name: str, value: object) -> str | None:
    """Return the text that stands in a row that has none of its own; None where nothing is said."""
    if value is None:
        return None
    if isinstance(value, str):
        check_word(side, name, value)
        return value
    raise ValueError("must have a text as its constant, or for missing")


def check_word(side: str, name: str, word: str) -> None:
    """Refuse a word that a column with few words does not take."""
    statuses: tuple[str, ...] = tuple(IntentStatus) if side == INTENTS else tuple(RefundStatus)
    taken = {"status": statuses, "system": ("true", "false"), "currency": tuple(money.EXPONENTS)}.get(name)
    if taken is not None and word not in taken:
        listed = "a currency code of the provider's" if name == "currency" else f"one of {', '.join(taken)}"
        raise ValueError(f"must be {listed}, not {word!r:.40}")


def marks(table: Mapping[str, object]) -> tuple[str, str]:
    """Return what stands before an amount's decimals, and between its thousands."""
    decimal, thousands = table.get("decimal", "."), table.get("thousands", "")
    if decimal not in {".", ","}:
        raise ValueError('must have "." or "," as decimal')
    if not isinstance(thousands, str) or len(thousands) > 1 or thousands not in mapping.MARKS:
        raise ValueError(f"must have one of {mapping.MARKS} as thousands, or an empty text")
    if thousands == decimal:
        raise ValueError("must have another text as thousands than as decimal")
    assert isinstance(decimal, str)
    return decimal, thousands


def one_of(words_: type[_Word], key: str, value: object) -> _Word:
    """Return one of a few words."""
    if isinstance(value, str) and value in list(words_):
        return words_(value)
    raise ValueError(f"must have one of {', '.join(words_)} as {key}")


def time_format(value: object) -> str:
    """Return the name of a format of times, or a pattern that tells a whole date."""
    if value == mapping.ISO or value in mapping.EPOCHS:
        return str(value)
    try:
        read_ = datetime.strptime(PROBE.strftime(str(value)), str(value))  # noqa: DTZ007 - whether it is a date at all.
        is_whole = read_.date() == PROBE.date()
    except (ValueError, re.error):
        is_whole = False
    # %Z is a zone's short name, of which CST is three.
    if not isinstance(value, str) or not is_whole or "Z" in mapping.directives(value):
        known = ", ".join((mapping.ISO, *mapping.EPOCHS))
        raise ValueError(f"must have as format one of {known}, or a pattern such as %d/%m/%Y %H:%M")
    return value


def flag(key: str, value: object) -> bool:
    """Return a truth value."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"must have true or false as {key}")
