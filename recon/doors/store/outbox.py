"""The messages that wait to be sent, and the threads they live in.

A sender claims before it sends and records only what it still holds, so that two senders, or one that died,
never make a message unknown in silence. Never talks to Slack.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, func, or_, select, update

from recon.doors.store.engines import Database
from recon.doors.store.rows import notice_record, notice_row
from recon.doors.store.statements import chunks, insert
from recon.model.records.notices import Notice, Thread
from recon.model.records.words import CaseId, NoticeState
from recon.model.tables import notice_cases, notices
from recon.model.tables import threads as threads_table

# Named one by one, so that the index on states serves them; those that are sent are the whole history.
ON_THE_WAY = (NoticeState.WAITING, NoticeState.SENDING, NoticeState.UNKNOWN)
NOT_SENT = (*ON_THE_WAY, NoticeState.UNDELIVERABLE)

# What a sender may change of a notice.
MOVING = (
    "state",
    "next_at",
    "attempts",
    "misses",
    "first_sent_at",
    "sent_at",
    "channel",
    "ts",
    "error",
)


def claim(
    database: Database, sender: str, *, now: datetime, claim: timedelta, limit: int
) -> tuple[Notice, ...]:
    """Return the notices that this sender may now send or look up, oldest first, committed as `sending`.

    Each carries the state that is known of it: `waiting` was certainly not sent since; `unknown` may have
    been, also because a sender's claim on it lapsed. A waiting one's attempt is counted here, before it
    begins.
    """
    columns = notices.c
    ready = and_(columns.state.in_([NoticeState.WAITING, NoticeState.UNKNOWN]), columns.next_at <= now)
    lapsed = and_(columns.state == NoticeState.SENDING, columns.claimed_until <= now)
    query = (
        select(notices)
        .where(or_(ready, lapsed))
        .order_by(columns.next_at, columns.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    until = now + claim
    with database.write() as connection:
        found = [notice_record(row) for row in connection.execute(query).mappings()]
        mine = tuple(_claimed(notice, sender, now=now, until=until) for notice in found)
        for notice in mine:
            connection.execute(
                update(notices)
                .where(columns.id == notice.id)
                .values(
                    state=NoticeState.SENDING,
                    claimed_by=sender,
                    claimed_until=until,
                    attempts=notice.attempts,
                    first_sent_at=notice.first_sent_at,
                )
            )
    return mine


def record(database: Database, notice: Notice, *, sender: str, moved: Thread | None = None) -> bool:
    """Write down what became of a claimed notice; a sent root's place becomes its thread's.

    moved: the thread with its new root, where an edit had to post one; None when the root is where it was.

    Returns:
        False when this sender no longer holds it: somebody else looks after it, and nothing was written.
    """
    values = {name: getattr(notice, name) for name in MOVING}
    columns = notices.c
    with database.write() as connection:
        found = connection.execute(
            update(notices)
            .where(
                columns.id == notice.id, columns.state == NoticeState.SENDING, columns.claimed_by == sender
            )
            .values(values | {"claimed_by": None, "claimed_until": None})
        )
        kept = found.rowcount == 1
        if kept and notice.verb == "root" and notice.state is NoticeState.SENT:
            moved = Thread(notice.thread_key, notice.target, notice.channel, notice.ts)
        if kept and moved is not None:
            connection.execute(
                update(threads_table)
                .where(threads_table.c.key == moved.key)
                .values(channel=moved.channel, root_ts=moved.root_ts)
            )
    return kept


def threads(database: Database, keys: Iterable[str]) -> Mapping[str, Thread]:
    """Return the known threads of these keys, by key."""
    with database.read() as connection:
        rows = [
            row
            for chunk in chunks(keys)
            for row in connection.execute(select(threads_table).where(threads_table.c.key.in_(chunk)))
        ]
    return {row.key: Thread(row.key, row.target, row.channel, row.root_ts) for row in rows}


def threads_from(database: Database, beginning: str) -> Mapping[str, Thread]:
    """Return the known threads whose key begins so, by key; looks through all threads, which are not many."""
    query = select(threads_table).where(threads_table.c.key.startswith(beginning, autoescape=True))
    with database.read() as connection:
        rows = connection.execute(query).all()
    return {row.key: Thread(row.key, row.target, row.channel, row.root_ts) for row in rows}


def told(database: Database, cases: Iterable[CaseId]) -> frozenset[CaseId]:
    """Return those of these cases that some notice speaks of, whether it has gone out or not."""
    with database.read() as connection:
        return frozenset(
            CaseId(found)
            for chunk in chunks(cases)
            for found in connection.scalars(
                select(notice_cases.c.case_id).distinct().where(notice_cases.c.case_id.in_(chunk))
            )
        )


def next_due(database: Database) -> datetime | None:
    """Return when the next notice can be claimed; None when none is on its way."""
    columns = notices.c
    due = select(func.min(columns.next_at)).where(
        columns.state.in_([NoticeState.WAITING, NoticeState.UNKNOWN])
    )
    lapsing = select(func.min(columns.claimed_until)).where(columns.state == NoticeState.SENDING)
    with database.read() as connection:
        moments = [connection.scalar(due), connection.scalar(lapsing)]
    return min((moment for moment in moments if moment is not None), default=None)


def place(database: Database, target: str) -> str | None:
    """Return the channel that Slack named for a target in an earlier answer; None before the first."""
    query = select(threads_table.c.channel).where(
        threads_table.c.target == target, threads_table.c.channel.is_not(None)
    )
    with database.read() as connection:
        return connection.scalar(query.limit(1))


def outdated(database: Database, notice: Notice) -> bool:
    """Return whether a later notice shows how this one's thread stands."""
    later = select(notices.c.id).where(
        notices.c.thread_key == notice.thread_key,
        notices.c.id > notice.id,
        notices.c.verb != "reply",
        notices.c.state != NoticeState.UNDELIVERABLE,
    )
    with database.read() as connection:
        return connection.scalar(later.limit(1)) is not None


def undelivered(database: Database) -> Mapping[NoticeState, int]:
    """Return how many notices are in each state but sent; zeros too."""
    counting = (
        select(notices.c.state, func.count()).where(notices.c.state.in_(NOT_SENT)).group_by(notices.c.state)
    )
    with database.read() as connection:
        counted = {row[0]: row[1] for row in connection.execute(counting)}
    return {state: int(counted.get(state, 0)) for state in NOT_SENT}


def waits_since(database: Database) -> datetime | None:
    """Return when the oldest notice that is on its way was made; None when none is."""
    made = select(func.min(notices.c.created_at)).where(notices.c.state.in_(ON_THE_WAY))
    with database.read() as connection:
        oldest: datetime | None = connection.scalar(made)
    return oldest


def recent(database: Database, limit: int) -> tuple[Notice, ...]:
    """Return the latest notices, newest first."""
    query = select(notices).order_by(notices.c.id.desc()).limit(limit)
    with database.read() as connection:
        return tuple(map(notice_record, connection.execute(query).mappings()))


def named(database: Database, dedupe_key: str) -> Notice | None:
    """Return the notice of this key, as it stands; None where there is none."""
    with database.read() as connection:
        row = connection.execute(select(notices).where(notices.c.dedupe_key == dedupe_key))
        return next(map(notice_record, row.mappings()), None)


def add(connection: Connection, new: Sequence[Notice], known: Sequence[Thread]) -> None:
    """Put notices into the outbox, within the transaction of what they tell; news told before is left out."""
    named = {notice.thread_key: notice.target for notice in new} | {each.key: each.target for each in known}
    if named:
        connection.execute(
            insert(connection, threads_table).on_conflict_do_nothing(),
            [{"key": key, "target": target} for key, target in sorted(named.items())],
        )
    for notice in new:
        adding = insert(connection, notices).values(notice_row(notice)).on_conflict_do_nothing()
        number = connection.scalar(adding.returning(notices.c.id))
        if number is not None and notice.case_ids:
            connection.execute(
                insert(connection, notice_cases),
                [{"case_id": case_id, "notice_id": number} for case_id in dict.fromkeys(notice.case_ids)],
            )


def _claimed(notice: Notice, sender: str, *, now: datetime, until: datetime) -> Notice:
    held = replace(notice, claimed_by=sender, claimed_until=until)
    if notice.state is NoticeState.WAITING:
        return replace(held, attempts=notice.attempts + 1, first_sent_at=notice.first_sent_at or now)
    return replace(held, state=NoticeState.UNKNOWN)
