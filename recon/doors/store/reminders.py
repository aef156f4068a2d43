"""What waits for an answer, which dates run out, and what was said about it.

Whoever says something of cases holds them first, so that neither a click nor a second tick comes in between.
Never decides what is said: rules/reminders.py does.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Select,
    Text,
    and_,
    cast,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import case as sql_case

from recon.doors.store.engines import Database
from recon.doors.store.rows import case_record
from recon.doors.store.statements import chunks, insert, upsert
from recon.model.records.cases import Case
from recon.model.records.owners import Profile
from recon.model.records.reminders import (
    ACCEPTANCE,
    LOOKS,
    SNOOZE,
    Note,
    Unanswered,
    escalation,
    look,
)
from recon.model.records.words import Action, CaseId, CaseState
from recon.model.tables import cases, entries, notice_cases, notices, reminders

LIMIT = 10_000  # Cases of one owner in one look: more are said by the next tick.

# What makes a case its owner's to answer, from the beginning; a snooze does when it ends.
_BEGINS = (
    Action.OPENED,
    Action.REOPENED,
    Action.REGRESSED,
    Action.RECLASSIFIED,
    Action.ASSIGNED,
    Action.SNOOZED,
)
# How much each look covers again: a message's time is written down later than it is read off, and elsewhere.
_OVERLAP = timedelta(minutes=10)
_RATED_ANEW = "Severity was %"  # How the reason begins of an assignment that leaves the owner as it was.
_SURGE = "surge|%"  # The thread in which operators are told of many cases, for their owners as well.


def looked_at(database: Database, profiles: Iterable[Profile]) -> Mapping[str, datetime]:
    """Return when it was looked for what each owner has not answered, by name; absent before the first time.

    An owner whose chain has changed since is absent too.
    """
    names = {look(profile).name: profile.name for profile in profiles}
    query = select(reminders.c.name, reminders.c.at).where(reminders.c.case_id == LOOKS)
    with database.read() as connection:
        rows = connection.execute(query.where(reminders.c.name.in_(names))).all()
    return {names[row.name]: row.at for row in rows}


def look_again(connection: Connection, profiles: Iterable[Profile], *, at: datetime) -> None:
    """Write down that everything was said which these owners had not answered by now."""
    notes = [look(profile) for profile in profiles]
    rows = [{"case_id": each.about, "name": each.name, "at": at} for each in notes]
    upsert(connection, reminders, sorted(rows, key=lambda row: str(row["name"])))


def unanswered(
    database: Database,
    profile: Profile,
    *,
    now: datetime,
    since: datetime | None = None,
    operators: str = "",
    limit: int = LIMIT,
) -> tuple[Unanswered, ...]:
    """Return an owner's open cases for which a step of the chain is due and was not said, at most limit.

    Those that sleep are left out, and those that their owner has not been told of. since: when it was looked
    last; steps that were due before then are left out as well. None looks at all of the owner's cases.
    operators: where a surge is told.
    """
    query = _unanswered(profile, now=now)
    rows: list[RowMapping] = []
    with database.read() as connection:
        if since is None:
            rows += connection.execute(query.limit(limit)).mappings()
        else:
            for chunk in chunks(_told_between(connection, profile, operators, since=since, now=now)):
                rows += connection.execute(query.where(cases.c.id.in_(chunk))).mappings()
                if len(rows) >= limit:
                    break
    return tuple(Unanswered(case_record(row), row["since_version"], row["told_at"]) for row in rows[:limit])


def told_at(database: Database, named: CaseId) -> datetime | None:
    """Return when its owner was told of a case since it is theirs to answer, which their chain counts from.

    None where no such message has gone out.
    """
    begun = entries.alias("begun")
    first = _told(begun).with_only_columns(func.min(notices.c.sent_at)).scalar_subquery()
    query = (
        select(first)
        .select_from(cases)
        .join(begun, and_(begun.c.topic == cases.c.id, _is_beginning(begun)))
        .where(cases.c.id == named, ~_begins_later(begun))
    )
    with database.read() as connection:
        found: datetime | None = connection.scalar(query)
    return found


def awake(database: Database, *, now: datetime, limit: int = LIMIT) -> tuple[Case, ...]:
    """Return the waiting cases whose snooze has run out, and of which that was not said, the oldest first."""
    columns = cases.c
    until = literal(SNOOZE) + cast(columns.snoozed_until, Text)
    query = select(cases).where(
        columns.waiting, columns.snoozed_until <= now, columns.owner_target != "", ~_said(until)
    )
    return _cases(database, query.order_by(columns.snoozed_until, columns.id).limit(limit))


def ending(database: Database, *, before: datetime, limit: int = LIMIT) -> tuple[Case, ...]:
    """Return the accepted cases whose acceptance ends before a time, and of which that was not said."""
    columns = cases.c
    until = literal(ACCEPTANCE) + cast(columns.accepted_until, Text)
    query = select(cases).where(
        columns.state == CaseState.ACCEPTED,
        columns.accepted_until <= before,
        columns.owner_target != "",
        ~_said(until),
    )
    return _cases(database, query.order_by(columns.accepted_until, columns.id).limit(limit))


def hold(connection: Connection, read: Iterable[Case]) -> Mapping[str, frozenset[str]]:
    """Return what was said of each of these cases, by id; none of them moves until the transaction ends.

    A case that has moved since it was read is left out.
    """
    versions = {each.id: each.version for each in read}
    said: dict[str, set[str]] = {}
    for chunk in chunks(sorted(versions)):  # In one order: two writers must not wait for each other.
        held = select(cases.c.id, cases.c.version).where(cases.c.id.in_(chunk)).order_by(cases.c.id)
        found = connection.execute(held.with_for_update())
        said |= {row.id: set() for row in found if row.version == versions[row.id]}
        names = select(reminders.c.case_id, reminders.c.name).where(reminders.c.case_id.in_(chunk))
        for row in connection.execute(names):
            said.get(row.case_id, set()).add(row.name)
    return {each: frozenset(names) for each, names in said.items()}


def note(connection: Connection, notes: Iterable[Note], *, at: datetime) -> None:
    """Write down what is said of cases that are held, within the transaction that says it."""
    rows = [{"case_id": each.about, "name": each.name, "at": at} for each in notes]
    if rows:
        connection.execute(insert(connection, reminders).on_conflict_do_nothing(), rows)


def note_first(connection: Connection, what: Note, *, at: datetime) -> bool:
    """Write down what is said, and return whether nobody has said it before, or is about to."""
    row = {"case_id": what.about, "name": what.name, "at": at}
    adding = insert(connection, reminders).values(row).on_conflict_do_nothing()
    return connection.scalar(adding.returning(reminders.c.name)) is not None


def noted(database: Database, notes: Iterable[Note]) -> frozenset[Note]:
    """Return those of these that were said."""
    wanted = set(notes)
    with database.read() as connection:
        rows = [
            row
            for chunk in chunks(sorted({each.about for each in wanted}))
            for row in connection.execute(
                select(reminders.c.case_id, reminders.c.name).where(
                    reminders.c.case_id.in_(chunk),
                    reminders.c.name.in_(sorted({each.name for each in wanted})),
                )
            )
        ]
    return frozenset({Note(row.case_id, row.name) for row in rows} & wanted)


def _unanswered(profile: Profile, *, now: datetime) -> Select[Any]:
    begun, columns = entries.alias("begun"), cases.c
    told = _told(begun)
    due = [
        and_(
            ~exists().where(
                reminders.c.case_id == columns.id,
                reminders.c.name == literal(escalation(number, profile.name)) + cast(begun.c.version, Text),
            ),
            exists(told.where(notices.c.sent_at <= now - step.after)),
        )
        for number, step in enumerate(profile.steps, start=1)
    ]
    first = told.with_only_columns(func.min(notices.c.sent_at)).scalar_subquery()
    return (
        select(cases, begun.c.version.label("since_version"), first.label("told_at"))
        .join(begun, and_(begun.c.topic == columns.id, _is_beginning(begun)))
        .where(
            columns.owner_target == profile.target,
            columns.owner_name == profile.name,
            columns.state == CaseState.OPEN,
            ~_begins_later(begun),
            or_(*due),
        )
        .order_by(columns.opened_at, columns.id)
    )


def _told_between(
    connection: Connection, profile: Profile, operators: str, *, since: datetime, now: datetime
) -> list[str]:
    """Return the cases of the messages for which a step has become due since a time."""
    found: set[str] = set()
    for step in profile.steps:
        sent = select(notices.c.case_ids).where(
            notices.c.target.in_({profile.target, operators}),
            notices.c.sent_at > since - step.after - _OVERLAP,
            notices.c.sent_at <= now - step.after,
        )
        found.update(*connection.scalars(sent))
    return sorted(found)


def _cases(database: Database, query: Select[Any]) -> tuple[Case, ...]:
    with database.read() as connection:
        return tuple(map(case_record, connection.execute(query).mappings()))


def _said(name: ColumnElement[str]) -> ColumnElement[bool]:
    return exists().where(reminders.c.case_id == cases.c.id, reminders.c.name == name)


def _is_beginning(entry: FromClause) -> ColumnElement[bool]:
    """Return whether an entry makes its case its owner's to answer."""
    columns = entry.c
    rated = and_(columns.action == Action.ASSIGNED, columns.reason.like(_RATED_ANEW))
    return and_(columns.action.in_(_BEGINS), ~rated)


def _begins_later(begun: FromClause) -> ColumnElement[bool]:
    later = entries.alias("later")
    return exists().where(
        later.c.topic == begun.c.topic, later.c.version > begun.c.version, _is_beginning(later)
    )


def _told(begun: FromClause) -> Select[Any]:
    """Return the question for the messages by which a case's owner heard of it since it began, when it did.

    An edit makes no sound, and what a former owner heard tells the new one nothing.
    """
    changed = entries.alias("changed")
    # New evidence ends a snooze early, and is told.
    woken = (
        select(func.min(changed.c.at))
        .where(
            changed.c.topic == begun.c.topic,
            changed.c.version > begun.c.version,
            changed.c.action == Action.CHANGED,
        )
        .correlate(begun)
    )
    began_at = sql_case(
        # Also where it was assigned asleep; who sleeps still begins in a time to come.
        (cases.c.snoozed_until > begun.c.at, cases.c.snoozed_until),
        (begun.c.action == Action.SNOOZED, func.coalesce(woken.scalar_subquery(), begun.c.at)),
        else_=begun.c.at,
    )
    return (
        select(notices.c.sent_at)
        .join(notice_cases, notice_cases.c.notice_id == notices.c.id)
        .where(
            notice_cases.c.case_id == cases.c.id,
            notices.c.sent_at.is_not(None),
            notices.c.verb != "edit",
            or_(notices.c.target == cases.c.owner_target, notices.c.thread_key.like(_SURGE)),
            notices.c.created_at >= began_at,
        )
        .correlate(cases, begun)
    )
