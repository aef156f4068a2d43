from dataclasses import replace

import pytest
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from recon.doors import intents
from recon.doors.store import cases, rows
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.triggers import TIES
from recon.model import tables
from tests.builders import a_refund, an_intent
from tests.doors.store.books import a_lease, a_run, opened, put

INTENT = ("", "refund_order:8812", None, None, "re_8812", "pi_8812", None, "order_8812")
REFUND = ("", "refund_order:8812", None, None, "re_8812", "pi_8812", "ch_8812", None)

SAME = (
    "topic, {version}, action, actor, at, 'another', from_state, to_state, {action_id}, run_id, resolution, "
    "previous_hash, hash FROM entries"
)
OTHER = "'click_2'"
AGAIN = "INSERT INTO entries SELECT * FROM entries"


def touched(database: Database) -> list[tuple[str | None, ...]]:
    """The ties in the journal, oldest first; forgets them."""
    touches = tables.touches
    with database.write() as connection:
        query = select(*(touches.c[name] for name in TIES)).order_by(touches.c.id)
        found = [tuple(row) for row in connection.execute(query)]
        connection.execute(delete(touches))
    return found


def moved(row: tuple[str | None, ...], place: int, value: str | None) -> tuple[str | None, ...]:
    return (*row[:place], value, *row[place + 1 :])


def test_new_rows_are_touches(database: Database) -> None:
    put(database, an_intent(), a_refund())

    assert touched(database) == [INTENT, REFUND]


def test_a_changed_row_is_touched_with_its_former_and_its_new_ties(database: Database) -> None:
    put(database, an_intent(), a_refund())
    touched(database)

    with database.write() as connection:
        connection.execute(update(tables.intents).values(payment="pi_other"))
        connection.execute(update(tables.refunds).values(intent_key=None))

    assert sorted(touched(database), key=str) == sorted(
        [INTENT, moved(INTENT, 5, "pi_other"), REFUND, moved(REFUND, 1, None)], key=str
    )


def test_a_change_that_moves_no_tie_is_one_touch(database: Database) -> None:
    put(database, an_intent(), a_refund())
    touched(database)

    with database.write() as connection:
        connection.execute(update(tables.intents).values(team="other"))
        connection.execute(update(tables.refunds).values(status="failed"))

    assert touched(database) == [INTENT, REFUND]


def test_a_write_that_changes_nothing_is_no_touch(database: Database) -> None:
    put(database, an_intent(), a_refund())
    touched(database)

    with database.write() as connection:
        connection.execute(update(tables.intents).values(team="support", reference=None))
        connection.execute(update(tables.refunds).values(status="succeeded"))

    assert touched(database) == []


def test_a_deletion_is_a_touch(database: Database) -> None:
    put(database, an_intent(), a_refund())
    touched(database)

    with database.write() as connection:
        connection.execute(delete(tables.intents))
        connection.execute(delete(tables.refunds))

    assert touched(database) == [INTENT, REFUND]


def test_emptying_a_table_touches_every_row(database: Database) -> None:
    put(database, an_intent(), an_intent(key="another", order_id=None), a_refund())
    touched(database)
    verb = "TRUNCATE" if database.dialect == "postgresql" else "DELETE FROM"

    with database.write() as connection:
        connection.execute(text(f"{verb} intents"))
        connection.execute(text(f"{verb} refunds"))

    assert len(touched(database)) == 3


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_replacing_a_row_on_sqlite_touches_what_it_was(database: Database, recursive: str) -> None:
    if database.dialect != "sqlite":
        pytest.skip("only SQLite has INSERT OR REPLACE")
    put(database, an_intent())
    touched(database)
    other = an_intent(payment="pi_other")
    row = {name: getattr(other, name) for name in intents.COLUMNS}

    with database.write() as connection:
        # The company's own connection need not have our settings.
        connection.connection.driver_connection.commit()  # type: ignore[union-attr]
        connection.exec_driver_sql(f"PRAGMA recursive_triggers = {recursive}")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.execute(insert(tables.intents).prefix_with("OR REPLACE").values(row))
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA recursive_triggers = ON")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    assert set(touched(database)) == {INTENT, moved(INTENT, 5, "pi_other")}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET reason = 'another'",
        "UPDATE entries SET version = 7",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE version = 1",
        "postgresql: TRUNCATE entries",
        "postgresql: TRUNCATE entries CASCADE",
        f"sqlite: INSERT OR REPLACE INTO entries SELECT {SAME.format(version='version', action_id=OTHER)}",
        f"sqlite: INSERT OR REPLACE INTO entries SELECT {SAME.format(version=2, action_id='action_id')}",
        "sqlite: UPDATE OR REPLACE entries SET version = 2",
        f"sqlite: {AGAIN} WHERE true ON CONFLICT DO UPDATE SET reason = 'another'",
        f"postgresql: {AGAIN} ON CONFLICT (action_id) DO UPDATE SET reason = 'another'",
    ],
)
def test_entries_can_only_be_added(database: Database, statement: str) -> None:
    only, _, said = statement.rpartition(": ")
    if only and only != database.dialect:
        pytest.skip(f"only {only} has this")
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))

    with pytest.raises(DBAPIError, match="append-only"), database.write() as connection:
        connection.execute(text(said))

    assert [stored.entry for stored in cases.entries(database, change.case.id)] == [change.entry]
    assert cases.verify(database) == ()


def test_another_action_of_the_same_version_is_refused(database: Database) -> None:
    lease = a_lease(database)
    change = opened()
    cases.save_run(database, lease, Saving(a_run(), changes=(change,)))
    forged = replace(change.entry, action_id="click_2", reason="another")

    row = {"previous_hash": "", "hash": "x"} | rows.entry_row(forged)

    with pytest.raises(DBAPIError), database.write() as connection:
        connection.execute(insert(tables.entries).values(row))
