"""A sweep reads what is unsettled, however much was ever done."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, event

from recon.doors import intents
from recon.doors.store.engines import Database
from tests.builders import NOON

QUESTIONS: list[Callable[[Connection], object]] = [
    lambda connection: intents.due(connection, ["refund_order"], now=NOON, limit=9),
    intents.follow,
    lambda connection: intents.shorten_all(connection, lease=NOON, rest=NOON),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=["due", "follow", "shorten_all"])
def test_a_sweep_goes_by_the_index_on_what_is_unsettled(
    database: Database, question: Callable[[Connection], object]
) -> None:
    asked: list[tuple[str, object]] = []

    def note(connection: Connection, cursor: object, statement: str, parameters: object, *_: object) -> None:
        asked.append((statement, parameters))

    explain = "EXPLAIN QUERY PLAN " if database.dialect == "sqlite" else "EXPLAIN "
    with database.write() as connection:
        event.listen(connection, "before_cursor_execute", note)
        question(connection)
        event.remove(connection, "before_cursor_execute", note)
        if database.dialect == "postgresql":  # As if the table were too large for any other way.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        for statement, parameters in asked:
            plan = connection.exec_driver_sql(explain + statement, parameters).all()  # type: ignore[arg-type]
            assert any("ix_guarded_unsettled" in str(row[-1]) for row in plan), (statement, plan)
    assert asked
