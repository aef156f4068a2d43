"""Form-encoded bodies and queries as the provider's clients send them, read into typed values.

It never guesses: what does not fit is a ProviderError with the parameter's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

from recon.sandbox import errors

# The provider's limits on metadata, from its documentation.
METADATA_NAME_LIMIT = 40
METADATA_VALUE_LIMIT = 500
PAGE_LIMIT = 100
PAGE_DEFAULT = 10

_BRACKETS = re.compile(r"\[([^\]]*)\]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def pairs(encoded: str) -> list[tuple[str, str]]:
    """The decoded names and values, in the order in which they were sent."""
    return parse_qsl(encoded, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a creation time in whole seconds; None means open."""

    lowest: int | None = None
    highest: int | None = None


class Params:
    """The nested parameters of one request."""

    def __init__(self, sent: Iterable[tuple[str, str]]) -> None:
        self._tree: dict[str, Any] = {}
        for name, value in sent:
            self._put(name, value)

    def allow(self, *names: str) -> None:
        """Refuse any parameter beyond these."""
        for name in self._tree:
            if name not in names:
                raise errors.unknown_parameter(name)

    def text(self, name: str) -> str | None:
        """A plain text, or None when absent."""
        value = self._tree.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise errors.ProviderError("Invalid string: must be a string", param=name)
        if value == "":
            raise errors.empty_parameter(name)
        return value

    def currency(self, name: str) -> str | None:
        """A currency that the provider has, in lower case, or None when absent."""
        value = self.text(name)
        if value is None:
            return None
        if value.lower() not in errors.CURRENCIES:
            raise errors.unknown_currency(value)
        return value.lower()

    def integer(self, name: str, *, at_least: int = 1, at_most: int | None = None) -> int | None:
        """A whole number within its bounds, or None when absent."""
        value = self.text(name)
        if value is None:
            return None
        number = _integer(name, value)
        if number < at_least:
            raise errors.out_of_range(name, f"This value must be greater than or equal to {at_least}.")
        if at_most is not None and number > at_most:
            raise errors.out_of_range(
                name, f"This value must be less than or equal to {at_most} (it currently is '{number}')."
            )
        return number

    def limit(self) -> int:
        """The page size."""
        number = self.integer("limit", at_most=PAGE_LIMIT)
        return PAGE_DEFAULT if number is None else number

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, however it was indexed."""
        value = self._tree.get(name)
        if value is None:
            return ()
        found = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise errors.ProviderError("Invalid array", param=name)
        return tuple(found)

    def created(self) -> Between:
        """The `created` filter: one second, or bounds by gt, gte, lt and lte."""
        value = self._tree.get("created")
        if value is None:
            return Between()
        if isinstance(value, str):
            second = _integer("created", value)
            return Between(second, second)
        if not isinstance(value, dict):
            raise errors.ProviderError("Invalid object", param="created")
        lowest: list[int] = []
        highest: list[int] = []
        for name, bound in value.items():
            param = f"created[{name}]"
            if name not in {"gt", "gte", "lt", "lte"}:
                raise errors.unknown_parameter(param)
            number = _integer(param, str(bound))
            if name.startswith("g"):
                lowest.append(number + (name == "gt"))
            else:
                highest.append(number - (name == "lt"))
        return Between(max(lowest, default=None), min(highest, default=None))

    def metadata(self) -> dict[str, str] | None:
        """Names and values; an empty value unsets a name, an empty dict unsets all, None means not sent."""
        value = self._tree.get("metadata")
        if value is None:
            return None
        if value == "":
            return {}
        if not isinstance(value, dict):
            raise errors.ProviderError("Invalid object", param="metadata")
        for name, text in value.items():
            _check_metadata(name, text)
        if len(value) > errors.METADATA_KEYS_LIMIT:
            raise errors.too_much_metadata()
        return dict(value)

    def _put(self, name: str, value: str) -> None:
        root, bracket, _ = name.partition("[")
        path = [root, *_BRACKETS.findall(name)] if bracket else [root]
        place: Any = self._tree
        for here, following in pairwise(path):
            if not isinstance(place, dict):
                raise errors.ProviderError("Invalid object", param=root)
            place = place.setdefault(here, [] if following == "" else {})
        if isinstance(place, list):
            place.append(value)
        elif isinstance(place, dict):
            place[path[-1]] = value
        else:
            raise errors.ProviderError("Invalid object", param=root)


def _integer(name: str, value: str) -> int:
    if not _INTEGER.fullmatch(value):
        raise errors.not_an_integer(name, value)
    return int(value)


def _check_metadata(name: str, text: object) -> None:
    param = f"metadata[{name}]"
    if not isinstance(text, str):
        raise errors.ProviderError("Metadata values must be strings.", param=param)
    if not name or "[" in name:
        raise errors.ProviderError(
            "Metadata keys must be at least one character and have no square brackets.", param="metadata"
        )
    for what, sent, limit in (("key", name, METADATA_NAME_LIMIT), ("value", text, METADATA_VALUE_LIMIT)):
        if len(sent) > limit:
            raise errors.ProviderError(
                f"Metadata {what}s can have up to {limit} characters, but you passed in a {what} that is "
                f"{len(sent)} characters. Invalid {what}: {sent}",
                param=param,
            )
