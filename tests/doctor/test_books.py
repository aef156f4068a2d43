import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from recon.doctor import books
from recon.doors.store import checkup
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.remarks import Section
from tests.doctor.clinic import Clinic, levels, one
from tests.doctor.test_meant import MAPPING


def is_postgres(database: Database) -> bool:
    return database.dialect == "postgresql"


def run(database: Database, *statements: str) -> None:
    with database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_a_database_that_is_in_order_says_what_it_is(clinic: Clinic, database: Database) -> None:
    told = clinic.told(Section.DATABASE)

    assert levels(told) == {"ok"}
    sign = "TimeZone" if is_postgres(database) else "journal_mode wal, synchronous full"
    assert one(told, sign)
    assert one(told, "can be written (tried, and taken back)")
    assert one(told, "can only be added (tried, and taken back)")


def test_an_examination_leaves_nothing(clinic: Clinic, database: Database) -> None:
    clinic.examine()

    with database.read() as connection:
        counts = {
            table.name: connection.scalar(text(f"SELECT count(*) FROM {table.name}"))  # noqa: S608  # our names
            for table in tables.metadata.sorted_tables
        }
    assert {name for name, count in counts.items() if count} == set()


def test_an_empty_database_is_to_be_upgraded(
    empty_database_url: str, clinic_on: Callable[[str], Clinic]
) -> None:
    clinic = clinic_on(empty_database_url)

    told = clinic.told(Section.DATABASE)

    failure = "There is no database yet" if empty_database_url.startswith("sqlite") else "found none"
    assert "recon db upgrade" in one(told, failure)
    if empty_database_url.startswith("sqlite"):
        assert not Path(empty_database_url.removeprefix("sqlite:///")).exists()


def test_a_file_that_is_not_ours_is_left_as_it_is(tmp_path: Path, clinic_on: Callable[[str], Clinic]) -> None:
    file = tmp_path / "theirs.db"
    with closing(sqlite3.connect(file)) as theirs:
        theirs.execute("CREATE TABLE users (name TEXT)")
    before = file.read_bytes()

    told = clinic_on(f"sqlite:///{file}").told(Section.DATABASE)

    assert "recon db upgrade" in one(told, "found none")
    assert file.read_bytes() == before


def test_no_folder_is_made_for_a_file_that_is_not_there(
    tmp_path: Path, clinic_on: Callable[[str], Clinic]
) -> None:
    clinic = clinic_on(f"sqlite:///{tmp_path / 'deep' / 'er' / 'recon.db'}")
    clinic.configure("recon.toml", MAPPING)
    clinic.environ["RECON_INTENTS_DATABASE_URL"] = f"sqlite:///{tmp_path / 'shop.db'}"
    clinic.examine()

    assert not (tmp_path / "deep").exists()


def test_a_folder_is_no_database(tmp_path: Path, clinic_on: Callable[[str], Clinic]) -> None:
    told = clinic_on(f"sqlite:///{tmp_path}").told(Section.DATABASE)

    assert one(told, "the file cannot be opened").startswith("failure")


def test_a_database_of_a_newer_version_wants_a_newer_recon(clinic: Clinic, database: Database) -> None:
    run(database, "UPDATE alembic_version SET version_num = '9999'")

    assert "newer version of recon" in one(clinic.told(Section.DATABASE), "found 9999")


@pytest.mark.parametrize("trigger, table", [("entries_kept", "entries"), ("refunds_changed", "refunds")])
def test_a_missing_trigger_is_named(clinic: Clinic, database: Database, trigger: str, table: str) -> None:
    name = trigger if is_postgres(database) else trigger.replace("changed", "updated")
    run(database, f"DROP TRIGGER {name}" + (f" ON {table}" if is_postgres(database) else ""))

    told = clinic.told(Section.DATABASE)

    assert one(told, f"missing or switched off: {name}").startswith("failure")
    # And it is not only its name: what it kept from happening can be done.
    assert any("could be" in line for line in told) is (table == "entries")


def test_a_trigger_that_does_nothing_is_seen_by_trying(clinic: Clinic, database: Database) -> None:
    if is_postgres(database):
        run(
            database,
            "CREATE OR REPLACE FUNCTION recon_entries_refused() RETURNS trigger LANGUAGE plpgsql "
            "AS $$ BEGIN RETURN COALESCE(NEW, OLD); END $$",
        )
    else:
        run(
            database,
            "DROP TRIGGER entries_unchanged",
            "DROP TRIGGER entries_kept",
            "CREATE TRIGGER entries_unchanged BEFORE UPDATE ON entries BEGIN SELECT 1; END",
            "CREATE TRIGGER entries_kept BEFORE DELETE ON entries BEGIN SELECT 1; END",
        )

    told = clinic.told(Section.DATABASE)

    assert one(told, "All triggers are there")
    assert one(told, "An entry of the audit trail could be changed and deleted").startswith("failure")


def test_a_journal_that_sees_nothing_is_seen_by_trying(clinic: Clinic, database: Database) -> None:
    if is_postgres(database):
        run(
            database,
            "CREATE OR REPLACE FUNCTION recon_intents_changed() RETURNS trigger LANGUAGE plpgsql "
            "AS $$ BEGIN RETURN NULL; END $$",
        )
    else:
        run(
            database,
            "DROP TRIGGER intents_inserted",
            "CREATE TRIGGER intents_inserted AFTER INSERT ON intents BEGIN SELECT 1; END",
        )

    assert one(clinic.told(Section.DATABASE), "leaves no touch").startswith("failure")


@contextmanager
def somebody_else() -> Iterator[None]:
    """Be somebody for whom the permissions of files hold, also where root runs the tests."""
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


def test_a_sqlite_file_that_may_only_be_read_is_said(small: Clinic) -> None:
    # Not below tmp_path, where nobody else may go.
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name), Path(name) / "recon.db"
        file.write_bytes(Path(small.environ["RECON_DATABASE_URL"].removeprefix("sqlite:///")).read_bytes())
        file.chmod(0o444)
        folder.chmod(0o555)
        small.environ["RECON_DATABASE_URL"] = f"sqlite:///{file}"
        with somebody_else():
            told = small.told(Section.DATABASE)
        folder.chmod(0o755)

    assert one(told, "it cannot be written").startswith("failure")


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_server_that_takes_no_writes_is_said(clinic: Clinic, database: Database) -> None:
    with database.read() as connection:
        name = connection.scalar(text("SELECT current_database()"))
    run(database, f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    assert one(clinic.told(Section.DATABASE), "It cannot be written").startswith("failure")


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_user_who_may_only_read_is_said(clinic: Clinic, database: Database) -> None:
    reader = "recon_test_reader"
    run(
        database,
        f"DO $$ BEGIN CREATE ROLE {reader}; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}",
    )
    url = clinic.environ["RECON_DATABASE_URL"]
    clinic.environ["RECON_DATABASE_URL"] = f"{url}{'&' if '?' in url else '?'}options=-c%20role%3D{reader}"

    told = one(clinic.told(Section.DATABASE), "It cannot be written")

    assert told.startswith("failure")
    assert "the user may not do that there" in told


@pytest.mark.parametrize(
    "url, sign",
    [
        ("postgresql://recon:canary0word@127.0.0.1:9/recon", "nothing listens there"),
        ("mysql://recon:canary0word@127.0.0.1/recon", "one of the kind 'mysql'"),
        ("sqlite:///", "a URL without one"),
    ],
)
def test_a_database_that_does_not_answer_hides_nothing_else(small: Clinic, url: str, sign: str) -> None:
    small.environ["RECON_DATABASE_URL"] = url

    found = small.examine()

    told = [remark for remark in found.remarks if remark.section is Section.DATABASE]
    assert [sign in remark.found for remark in told] == [True]
    assert {remark.section for remark in found.remarks} >= set(Section) - {Section.INTENTS}
    assert "canary0word" not in repr(found)


def test_a_file_that_is_no_database_is_said(small: Clinic, tmp_path: Path) -> None:
    (tmp_path / "other.db").write_text("Dear diary, " * 100)
    small.environ["RECON_DATABASE_URL"] = f"sqlite:///{tmp_path / 'other.db'}"

    assert one(small.told(Section.DATABASE), "no SQLite database").startswith("failure")


@pytest.mark.parametrize(
    "free, level", [(99_000_000, "failure"), (100_000_000, "warning"), (1_000_000_000, "ok")]
)
def test_room_on_the_disk(small: Clinic, monkeypatch: pytest.MonkeyPatch, free: int, level: str) -> None:
    monkeypatch.setattr("recon.doors.machine.shutil.disk_usage", lambda _: SimpleNamespace(free=free))

    assert one(small.told(Section.DATABASE), "MB are free").startswith(level)


def test_sqlite_under_a_live_key_is_a_warning(small: Clinic) -> None:
    small.environ["STRIPE_API_KEY"] = "rk_live_canary0key"

    assert one(small.told(Section.DATABASE), "a live one, and the database is a SQLite file").startswith(
        "warn"
    )


def test_a_database_that_nobody_chose_is_a_warning(
    small: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(small.environ.pop("RECON_DATABASE_URL").removeprefix("sqlite:///"))
    (tmp_path / "here" / "var").mkdir(parents=True)
    (tmp_path / "here" / "var" / "recon.db").write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path / "here")

    assert one(small.told(Section.DATABASE), "RECON_DATABASE_URL is not set").startswith("warning")


@pytest.mark.parametrize(
    "modes, level",
    [
        ({"journal_mode": "delete", "synchronous": "2"}, "warning"),
        ({"journal_mode": "wal", "synchronous": "1"}, "failure"),
        ({"server_encoding": "SQL_ASCII", "TimeZone": "UTC"}, "warning"),
    ],
)
def test_modes_that_cost_something(modes: dict[str, str], level: str) -> None:
    server = checkup.Server("x", "1", modes, None)

    assert [remark.level for remark in books.modes(server)] == [level]
