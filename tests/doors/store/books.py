"""Ordinary runs, changes and notices, and a database that already has a lease."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update

from recon.doors import intents
from recon.doors.store import leases, mirror
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import JOB, Case, Change, Entry
from recon.model.records.notices import Message, Notice
from recon.model.records.provider import Intent, Refund
from recon.model.records.runs import HOUR, AccountReading, Lease, Run
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    IntentKey,
    NoticeState,
    RunId,
    Subject,
    Verdict,
)
from tests.builders import NOON, PLATFORM, a_case, a_mismatch

DURATION = timedelta(minutes=5)
LATER = NOON + timedelta(hours=1)


def a_lease(database: Database, *, now: datetime = NOON) -> Lease:
    """Take the hour's lease."""
    return leases.take(database, HOUR, "a test", now=now, duration=DURATION)


def case_of(number: int) -> Case:
    """Return the ordinary case of another intent."""
    return a_case(a_mismatch(subject=Subject(f"intent:{number}"), intent_key=IntentKey(str(number))))


def a_run(**changes: Any) -> Run:  # noqa: ANN401 -- any field of the record
    """Return a complete run at noon that found breaks."""
    reading = AccountReading(
        PLATFORM, NOON - timedelta(hours=1), NOON, complete=True, pages=1, refunds=2, changed=1
    )
    run = Run(
        id=RunId("run_1"),
        fence=1,
        started_at=NOON,
        finished_at=NOON + timedelta(seconds=9),
        as_of=NOON,
        verdict=Verdict.BREAKS,
        mark=0,
        policy_digest="digest",
        full=False,
        counts={"intents": 2, "mismatches": {"duplicate": 1}},
        at_risk={"usd": 4900},
        opened=1,
        cleared=0,
        healed=0,
        accounts=(reading,),
    )
    return replace(run, **changes)


def opened(case: Case | None = None, *, run: str = "run_1") -> Change:
    """Return the change by which a run opens a case."""
    case = case or a_case()
    entry = Entry(
        case_id=case.id,
        action=Action.OPENED,
        actor=JOB,
        at=case.opened_at,
        reason=case.mismatch.why,
        from_state=None,
        to_state=case.state,
        version=1,
        action_id=f"{run}:{case.id}",
        run_id=RunId(run),
    )
    return Change(case, entry, from_version=0)


def acknowledged(case: Case, *, actor: str = "ada", action_id: str = "click_1") -> Change:
    """Return the change by which a person takes a case on."""
    after = replace(case, state=CaseState.ACKNOWLEDGED, version=case.version + 1, updated_at=LATER)
    entry = Entry(
        case_id=case.id,
        action=Action.ACKNOWLEDGED,
        actor=Actor(actor),
        at=LATER,
        reason="I am at it.",
        from_state=case.state,
        to_state=after.state,
        version=after.version,
        action_id=action_id,
    )
    return Change(after, entry, from_version=case.version)


def a_notice(**changes: Any) -> Notice:  # noqa: ANN401 -- any field of the record
    """Return a root message about the ordinary case that waits since noon."""
    notice = Notice(
        id=None,
        dedupe_key="thread_1:run_1",
        delivery_id="delivery_1",
        thread_key="thread_1",
        target="#payments",
        verb="root",
        message=Message("One duplicate refund.", ({"type": "divider"},)),
        case_ids=(a_case().id,),
        state=NoticeState.WAITING,
        created_at=NOON,
        next_at=NOON,
        run_id=RunId("run_1"),
    )
    return replace(notice, **changes)


def put(database: Database, *rows: Intent | Refund) -> None:
    """Write intents as the guarded tool does, and refunds past the mirror's fence."""
    with database.write() as connection:
        for row in rows:
            if isinstance(row, Intent):
                assert intents.put(connection, row)
            else:
                values = {name: getattr(row, name) for name in mirror.COLUMNS}
                connection.execute(insert(tables.refunds).values(values))


def put_root(database: Database, key: str, *, channel: str, root_ts: str) -> None:
    """Say that a thread's root stands there, as if it had been sent."""
    with database.write() as connection:
        threads = tables.threads
        connection.execute(
            update(threads).where(threads.c.key == key).values(channel=channel, root_ts=root_ts)
        )


def count(database: Database, table: str) -> int:
    """Return how many rows a table has."""
    with database.read() as connection:
        return len(connection.execute(select(tables.metadata.tables[table])).all())
