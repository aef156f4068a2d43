"""The database looked at as a whole: what it is, whether it can be written, whether its triggers work.

What is tried is tried inside a transaction that is taken back: nothing stays. Never repairs anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Connection, delete, func, insert, make_url, select, text, update
from sqlalchemy.exc import DBAPIError

from recon.doors.store.engines import Database
from recon.model.stored import EPOCH
from recon.model.tables import entries, intents, touches

_TRIAL = "recon-doctor"  # Of the rows that are written and taken back.
_ENTRY: Mapping[str, Any] = {
    "topic": _TRIAL,
    "version": 1,
    "action": "opened",
    "actor": _TRIAL,
    "at": EPOCH,
    "reason": "A trial that is taken back.",
    "to_state": "open",
    "action_id": _TRIAL,
    "previous_hash": "",
    "hash": "",
}
_INTENT: Mapping[str, Any] = {
    "account": _TRIAL,
    "key": _TRIAL,
    "amount_minor": 0,
    "currency": "usd",
    "status": "cancelled",
    "created_at": EPOCH,
    "updated_at": EPOCH,
}


@dataclass(frozen=True, slots=True)
class Server:
    """What answers. modes: its settings that matter, by its own names. now: its clock; None on SQLite."""

    kind: str
    version: str
    modes: Mapping[str, str]
    now: datetime | None


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the trial.

    broken: what could be done to an entry and must not be. journal: whether a new intent left its touch,
    which is how a run knows what to read.
    """

    broken: tuple[str, ...]
    journal: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """Which intents are there. mapped: copied from a foreign table. first_at, last_at: None without any."""

    statuses: Mapping[str, int]
    mapped: int
    first_at: datetime | None
    last_at: datetime | None


class _TakenBack(Exception):
    """Ends a transaction without leaving anything of it."""


def file(url: str) -> Path | None:
    """Return the file of a SQLite database; None for a server."""
    parsed = make_url(url)
    name = parsed.database
    return Path(name) if parsed.get_backend_name() == "sqlite" and name else None


def server(database: Database) -> Server:
    """Return what answers, how it was set up, and what time it is there."""
    with database.read() as connection:
        if connection.dialect.name == "sqlite":
            modes = {name: _pragma(connection, name) for name in ("journal_mode", "synchronous")}
            version = str(connection.scalar(text("SELECT sqlite_version()")))
            return Server("SQLite", version, modes, None)
        names = ("server_version", "TimeZone", "server_encoding")
        query = text("SELECT current_setting(:name)")
        told = {name: str(connection.scalar(query, {"name": name})) for name in names}
        seconds = connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())::float8"))
    now = datetime.fromtimestamp(float(seconds or 0), UTC)
    return Server("PostgreSQL", told.pop("server_version"), told, now)


def trial(database: Database) -> Trial:
    """Return whether what must hold of new rows holds, having written and taken back an entry and an intent.

    Raises:
        ConfigurationError: We may not write there, or the tables are others.
        DatabaseUnavailable: It cannot be written now.
    """
    found: list[Trial] = []
    try:
        with database.write() as connection:
            found.append(_tried(connection))
            _take_back()
    except _TakenBack:  # As it was meant.
        pass
    return found[0]


def holdings(database: Database) -> Holdings:
    """Return how many intents there are, and of which time."""
    columns = intents.c
    with database.read() as connection:
        counted = connection.execute(select(columns.status, func.count()).group_by(columns.status)).all()
        mapped = connection.scalar(select(func.count()).where(columns.mapped)) or 0
        span = select(func.min(columns.created_at), func.max(columns.created_at))
        first, last = connection.execute(span).one()
    return Holdings({str(status): int(count) for status, count in counted}, int(mapped), first, last)


def _take_back() -> NoReturn:
    raise _TakenBack


def _pragma(connection: Connection, name: str) -> str:
    return str(connection.scalar(text(f"PRAGMA {name}"))).lower()


def _tried(connection: Connection) -> Trial:
    before = connection.scalar(select(func.count()).where(touches.c.intent_key == _TRIAL))
    connection.execute(insert(intents).values(_INTENT))
    after = connection.scalar(select(func.count()).where(touches.c.intent_key == _TRIAL))
    connection.execute(insert(entries).values(_ENTRY))
    mine = entries.c.topic == _TRIAL
    attempts = {
        "changed": update(entries).where(mine).values(reason="Another."),
        "deleted": delete(entries).where(mine),
    }
    broken = []
    for what, statement in attempts.items():
        try:
            with connection.begin_nested() as attempt:
                connection.execute(statement)
                attempt.rollback()
        except DBAPIError:  # Refused by its trigger, as it must be.
            continue
        broken.append(what)
    return Trial(tuple(broken), journal=before != after)
