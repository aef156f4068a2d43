"""Which run vouches for which entries: each seals those that came since the one before, and hashes on.

An entry is sealed once, in the transaction that saves a run; a chain that is cut at its end, with its case or
without, then no longer adds up. What came after the latest run is not sealed yet. The hashes have no key:
whoever may rewrite every table can rewrite them too, which a digest that is kept elsewhere shows. Never
changes an entry.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, insert, select, update

from recon.model.records.words import RunId
from recon.model.tables import entries, runs, seals

MARK = ":"  # Between how many entries are sealed so far and the hash; digests of earlier versions have none.


_SAME = and_(entries.c.topic == seals.c.topic, entries.c.version == seals.c.version)


class Batch(NamedTuple):
    """The entries that one run sealed: how many, and one hash over theirs."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """How far the books are sealed.

    run_id: the latest run that says so; None before the first. digest: as it is kept with that run. newer:
    entries that came since.
    """

    run_id: RunId | None
    digest: str | None
    newer: int


def add(connection: Connection, links: Sequence[dict[str, Any]]) -> None:
    """Note that these entries wait for a seal."""
    rows = [{"topic": link["topic"], "version": link["version"], "run_id": None} for link in links]
    if rows:
        connection.execute(insert(seals), rows)


def close(connection: Connection, run_id: RunId) -> str:
    """Seal every entry that waits, for this run; return the digest to keep with it."""
    connection.execute(update(seals).where(seals.c.run_id.is_(None)).values(run_id=run_id))
    before = connection.scalar(select(runs.c.heads_digest).order_by(runs.c.number.desc()).limit(1))
    query = select(seals.c.topic, seals.c.version, entries.c.hash).join(entries, _SAME)
    return digest(before, _batch(connection.execute(query.where(seals.c.run_id == run_id))))


def digest(before: str | None, batch: Batch) -> str:
    """Return the digest after these entries; the one before where there are none."""
    sealed, found, _ = (before or "").rpartition(MARK)
    if found and not batch.number:
        return before or ""
    number = batch.number + (int(sealed) if found else 0)
    told = f"{before or ''} {batch.hash}"
    return f"{number}{MARK}{sha256(told.encode()).hexdigest()}"


def standing(connection: Connection) -> Sealed:
    """Return how far the books are sealed."""
    latest = connection.execute(
        select(runs.c.id, runs.c.heads_digest).order_by(runs.c.number.desc()).limit(1)
    ).one_or_none()
    newer = connection.scalar(select(func.count()).select_from(seals).where(seals.c.run_id.is_(None)))
    if latest is None or MARK not in (latest.heads_digest or ""):
        return Sealed(None, None, int(newer or 0))
    return Sealed(RunId(latest.id), latest.heads_digest, int(newer or 0))


def broken(connection: Connection) -> tuple[str, ...]:
    """Return what does not add up, a sentence each: entries gone or unsealed, runs that deny them."""
    unsealed = (
        select(entries.c.topic, entries.c.version)
        .outerjoin(seals, _SAME)
        .where(seals.c.topic.is_(None))
        .order_by(entries.c.topic, entries.c.version)
    )
    found = [
        f"{row.topic}: entry {row.version} was written without a seal to come, or its seal is gone."
        for row in connection.execute(unsealed)
    ]
    query = (
        select(seals.c.topic, seals.c.version, seals.c.run_id, entries.c.hash)
        .select_from(seals.outerjoin(entries, _SAME))
        .order_by(seals.c.run_id, seals.c.topic, seals.c.version)
    )
    batches: dict[str | None, Batch] = {}
    for run_id, rows in groupby(connection.execute(query), key=lambda row: row.run_id):
        told = tuple(rows)
        gone = [row for row in told if row.hash is None]
        found += [f"{row.topic}: entry {row.version} was saved, and is gone." for row in gone]
        batches[run_id] = _batch(told)
    batches.pop(None, None)  # Those that wait for a seal.
    return (*found, *_denied(connection, batches))


def _batch(rows: Iterable[Any]) -> Batch:
    """Return the batch of these entries, in whatever order."""
    lines = sorted(f"{row.topic} {row.version} {row.hash}" for row in rows)
    return Batch(len(lines), sha256("\n".join(lines).encode()).hexdigest())


def _denied(connection: Connection, batches: dict[str | None, Batch]) -> Iterator[str]:
    """Yield each run whose digest is not that of the entries sealed for it."""
    before: str | None = None
    for run in connection.execute(select(runs.c.id, runs.c.heads_digest).order_by(runs.c.number)):
        batch = batches.pop(run.id, _batch(()))
        # Runs of versions before seals kept another digest, and sealed nothing; none of them comes after one.
        sealed = bool(batch.number) or any(MARK in (each or "") for each in (before, run.heads_digest))
        if sealed and run.heads_digest != digest(before, batch):
            yield f"Run {run.id}: what it sealed is not what stands there now."
        before = run.heads_digest
    yield from (f"Run {run_id}: it sealed entries, and is gone." for run_id in batches)
