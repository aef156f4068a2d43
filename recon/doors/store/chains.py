"""The chains of entries: each entry's hash covers the one before it, per topic, so that a change shows.

A topic is a case, the kill switch of a tool, or the limit of a currency. Never writes; cases.py, switches.py
and limits.py add links in the transaction that moves what the topic is.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, and_, case, literal, not_, select, type_coerce

from recon.doors.store.rows import case_record, case_row, entry_record
from recon.doors.store.statements import chunks
from recon.model.guarded import switches
from recon.model.records.cases import Entry
from recon.model.records.proposals import LIMIT
from recon.model.records.tools import LEADS_TO, TOPIC, SwitchMove
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
    """Return what does not fit, a sentence each: broken chains, and cases and switches that they deny."""
    found = []
    tips: dict[str, tuple[int, str, str]] = {}
    lost: set[str] = set()
    # A time as the number that it is kept as: one that somebody forged may be none.
    kept = [type_coerce(each, BigInteger) if each.name == "at" else each for each in entries.c]
    query = select(*kept).order_by(entries.c.topic, entries.c.version)
    for row in connection.execute(query).mappings():
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
        f"{each.id}: the case is not as its last entry left it."
        for each in connection.execute(select(*columns).order_by(cases.c.id))
        if tips.pop(each.id, None) != (each.version, each.head, each.state)
    ]
    found += [
        f"{TOPIC}{switch.tool}: the switch is not as its last entry left it."
        for switch in connection.execute(_switches())
        if tips.pop(f"{TOPIC}{switch.tool}", None) != (switch.version, switch.head, switch.stands)
        or switch.differs
    ]
    found += [
        f"{topic}: there are entries and no {'switch' if topic.startswith(TOPIC) else 'case'}."
        for topic in sorted(tips)
        if not topic.startswith(LIMIT)  # limits.py looks at those.
    ]
    return tuple(found)


def illegible(connection: Connection, *, but: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence for each case that, or an entry of which, recon never wrote as it stands there.

    but: the ids of cases to leave out, of which enough is said.
    """
    every = connection.scalars(select(cases.c.id).order_by(cases.c.id)).all()
    ids = [each for each in every if each not in but]
    return tuple(sentence for chunk in chunks(ids) for sentence in _illegible(connection, chunk))


def _illegible(connection: Connection, ids: Sequence[str]) -> Iterator[str]:
    """Yield those of these cases; all are read at once, and only where that fails one by one."""
    try:
        told = connection.execute(select(entries).where(entries.c.topic.in_(ids))).mappings()
        all(map(stored, told))
        rows = connection.execute(select(cases).where(cases.c.id.in_(ids)).order_by(cases.c.id)).mappings()
        found = [(row, case_row(case_record(row))) for row in rows]
    except (ValueError, OverflowError):  # A word or a time that there is not.
        if len(ids) == 1:
            yield f"{ids[0]}: it, or an entry of it, holds what recon does not write."
            return
        for each in ids:
            yield from _illegible(connection, [each])
        return
    for row, columns in found:
        other = [name for name, value in columns.items() if name != "mismatch" and row[name] != value]
        if other:
            yield f"{row['id']}: its evidence says another {', '.join(other)} than its row."


def _switches() -> Select[Any]:
    """Return the switches, how each stands, and whether its last entry says another time, name or reason."""
    columns, told = switches.c, entries.c
    same = and_(told.topic == literal(TOPIC) + columns.tool, told.version == columns.version)
    alike = and_(told.at == columns.moved_at, told.actor == columns.moved_by, told.reason == columns.reason)
    stands = case((columns.thrown, LEADS_TO[SwitchMove.THROWN]), else_=LEADS_TO[SwitchMove.LIFTED])
    return (
        select(columns.tool, columns.version, columns.head, stands.label("stands"))
        .add_columns(not_(alike).label("differs"))
        .select_from(switches.outerjoin(entries, same))
        .order_by(columns.tool)
    )


def _hash(row: Mapping[Any, Any], previous_hash: str) -> str:
    at = row["at"] if isinstance(row["at"], int) else microseconds(row["at"])
    told = {name: row[name] for name in HASHED} | {"at": at, "after": previous_hash}
    return sha256(canonical(told).encode()).hexdigest()
