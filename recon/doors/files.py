"""Intents and refunds from .csv, .json, .jsonl and .parquet files.

Never guesses: cells of a CSV stay text, numbers of a JSON stay exact, and a file that is not what its suffix
says is refused. A line that cannot be read is a reject, with its row.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recon.model import cells, columns, fitting, frames, lines, objects, texts, values
from recon.model.columns import INTENTS, REFUNDS
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.objects import Refusal
from recon.model.records.results import Reject

ColumnMap = Mapping[
    str, Mapping[str, str]
]  # Side to our name to their header, or to a dotted path into JSON cells.

_HEADERS_SHOWN = 6
_FEW_WORDS = ("account", "currency", "status", "tool", "team", "reason")  # Read as dictionaries: quicker.
_EXPANDED = frozenset({"payment_intent", "charge"})  # Ids that may come as the object itself.


@dataclass(slots=True)
class _Loaded:
    """A file's rows as a raw frame with our columns, and what else it told.

    frame: its index, named "row", counts rows and refusals from 1. refusals: lines and objects that are no
    row.
    """

    frame: pd.DataFrame
    refusals: dict[int, Refusal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    incomplete: str | None = None


def read_intents(path: Path, column_map: ColumnMap | None = None) -> Intake:
    """Return a file's intents.

    Raises:
        UnusableInput: the file cannot be read as what its suffix says, or has none of the columns that
        intents need.
    """
    return _intake(path, INTENTS, column_map or {}, frames.intents)


def read_refunds(path: Path, column_map: ColumnMap | None = None) -> Intake:
    """Return a file's refunds, flat rows or the provider's own objects.

    Raises:
        UnusableInput: the file cannot be read as what its suffix says, holds no refunds but something else,
        or has
            none of the columns that refunds need.
    """
    return _intake(path, REFUNDS, column_map or {}, frames.refunds)


def read_mapping(path: Path) -> ColumnMap:
    """Return a column map from TOML: tables [intents] and [refunds], each our_name = "their column".

    Raises:
        UnusableInput: no such file, no TOML, or a name that is none of our columns.
    """
    try:
        tables = tomllib.loads(_content(path).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnusableInput(f"{path} must be a TOML file: {error}.") from None
    if not tables:
        raise UnusableInput(f"{path} must hold the tables [intents] and [refunds]; found neither.")
    for side, table in tables.items():
        if side not in columns.OURS or not isinstance(table, dict):
            raise UnusableInput(f"{path} must hold the tables [intents] and [refunds]; found {side!r}.")
        for ours, theirs in table.items():
            if ours not in columns.OURS[side]:
                known = ", ".join(columns.OURS[side])
                raise UnusableInput(
                    f"{path} maps {ours!r} in [{side}], which is none of our columns: {known}."
                )
            if not isinstance(theirs, str) or not theirs:
                raise UnusableInput(
                    f"{path} must map {side}.{ours} to the name of a column; found {theirs!r}."
                )
    return tables


def _intake(path: Path, side: str, column_map: ColumnMap, read: Callable[..., Intake]) -> Intake:
    """Return one side from a file."""
    loaders = {".csv": _csv, ".json": _json, ".jsonl": _json_lines, ".parquet": _parquet}
    loader = loaders.get(path.suffix.lower())
    if loader is None:
        raise UnusableInput(f"{path} must end in {', '.join(loaders)}; found {path.suffix or 'no suffix'!r}.")
    loaded = loader(path, side, column_map.get(side, {}))
    intake = read(loaded.frame, source=path.name)
    refused = [
        Reject(source=path.name, row=row, id=refusal.id, reason=refusal.reason)
        for row, refusal in loaded.refusals.items()
    ]
    return replace(
        intake,
        rejects=tuple(sorted((*intake.rejects, *refused), key=lambda reject: reject.row)),
        incomplete=None if loaded.incomplete is None else f"{path.name}: {loaded.incomplete}",
        notes=tuple(f"{path.name}: {note}" for note in loaded.notes),
    )


def _content(path: Path) -> bytes:
    """Return a file's content."""
    try:
        return path.read_bytes()
    except OSError as error:  # Missing, a directory, not ours to read.
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from None


def _bytes(path: Path) -> bytes:
    """Return the content of a file that has some."""
    content = _content(path)
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise UnusableInput(
            f"{path} is empty, which may be an export that failed: where there is truly nothing, write a"
            " header line into a .csv, or [] into a .json."
        )
    return content


# Tables: .csv and .parquet.


def _csv(path: Path, side: str, mapped: Mapping[str, str]) -> _Loaded:
    """Return the rows of a CSV, every cell as text."""
    content = _bytes(path)
    try:
        names = lines.header(content)
    except ValueError as error:
        raise UnusableInput(f"{path} must be a CSV in UTF-8 with a header line; found {error}.") from None
    plan = _plan(path, names, side, mapped)
    wanted = _wanted(path, names, plan)
    read = lines.read(content, len(names))
    held = {name: read.table.column(names.index(name)) for name in wanted}
    index = pd.Index(read.numbers, name="row")
    notes = [*_notes(plan), *_lacking(plan.columns, names, side)]
    return _Loaded(_framed(held, plan, index), read.refusals, notes, read.incomplete)


def _parquet(path: Path, side: str, mapped: Mapping[str, str]) -> _Loaded:
    """Return the rows of a Parquet file, only the columns that are ours, as Arrow holds them."""
    if path.is_dir() or (path.is_file() and path.stat().st_size == 0):
        _bytes(path)
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        plan = _plan(path, names, side, mapped)
        wanted = _wanted(path, names, plan)
        strings = [name for name in wanted if pa.types.is_string(file.schema_arrow.field(name).type)]
        few = [name for name in strings if any(plan.columns.get(ours) == name for ours in _FEW_WORDS)]
        table = pq.ParquetFile(path, metadata=file.metadata, read_dictionary=few).read(columns=wanted)
    except OSError as error:
        reason = error.strerror or "it is no Parquet file, or cut off"
        raise UnusableInput(f"{path} cannot be read: {reason}.") from None
    except pa.ArrowException:
        raise UnusableInput(
            f"{path} must be a Parquet file; found something else, or one that is cut off."
        ) from None
    held = {name: table.column(name) for name in wanted}
    frame = _framed(held, plan, pd.RangeIndex(1, table.num_rows + 1, name="row"), trimmed=False)
    return _Loaded(frame, notes=[*_notes(plan), *_lacking(plan.columns, names, side)])


def _plan(path: Path, names: list[str], side: str, mapped: Mapping[str, str]) -> columns.Reading:
    """Return which of a table's columns are ours."""
    plan = columns.recognise(names, side)
    lacking = [theirs for theirs in mapped.values() if _head(names, theirs) is None]
    if lacking:
        raise UnusableInput(
            f"{path} has no column {lacking[0]!r}, which the column map names; {_found(names)}."
        )
    plan = columns.Reading(columns.with_map(plan.columns, mapped), plan.zoneless_utc, plan.tool)
    _check_needed(path, plan.columns, names, side)
    return plan


def _wanted(path: Path, names: list[str], plan: columns.Reading) -> list[str]:
    """Return the headers that are to be read, each of which the table has once."""
    heads = (_head(names, theirs) for theirs in plan.columns.values())
    wanted = sorted({head for head in heads if head is not None})
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        raise UnusableInput(f"{path} has the column {twice[0]!r} twice, so nobody can say which one counts.")
    return wanted


def _check_needed(path: Path, known: Iterable[str], names: Iterable[str], side: str) -> None:
    """Refuse a file that has none of the columns that its side needs, or is a well-known other one."""
    names = list(names)
    advice = columns.mistaken(names)
    if advice is not None:
        raise UnusableInput(f"{path} holds no {side}: {advice}.")
    if not set(columns.NEEDED[side]) & set(known):
        raise UnusableInput(
            f"{path} has none of the columns that {side} need ({', '.join(columns.NEEDED[side])});"
            f" {_found(names)}; name them with --columns."
        )


def _found(names: list[str]) -> str:
    """Return a file's first headers for a message."""
    listed = ", ".join(cells.shown(name) for name in names[:_HEADERS_SHOWN]) or "no header"
    return f"its first headers are {listed}"


def _head(names: Iterable[str], theirs: str) -> str | None:
    """Return the column that a header or a dotted path begins in; None where there is none."""
    if theirs in names:
        return theirs
    head = theirs.partition(".")[0]
    return head if head in names else None


def _notes(plan: columns.Reading) -> list[str]:
    """Return what a person should know about how a table was read."""
    if plan.tool is None:
        return []
    zone = ", times without a zone as UTC" if plan.zoneless_utc else ""
    return [f"read as a table of {plan.tool}: amount in minor units{zone}."]


def _lacking(known: Iterable[str], names: list[str], side: str) -> list[str]:
    """Return what to say of needed columns that a file has not at all: each of its rows is rejected."""
    there = set(known)
    if there & {"amount_minor", "amount"}:
        there |= {"amount_minor", "amount"}
    lacking = ", ".join(name for name in columns.NEEDED[side] if name not in there)
    if not lacking:
        return []
    called = lacking.replace("amount_minor, amount", "amount_minor or amount")
    note = f"no column is called {called}, which {side} need; {_found(names)}; --columns MAP.toml says"
    return [f"{note} which of them is meant."]


def _framed(
    held: Mapping[Any, Any], plan: columns.Reading, index: pd.Index, *, trimmed: bool = True
) -> pd.DataFrame:
    """Return a table's columns under our names, without passing through Python objects."""
    raw: dict[str, pd.Series] = {}
    for ours, theirs in plan.columns.items():
        column = _column(held, theirs, expanded=ours in _EXPANDED, trimmed=trimmed)
        raw[ours] = (
            column if isinstance(column, pd.Series) else pd.Series(pd.arrays.ArrowExtensionArray(column))
        )
        if plan.zoneless_utc and ours.endswith("_at"):
            raw[ours] = fitting.zoned(raw[ours], UTC)
    frame = pd.DataFrame({name: column.array for name, column in raw.items()}, copy=False)
    frame.index = index
    return frame


def _column(held: Mapping[Any, Any], theirs: str, *, expanded: bool, trimmed: bool) -> Any:  # noqa: ANN401 - pyarrow ships no types.
    """Return a column by its header or by a dotted path; of an expanded object, its id."""
    if theirs not in held:
        head, _, rest = theirs.partition(".")
        return _by_path(held[head], tuple(rest.split(".")))
    column = held[theirs]
    if trimmed:
        return pc.utf8_trim_whitespace(column)
    if expanded and pa.types.is_struct(column.type):
        return _by_path(column, ("id",))
    plain = texts.plain(column)
    if texts.is_bytes(plain):
        return pd.Series([values.decoded(cell) for cell in plain.to_pylist()], dtype=object)
    return plain


def _by_path(column: Any, path: tuple[str, ...]) -> pd.Series:  # noqa: ANN401 - pyarrow ships no types.
    """Return what each cell, a struct or JSON text, holds at a path."""
    return pd.Series([values.walked(value, path) for value in column.to_pylist()], dtype=object)


# Objects: .json and .jsonl.


def _json(path: Path, side: str, mapped: Mapping[str, str]) -> _Loaded:
    """Return the rows of a JSON file: one object, an array of them, or a list page."""
    try:
        value = values.parsed(_bytes(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # No JSON, no UTF-8, or nested beyond reason.
        raise UnusableInput(f"{path} must be a JSON file: {error}.") from None
    if isinstance(value, Mapping) and isinstance(value.get(side), list) and "object" not in value:
        value = value[side]
    if not isinstance(value, Mapping | list):
        raise UnusableInput(f"{path} must hold an object or an array of them; found {cells.shown(value)}.")
    return _objects(path, side, mapped, [value])


def _json_lines(path: Path, side: str, mapped: Mapping[str, str]) -> _Loaded:
    """Return the rows of a file with one JSON value on each line."""
    return _objects(path, side, mapped, _lines(_bytes(path).removeprefix(b"\xef\xbb\xbf")))


def _lines(content: bytes) -> Iterator[object]:
    """Return the value of each line that is not blank; a refusal for one that cannot be read."""
    for line in content.split(b"\n"):
        if line.strip():
            try:
                yield values.parsed(line.decode("utf-8"))
            except (ValueError, RecursionError):  # Cut off, or no JSON at all.
                yield Refusal("expected a line of JSON, found one that cannot be read")


def _objects(path: Path, side: str, mapped: Mapping[str, str], items: Iterable[object]) -> _Loaded:
    """Return parsed JSON values as rows."""
    opened = objects.intents(items) if side == INTENTS else objects.refunds(items)
    if opened.refusals and not opened.rows:
        reason = next(iter(opened.refusals.values())).reason
        raise UnusableInput(f"{path} holds no {side}: {reason}.")
    known = columns.with_map({name: name for name in columns.OURS[side]}, mapped)
    flat = bool(opened.rows) and len(opened.foreign) == len(opened.rows)
    if flat or (mapped and opened.rows):
        names = list(dict.fromkeys(name for source in opened.sources.values() for name in source))
        lacking = [theirs for theirs in mapped.values() if _head(names, theirs) is None]
        if lacking:
            raise UnusableInput(
                f"{path} has no field {lacking[0]!r}, which the column map names; {_found(names)}."
            )
    notes = list(opened.notes)
    if flat:
        there = [ours for ours, theirs in known.items() if _head(names, theirs)]
        _check_needed(path, there, names, side)
        notes += _lacking(there, names, side)
    rows = [
        _row(row, opened.sources[number], known if number in opened.foreign else mapped)
        for number, row in opened.rows.items()
    ]
    held = {ours: [values.trimmed(row.get(ours)) for row in rows] for ours in known}
    frame = pd.DataFrame(
        {
            ours: pd.Series(column, dtype=object)
            for ours, column in held.items()
            if any(value is not None for value in column)
        },
        copy=False,
    )
    numbers = pd.Index(np.fromiter(opened.rows, dtype="int64", count=len(opened.rows)), name="row")
    frame = frame.set_axis(numbers) if len(frame.columns) else pd.DataFrame(index=numbers)
    return _Loaded(frame, opened.refusals, notes, opened.incomplete)


def _row(
    row: Mapping[str, object], source: Mapping[str, object], names: Mapping[str, str]
) -> Mapping[str, object]:
    """Return a row of ours: what the names find in its source, before what was made of it already."""
    if row is source:
        return {ours: _field(source, ours, theirs) for ours, theirs in names.items()}
    there = {ours: theirs for ours, theirs in names.items() if _head(source, theirs)}
    return {**row, **{ours: _field(source, ours, theirs) for ours, theirs in there.items()}}


def _field(source: Mapping[str, object], ours: str, theirs: str) -> object:
    """Return a field by its name or by a dotted path; of an expanded object, its id."""
    if theirs == "intent_key" and source.get(theirs) is None:
        return values.field(source.get("metadata"), columns.METADATA_KEY)
    if theirs not in source and "." in theirs:
        return values.walked(source, tuple(theirs.split(".")))
    value = source.get(theirs)
    return value.get("id") if ours in _EXPANDED and isinstance(value, Mapping) else value
