"""How threads of messages stand: the cases that somebody was told of, and those that runs kept to themselves.

Only reads. What is said follows from it in rules/notices.py.
"""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, FromClause, and_, exists, false, func, or_, select

from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.doors.store.rows import RANKS, case_record
from recon.doors.store.statements import chunks
from recon.model.records.cases import Case
from recon.model.records.notices import Known, Standing, Topic
from recon.model.records.words import Action, CaseId
from recon.model.tables import cases, entries, notice_cases, notices, run_accounts, runs
from recon.model.tables import threads as threads_table

# What a run says of a case that it sees, or does to it; rules that are applied between runs do so too.
_NEWS = (
    Action.OPENED,
    Action.CHANGED,
    Action.RECLASSIFIED,
    Action.REOPENED,
    Action.REGRESSED,
    Action.ASSIGNED,
)


def standing(database: Database, topic: Topic) -> Standing:
    """Return how the thread of a topic stands."""
    with database.read() as connection:
        return _standing(connection, topic)


def ended(database: Database, topic: Topic, *, before: int) -> Standing:
    """Return how a thread ended under the root that a later one took the place of.

    before: the id of that later one.
    """
    with database.read() as connection:
        return Standing((), _over(connection, _told_since_root(connection, topic, before=before)))


def known(database: Database, topics: Iterable[Topic], among: Iterable[CaseId]) -> Known:
    """Return what was said so far in the threads of these topics, and of these cases."""
    of = {topic.key: topic for topic in topics}
    columns = threads_table.c
    expected = exists().where(
        notices.c.thread_key == columns.key, notices.c.verb == "root", notices.c.state.in_(outbox.ON_THE_WAY)
    )
    query = select(columns.key, columns.root_id, expected.label("expected"))
    with database.read() as connection:
        rows = [
            row
            for chunk in chunks(sorted(of))
            for row in connection.execute(query.where(columns.key.in_(chunk)))
        ]
        waits = frozenset(row.key for row in rows if row.expected)
        return Known(
            standing={key: _standing(connection, topic) for key, topic in of.items()},
            begun=waits | {row.key for row in rows if row.root_id is not None},
            expected=waits,
            told=_told(connection, among),
        )


def kept_back(database: Database, among: Iterable[CaseId]) -> frozenset[CaseId]:
    """Return those of these cases that a run had news of which it told nobody, having not read their account.

    That is so where the latest news of a case came from such a run, or from rules that were applied between
    runs, and no notice has spoken of it since.
    """
    later = entries.alias("later")
    by = runs.alias("said_by")
    said = select(by.c.number).where(by.c.id == notices.c.run_id).correlate(notices).scalar_subquery()
    latest = ~exists().where(
        later.c.topic == entries.c.topic, later.c.version > entries.c.version, _is_news(later)
    )
    # A notice between runs carries none: its time says whether it came after.
    since = exists().where(
        notice_cases.c.case_id == entries.c.topic,
        notices.c.id == notice_cases.c.notice_id,
        or_(
            and_(or_(said.is_(None), runs.c.number.is_(None)), notices.c.created_at >= entries.c.at),
            said >= runs.c.number,
        ),
    )
    query = (
        select(entries.c.topic)
        .join(cases, cases.c.id == entries.c.topic)
        .outerjoin(runs, runs.c.id == entries.c.run_id)
        .outerjoin(
            run_accounts,
            and_(run_accounts.c.run_id == entries.c.run_id, run_accounts.c.account == cases.c.account),
        )
        .where(
            _is_news(entries), or_(runs.c.id.is_(None), run_accounts.c.complete == false()), latest, ~since
        )
    )
    with database.read() as connection:
        return frozenset(
            CaseId(found)
            for chunk in chunks(among)
            for found in connection.scalars(query.where(entries.c.topic.in_(chunk)))
        )


def _is_news(table: FromClause) -> ColumnElement[bool]:
    """Return the question whether an entry is a run's news."""
    return and_(table.c.run_id.is_not(None), table.c.action.in_(_NEWS))


def _standing(connection: Connection, topic: Topic) -> Standing:
    here = select(cases).where(*_of(topic), exists().where(notice_cases.c.case_id == cases.c.id))
    waiting = [case_record(row) for row in connection.execute(here.order_by(cases.c.id)).mappings()]
    left = _told_since_root(connection, topic) - {case.id for case in waiting}
    return Standing(tuple(waiting), _over(connection, left))


def _over(connection: Connection, left: Iterable[CaseId]) -> tuple[Case, ...]:
    """Return cases that have left a thread, the latest first."""
    over = [
        case_record(row)
        for chunk in chunks(sorted(left))
        for row in connection.execute(select(cases).where(cases.c.id.in_(chunk))).mappings()
    ]
    return tuple(sorted(over, key=lambda case: (case.updated_at, case.id), reverse=True))


def _of(topic: Topic) -> tuple[ColumnElement[bool], ...]:
    return (
        cases.c.owner_target == topic.target,
        cases.c.kind == topic.kind,
        cases.c.rank == RANKS[topic.severity],
        cases.c.account == topic.account,
        cases.c.waiting,
    )


def _told_since_root(connection: Connection, topic: Topic, *, before: int | None = None) -> set[CaseId]:
    """Return the cases that were told of in this thread since its latest root, that one included.

    before: the id of a notice from which on nothing counts.
    """
    here = [notices.c.thread_key == topic.key, *([notices.c.id < before] if before is not None else [])]
    # The sum keeps PostgreSQL from walking back through all notices of all threads to find the latest.
    latest = func.max(notices.c.id + 0)
    root_id = connection.scalar(select(latest).where(*here, notices.c.verb == "root"))
    told = select(notices.c.case_ids).where(*here, notices.c.id >= (root_id or 0))
    return {CaseId(case_id) for case_ids in connection.scalars(told) for case_id in case_ids}


def _told(connection: Connection, among: Iterable[CaseId]) -> frozenset[CaseId]:
    """Return those of these cases that some notice speaks of, whether it has gone out or not."""
    told = notice_cases.c.case_id
    return frozenset(
        CaseId(found)
        for chunk in chunks(among)
        for found in connection.scalars(select(told).distinct().where(told.in_(chunk)))
    )
