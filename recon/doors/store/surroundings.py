"""What stands around one case, for a person who reads it. Never moves anything."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, func, or_, select

from recon.doors.store import calls, mirror, runs
from recon.doors.store.engines import Database
from recon.doors.store.rows import case_record, notice_record
from recon.model import subjects
from recon.model.records.cases import Case, Entry
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.records.stories import Surroundings
from recon.model.records.tools import ToolCall
from recon.model.records.words import IntentKey
from recon.model.tables import cases, notice_cases, notices
from recon.model.tables import runs as runs_table

NOTICE_LIMIT: Final = 200  # A case is told a few times a day at most; edits of a busy root come on top.
RUN_LIMIT: Final = 200  # Runs that wrote an entry of one case.
RELATED_LIMIT: Final = 20  # On a page; a customer with more has a page of the queue.
COUNTED_LIMIT: Final = 1_000  # Beyond it, how many there are says nothing more.


def read(
    database: Database, case: Case, entries: Iterable[Entry], intents: Iterable[IntentKey] = ()
) -> Surroundings:
    """Return what was told of a case, its runs and calls, and the cases it has to do with.

    intents: the keys of those whose calls are its calls, beside its own.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    livemode = mirror.livemode(database)
    with database.read() as connection:
        told, number = _told(connection, case)
        related, tied = _related(connection, case)
        asked, times = _calls(connection, case, intents)
        return Surroundings(
            told, number, _runs(connection, entries), related, tied, livemode, calls=asked, asked=times
        )


def _calls(
    connection: Connection, case: Case, intents: Iterable[IntentKey]
) -> tuple[tuple[ToolCall, ...], int]:
    side, name = subjects.parted(case.subject)
    own = IntentKey(name) if side == subjects.INTENT else case.mismatch.intent_key
    keys = dict.fromkeys([*([own] if own is not None else []), *intents])
    found = [calls.of(connection, case.account, key) for key in keys]
    every = sorted((call for of_intent, _ in found for call in of_intent), key=lambda call: call.number)
    return tuple(every[: calls.OF_INTENT]), sum(number for _, number in found)


def _told(connection: Connection, case: Case) -> tuple[tuple[Notice, ...], int]:
    of_case = notice_cases.c.case_id == case.id
    number = connection.scalar(select(func.count()).where(of_case)) or 0
    query = select(notices).join(notice_cases, notice_cases.c.notice_id == notices.c.id).where(of_case)
    latest = query.order_by(notices.c.id.desc()).limit(NOTICE_LIMIT)
    found = connection.execute(latest).mappings().all()
    return tuple(map(notice_record, reversed(found))), number


def _runs(connection: Connection, entries: Iterable[Entry]) -> tuple[Run, ...]:
    ids = list(dict.fromkeys(entry.run_id for entry in entries if entry.run_id is not None))[-RUN_LIMIT:]
    if not ids:
        return ()
    return runs.those(
        connection, select(runs_table).where(runs_table.c.id.in_(ids)).order_by(runs_table.c.number)
    )


def _related(connection: Connection, case: Case) -> tuple[tuple[Case, ...], int]:
    columns, mismatch = cases.c, case.mismatch
    ties = (
        (columns.payment, mismatch.payment),
        (columns.order_id, mismatch.order_id),
        (columns.customer_id, mismatch.customer_id),
    )
    same = [column == value for column, value in ties if value]
    if not same:
        return (), 0
    tied = or_(*same), columns.account == case.account, columns.id != case.id
    some = select(columns.id).where(*tied).limit(COUNTED_LIMIT).subquery()
    number = connection.scalar(select(func.count()).select_from(some)) or 0
    in_order = (columns.waiting.desc(), columns.opened_at.desc(), columns.id)
    found = connection.execute(select(cases).where(*tied).order_by(*in_order).limit(RELATED_LIMIT)).mappings()
    return tuple(map(case_record, found)), number
