"""The messages that wait to be sent, and the threads they live in.

A sender claims before it sends and records only what it still holds, so that two senders, or one that died,
never make a message unknown in silence. Never talks to Slack.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Select, and_, case, exists, func, or_, select, update

from recon.doors.store import roots_ahead
from recon.doors.store.engines import Database
from recon.doors.store.rows import notice_record, notice_row
from recon.doors.store.statements import chunks, insert
from recon.model.records.notices import Notice, Thread
from recon.model.records.words import NoticeState
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
    database: Database,
    sender: str,
    *,
    now: datetime,
    claim: timedelta,
    limit: int,
    lapse: timedelta = timedelta(0),
    resting: Collection[str] = (),
    edits: bool = True,
    oldest: bool = False,
) -> tuple[Notice, ...]:
    """Return the notices that this sender may now send or look up, committed as `sending`.

    Of a thread's roots, replies and calls only the earliest that is on its way; an edit does not wait for
    replies. Those to be looked up come first, then the most urgent, then who waits longest.

    Each carries the state that is known of it: `waiting` was certainly not sent since; `unknown` may have
    been, also because a sender's claim on it lapsed. A waiting one's attempt is counted here, before it
    begins.

    lapse: how long after its end a claim counts as lapsed. resting: the channels, as threads and targets name
    them, that nothing is to be sent to now. edits: whether edits may be sent now. oldest: who waits longest
    comes first whatever its urgency, so that nothing waits for ever.
    """
    columns = notices.c
    chosen = _in_order(oldest=oldest).where(_ready(now, lapse), ~_behind(), _goes(resting, edits=edits))
    chosen = chosen.limit(limit).with_for_update(skip_locked=True)
    until = now + claim
    with database.write() as connection:
        ids = connection.scalars(chosen).all()
        rows = connection.execute(select(notices).where(columns.id.in_(ids))).mappings()
        by_id = {row["id"]: notice_record(row) for row in rows}
        mine = tuple(_claimed(by_id[number], sender, now=now, until=until) for number in ids)
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


def aim(database: Database, notice: Notice, *, sender: str, channel: str | None) -> bool:
    """Write down where a claimed notice is about to be sent, so that it is looked for there.

    channel: as Slack takes it; None is into its thread.

    Returns:
        False when this sender no longer holds it: nothing was written, and nothing is to be sent.
    """
    with database.write() as connection:
        found = connection.execute(update(notices).where(_held(notice, sender)).values(channel=channel))
    return found.rowcount == 1


def record(database: Database, notice: Notice, *, sender: str, moved: bool = False) -> bool:
    """Write down what became of a claimed notice; a sent root's place becomes its thread's.

    moved: an edit had to be posted anew, so that it is its thread's root now, unless a later one is.

    Returns:
        False when this sender no longer holds it: somebody else looks after it, and nothing was written.
    """
    values = {name: getattr(notice, name) for name in MOVING} | {"message": notice_row(notice)["message"]}
    with database.write() as connection:
        found = connection.execute(
            update(notices)
            .where(_held(notice, sender))
            .values(values | {"claimed_by": None, "claimed_until": None})
        )
        kept = found.rowcount == 1
        if kept and notice.state is NoticeState.SENT and (moved or notice.verb == "root"):
            connection.execute(
                update(threads_table)
                .where(threads_table.c.key == notice.thread_key, _not_after(notice))
                .values(channel=notice.channel, root_ts=notice.ts, root_id=notice.id)
            )
    return kept


def rest(database: Database, channels: Collection[str], *, until: datetime, reason: str) -> None:
    """Let nothing be posted into these channels, as threads and targets name them, before a time."""
    _postpone(and_(notices.c.verb != "edit", _place().in_(list(channels))), database, until, reason)


def rest_edits(database: Database, *, until: datetime, reason: str) -> None:
    """Let no edit that waits be sent before a time."""
    _postpone(notices.c.verb == "edit", database, until, reason)


def threads(database: Database, keys: Iterable[str]) -> Mapping[str, Thread]:
    """Return the known threads of these keys, by key."""
    with database.read() as connection:
        rows = [
            row
            for chunk in chunks(keys)
            for row in connection.execute(select(threads_table).where(threads_table.c.key.in_(chunk)))
        ]
    return {row.key: Thread(row.key, row.target, row.channel, row.root_ts, row.root_id) for row in rows}


def threads_from(database: Database, beginning: str) -> Mapping[str, Thread]:
    """Return the known threads whose key begins so, by key; looks through all threads, which are not many."""
    query = select(threads_table).where(threads_table.c.key.startswith(beginning, autoescape=True))
    with database.read() as connection:
        rows = connection.execute(query).all()
    return {row.key: Thread(row.key, row.target, row.channel, row.root_ts, row.root_id) for row in rows}


def next_due(database: Database, *, lapse: timedelta = timedelta(0)) -> datetime | None:
    """Return when the next notice can be claimed; None when none is on its way.

    lapse: how long after its end a claim counts as lapsed.
    """
    columns = notices.c
    due = select(func.min(columns.next_at)).where(
        columns.state.in_([NoticeState.WAITING, NoticeState.UNKNOWN]), ~_behind()
    )
    lapsing = select(func.min(columns.claimed_until)).where(columns.state == NoticeState.SENDING)
    with database.read() as connection:
        ready, ends = connection.scalar(due), connection.scalar(lapsing)
    moments = (ready, ends + lapse if ends is not None else None)
    return min((moment for moment in moments if moment is not None), default=None)


def is_due(database: Database, *, now: datetime, lapse: timedelta = timedelta(0)) -> bool:
    """Return whether something could be claimed now, were no channel resting."""
    with database.read() as connection:
        return bool(connection.scalar(select(exists().where(_ready(now, lapse), ~_behind()))))


def late(database: Database, *, now: datetime) -> int:
    """Return how many notices should have gone out by now.

    That are those that are being sent or looked for, those that something stopped, and those that are due.
    Whoever waits for its owner's morning, or behind one that does, is not late.
    """
    columns = notices.c
    waits = columns.state == NoticeState.WAITING
    due = and_(waits, columns.next_at <= now, ~_behind())
    stopped = and_(waits, columns.error.is_not(None))
    begun = columns.state.in_([NoticeState.SENDING, NoticeState.UNKNOWN])
    counting = select(func.count()).where(columns.state.in_(ON_THE_WAY), or_(begun, stopped, due))
    with database.read() as connection:
        return int(connection.scalar(counting) or 0)


def roots(
    database: Database, key: str, *, limit: int, before: int | None = None
) -> tuple[tuple[str, str], ...]:
    """Return channel and timestamp of a thread's latest roots, the latest first, each once.

    before: only those that are older than the notice of this id.
    """
    columns = notices.c
    query = (
        select(columns.channel, columns.ts)
        .where(
            columns.thread_key == key,
            columns.state == NoticeState.SENT,
            columns.verb.in_(["root", "edit"]),
            columns.channel != "",  # An edit that was needless may be nowhere.
            columns.ts != "",
            *([columns.id < before] if before is not None else []),
        )
        .group_by(columns.channel, columns.ts)
        .order_by(func.max(columns.id).desc())
        .limit(limit)
    )
    with database.read() as connection:
        return tuple((row.channel, row.ts) for row in connection.execute(query))


def is_rootless(database: Database, notice: Notice, thread: Thread) -> bool:
    """Return whether the root that a notice was to go under will never be there, nor a later one."""
    columns = notices.c
    lost = exists().where(
        columns.thread_key == notice.thread_key,
        columns.state == NoticeState.UNDELIVERABLE,
        columns.verb == "root",
        columns.id < notice.id,
        columns.id > (thread.root_id or 0),
    )
    if thread.root_ts is None:
        return True
    with database.read() as connection:
        return bool(connection.scalar(select(lost)))


def outdated(database: Database, notice: Notice) -> bool:
    """Return whether a later notice shows how this one's root stands; a later root has an edit of its own."""
    columns, between = notices.c, notices.alias("between").c
    later = exists().where(
        columns.thread_key == notice.thread_key,
        columns.id > notice.id,
        columns.verb == "edit",
        columns.state != NoticeState.UNDELIVERABLE,
        ~exists().where(
            between.thread_key == notice.thread_key,
            between.id > notice.id,
            between.id < columns.id,
            between.verb == "root",
            between.state != NoticeState.UNDELIVERABLE,
        ),
    )
    with database.read() as connection:
        return bool(connection.scalar(select(later)))


def next_root(database: Database, notice: Notice) -> int | None:
    """Return the id of the root that began its thread anew after this notice; None where none did."""
    columns = notices.c
    later = select(func.min(columns.id + 0)).where(
        columns.thread_key == notice.thread_key,
        columns.id > notice.id,
        columns.verb == "root",
        columns.state != NoticeState.UNDELIVERABLE,
    )
    with database.read() as connection:
        found: int | None = connection.scalar(later)
    return found


def undelivered(database: Database) -> Mapping[NoticeState, int]:
    """Return how many notices are in each state but sent; zeros too."""
    counting = (
        select(notices.c.state, func.count()).where(notices.c.state.in_(NOT_SENT)).group_by(notices.c.state)
    )
    with database.read() as connection:
        counted = {row[0]: row[1] for row in connection.execute(counting)}
    return {state: int(counted.get(state, 0)) for state in NOT_SENT}


def waits_since(database: Database, *, now: datetime) -> datetime | None:
    """Return since when the oldest notice on its way could have gone; None when none could.

    What waits for its owner's morning, and nothing has stopped, could not have gone before.
    """
    columns = notices.c
    rests = and_(columns.state == NoticeState.WAITING, columns.error.is_(None))
    since = func.min(case((rests, columns.next_at), else_=columns.created_at))
    with database.read() as connection:
        oldest: datetime | None = connection.scalar(select(since).where(columns.state.in_(ON_THE_WAY)))
    return None if oldest is None or oldest > now else oldest


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


def add(connection: Connection, new: Sequence[Notice]) -> None:
    """Put notices into the outbox, within the transaction of what they tell; news told before is left out.

    Where somebody has begun a thread meanwhile, its root will show these as well: a second one is an edit.
    """
    named = {notice.thread_key: notice.target for notice in new}
    if named:
        connection.execute(
            insert(connection, threads_table).on_conflict_do_nothing(),
            [{"key": key, "target": target} for key, target in sorted(named.items())],
        )
    wanted = {each.thread_key for each in new if each.verb == "root"}
    begun = roots_ahead.begun(connection, wanted, ON_THE_WAY)
    for each in new:
        notice = replace(each, verb="edit") if each.verb == "root" and each.thread_key in begun else each
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


def _in_order(*, oldest: bool) -> Select[tuple[int]]:
    """Return the ids of notices: what is to be looked for first."""
    columns = notices.c
    looked_for = case((columns.state == NoticeState.WAITING, 1), else_=0)
    urgency = () if oldest else (columns.urgency.desc(),)
    return select(columns.id).order_by(looked_for, *urgency, columns.next_at, columns.id)


def _goes(resting: Collection[str], *, edits: bool) -> ColumnElement[bool]:
    """Return whether nothing that rests is needed; to look for a message takes no channel."""
    columns = notices.c
    goes = or_(columns.state != NoticeState.WAITING, columns.verb == "edit", _place().not_in(list(resting)))
    return goes if edits else and_(goes, columns.verb != "edit")


def _ready(now: datetime, lapse: timedelta) -> ColumnElement[bool]:
    columns = notices.c
    due = and_(columns.state.in_([NoticeState.WAITING, NoticeState.UNKNOWN]), columns.next_at <= now)
    return or_(due, and_(columns.state == NoticeState.SENDING, columns.claimed_until <= now - lapse))


def _behind() -> ColumnElement[bool]:
    """Return whether something of the same thread must go before."""
    columns, before = notices.c, notices.alias("before").c
    edit = columns.verb == "edit"
    return exists().where(
        before.thread_key == columns.thread_key,
        before.state.in_(ON_THE_WAY),
        before.id < columns.id,
        or_(
            and_(~edit, before.verb != "edit"),
            and_(edit, before.verb == "root"),
            # Two at once could end in the wrong order; one that waits is outdated by this one.
            and_(edit, before.verb == "edit", before.state == NoticeState.SENDING),
        ),
    )


def _place() -> ColumnElement[str]:
    """Return where a notice goes: its thread's channel, or what its target is called before it has one."""
    channel = select(threads_table.c.channel).where(threads_table.c.key == notices.c.thread_key)
    return func.coalesce(channel.scalar_subquery(), notices.c.target)


def _held(notice: Notice, sender: str) -> ColumnElement[bool]:
    columns = notices.c
    return and_(columns.id == notice.id, columns.state == NoticeState.SENDING, columns.claimed_by == sender)


def _not_after(notice: Notice) -> ColumnElement[bool]:
    """Return whether a thread's root is no later one than this."""
    return or_(threads_table.c.root_id.is_(None), threads_table.c.root_id <= notice.id)


def _postpone(which: ColumnElement[bool], database: Database, until: datetime, reason: str) -> None:
    columns = notices.c
    waits = and_(columns.state == NoticeState.WAITING, columns.next_at < until)
    with database.write() as connection:
        connection.execute(update(notices).where(waits, which).values(next_at=until, error=reason))
