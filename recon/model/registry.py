"""The tools in tools.toml: documents in, one registry out.

Never reads a file, and never says who may call what: rules/registry.py does.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from recon.model import readers
from recon.model.documents import Table, error
from recon.model.records.tools import Effect, Limits, Registry, Tool

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAMED = "a name in lower case: a letter, then letters, digits and _, 64 characters at most"
_LOOKS_BACK = "looks_back_hours"
_KEYS = frozenset(
    {"title", "effect", "operation", "key", "fingerprint", "repeat", "finder", "keyed", _LOOKS_BACK, "alert"}
)
# What only a tool with side effects needs: for the others nothing is recorded.
_OF_EFFECTS = ("key", "fingerprint", "repeat", "finder", "keyed", _LOOKS_BACK, "alert")
_MOST = 1_000_000  # Of anything that is counted: beyond it somebody means "never", and should say so.
# Each key of an alert, what it is in Limits, and how it is read.
LIMITS: Mapping[str, tuple[str, readers.Reader]] = {
    "window_minutes": ("window", readers.duration("minutes", low=1)),
    "repeats": ("repeats", readers.count(2, _MOST)),
    "twins": ("twins", readers.count(2, _MOST)),
    "declared_twins": ("declared_twins", readers.count(2, _MOST)),
    "spike": ("spike", readers.count(2, _MOST)),
    "spike_minutes": ("spike_window", readers.duration("minutes", low=1)),
    "throws": ("throws", readers.flag),
}
_LONGEST_MINUTES = 24 * 60  # A day: the alert reads that far back at the most.


def parse(documents: Iterable[Mapping[str, object]]) -> Registry:
    """Return every tool by name, in the order of their first mention; a later document's takes the place.

    Raises:
        ConfigurationError: a table is not as the format says; the text names the line and what was expected.
    """
    found: dict[str, Tool] = {}
    for document in documents:
        found |= {table.path[-1]: _tool(table) for table in _tables(document)}  # type: ignore[misc]  # texts
    return found


def undeclared(name: str) -> Tool:
    """Return what is taken for a tool that nobody declared and that was called all the same: a refund."""
    return Tool(
        name,
        Effect.SIDE_EFFECT,
        name,
        name,
        key=("order_id", "reference"),
        fingerprint=("amount_minor", "currency", "payment"),
        repeat="reference",
    )


def _tables(document: Mapping[str, object]) -> Iterator[Table]:
    strange = sorted(set(document) - {"tools"})
    if strange:
        raise error(document, f"unknown table {strange[0]!r:.60}; known is tools.", strange[0])
    tools = document.get("tools", {})
    if not isinstance(tools, Mapping):
        raise error(document, "tools must be written as [tools.NAME] tables.", "tools")
    for name, row in tools.items():
        table = Table(
            row if isinstance(row, Mapping) else {}, f"[tools.{name:.60}]", ("tools", name), document
        )
        if not isinstance(row, Mapping):
            raise table.error("expected a table with effect and title.")
        if not NAME.fullmatch(name):
            raise table.error(f"expected {_NAMED}.")
        yield table


def _tool(table: Table) -> Tool:
    table.only(_KEYS)
    name = str(table.path[-1])
    effect = _effect(table)
    title = table.text("title")
    if effect is not Effect.SIDE_EFFECT:
        needless = next((key for key in _OF_EFFECTS if key in table.row), None)
        if needless is not None:
            raise table.error(f"{needless} is for tools with side effects; {name} is {effect}.", needless)
        return Tool(name, effect, _operation(table, name), title)
    key = _fields(table, "key")
    return Tool(
        name=name,
        effect=effect,
        operation=_operation(table, name),
        title=title,
        key=key,
        fingerprint=_fields(table, "fingerprint", besides=key),
        repeat=_repeat(table, key),
        finder=_flag(table, "finder"),
        keyed=_keyed(table),
        looks_back=_looks_back(table),
        limits=_limits(table),
    )


def _effect(table: Table) -> Effect:
    found = table.text("effect")
    if found not in set(Effect):
        raise table.error(f"effect is {found!r:.60}; expected one of {', '.join(Effect)}.", "effect")
    return Effect(found)


def _operation(table: Table, name: str) -> str:
    found = table.text("operation") if "operation" in table.row else name
    if not NAME.fullmatch(found):
        raise table.error(f"operation is {found!r:.60}; expected {_NAMED}.", "operation")
    return found


def _fields(table: Table, key: str, *, besides: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of fields that a side effect must have; none of them among the others."""
    told = table.row.get(key)
    if not isinstance(told, list) or not told:
        raise table.error(f"{key} is {told!r:.60}; a side effect needs a list of one field or more.", key)
    for each in told:
        if not isinstance(each, str) or not NAME.fullmatch(each):
            raise table.error(f"{key} holds {each!r:.60}; expected {_NAMED}.", key)
        if told.count(each) > 1 or each in besides:
            raise table.error(f"{key} holds {each}, which is named already; expected each field once.", key)
    return tuple(told)


def _keyed(table: Table) -> bool:
    """Return whether the world does one key once; without a finder nothing is sent again in any case."""
    found = _flag(table, "keyed")
    if found and not _flag(table, "finder"):
        raise table.error("keyed is true without a finder; expected finder = true beside it.", "keyed")
    return found


def _looks_back(table: Table) -> timedelta:
    """Return how far back it looks before a first send; not at all where it is left out."""
    if _LOOKS_BACK not in table.row:
        return timedelta(0)
    if "payment" not in _fields(table, "fingerprint"):
        raise table.error(
            f"{_LOOKS_BACK} is for refund tools; expected payment in fingerprint beside it.", _LOOKS_BACK
        )
    found = _read(table, _LOOKS_BACK, readers.duration("hours"))
    assert isinstance(found, timedelta), "a duration is read as one"
    return found


def _flag(table: Table, key: str) -> bool:
    """Return a yes or no; no where it is left out."""
    return _read(table, key, readers.flag) is True if key in table.row else False


def _repeat(table: Table, key: tuple[str, ...]) -> str | None:
    if "repeat" not in table.row:
        return None
    found = table.text("repeat")
    if found not in key:
        raise table.error(f"repeat is {found!r:.60}; expected a field of key: {', '.join(key)}.", "repeat")
    if len(key) == 1:
        raise table.error(
            f"repeat is {found}, the only field of key; expected one field beside it.", "repeat"
        )
    return found


def _limits(table: Table) -> Limits:
    row = table.row.get("alert", {})
    below = Table(
        row if isinstance(row, Mapping) else {},
        f"[tools.{table.path[-1]}.alert]",
        (*table.path, "alert"),
        table.document,
    )
    if not isinstance(row, Mapping):
        raise below.error("expected a table of limits.")
    below.only(frozenset(LIMITS))
    told = {LIMITS[name][0]: _read(below, name, LIMITS[name][1]) for name in row}
    limits = Limits(**told)
    for name in ("window_minutes", "spike_minutes"):
        span = getattr(limits, LIMITS[name][0])
        if span.total_seconds() > _LONGEST_MINUTES * 60:
            raise below.error(f"{name} is {row[name]!r:.60}; expected {_LONGEST_MINUTES} at most.", name)
    return limits


def _read(table: Table, key: str, read: readers.Reader) -> Any:  # noqa: ANN401 -- what the reader reads
    value = table.row[key]
    try:
        return read(value)
    except ValueError as unfit:  # A reader's own way to say what it would have taken.
        raise table.error(f"{key} is {value!r:.60}; expected {unfit}.", key) from None
