"""The tools' kill switches: each move and the entry that explains it are saved together or not at all.

The chain of a tool's entries is the topic tool:NAME; runs seal it with the others. Never decides who may move
a switch, and never sends anything: the guarded tool reads the row just before each send.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from recon.doors.store import chains, seals
from recon.doors.store.engines import Database
from recon.doors.store.statements import insert
from recon.model.guarded import switches
from recon.model.records.tools import LEADS_TO, TOPIC, Switch, SwitchEntry, SwitchMove
from recon.model.records.words import Actor
from recon.model.tables import entries

HISTORY = 50  # Moves shown of one tool: a switch that is moved more often is another problem.


def get(database: Database, tool: str) -> Switch:
    """Return how a tool's switch stands; one that nobody ever moved is not thrown."""
    with database.read() as connection:
        row = connection.execute(select(switches).where(switches.c.tool == tool)).mappings().one_or_none()
    return Switch(tool) if row is None else _record(row)


def every(database: Database) -> Mapping[str, Switch]:
    """Return every switch that was ever moved, by tool."""
    with database.read() as connection:
        rows = connection.execute(select(switches).order_by(switches.c.tool)).mappings()
        return {row["tool"]: _record(row) for row in rows}


def thrown(database: Database) -> tuple[Switch, ...]:
    """Return the switches that are thrown, by tool; there is a row per tool ever moved, and no more."""
    with database.read() as connection:
        rows = connection.execute(select(switches).where(switches.c.thrown).order_by(switches.c.tool))
        return tuple(map(_record, rows.mappings()))


def history(database: Database, tool: str, limit: int = HISTORY) -> tuple[SwitchEntry, ...]:
    """Return the latest moves of a tool's switch, newest first."""
    columns = entries.c
    query = select(entries).where(columns.topic == f"{TOPIC}{tool}").order_by(columns.version.desc())
    with database.read() as connection:
        return tuple(map(_entry, connection.execute(query.limit(limit)).mappings()))


def move(
    connection: Connection,
    before: Switch,
    made: SwitchMove,
    *,
    actor: Actor,
    reason: str,
    now: datetime,
    action_id: str,
) -> Switch | None:
    """Move a switch and write its entry, within the caller's transaction; return it as it stands then.

    before: as it was read. Each of these ids moves a switch once: the same again changes nothing, and what
    stands is returned.

    Returns:
        None where somebody moved it after it was read: nothing was written.
    """
    saved = connection.scalar(select(entries.c.topic).where(entries.c.action_id == action_id))
    if saved is not None:
        row = connection.execute(select(switches).where(switches.c.tool == before.tool)).mappings().one()
        return _record(row)
    after = Switch(
        before.tool,
        thrown=made is SwitchMove.THROWN,
        version=before.version + 1,
        moved_at=now,
        moved_by=actor,
        reason=reason,
    )
    head = _head(connection, before)
    link = chains.link(_entry_row(before, after, made, action_id), head)
    if not _put(connection, after, link["hash"]):
        return None
    connection.execute(insert(connection, entries), [link])
    seals.add(connection, [link])
    return after


def _head(connection: Connection, before: Switch) -> str:
    """Return the hash that the next entry continues; a switch that moved meanwhile is refused by _put."""
    found = connection.scalar(select(switches.c.head).where(switches.c.tool == before.tool))
    return chains.FIRST if found is None else str(found)


def _put(connection: Connection, after: Switch, head: str) -> bool:
    """Write the row if it is still at the version before; False where it is not, and nothing was written."""
    values = {
        "thrown": after.thrown,
        "version": after.version,
        "head": head,
        "moved_at": after.moved_at,
        "moved_by": after.moved_by,
        "reason": after.reason,
    }
    if after.version == 1:
        first = insert(connection, switches).values(tool=after.tool, **values).on_conflict_do_nothing()
        return connection.scalar(first.returning(switches.c.tool)) is not None
    same = (switches.c.tool == after.tool) & (switches.c.version == after.version - 1)
    return connection.execute(update(switches).where(same).values(values)).rowcount == 1


def _entry_row(before: Switch, after: Switch, made: SwitchMove, action_id: str) -> dict[str, Any]:
    came_from = SwitchMove.THROWN if before.thrown else SwitchMove.LIFTED
    return {
        "topic": f"{TOPIC}{after.tool}",
        "version": after.version,
        "action": made,
        "actor": after.moved_by,
        "at": after.moved_at,
        "reason": after.reason,
        "from_state": LEADS_TO[came_from],
        "to_state": LEADS_TO[made],
        "action_id": action_id,
        "run_id": None,
        "resolution": None,
    }


def _record(row: Mapping[Any, Any]) -> Switch:
    return Switch(
        tool=row["tool"],
        thrown=row["thrown"],
        version=row["version"],
        moved_at=row["moved_at"],
        moved_by=Actor(row["moved_by"]),
        reason=row["reason"],
    )


def _entry(row: Mapping[Any, Any]) -> SwitchEntry:
    return SwitchEntry(
        tool=row["topic"].removeprefix(TOPIC),
        move=SwitchMove(row["action"]),
        actor=Actor(row["actor"]),
        at=row["at"],
        reason=row["reason"],
        version=row["version"],
    )
