"""The chains of entries: each entry's hash covers the one before it, per topic, so that a change shows.

Never writes; cases.py adds links in the transaction that moves the case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select

from recon.doors.store.rows import entry_record
from recon.model.records.cases import Entry
from recon.model.stored import canonical, microseconds
from recon.model.tables import cases, entries

FIRST = ""  # What stands before a chain's first entry.
HASHED = tuple(column.name for column in entries.c if column.name not in {"previous_hash", "hash"})


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as the database keeps it: with its link to the one before."""

    entry: Entry
    previous_hash: str
    hash: str


def link(row: Mapping[str, Any], previous_hash: str) -> dict[str, Any]:
    """Return an entry's row with its hashes."""
    return dict(row) | {"previous_hash": previous_hash, "hash": _hash(row, previous_hash)}


def stored(row: Mapping[Any, Any]) -> StoredEntry:
    """Return the stored entry of a row."""
    return StoredEntry(entry_record(row), row["previous_hash"], row["hash"])


def broken(connection: Connection) -> tuple[str, ...]:
    """Return what does not fit, a sentence each: broken chains, and cases that their entries deny."""
    found = []
    tips: dict[str, tuple[int, str, str]] = {}
    lost: set[str] = set()
    for row in connection.execute(select(entries).order_by(entries.c.topic, entries.c.version)).mappings():
        topic = row["topic"]
        version, head, _ = tips.get(topic, (0, FIRST, ""))
        fits = (
            row["version"] == version + 1
            and row["previous_hash"] == head
            and row["hash"] == _hash(row, row["previous_hash"])
        )
        if not fits and topic not in lost:
            lost.add(topic)
            found.append(f"{topic}: entry {row['version']} does not continue the one before it.")
        tips[topic] = (row["version"], row["hash"], row["to_state"])
    columns = (cases.c.id, cases.c.version, cases.c.head, cases.c.state)
    found += [
        f"{case.id}: the case is not as its last entry left it."
        for case in connection.execute(select(*columns).order_by(cases.c.id))
        if tips.pop(case.id, None) != (case.version, case.head, case.state)
    ]
    found += [f"{topic}: there are entries and no case." for topic in sorted(tips)]
    return tuple(found)


def _hash(row: Mapping[Any, Any], previous_hash: str) -> str:
    told = {name: row[name] for name in HASHED} | {"at": microseconds(row["at"]), "after": previous_hash}
    return sha256(canonical(told).encode()).hexdigest()
