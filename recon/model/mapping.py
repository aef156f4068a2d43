"""A map from other people's tables to our columns: its records and its form.

Never guesses: units, zones, signs and words are what the map says, and a map that contradicts itself is
refused. Never reads a file or a table; `mapping_toml` parses and writes the form.

The form, of which every line is optional, and the same under [refunds]:

    [intents]
    key = "idempotency_key"                         # a column
    payment = ["payment_intent", "info.charge"]     # the first of these that a row has; info holds JSON
    refund_id = "metadata[stripe.refund]"           # a field whose own name has dots
    order_id = "meta_data[key=_order].value"        # of a list of objects, the one whose key is _order
    amount = { column = "total", decimal = ",", thousands = ".", sign = "negative" }
    currency = { constant = "eur" }                 # the same in every row
    team = { column = "team", missing = "support" } # said of rows that have none
    status = { column = "state", case = "lower", words = { refunded = "done", queued = "pending" } }
    created_at = { column = "made", format = "%d/%m/%Y %H:%M", zone = "Europe/Paris" }
    zone = "UTC"                                    # of all other times that have none
    empty = ["NULL", "-"]                           # cells that hold nothing
    where = [{ column = "type", is = "refund" }, { column = "test", is_not = ["true", ""] }]

Units are said by the name: `amount` is in major units (49.00), `amount_minor` in minor ones (4900). `{ sum =
["net", "tax"] }` adds columns of one unit. `sign`: positive, negative (every amount is written below zero) or
either. `currency_sign = true`: a sign or a code may stand beside an amount in major units (49,90 €, EUR
49.90), and a row is rejected where that is not its currency's. `format`: iso, unix, unix_ms, unix_us, or a
strptime pattern, which needs a zone or %z. A source with no status says so: `status = { constant = "done" }`.
With `words`, a word that is neither mapped nor ours stops the reading. A filter keeps a row if its cell is
one of the words, "" standing for an empty one. The form of recon.toml is understood as well: columns,
constants and statuses as tables, and amount_unit.
"""

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recon.model.dtypes import INTENTS

ISO = "iso"
EPOCHS = {"unix": 1, "unix_ms": 10**3, "unix_us": 10**6}
"""Formats of times as a number since 1970, with their ticks per second."""

MARKS = ".,'_ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{RIGHT SINGLE QUOTATION MARK}"
"""What may stand between the digits of an amount."""

_STEP = re.compile(r"(?P<name>[^.\[\]]+)|\[(?P<inner>[^\[\]]+)\]|(?P<dot>\.)")
_HOURS = 24


class Sign(StrEnum):
    """How a source writes money that goes back."""

    POSITIVE = "positive"  # A negative amount is wrong.
    NEGATIVE = "negative"  # A positive amount is wrong.
    EITHER = "either"  # Only the size counts.


class Case(StrEnum):
    """What is done to the letters of a text before anything looks at it."""

    KEPT = "kept"
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Column:
    """Where one of our columns comes from, and how it is read there.

    sources: headers or paths, of which each row takes the first that holds something; without any, `missing`
    is the same in every row. missing: what a row holds that has none; None leaves it without. sums: added up
    instead of sources; an empty cell adds nothing. decimal, thousands: "" is no separator. currency_sign: a
    sign or a code may stand beside an amount, and must be its currency's. words: theirs to ours. format: ISO,
    one of EPOCHS or a strptime pattern. zone: of times without one; "" where nothing is said. guessed: no map
    names it; its headers gave it away.
    """

    sources: tuple[str, ...] = ()
    missing: str | None = None
    sums: tuple[str, ...] = ()
    sign: Sign = Sign.POSITIVE
    decimal: str = "."
    thousands: str = ""
    currency_sign: bool = False
    case: Case = Case.KEPT
    words: Mapping[str, str] = field(default_factory=dict)
    format: str = ISO
    zone: str = ""
    guessed: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the headers or paths that it reads."""
        return self.sums or self.sources


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows are read: those whose cell is one of the words, or with keep=False those whose is not."""

    column: str
    words: tuple[str, ...]
    keep: bool = True


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question in a map's file of which no answer was made a line. names: what its answers would say."""

    file: str
    line: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a map.

    columns: by our name. filters: all must let a row through. empty: cells that count as holding nothing.
    zone: of times that have none and whose column says none. unanswered: what its file still asks.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    empty: tuple[str, ...] = ()
    zone: str = ""
    unanswered: tuple[Unanswered, ...] = field(default=(), compare=False)


NOTHING = Side()


@dataclass(frozen=True, slots=True)
class Map:
    """What a map says of either side."""

    intents: Side = NOTHING
    refunds: Side = NOTHING

    def side(self, name: str) -> Side:
        """Return one side by its name."""
        return self.intents if name == INTENTS else self.refunds


EMPTY = Map()


def parts(name: str, column: Column) -> tuple[str, ...]:
    """Return what the raw columns of one of ours are called: its own name, or one for each that is added."""
    return tuple(f"{name} {number}" for number in range(len(column.sums))) or (name,)


@functools.lru_cache(maxsize=4096)  # More than a header has; each is asked for at every cell.
def steps(source: str) -> tuple[str, ...]:
    """Return the names along a path, its column first: metadata[a.b].c is metadata, a.b, c.

    What is written in no such way is one name.
    """
    found: list[str] = []
    at = 0
    while at < len(source):
        match = _STEP.match(source, at)
        if match is None or (match["dot"] and (at == 0 or match.end() == len(source))):
            return (source,)
        if not match["dot"]:
            found.append(match["name"] or match["inner"])
        at = match.end()
    return tuple(found) or (source,)


def located(names: Collection[str], source: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the header that a source begins in and the path within its cells; None where there is none."""
    if source in names:
        return source, ()
    head, *rest = steps(source)
    return (head, tuple(rest)) if rest and head in names else None


def directives(pattern: str) -> frozenset[str]:
    """Return the letters of a strptime pattern that stand for something; %%z is a percent sign and a z."""
    return frozenset(re.findall(r"%(.)", pattern))


def zone_of(name: str) -> tzinfo:
    """Return a zone by its name or offset: UTC, Europe/Paris, +05:30.

    Raises:
        ValueError: there is none; the text goes after the key's name.
    """
    if name in {"UTC", "Z"}:
        return UTC
    offset = re.fullmatch(r"([+-])(\d{2}):?([0-5]\d)", name)
    if offset is not None and int(offset[2]) < _HOURS:
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-span if offset[1] == "-" else span)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # No such zone, a path, a directory of the database.
        raise ValueError(f"must be a zone such as UTC, Europe/Paris or +05:30, not {name!r:.40}") from None
