"""An ordered shelf of created things, and pages of it as the provider cuts them: newest first, by cursor."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from recon.sandbox import errors
from recon.sandbox.forms import Between, Params


class Created(Protocol):
    """Anything with an id and a place in time; `place` is (created second, order of arrival)."""

    @property
    def id(self) -> str:
        """The provider's id."""

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among its kind."""


T = TypeVar("T", bound=Created)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page, newest first; `more` says that the list goes on in the direction asked for."""

    items: tuple[T, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """Which page was asked for; None means no such bound."""

    limit: int
    starting_after: str | None
    ending_before: str | None
    created: Between

    @classmethod
    def read(cls, params: Params) -> Cut:
        """The cut that a list request asks for."""
        cut = cls(
            limit=params.limit(),
            starting_after=params.text("starting_after"),
            ending_before=params.text("ending_before"),
            created=params.created(),
        )
        if cut.starting_after is not None and cut.ending_before is not None:
            raise errors.ProviderError(
                "Received both starting_after and ending_before parameters. Please pass in only one."
            )
        return cut


class Shelf(Generic[T]):
    """Things of one kind in one account, in time order, found by id."""

    def __init__(self) -> None:
        self._rows: list[T] = []
        self._by_id: dict[str, T] = {}

    def add(self, item: T) -> None:
        """Put an item in its place in time, which may be in the past."""
        insort(self._rows, item, key=_place)
        self._by_id[item.id] = item

    def get(self, found: str) -> T | None:
        """The item of that id, or None."""
        return self._by_id.get(found)

    def page(
        self, cut: Cut, *, kind: str, keep: Callable[[T], bool], among: Sequence[T] | None = None
    ) -> Page[T]:
        """The page asked for, of the items that `keep` says; `among` narrows it to some items in time order.

        Raises:
            ProviderError: the cursor names nothing. Nothing was read.
        """
        rows = self._rows if among is None else among
        low = 0 if cut.created.lowest is None else bisect_left(rows, (cut.created.lowest, -1), key=_place)
        high = len(rows)
        if cut.created.highest is not None:
            high = bisect_left(rows, (cut.created.highest + 1, -1), key=_place)
        if cut.starting_after is not None:
            cursor = self._cursor(cut.starting_after, kind, "starting_after")
            high = min(high, bisect_left(rows, cursor.place, key=_place))
        if cut.ending_before is None:
            found = _take((rows[i] for i in range(high - 1, low - 1, -1)), keep, cut.limit + 1)
            return Page(tuple(found[: cut.limit]), len(found) > cut.limit)
        cursor = self._cursor(cut.ending_before, kind, "ending_before")
        low = max(low, bisect_right(rows, cursor.place, key=_place))
        found = _take((rows[i] for i in range(low, high)), keep, cut.limit + 1)
        return Page(tuple(reversed(found[: cut.limit])), len(found) > cut.limit)

    def _cursor(self, found: str, kind: str, param: str) -> T:
        item = self._by_id.get(found)
        if item is None:
            raise errors.missing(kind, found, param=param, status=400, executed=False)
        return item


def _place(item: Created) -> tuple[int, int]:
    return item.place


def _take(rows: Iterator[T], keep: Callable[[T], bool], count: int) -> list[T]:
    found: list[T] = []
    for item in rows:
        if keep(item):
            found.append(item)
            if len(found) == count:
                break
    return found
