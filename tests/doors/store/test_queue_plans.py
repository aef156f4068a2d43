"""What a database says it does for a question to the queue: what is left out is passed by unread."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import psycopg
import pytest
from sqlalchemy import Connection, event

from recon.doors.store import queue
from recon.doors.store.engines import Database
from tests import crowd
from tests.bench import questions
from tests.databases import BOTH, copied

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
FILTERS = questions.filters(NOW, named="order_17")
BY_NAME = {"text", "text, unknown"}
# What is so rare that PostgreSQL may read just that, by another index.
RARE = {
    "kind, rare",
    "account, rare",
    "account, unknown",
    "amount, rare",
    "kind, account, age",
    "kind, owner, amount",
    "all at once",
}
# What the planners say of a table that is read from end to end, and of what an index has; SQLite also that it
# is the index alone, which PostgreSQL decides by what was vacuumed.
WHOLE = {"sqlite": "SCAN cases", "postgresql": "Seq Scan on cases"}
FROM_INDEX = {"sqlite": "COVERING INDEX {}", "postgresql": "using {}"}


@pytest.fixture(scope="module", params=BOTH)
def crowded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database with cases of every sort."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("crowd") / "recon.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        with Database.open(f"sqlite:///{path}") as database:
            crowd.fill(database, waiting=400, told=1_200, now=NOW)
            yield database
        return
    server = request.getfixturevalue("postgres_server")
    with copied(server) as url, Database.open(url) as database:
        crowd.fill(database, waiting=400, told=1_200, now=NOW)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE cases")  # As autovacuum does when so much has come.
        yield database


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_makes_the_database_read_every_case(crowded: Database, name: str) -> None:
    plan = planned(crowded, partial(queue.page, crowded, FILTERS[name]))

    assert WHOLE[crowded.dialect] not in plan
    # PostgreSQL goes by the number of cases, which here is small.
    assert "ix_cases_queue" not in plan or name not in BY_NAME or crowded.dialect == "postgresql"


@pytest.mark.parametrize("name", sorted({*FILTERS} - BY_NAME - RARE))
def test_what_a_filter_leaves_out_is_passed_by_in_the_index(crowded: Database, name: str) -> None:
    plan = planned(crowded, partial(queue.page, crowded, FILTERS[name]))

    assert FROM_INDEX[crowded.dialect].format("ix_cases_queue") in plan


def test_a_page_far_in_begins_where_the_one_before_ended(crowded: Database) -> None:
    after = queue.page(crowded, limit=300).next

    plan = planned(crowded, partial(queue.page, crowded, after=after))

    begins = {
        "sqlite": "(waiting=? AND rank=? AND (opened_at,id)>(?,?))",
        "postgresql": "AND (ROW(opened_at, id) > ROW(",
    }
    assert begins[crowded.dialect] in plan


def test_what_waits_is_counted_from_an_index_alone(crowded: Database) -> None:
    plan = planned(crowded, partial(queue.summary, crowded))

    alone = {"sqlite": "COVERING INDEX ix_cases_standing", "postgresql": "Index"}
    assert WHOLE[crowded.dialect] not in plan
    assert alone[crowded.dialect] in plan


def planned(database: Database, question: Callable[[], object]) -> str:
    """How the database goes about all that is asked of it for a question."""
    asked: list[tuple[str, object]] = []

    def note(connection: Connection, cursor: object, statement: str, parameters: object, *_: object) -> None:
        if statement.startswith(("SELECT cases", "WITH")):
            asked.append((statement, parameters))

    with database.read() as connection:
        engine = connection.engine
    event.listen(engine, "before_cursor_execute", note)
    question()
    event.remove(engine, "before_cursor_execute", note)
    assert asked
    explain = "EXPLAIN QUERY PLAN " if database.dialect == "sqlite" else "EXPLAIN "
    with database.read() as connection:
        if database.dialect == "postgresql":  # As if the table were too large for any other way.
            for way in ("enable_seqscan", "enable_bitmapscan"):
                connection.exec_driver_sql(f"SET LOCAL {way} = off")
        return "\n".join(
            str(row[-1])
            for statement, parameters in asked
            for row in connection.exec_driver_sql(explain + statement, parameters)  # type: ignore[arg-type]
        )
