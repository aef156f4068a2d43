"""The statements that SQLAlchemy has once per database. Never decides what is written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

CHUNK = 1_000  # Values in one IN list: far below the 32,766 that SQLite takes.
T = TypeVar("T")


def insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that knows ON CONFLICT."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of the same columns, or update those columns where the primary key is known."""
    if not rows:
        return
    keys = [column.name for column in table.primary_key]
    statement = insert(connection, table)
    changed = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(
        statement.on_conflict_do_update(index_elements=keys, set_=changed)
        if changed
        else statement.on_conflict_do_nothing(),
        rows,
    )


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield the values in lists that fit into one statement."""
    waiting = iter(values)
    while chunk := list(islice(waiting, CHUNK)):
        yield chunk
