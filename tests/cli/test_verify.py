import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from recon.cli.app import app
from recon.cli.verify import SHOWN
from recon.doors.store import cases, migrations
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError
from tests.doors.store.books import a_lease, a_run, acknowledged, case_of, opened


def verified(url: str) -> Result:
    return CliRunner().invoke(app, ["verify"], env={"RECON_DATABASE_URL": url}, catch_exceptions=False)


def fill(database: Database, number: int) -> None:
    changes = tuple(opened(case_of(each)) for each in range(number))
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=changes))


def test_books_as_they_were_written_fit(database: Database, database_url: str) -> None:
    fill(database, 3)

    done = verified(database_url)

    digest = cases.sealed(database).digest
    assert (done.exit_code, done.output.splitlines()) == (
        0,
        [
            "Every chain of entries fits, and every case stands as its entries tell.",
            f"Sealed by run run_1 as {digest}; keep that elsewhere to compare it later.",
        ],
    )


def test_what_came_since_the_last_run_is_said_to_be_unsealed(database: Database, database_url: str) -> None:
    before = verified(database_url)
    fill(database, 2)
    cases.move(database, acknowledged(case_of(1)))

    assert before.output.splitlines()[-1] == (
        "No run has sealed an entry yet: the 0 there are can be cut off unseen."
    )
    assert verified(database_url).output.splitlines()[-1] == (
        "Entries since then, which the next run seals: 1."
    )


def test_what_stands_in_the_tables_is_said_without_what_a_terminal_would_obey(
    database: Database, database_url: str
) -> None:
    fill(database, 1)
    with database.write() as connection:
        hidden = {"hidden": "\x1b[2J\x1b[HEvery chain fits.\nEvery"}
        connection.execute(text("INSERT INTO seals (topic, version) VALUES (:hidden, 1)"), hidden)

    done = verified(database_url)

    assert done.exit_code == 1
    assert done.output == "\ufffd[2J\ufffd[HEvery chain fits.\ufffdEvery: entry 1 was saved, and is gone.\n"


@pytest.mark.parametrize(
    "statement, said",
    [
        ("UPDATE cases SET state = 'gone'", "the case is not as its last entry left it"),
        ("UPDATE cases SET resolution = 'gone'", "it, or an entry of it, holds what recon does not write"),
        ("UPDATE cases SET updated_at = -99999999999999999", "holds what recon does not write"),
        ("UPDATE cases SET kind = 'orphan', at_risk_minor = 1", "says another kind, at_risk_minor than its"),
    ],
)
def test_what_recon_never_wrote_is_a_sentence(
    database: Database, database_url: str, statement: str, said: str
) -> None:
    fill(database, 2)
    with database.write() as connection:
        connection.execute(text(f"{statement} WHERE id = '{case_of(1).id}'"))

    done = verified(database_url)

    assert done.exit_code == 1
    assert f"{case_of(1).id}: " in done.output
    assert said in done.output
    assert case_of(0).id not in done.output


def test_a_case_cut_off_with_all_its_entries_is_missed(database: Database, database_url: str) -> None:
    fill(database, 2)
    lost = case_of(1).id
    with database.write() as connection:
        on_table = " ON entries" if database.dialect == "postgresql" else ""
        connection.execute(text(f"DROP TRIGGER entries_kept{on_table}"))
        for table, column in (("cases", "id"), ("entries", "topic"), ("seals", "topic")):
            connection.execute(text(f"DELETE FROM {table} WHERE {column} = '{lost}'"))  # noqa: S608 -- ours
    migrations.upgrade(database)

    done = verified(database_url)

    assert (done.exit_code, done.output) == (1, "Run run_1: what it sealed is not what stands there now.\n")


@pytest.mark.parametrize("number", [1, SHOWN, SHOWN + 2])
def test_a_case_changed_past_its_entries_is_named(database: Database, database_url: str, number: int) -> None:
    fill(database, number)
    with database.write() as connection:
        connection.execute(text("UPDATE cases SET state = 'cleared'"))

    done = verified(database_url)

    lines = done.output.strip().splitlines()
    assert done.exit_code == 1
    assert len([line for line in lines if "not as its last entry left it" in line]) == min(number, SHOWN)
    assert (lines[-1] == "And 2 more.") is (number > SHOWN)


@pytest.mark.parametrize(
    "harm, said",
    [
        ("pinned = (1 = 1)", "choice of owner"),
        ("snoozed_until = 1", "end of snooze"),
        ("accepted_until = 1", "end of acceptance"),
        ("resolution = 'written_off'", "resolution"),
        ("decided_at = 1", "time of decision"),
        ("updated_at = 1", "last move"),
        ("opened_at = 1", "opening"),
        ("subject = 'intent:another'", "account or subject"),
        ("account = 'acct_another'", "account or subject"),
    ],
)
def test_what_no_entry_tells_of_a_case_is_named(
    database: Database, database_url: str, harm: str, said: str
) -> None:
    fill(database, 2)
    changed = case_of(1).id
    with database.write() as connection:
        connection.execute(text(f"UPDATE cases SET {harm} WHERE id = '{changed}'"))  # noqa: S608 -- ours

    done = verified(database_url)

    assert (done.exit_code, done.output) == (1, f"{changed}: its entries do not explain its {said}.\n")


def test_a_database_without_tables_is_refused(empty_database_url: str) -> None:
    with pytest.raises(ConfigurationError, match="run recon db upgrade"):
        verified(empty_database_url)
