from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recon.doors import intents
from recon.doors.store import checkup
from recon.doors.store.checkup import Holdings, Trial
from recon.doors.store.engines import Database
from tests.builders import NOON, an_intent


@pytest.mark.parametrize(
    "url, expected",
    [("sqlite:///var/recon.db", Path("var/recon.db")), ("postgresql://recon@db/recon", None)],
)
def test_only_sqlite_is_a_file(url: str, expected: Path | None) -> None:
    assert checkup.file(url) == expected


def test_a_server_says_what_it_is(database: Database) -> None:
    found = checkup.server(database)

    if database.dialect == "sqlite":
        assert (found.kind, found.now) == ("SQLite", None)
        assert found.modes == {"journal_mode": "wal", "synchronous": "2"}
    else:
        assert (found.kind, found.modes["server_encoding"]) == ("PostgreSQL", "UTF8")
        assert found.now is not None
        assert abs(datetime.now(UTC) - found.now) < timedelta(minutes=1)


def test_a_trial_holds_and_leaves_nothing(database: Database) -> None:
    with database.write() as connection:
        intents.put(connection, an_intent())

    assert [checkup.trial(database), checkup.trial(database)] == [Trial((), journal=True)] * 2
    assert sum(checkup.holdings(database).statuses.values()) == 1


def test_holdings_are_those_of_the_table(database: Database) -> None:
    assert checkup.holdings(database) == Holdings({}, 0, None, None)
    with database.write() as connection:
        intents.put(connection, an_intent())

    assert checkup.holdings(database) == Holdings({"done": 1}, 0, NOON, NOON)
