"""A look for reminders dies at each of its statements in turn; the next one says the rest, and no more."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from sqlalchemy import Engine, delete, event

from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.words import CaseState
from recon.model.settings import Settings
from tests.builders import NOON
from tests.waits import HOUR, LEADS, OWNERS, lead_case, open_cases, remind, said

LOOK = 21 * HOUR  # Nine o'clock in UTC, next day.
DAILY = OWNERS["owners"]["support leads"] | {"digest_at": "09:00"}
SETTINGS = Settings(owners=OWNERS | {"owners": OWNERS["owners"] | {LEADS.name: DAILY}})


class Died(BaseException):
    """Ends a process wherever it is; nothing of the product catches it."""


@contextmanager
def dying(*, at: int) -> Iterator[None]:
    """Die before a statement is sent, counted from 1 on."""
    statements = count(1)

    def execute(*_: Any) -> None:  # noqa: ANN401 -- what the event hands over
        if next(statements) == at:
            raise Died

    event.listen(Engine, "before_cursor_execute", execute)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", execute)


def forget(database: Database) -> None:
    """Put the database back to where nobody was reminded of anything."""
    mine = tables.notices.c.verb == "root"
    with database.write() as connection:
        connection.execute(delete(tables.reminders))
        ids = [row.id for row in connection.execute(tables.notices.select().where(mine))]
        connection.execute(delete(tables.notice_cases).where(tables.notice_cases.c.notice_id.in_(ids)))
        connection.execute(delete(tables.notices).where(mine))


def told(database: Database) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return which reminders were put into the outbox."""
    found = (each for each in said(database, "") if each.verb == "root")
    return sorted((each.thread_key, each.target, each.case_ids) for each in found)


def test_a_look_that_dies_at_any_statement_loses_nothing_and_the_next_doubles_nothing(
    database: Database,
) -> None:
    taken = lead_case(3, state=CaseState.ACKNOWLEDGED, snoozed_until=NOON + HOUR)
    accepted = lead_case(4, state=CaseState.ACCEPTED, accepted_until=NOON + 30 * HOUR, decided_at=NOON)
    open_cases(database, lead_case(1), lead_case(2), taken, replace(accepted, decided_fence=1))
    remind(database, LOOK, SETTINGS)
    calm = told(database)

    deaths = 0
    for statement in count(1):
        forget(database)
        try:
            with dying(at=statement):
                remind(database, LOOK, SETTINGS)
        except Died:
            deaths += 1
        else:
            break
        remind(database, LOOK + HOUR / 60, SETTINGS)
        assert told(database) == calm

    assert [each[0].partition("|")[0] for each in calm] == ["acceptance", "digest", "escalation", "snooze"]
    assert deaths >= len(calm) * 4
