"""Cases that wait for their owner's answer, a chain behind them, and what is said of them as time goes by."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import update

from recon import reminding
from recon.doors.store import cases as book
from recon.doors.store import outbox
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.notices import Notice
from recon.model.records.words import Action, Actor, NoticeState, RunId
from recon.model.settings import Settings
from recon.reminding import Reminded
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_notice, a_run, case_of, opened

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
OWNERS: dict[str, Any] = {
    "owners": {
        "support leads": {
            "target": "#support-leads",
            "escalation": [
                {"after_minutes": 60, "owner": "head of support"},
                {"after_minutes": 240, "owner": "refund operators"},
            ],
            "digest_at": "",
        },
        "head of support": {"target": "U0HEAD", "quiet_hours": "22:00-07:00", "digest_at": ""},
        "refund operators": {"target": "#refund-operators", "digest_at": ""},
    },
    "rules": [
        {"name": "everything", "owner": "support leads"},
        {"name": "imports", "owner": "refund operators", "tool": "importer"},
        {"name": "the head's", "owner": "head of support", "tool": "phone"},
    ],
}
LEADS = Owner("support leads", "#support-leads", "everything")
OPERATORS = Owner("refund operators", "#refund-operators", "imports")
SETTINGS = Settings(owners=OWNERS)


def remind(database: Database, after: timedelta, settings: Settings = SETTINGS) -> Reminded:
    """Look at a time after noon."""
    return reminding.remind(database, settings, clock=lambda: NOON + after)


def lead_case(number: int = 1, **changes: Any) -> Case:  # noqa: ANN401 -- any field of the record
    """Return an open case that a run gave to the support leads at noon."""
    ours: dict[str, Any] = {"owner": LEADS, "opened_at": NOON, "updated_at": NOON}
    return replace(case_of(number), **(ours | changes))


def tell(database: Database, *cases: Case, at: timedelta = timedelta(0), **changes: Any) -> None:  # noqa: ANN401 -- any field of the record
    """Say something of cases to their owner, as a delivery that sends it at once does."""
    owner = cases[0].owner
    assert owner is not None
    key = f"told {[case.id for case in cases]} {at} {changes}"
    notice = a_notice(
        dedupe_key=key,
        delivery_id=key,
        thread_key=f"thread of {cases[0].id}",
        target=owner.target,
        verb="reply",
        case_ids=tuple(case.id for case in cases),
        created_at=NOON + at,
        state=NoticeState.SENT,
        sent_at=NOON + at,
        run_id=None,
    )
    with database.write() as connection:
        outbox.add(connection, [replace(notice, **changes)])


def open_cases(database: Database, *cases: Case) -> None:
    """Open cases as a run does, and tell their owners at noon."""
    saving = Saving(a_run(), changes=tuple(opened(case) for case in cases))
    book.save_run(database, a_lease(database), saving)
    for case in cases:
        tell(database, case)


def move(database: Database, case: Case, how: Action, at: timedelta, **changes: Any) -> Case:  # noqa: ANN401 -- as above
    """Save what somebody did to a case, and return the case."""
    after = replace(case, version=case.version + 1, updated_at=NOON + at, **changes)
    by_run = how in {Action.CHANGED, Action.REOPENED, Action.RECLASSIFIED}
    entry = replace(
        opened(case).entry,
        action=how,
        actor=Actor("ada"),
        at=NOON + at,
        reason="Because.",
        from_state=case.state,
        to_state=after.state,
        version=after.version,
        action_id=f"{how} at {at}",
        run_id=RunId("run_2") if by_run else None,
    )
    book.move(database, Change(after, entry, from_version=case.version))
    return after


def said(database: Database, beginning: str = "escalation") -> list[Notice]:
    """Return the messages that were put into the outbox, oldest first."""
    found = reversed(outbox.recent(database, 99))
    return [each for each in found if each.thread_key.startswith(beginning)]


def whom(database: Database) -> list[str]:
    """Return who was asked, in order."""
    return [each.target for each in said(database)]


def deliver(database: Database, at: timedelta) -> None:
    """Send everything that waits."""
    columns = tables.notices.c
    with database.write() as connection:
        connection.execute(
            update(tables.notices)
            .where(columns.state == NoticeState.WAITING)
            .values(state=NoticeState.SENT, sent_at=NOON + at)
        )
