"""Somebody else's intents table, copied into ours before a run reads: the same triggers and ties serve both.

Their table is only read, and copied rows are never healed. What cannot be judged is kept as rejects under
their table's name.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pandas as pd
from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    column,
    delete,
    inspect,
    literal_column,
    select,
    table,
    text,
    tuple_,
)

from recon.doors.store import leases
from recon.doors.store.engines import Database, reading_only
from recon.doors.store.rows import INTENTS, REFUNDS, reject_row
from recon.doors.store.statements import chunks, insert, upsert
from recon.model import disguises, dtypes, frames, layout, tables, values
from recon.model.characters import keepable
from recon.model.errors import ConfigurationError
from recon.model.frames import Intake
from recon.model.layout import Layout
from recon.model.mapping import located
from recon.model.records.results import Reject
from recon.model.records.runs import Lease
from recon.model.records.words import AccountId
from recon.model.settings import IntentsMapping
from recon.model.sheets import Part

COLUMNS = tuple(frames.INTENT_DTYPES)
TEXT_LIMIT = 500  # Characters of any text: PostgreSQL's indexes hold 2,704 bytes; the provider's values 500.
STATUSES = "[intents.statuses]"  # Where a status word is mapped: the reason of a reject for a word names it.
TIMES = [name for name, dtype in frames.INTENT_DTYPES.items() if dtype == frames.TIME]
# Word for word as the index says it: as `mapped = 1` SQLite looks through every intent there is, each hour.
_MAPPED: ColumnElement[bool] = literal_column("mapped")


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy changed in our intents.

    written: rows new or different. removed: rows that theirs no longer has or that cannot be judged any more.
    """

    written: int
    removed: int
    rejects: tuple[Reject, ...]


def copy(database: Database, lease: Lease, mapping: IntentsMapping | None) -> Copied:
    """Make our copy of their table what theirs is now; without a mapping, forget an earlier copy.

    Raises:
        ConfigurationError: There is no such table or column. Nothing was written.
        DatabaseUnavailable: One of the two cannot be reached now. Nothing was written.
        LeaseLost: Another run has taken over. Nothing was written.
    """
    if mapping is None:
        return _forget(database, lease)
    theirs = frames.settled(dtypes.INTENTS, [_theirs(database, mapping)])
    with database.write() as connection:
        leases.check(connection, lease)
        compared = theirs.frame[list(COLUMNS)].merge(_ours(connection), how="outer", indicator="side")
        fresh = compared[compared["side"] == "left_only"]
        former = compared[compared["side"] == "right_only"]
        taken = _taken(connection, fresh)
        names = pd.MultiIndex.from_frame(fresh[["account", "key"]])
        # A list of no booleans would choose no columns.
        fresh = fresh[pd.Series([name not in taken for name in names], fresh.index, dtype=bool)]
        gone = former[~pd.MultiIndex.from_frame(former[["account", "key"]]).isin(names)]
        _remove(connection, gone)
        upsert(connection, tables.intents, [row | {"mapped": True} for row in _records(fresh)])
        rejects = (*theirs.rejects, *(_twice(account, key, mapping.table) for account, key in sorted(taken)))
        _replace_rejects(connection, rejects)
    return Copied(len(fresh), len(gone), rejects)


def _forget(database: Database, lease: Lease) -> Copied:
    """Delete what an earlier copy left: nothing, in a company that never had a mapping."""
    with database.write() as connection:
        leases.check(connection, lease)
        gone = connection.execute(delete(tables.intents).where(_MAPPED))
        _replace_rejects(connection, ())
    return Copied(0, gone.rowcount, ())


def check(database: Database, mapping: IntentsMapping | None) -> None:
    """Return if there is such a table with such columns, or no mapping: a run looks before it asks anybody.

    Raises:
        ConfigurationError: There is no such table or column.
        DatabaseUnavailable: It cannot be reached now.
    """
    if mapping is not None:
        with _opened(database, mapping) as connection:
            _check(connection, mapping)


def sample(database: Database, mapping: IntentsMapping, *, limit: int) -> Intake:
    """Return the first rows of their table as a copy would read them; nothing is written.

    Its notes say which ids are not what they look like.

    Raises:
        ConfigurationError: There is no such table or column.
        DatabaseUnavailable: It cannot be reached now.
    """
    part = _theirs(database, mapping, limit=limit)
    found = disguises.look(dtypes.INTENTS, part, mapping.side.columns)
    notes = (disguises.told(sort, found[sort], None) for sort in disguises.Sort if sort in found)
    intake = frames.settled(dtypes.INTENTS, [part])
    return replace(intake, notes=tuple(f"{mapping.table}: {note}" for note in notes))


def may_write(database: Database, mapping: IntentsMapping) -> bool | None:
    """Return whether our user may change their table, which it need not; None where that does not show."""
    schema, _, name = mapping.table.rpartition(".")
    with _opened(database, mapping) as connection:
        if connection.dialect.name == "sqlite":
            return None
        quoted = connection.dialect.identifier_preparer.quote
        named = ".".join(quoted(part) for part in (schema, name) if part)
        query = text("SELECT has_table_privilege(:name, 'INSERT, UPDATE, DELETE, TRUNCATE')")
        return bool(connection.scalar(query, {"name": named}))


def _theirs(database: Database, mapping: IntentsMapping, *, limit: int | None = None) -> Part:
    """Return their rows as intents, in our words and units; they are numbered in the order of their keys."""
    with _opened(database, mapping) as connection:
        known = _check(connection, mapping)
        schema, _, name = mapping.table.rpartition(".")
        planned = Layout(mapping.side)
        heads = {each: located(known, each) for each in planned.heads}
        wanted = sorted({head[0] for head in heads.values() if head is not None})
        order = [head[0] for each in _ordering(mapping) if (head := heads.get(each)) is not None]
        asked: list[Any] = [column(each) for each in wanted]
        query = select(*asked).select_from(table(name, schema=schema or None))
        rows = connection.execute(query.order_by(*map(column, dict.fromkeys(order))).limit(limit)).all()
    index = pd.RangeIndex(1, len(rows) + 1, name="row")
    held = dict(zip(wanted, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(wanted, ())

    def at(theirs: str, _: str) -> pd.Series:
        head, path = heads[theirs] or (theirs, ())
        values_ = (values.walked(cell, path) if path else cell for cell in held[head])
        return pd.Series([_cell(value) for value in values_], dtype=object)

    raw = layout.raw(planned, at, index)
    kept = layout.kept(planned, at, len(index))
    raw = raw if kept is None else raw[kept]
    return frames.part_of_intents(raw, source=mapping.table, statuses=STATUSES, how=planned.side)


def _ordering(mapping: IntentsMapping) -> list[str]:
    """Return what their rows are ordered by, so that their numbers stay the same."""
    columns = mapping.side.columns
    return [source for ours in ("account", "key") if ours in columns for source in columns[ours].sources]


@dataclass(frozen=True, slots=True)
class _Overlong:
    """A text that cannot be kept, in the place of which its row is rejected."""

    characters: int

    def __str__(self) -> str:
        return f"{self.characters} characters, more than {TEXT_LIMIT}"


def _cell(value: object) -> object:
    """Return a cell as it can be kept: a UUID as its text, a text without what no database takes."""
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, str):
        return value
    return keepable(value) if len(value) <= TEXT_LIMIT else _Overlong(len(value))


@contextmanager
def _opened(database: Database, mapping: IntentsMapping) -> Iterator[Connection]:
    if mapping.url is None:
        with database.read() as connection:
            yield connection
    else:
        with reading_only(mapping.url.reveal()) as connection:
            yield connection


def _check(connection: Connection, mapping: IntentsMapping) -> list[str]:
    """Return their table's columns, of which the mapping must name no other."""
    schema, _, name = mapping.table.rpartition(".")
    found = inspect(connection)
    if not found.has_table(name, schema=schema or None):
        known = sorted([*found.get_table_names(schema or None), *found.get_view_names(schema or None)])
        raise ConfigurationError(
            f"intents.table: expected a table or view named {mapping.table!r}, "
            f"found {', '.join(known) or 'none at all'}."
        )
    columns = [each["name"] for each in found.get_columns(name, schema=schema or None)]
    for theirs, ours in Layout(mapping.side).heads.items():
        if located(columns, theirs) is None:
            named = f"intents.columns: expected a column {theirs!r} for {ours}"
            if not ours:
                named = f"intents.where: expected a column {theirs!r}"
            raise ConfigurationError(f"{named} in {mapping.table!r}, found {', '.join(columns)}.")
    return columns


def _ours(connection: Connection) -> pd.DataFrame:
    """Return the rows copied earlier, with the intents' dtypes."""
    listed = ", ".join(f'"{name}"' for name in COLUMNS)
    rows = connection.execute(text(f"SELECT {listed} FROM intents WHERE mapped")).all()  # noqa: S608 -- our names
    frame = pd.DataFrame([tuple(row) for row in rows], columns=list(COLUMNS), dtype=object)
    for name in TIMES:
        frame[name] = pd.to_datetime(frame[name].astype("Int64"), unit="us", utc=True)
    return frame.astype(frames.INTENT_DTYPES)


def _taken(connection: Connection, fresh: pd.DataFrame) -> set[tuple[str, str]]:
    """Return which of these keys are intents of our own: what the guarded tool wrote stands."""
    columns = tables.intents.c
    pairs = tuple_(columns.account, columns.key)
    found: set[tuple[str, str]] = set()
    for chunk in chunks(fresh[["account", "key"]].itertuples(index=False, name=None)):
        query = select(columns.account, columns.key).where(pairs.in_(chunk), columns.mapped.is_(False))
        found.update((row.account, row.key) for row in connection.execute(query))
    return found


def _twice(account: str, key: str, source: str) -> Reject:
    reason = f"The intent {key} is among recon's own already; one key is one intent, whoever keeps it."
    return Reject(source, 0, key, reason, AccountId(account))


def _remove(connection: Connection, gone: pd.DataFrame) -> None:
    columns = tables.intents.c
    rows: Sequence[Mapping[str, Any]] = [
        {"of_account": account, "of_key": key}
        for account, key in gone[["account", "key"]].itertuples(index=False, name=None)
    ]
    if rows:
        same = (columns.account == bindparam("of_account")) & (columns.key == bindparam("of_key"))
        connection.execute(delete(tables.intents).where(same), rows)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as the database takes them, absent values as None."""
    plain = frame[list(COLUMNS)].astype(object)
    for name in TIMES:
        plain[name] = [None if pd.isna(at) else at.to_pydatetime() for at in frame[name]]
    plain = plain.where(plain.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def _replace_rejects(connection: Connection, rejects: Sequence[Reject]) -> None:
    columns = tables.rejects.c
    connection.execute(delete(tables.rejects).where(columns.source.not_in([INTENTS, REFUNDS])))
    rows = [reject_row(reject) for reject in rejects]
    if rows:
        connection.execute(insert(connection, tables.rejects), rows)
