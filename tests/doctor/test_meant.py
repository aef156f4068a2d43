from pathlib import Path

import pytest

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model.records.remarks import Section
from recon.model.records.words import IntentKey, IntentStatus
from tests.builders import an_intent
from tests.doctor.clinic import Clinic, levels, one

MAPPING = """
[intents]
table = "requests"
[intents.columns]
key = "k"
amount_minor = "amount"
status = "state"
created_at = "made"
[intents.statuses]
paid = "done"
[intents.constants]
currency = "usd"
"""


def fill(database: Database, *rows: tuple[str, int, str, str]) -> None:
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE requests (k TEXT, amount BIGINT, state TEXT, made TEXT)")
        for row in rows:
            values = ", ".join(repr(value) for value in row)
            connection.exec_driver_sql(f"INSERT INTO requests VALUES ({values})")  # noqa: S608  # ours


def test_intents_are_counted_with_their_time(clinic: Clinic, database: Database) -> None:
    with database.write() as connection:
        intents.put(connection, an_intent())
        other = an_intent(key=IntentKey("other"), status=IntentStatus.PENDING_UNKNOWN)
        intents.put(connection, other)

    told = clinic.told(Section.INTENTS)

    assert told == ["ok: 2 intents of 2026-03-06 to 2026-03-06: 1 done, 1 pending unknown."]


def test_no_intent_at_all_is_a_warning(clinic: Clinic) -> None:
    assert one(clinic.told(Section.INTENTS), "every refund is an orphan").startswith("warning")


def test_your_table_is_read_as_a_run_would(clinic: Clinic, database: Database) -> None:
    clinic.configure("recon.toml", MAPPING)
    fill(
        database,
        ("a", 100, "paid", "2026-03-06T12:00:00Z"),
        ("b", 100, "paid", "2026-03-06 12:00:00"),
        ("c", 100, "lost", "2026-03-06T12:00:00Z"),
    )

    told = clinic.told(Section.INTENTS)

    assert one(told, "Of the first 3 rows of requests, 1 can be read: 1 done").startswith("ok")
    bad = one(told, "Of the first 3 rows of requests, 2 cannot be judged")
    assert "Row 2 (b)" in bad
    assert "Row 3 (c)" in bad
    assert "'lost'. " in bad
    assert bad.startswith("failure")


@pytest.mark.parametrize(
    "good, bad, level",
    [
        (20, {"made": 1}, "warning"),  # Below one in twenty.
        (19, {"made": 1}, "failure"),  # Exactly one in twenty.
        (99, {"state": 1}, "failure"),  # A word that nobody mapped comes again with every row of its kind.
        (0, {"made": 1}, "failure"),
    ],
)
def test_rows_that_make_tonights_run_incomplete_are_a_failure(
    small: Clinic, good: int, bad: dict[str, int], level: str
) -> None:
    small.configure("recon.toml", MAPPING)
    at = "2026-03-06T12:00:00Z"
    with Database.open(small.environ["RECON_DATABASE_URL"]) as database:
        fill(
            database,
            *((f"a{number:03}", 100, "paid", at) for number in range(good)),
            *((f"b{number}", 100, "paid", "yesterday") for number in range(bad.get("made", 0))),
            *((f"c{number}", 100, "lost", at) for number in range(bad.get("state", 0))),
        )

    assert one(small.told(Section.INTENTS), "1 cannot be judged").startswith(level)


def test_of_each_reason_one_row_is_shown_so_that_no_status_word_hides_another(
    clinic: Clinic, database: Database
) -> None:
    clinic.configure("recon.toml", MAPPING)
    at = "2026-03-06T12:00:00Z"
    fill(database, *((key, 100, "lost", at) for key in "abcde"), ("f", 100, "held", at))

    bad = one(clinic.told(Section.INTENTS), "6 cannot be judged")

    shown = ("Row 1 (a)", "Row 2 (b)", "Row 6 (f)", "'held'")
    assert [each for each in shown if each in bad] == ["Row 1 (a)", "Row 6 (f)", "'held'"]


def test_a_table_of_which_nothing_can_be_read_is_a_failure(clinic: Clinic, database: Database) -> None:
    clinic.configure("recon.toml", MAPPING)
    fill(database, ("b", 100, "lost", "yesterday"))

    assert one(clinic.told(Section.INTENTS), "cannot be judged").startswith("failure")


@pytest.mark.parametrize(
    "change, sign",
    [
        (("made", "made_at"), "expected a column 'made_at' for created_at"),
        (("requests", "refund_requests"), "expected a table or view named 'refund_requests'"),
    ],
)
def test_a_table_or_column_that_is_not_there_is_named(
    clinic: Clinic, database: Database, change: tuple[str, str], sign: str
) -> None:
    clinic.configure("recon.toml", MAPPING.replace(f'"{change[0]}"', f'"{change[1]}"'))
    fill(database)

    told = one(clinic.told(Section.INTENTS), sign)
    assert told.startswith("failure")
    assert "In another database: set RECON_INTENTS_DATABASE_URL." in told


def test_an_empty_table_is_a_warning(clinic: Clinic, database: Database) -> None:
    clinic.configure("recon.toml", MAPPING)
    fill(database)

    assert one(clinic.told(Section.INTENTS), "requests is empty").startswith("warning")


def test_a_user_who_may_write_your_table_is_said_where_it_shows(clinic: Clinic, database: Database) -> None:
    clinic.configure("recon.toml", MAPPING)
    fill(database, ("a", 100, "paid", "2026-03-06T12:00:00Z"))

    told = [line for line in clinic.told(Section.INTENTS) if "may write" in line]

    assert levels(told) == ({"warning"} if database.dialect == "postgresql" else set())


def test_a_table_in_another_database_is_read_without_a_trace(small: Clinic, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with Database.open(f"sqlite:///{other}") as theirs:
        fill(theirs, ("a", 100, "paid", "2026-03-06T12:00:00Z"))
    small.configure("recon.toml", MAPPING)
    small.environ["RECON_INTENTS_DATABASE_URL"] = f"sqlite:///{other}"

    assert one(small.told(Section.INTENTS), "requests in another database, 1 can be read").startswith("ok")
    small.environ["RECON_INTENTS_DATABASE_URL"] = "postgresql://u:canary0word@127.0.0.1:9/x"
    away = one(small.told(Section.INTENTS), "cannot be read")
    assert away.startswith("failure")
    assert "RECON_INTENTS_DATABASE_URL" in away


def test_an_id_of_your_table_that_looks_like_another_is_told(clinic: Clinic, database: Database) -> None:
    clinic.configure("recon.toml", MAPPING)
    fill(
        database,
        ("a", 100, "paid", "2026-03-06T12:00:00Z"),
        ("b\u0430", 100, "paid", "2026-03-06T12:00:00Z"),
    )

    told = one(clinic.told(Section.INTENTS), "requests: 1 id holds characters that look like others")

    assert told.startswith("warning")
    assert "key (column 'k') of row 2, U+0430 (cyrillic small letter a) in 'b<U+0430>'" in told
