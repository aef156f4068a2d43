from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from recon.doors.store import cases as book
from recon.doors.store import migrations, queue, revisions, triggers
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import guarded, holds, rights, tables
from recon.model.errors import ConfigurationError
from recon.model.records.queues import QueueFilters
from tests.builders import a_case
from tests.doors.store.books import a_lease, a_run, opened

# Every table is in one schema, whichever module holds it.
METADATA = {module.metadata for module in (guarded, holds, rights, tables)}


def test_an_upgrade_makes_exactly_the_tables_of_the_model(database: Database) -> None:
    with database.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )

        assert [compare_metadata(context, metadata) for metadata in METADATA] == [[]]


def test_the_files_of_the_revisions_are_named_for_them_in_their_order() -> None:
    scripts = ScriptDirectory(str(migrations.HERE))
    told = [script.revision for script in scripts.walk_revisions()]

    assert told[::-1] == sorted(revisions.KNOWN)
    assert revisions.head() == scripts.get_current_head()


def test_an_upgrade_of_an_empty_database_can_be_repeated(empty_database_url: str) -> None:
    with Database.open(empty_database_url) as database:
        assert revisions.current(database) is None

        migrations.upgrade(database)
        migrations.upgrade(database)
        revisions.check(database)

        assert revisions.current(database) == revisions.head()


def test_an_upgrade_names_the_refunds_of_the_cases_that_were_there(database: Database) -> None:
    case = a_case()
    book.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(case),)))
    with database.write() as connection:  # As the first revision had it.
        triggers.lift(connection)
        for table in ("sign_outs", "approval_limits", "proposals", "calls", "switches"):
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("DROP INDEX ix_cases_queue"))
        connection.execute(
            text("CREATE INDEX ix_cases_waiting_rank_opened_at_id ON cases (waiting, rank, opened_at, id)")
        )
        connection.execute(text("DROP INDEX ix_cases_standing"))
        connection.execute(text("DROP INDEX ix_entries_people"))
        connection.execute(text("DROP INDEX uq_operators_slack_id"))
        connection.execute(text("ALTER TABLE operators DROP COLUMN slack_id"))
        connection.execute(text("DROP INDEX ix_cases_snoozed_until"))
        connection.execute(text("DROP INDEX ix_cases_owner_target_kind_rank_waiting"))
        connection.execute(
            text("CREATE INDEX ix_cases_owner_target_kind_rank ON cases (owner_target, kind, rank)")
        )
        connection.execute(text("DROP INDEX ix_notices_target_sent_at"))
        connection.execute(text("DROP INDEX ix_notices_thread_key_state"))
        connection.execute(text("ALTER TABLE notices DROP COLUMN urgency"))
        connection.execute(text("ALTER TABLE threads DROP COLUMN root_id"))
        connection.execute(text("DROP TABLE signatures"))
        connection.execute(text("DROP TABLE reminders"))
        connection.execute(text("DROP TABLE seals"))
        connection.execute(text("ALTER TABLE due DROP COLUMN becomes"))
        connection.execute(text("DROP INDEX ix_intents_unknown"))
        connection.execute(text("DROP TABLE slices"))
        connection.execute(text("ALTER TABLE accounts DROP COLUMN intents_from"))
        connection.execute(text("DROP TABLE case_refunds"))
        connection.execute(text("DROP INDEX ix_cases_kind_since"))
        connection.execute(text("DROP INDEX ix_cases_subject"))
        connection.execute(text("DROP INDEX ix_cases_intent_key"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))

    migrations.upgrade(database)

    assert [found.id for found in queue.page(database, QueueFilters(search="re_8812_2")).cases] == [case.id]
    assert book.sealed(database).newer == 1  # What was written before waits for the next run's seal.


def test_many_upgrades_at_once_are_as_good_as_one(empty_database_url: str) -> None:
    def upgrade(_: int) -> None:
        with Database.open(empty_database_url) as database:
            migrations.upgrade(database)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(upgrade, range(4)))

    with Database.open(empty_database_url) as database:
        revisions.check(database)


def test_a_database_behind_is_refused_with_the_command_that_helps(empty_database_url: str) -> None:
    with (
        Database.open(empty_database_url) as database,
        pytest.raises(ConfigurationError, match="found none: run recon db upgrade"),
    ):
        revisions.check(database)


@pytest.mark.parametrize("use", [revisions.check, migrations.upgrade])
def test_a_database_of_a_newer_version_is_refused(
    database: Database, use: Callable[[Database], None]
) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(ConfigurationError, match=r"found 9999.*newer version"):
        use(database)


def test_a_dropped_trigger_is_named_and_an_upgrade_makes_it_anew(database: Database) -> None:
    on_table = " ON entries" if database.dialect == "postgresql" else ""
    with database.write() as connection:
        connection.execute(text(f"DROP TRIGGER entries_kept{on_table}"))

    with pytest.raises(ConfigurationError, match="missing: entries_kept:"):
        revisions.check(database)

    migrations.upgrade(database)

    revisions.check(database)
