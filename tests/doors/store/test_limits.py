import pytest
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from recon.doors.store import cases, limits
from recon.doors.store.engines import Database
from recon.model.rights import approval_limits
from recon.model.tables import entries
from tests.builders import NOON

AGAIN = "INSERT INTO approval_limits VALUES ('usd', 9)"


def told(database: Database) -> list[tuple[str, int, str | None, str, str]]:
    """Topic, version, states and reason of each entry about a limit, by topic and version."""
    columns = entries.c
    query = select(columns.topic, columns.version, columns.from_state, columns.to_state, columns.reason)
    with database.read() as connection:
        rows = connection.execute(query.order_by(columns.topic, columns.version)).all()
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def test_the_amounts_are_those_that_were_told_last_and_each_change_is_an_entry(database: Database) -> None:
    changed = [
        limits.keep(database, amounts, now=NOON)
        for amounts in ({"usd": 50000, "jpy": 60000}, {"usd": 50000, "jpy": 60000}, {"usd": 20000}, {})
    ]

    assert changed == [("jpy", "usd"), (), ("jpy", "usd"), ("usd",)]
    assert limits.read(database) == {}
    assert [(topic, version, before, after) for topic, version, before, after, _ in told(database)] == [
        ("limit:jpy", 1, None, "60000"),
        ("limit:jpy", 2, "60000", "none"),
        ("limit:usd", 1, None, "50000"),
        ("limit:usd", 2, "50000", "20000"),
        ("limit:usd", 3, "20000", "none"),
    ]
    assert told(database)[2][4] == "The settings say two people from 500.00 USD at risk on."
    assert told(database)[4][4] == "The settings name no amount in USD: one person is enough."
    assert cases.verify(database) == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE approval_limits SET minor = 99",
        "UPDATE approval_limits SET currency = 'eur' WHERE currency = 'usd'",
        "DELETE FROM approval_limits",
        "INSERT INTO approval_limits VALUES ('eur', 5)",
        "sqlite: INSERT OR REPLACE INTO approval_limits VALUES ('usd', 99)",
        "sqlite: UPDATE OR REPLACE approval_limits SET rowid = 7",
        "sqlite: INSERT OR REPLACE INTO approval_limits (rowid, currency, minor) VALUES (1, 'jpy', 7)",
        "postgresql: TRUNCATE approval_limits",
        f"postgresql: {AGAIN} ON CONFLICT (currency) DO UPDATE SET minor = 9",
    ],
)
def test_no_amount_changes_without_the_entry_that_says_so(database: Database, statement: str) -> None:
    only, _, said = statement.rpartition(": ")
    if only and only != database.dialect:
        pytest.skip(f"only {only} has this")
    limits.keep(database, {"usd": 50000}, now=NOON)
    limits.keep(database, {"usd": 50000, "jpy": 7}, now=NOON)

    with pytest.raises(DBAPIError, match="a limit changes with the entry"), database.write() as connection:
        connection.execute(text(said))

    assert limits.read(database) == {"usd": 50000, "jpy": 7}


def test_an_amount_that_no_entry_tells_is_found_where_the_triggers_were_away(database: Database) -> None:
    limits.keep(database, {"usd": 50000, "eur": 1}, now=NOON)
    on = "" if database.dialect == "sqlite" else " ON approval_limits"
    names = {"sqlite": ("added", "changed", "removed"), "postgresql": ("told",)}[database.dialect]
    with database.write() as connection:
        for name in names:
            connection.execute(text(f"DROP TRIGGER approval_limits_{name}{on}"))
        columns = approval_limits.c
        connection.execute(update(approval_limits).where(columns.currency == "usd").values(minor=99))
        connection.execute(delete(approval_limits).where(columns.currency == "eur"))
        connection.execute(insert(approval_limits).values(currency="jpy", minor=5))

    assert cases.verify(database)[:3] == tuple(
        f"limit:{currency}: the amount is not as its last entry says." for currency in ("eur", "jpy", "usd")
    )
