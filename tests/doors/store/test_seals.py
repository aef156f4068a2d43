"""Entries are sealed by the next run: what is cut off or changed past the store no longer adds up."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text, update

from recon.doors.store import cases, migrations, seals
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.seals import Batch
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.runs import Lease
from recon.model.records.words import RunId
from tests.doors.store.books import a_lease, a_run, acknowledged, case_of, opened

FIRST, SECOND, THIRD = case_of(1), case_of(2), case_of(3)
NAMED = {"first": FIRST, "second": SECOND, "third": THIRD}


@pytest.fixture
def lease(database: Database) -> Lease:
    """Books of two cases: one that a run opened and a person took, one that the next run opened."""
    lease = a_lease(database)
    save(database, lease, 1, FIRST)
    cases.move(database, acknowledged(FIRST))
    save(database, lease, 2, SECOND)
    save(database, lease, 3)
    return lease


def save(database: Database, lease: Lease, number: int, *new: Case) -> str | None:
    """Save a run that opens these cases; return its digest."""
    run = a_run(id=RunId(f"run_{number}"))
    changes = tuple(opened(case, run=run.id) for case in new)
    return cases.save_run(database, lease, Saving(run, changes=changes)).run.heads_digest


def harm(database: Database, *statements: str) -> None:
    """Change the books past every guard, and put the guards back."""
    postgresql = database.dialect == "postgresql"
    with database.write() as connection:
        for guard in ("entries_kept",) if postgresql else ("entries_kept", "entries_unchanged"):
            connection.execute(text(f"DROP TRIGGER {guard}{' ON entries' if postgresql else ''}"))
        for statement in statements:
            named = {name: case.id for name, case in NAMED.items() if f":{name}" in statement}
            connection.execute(text(statement), named)
    migrations.upgrade(database)


def sealed_by(database: Database) -> dict[tuple[str, int], str | None]:
    columns = tables.seals.c
    with database.read() as connection:
        rows = connection.execute(select(columns.topic, columns.version, columns.run_id))
        return {(row.topic, row.version): row.run_id for row in rows}


def test_each_entry_is_sealed_by_the_first_run_after_it(database: Database, lease: Lease) -> None:
    cases.move(database, acknowledged(SECOND, action_id="click_2"))

    assert sealed_by(database) == {
        (FIRST.id, 1): "run_1",
        (FIRST.id, 2): "run_2",
        (SECOND.id, 1): "run_2",
        (SECOND.id, 2): None,
    }
    assert cases.verify(database) == ()
    assert cases.sealed(database).run_id == "run_3"
    assert cases.sealed(database).newer == 1


def test_a_run_that_seals_nothing_keeps_the_digest(database: Database) -> None:
    lease = a_lease(database)

    told = [save(database, lease, 1), save(database, lease, 2), save(database, lease, 3, FIRST)]
    told += [save(database, lease, 4), save(database, lease, 5, SECOND)]

    assert [each and each.partition(":")[0] for each in told] == ["0", "0", "1", "1", "2"]
    assert len(set(told)) == 3
    assert cases.verify(database) == ()


CUT = (
    "DELETE FROM entries WHERE topic = :first AND version = 2",
    """UPDATE cases SET version = 1, state = 'open', updated_at = opened_at,
        head = (SELECT hash FROM entries WHERE topic = :first) WHERE id = :first""",
)
GONE = ("DELETE FROM entries WHERE topic = :second", "DELETE FROM cases WHERE id = :second")


@pytest.mark.parametrize(
    "statements, found",
    [
        (
            CUT,
            [
                f"{FIRST.id}: entry 2 was saved, and is gone.",
                "Run run_2: what it sealed is not what stands there now.",
            ],
        ),
        (
            (*CUT, "DELETE FROM seals WHERE topic = :first AND version = 2"),
            ["Run run_2: what it sealed is not what stands there now."],
        ),
        (
            GONE,
            [
                f"{SECOND.id}: entry 1 was saved, and is gone.",
                "Run run_2: what it sealed is not what stands there now.",
            ],
        ),
        (
            (*GONE, "DELETE FROM seals WHERE topic = :second"),
            ["Run run_2: what it sealed is not what stands there now."],
        ),
        (
            ("DELETE FROM seals WHERE topic = :second",),
            [
                f"{SECOND.id}: entry 1 was written without a seal to come, or its seal is gone.",
                "Run run_2: what it sealed is not what stands there now.",
            ],
        ),
        (
            ("UPDATE seals SET run_id = NULL WHERE topic = :second",),
            ["Run run_2: what it sealed is not what stands there now."],
        ),
        (
            ("UPDATE seals SET run_id = 'run_3' WHERE topic = :second",),
            [
                "Run run_2: what it sealed is not what stands there now.",
                "Run run_3: what it sealed is not what stands there now.",
            ],
        ),
        (
            ("UPDATE runs SET heads_digest = '3:00' WHERE id = 'run_2'",),
            [
                "Run run_2: what it sealed is not what stands there now.",
                "Run run_3: what it sealed is not what stands there now.",
            ],
        ),
        (
            ("UPDATE runs SET heads_digest = NULL",),
            [
                "Run run_1: what it sealed is not what stands there now.",
                "Run run_2: what it sealed is not what stands there now.",
            ],
        ),
        (
            ("UPDATE runs SET heads_digest = 'a' WHERE id = 'run_3'",),
            ["Run run_3: what it sealed is not what stands there now."],
        ),
        (
            ("DELETE FROM run_accounts WHERE run_id = 'run_1'", "DELETE FROM runs WHERE id = 'run_1'"),
            [
                "Run run_2: what it sealed is not what stands there now.",
                "Run run_1: it sealed entries, and is gone.",
            ],
        ),
    ],
)
def test_books_that_were_changed_past_the_store_no_longer_add_up(
    database: Database, lease: Lease, statements: tuple[str, ...], found: list[str]
) -> None:
    harm(database, *statements)

    assert list(cases.verify(database)) == found


def test_a_story_told_anew_with_hashes_that_fit_is_not_what_was_sealed(
    database: Database, lease: Lease
) -> None:
    harm(
        database,
        "UPDATE entries SET hash = 'x' WHERE topic = :second",
        "UPDATE cases SET head = 'x' WHERE id = :second",
    )

    assert "Run run_2: what it sealed is not what stands there now." in cases.verify(database)


def test_what_no_run_has_sealed_can_be_cut_off_unseen(database: Database, lease: Lease) -> None:
    cases.save_changes(database, lease, [opened(THIRD, run="run_3")])
    harm(
        database,
        "DELETE FROM entries WHERE topic = :third",
        "DELETE FROM cases WHERE id = :third",
        "DELETE FROM seals WHERE topic = :third",
    )

    assert cases.verify(database) == ()  # The next run would have sealed it.


def test_entries_of_before_there_were_seals_are_sealed_by_the_next_run(
    database: Database, lease: Lease
) -> None:
    with database.write() as connection:
        connection.execute(update(tables.seals).values(run_id=None))
        connection.execute(update(tables.runs).values(heads_digest="a" * 64))
    assert cases.verify(database) == ()
    assert cases.sealed(database) == seals.Sealed(None, None, 3)

    digest = save(database, lease, 4)

    assert digest is not None
    assert digest.startswith("3:")
    assert cases.verify(database) == ()


def test_clicks_beside_a_run_are_sealed_once_by_it_or_the_next(database: Database) -> None:
    lease = a_lease(database)
    books = [case_of(number) for number in range(8)]
    save(database, lease, 1, *books)

    with ThreadPoolExecutor(4) as threads:
        clicks = [
            threads.submit(cases.move, database, acknowledged(case, action_id=f"click:{case.id}"))
            for case in books
        ]
        for number in range(2, 6):
            save(database, lease, number)
        for click in clicks:
            click.result()
    save(database, lease, 6)

    assert cases.verify(database) == ()
    assert None not in sealed_by(database).values()


def test_a_digest_covers_what_came_before() -> None:
    one, other = seals.digest(None, Batch(2, "x")), seals.digest(None, Batch(2, "y"))

    assert one.partition(":")[0] == "2"
    assert len({one, other, seals.digest(one, Batch(1, "z")), seals.digest(other, Batch(1, "z"))}) == 4
    assert seals.digest(one, Batch(0, "")) == one
