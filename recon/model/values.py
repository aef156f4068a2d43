"""JSON text as values in which no number is a float, and what stands inside one.

Never raises on what a value holds, only on text that is no JSON: what cannot be made out is an Unreadable.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, DecimalException

# Digits beyond which a whole number is not made an int, as Python itself refuses to from 4,300 on.
_DIGITS = 4000
_PLACES = 19  # Digits of a place in a list beyond which no list goes.


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands where a value could not be made out; no column accepts it. what: for the reject's reason."""

    what: str

    def __str__(self) -> str:
        """Return what is shown."""
        return self.what


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object's fields; one that stands there twice with two values has none that can be read."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = {name for name, value in pairs if value != found[name]}
        found |= dict.fromkeys(twice, Unreadable("a field that stands twice in its object"))
    return found


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=_object)


def parsed(text: str) -> object:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested beyond reason.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except (ValueError, DecimalException):  # A number of more digits, or of a greater exponent, than fit.
        return json.loads(
            text,
            parse_float=_decimal,
            parse_constant=Decimal,
            parse_int=_whole,
            object_pairs_hook=_object,
        )


def field(value: object, name: str) -> object:
    """Return one field of an object, or of an object's JSON text; None where it has none."""
    if isinstance(value, bytes):  # As some writers of Parquet keep their texts.
        value = decoded(value)
    if isinstance(value, str) and value.strip():
        try:
            value = parsed(value)
        except (ValueError, RecursionError):  # A spelling of somebody's own, or cut off.
            return Unreadable("metadata that is no JSON")
    if not value and isinstance(value, str | list | None):  # Some languages write an empty object as [].
        return None
    if isinstance(value, Mapping | Unreadable):
        return value.get(name) if isinstance(value, Mapping) else value
    return Unreadable("metadata that is no object")


def walked(value: object, path: tuple[str, ...]) -> object:
    """Return what a value holds at a path; None where it holds nothing there.

    In a list a step is a place from 0, or name=text for the first object whose name is the text.
    """
    for name in path:
        value = decoded(value) if isinstance(value, bytes) else value
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _list_of(value)
        if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
            value = dict(value)  # Arrow's maps come as lists of pairs.
        value = _chosen(value, name) if isinstance(value, list) and value else field(value, name)
        if value is None or isinstance(value, Unreadable):
            return value
    return value


def _list_of(text: str) -> object:
    """Return a JSON list's text as a list."""
    try:
        return parsed(text)
    except (ValueError, RecursionError):  # A spelling of somebody's own, or cut off.
        return Unreadable("a list that is no JSON")


def _chosen(items: list[object], name: str) -> object:
    """Return one of a list."""
    key, equals, wanted = name.partition("=")
    if equals:
        return next(
            (item for item in items if isinstance(item, Mapping) and str(item.get(key)) == wanted), None
        )
    if name.isdecimal():  # Longer than a count of bytes, and Python may not even read it.
        return items[int(name)] if len(name) < _PLACES and int(name) < len(items) else None
    return Unreadable("a list, of which a path must name the place")


def trimmed(value: object) -> object:
    """Return a text without the blanks around it, anything else as it is."""
    if not isinstance(value, str):
        return value
    if "\0" in value:
        return Unreadable("text with a zero byte")
    return value.strip() if encodable(value) else Unreadable("text that is no Unicode")


def decoded(content: bytes | None) -> object:
    """Return bytes as the text that they are."""
    try:
        return None if content is None else trimmed(content.decode())
    except UnicodeDecodeError:
        return Unreadable("bytes that are no UTF-8")


def encodable(text: str) -> bool:
    """Return whether a text can be written out; half of a surrogate pair, which JSON can spell, cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(digits: str) -> int | Decimal:
    """Return a JSON whole number, also one that is too long for Python to make an int of."""
    return int(digits) if len(digits) <= _DIGITS else Decimal(digits)


def _decimal(number: str) -> Decimal | Unreadable:
    """Return a JSON number with a fraction or an exponent."""
    try:
        return Decimal(number)
    except DecimalException:
        return Unreadable("a number beyond any size")
