from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text

from recon.doors.store import cases, foreign, leases, reading
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.foreign import Copied
from recon.model.errors import ConfigurationError, DatabaseUnavailable, LeaseLost
from recon.model.records.results import Healable
from recon.model.records.runs import HOUR
from recon.model.records.words import Basis, IntentKey, IntentStatus, RefundId
from recon.model.settings import IntentsMapping, Secret, build
from tests.builders import NOON, PLATFORM, a_refund, an_intent
from tests.doors.store.books import DURATION, a_lease, a_run, count, put

TOLD: dict[str, Any] = {
    "table": "refund_requests",
    "columns": {
        "key": "request_no",
        "amount_minor": "amount",
        "currency": "ccy",
        "status": "state",
        "created_at": "made_at",
        "payment": "payment_ref",
        "refund_id": "stripe_refund",
    },
    "statuses": {"ok": "done", "new": "pending", "2": "failed"},
    "constants": {"tool": "billing", "team": "backoffice"},
    "amount_unit": "major",
}
ROWS: list[dict[str, Any]] = [
    {"no": "r1", "amount": "49.00", "ccy": "USD", "state": "ok", "pay": "pi_1", "refund": "re_1"},
    {"no": "r2", "amount": "12", "ccy": "jpy", "state": "new", "pay": "pi_2", "refund": None},
    {"no": "r3", "amount": "1.5", "ccy": "kwd", "state": "2", "pay": None, "refund": None},
]


def mapped(told: dict[str, Any]) -> IntentsMapping:
    """The section [intents] of a recon.toml as it is read."""
    mapping = build({"intents": told}).intents
    assert mapping is not None
    return mapping


MAPPING = mapped(TOLD)


@pytest.fixture
def theirs(database_url: str) -> Iterator[Connection]:
    """A connection to the database that has their table, in ours or beside it."""
    url = make_url(database_url)
    engine = create_engine(
        url.set(drivername="postgresql+psycopg") if url.get_backend_name() != "sqlite" else url
    )
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(
            text(
                "CREATE TABLE refund_requests (request_no TEXT, amount TEXT, ccy TEXT, state TEXT, "
                "made_at TEXT, payment_ref TEXT, stripe_refund TEXT, note TEXT)"
            )
        )
        for row in ROWS:
            add(connection, row)
        yield connection
    engine.dispose()


def add(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(
        text(
            "INSERT INTO refund_requests VALUES "
            "(:no, :amount, :ccy, :state, '2026-03-06T12:00:00Z', :pay, :refund, 'secret')"
        ),
        row,
    )


def intents(database: Database) -> dict[str, tuple[Any, ...]]:
    frame = reading.read(database, full=True, mark=0, as_of=NOON).intents.frame
    wanted = ["amount_minor", "currency", "status", "payment", "refund_id", "tool", "team"]
    plain = frame.astype(object).where(frame.notna(), None)
    return {row["key"]: tuple(row[name] for name in wanted) for row in plain.to_dict("records")}


def test_their_rows_become_ours_in_our_words_and_units(database: Database, theirs: Connection) -> None:
    copied = foreign.copy(database, a_lease(database), MAPPING)

    assert copied == Copied(written=3, removed=0, rejects=())
    assert intents(database) == {
        "r1": (4900, "usd", "done", "pi_1", "re_1", "billing", "backoffice"),
        "r2": (12, "jpy", "pending", "pi_2", None, "billing", "backoffice"),
        "r3": (1500, "kwd", "failed", None, None, "billing", "backoffice"),
    }
    frame = reading.read(database, full=True, mark=0, as_of=NOON).intents.frame
    assert {*frame["created_at"], *frame["updated_at"]} == {NOON}


def test_a_second_copy_touches_nothing(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    before = count(database, "touches")

    assert foreign.copy(database, lease, MAPPING) == Copied(0, 0, ())
    assert count(database, "touches") == before


def test_only_what_really_differs_is_written(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    theirs.execute(
        text("UPDATE refund_requests SET state = 'ok', stripe_refund = 're_2' WHERE request_no = 'r2'")
    )
    theirs.execute(text("UPDATE refund_requests SET note = 'another' WHERE request_no = 'r1'"))
    theirs.execute(text("DELETE FROM refund_requests WHERE request_no = 'r3'"))
    add(theirs, ROWS[0] | {"no": "r4"})

    assert foreign.copy(database, lease, MAPPING) == Copied(written=2, removed=1, rejects=())
    assert intents(database).keys() == {"r1", "r2", "r4"}
    assert intents(database)["r2"][2:5] == ("done", "pi_2", "re_2")


def test_a_row_that_cannot_be_judged_is_a_reject_and_no_intent(
    database: Database, theirs: Connection
) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    theirs.execute(text("UPDATE refund_requests SET amount = 'many' WHERE request_no = 'r1'"))

    copied = foreign.copy(database, lease, MAPPING)

    assert (copied.written, copied.removed) == (0, 1)
    (reject,) = copied.rejects
    assert (reject.source, reject.row, reject.id, reject.names) == ("refund_requests", 1, "r1", ("re_1",))
    assert reading.read(database, full=True, mark=0, as_of=NOON).intents.rejects == (reject,)

    theirs.execute(text("UPDATE refund_requests SET amount = '49' WHERE request_no = 'r1'"))

    assert foreign.copy(database, lease, MAPPING) == Copied(1, 0, ())
    assert count(database, "rejects") == 0


def test_a_key_that_the_guarded_tool_wrote_stands(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    put(database, an_intent(key=IntentKey("r1"), amount_minor=1))

    copied = foreign.copy(database, lease, MAPPING)

    assert [(each.id, each.source) for each in copied.rejects] == [("r1", "refund_requests")]
    assert copied.written == 2
    assert intents(database)["r1"][0] == 1


def test_a_copied_intent_is_never_healed(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    put(database, a_refund(id=RefundId("re_2"), amount_minor=12, currency="jpy", intent_key=IntentKey("r2")))
    heal = Healable(PLATFORM, IntentKey("r2"), RefundId("re_2"), Basis.INTENT_KEY)

    assert cases.save_run(database, lease, Saving(a_run(), heals=(heal,))).not_healed == (heal,)
    assert intents(database)["r2"][2] == IntentStatus.PENDING


def test_without_a_mapping_an_earlier_copy_is_forgotten(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    put(database, an_intent())

    assert foreign.copy(database, lease, None) == Copied(0, 3, ())
    assert intents(database).keys() == {"refund_order:8812"}
    assert foreign.copy(database, lease, None) == Copied(0, 0, ())


def test_who_never_had_a_mapping_pays_nothing_for_it(database: Database) -> None:
    if database.dialect != "sqlite":
        pytest.skip("PostgreSQL chooses by the size of the table")
    said: list[str] = []

    def hear(*call: object) -> None:
        said.append(str(call[2]))

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        foreign.copy(database, a_lease(database), None)
    finally:
        event.remove(Engine, "before_cursor_execute", hear)
    (forgetting,) = [each for each in said if each.startswith("DELETE FROM intents")]
    with database.read() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {forgetting}").all()

    assert ["USING INDEX ix_intents_mapped" in row[3] for row in plan] == [True]


def test_their_table_may_be_in_another_database(
    database: Database, theirs: Connection, tmp_path: Path, sqlite_template: Path
) -> None:
    ours = Database.open(f"sqlite:///{tmp_path}/ours.db")
    ours_path = tmp_path / "ours.db"
    ours_path.write_bytes(sqlite_template.read_bytes())
    url = Secret(theirs.engine.url.render_as_string(hide_password=False))

    with ours:
        assert foreign.copy(ours, a_lease(ours), replace(MAPPING, url=url)).written == 3
        assert intents(ours).keys() == {"r1", "r2", "r3"}
    assert intents(database) == {}


def test_an_unknown_table_is_refused_and_the_known_ones_named(database: Database, theirs: Connection) -> None:
    with pytest.raises(ConfigurationError, match=r"table or view named 'requests', found .*refund_requests"):
        foreign.copy(database, a_lease(database), replace(MAPPING, table="requests"))


def test_an_unknown_column_is_refused_and_the_known_ones_named(
    database: Database, theirs: Connection
) -> None:
    columns = {**TOLD["columns"], "currency": "currency"}

    with pytest.raises(
        ConfigurationError,
        match=r"column 'currency' for currency in 'refund_requests', found request_no, amount",
    ):
        foreign.copy(database, a_lease(database), mapped(TOLD | {"columns": columns}))

    assert intents(database) == {}


def test_a_view_of_theirs_serves_as_well(database: Database, theirs: Connection) -> None:
    theirs.execute(text("CREATE VIEW settled AS SELECT * FROM refund_requests WHERE state = 'ok'"))

    assert foreign.copy(database, a_lease(database), replace(MAPPING, table="settled")).written == 1


def test_their_database_that_is_away_leaves_ours_as_it_was(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    foreign.copy(database, lease, MAPPING)
    away = replace(MAPPING, url=Secret("postgresql://ada:hunter2@127.0.0.1:1/billing"))

    with pytest.raises(DatabaseUnavailable) as refusal:
        foreign.copy(database, lease, away)

    assert "hunter2" not in str(refusal.value)
    assert len(intents(database)) == 3


def test_whoever_lost_the_lease_copies_nothing(database: Database, theirs: Connection) -> None:
    lease = a_lease(database)
    leases.take(database, HOUR, "another", now=NOON + DURATION, duration=timedelta(hours=1))

    with pytest.raises(LeaseLost):
        foreign.copy(database, lease, MAPPING)

    assert intents(database) == {}


def test_a_status_word_that_is_not_mapped_is_named_with_the_section_that_maps_it(
    database: Database, theirs: Connection
) -> None:
    add(theirs, ROWS[0] | {"no": "r9", "state": "settled"})

    (reject,) = foreign.copy(database, a_lease(database), MAPPING).rejects

    assert reject.id == "r9"
    assert "a word that [intents.statuses] maps to one; found 'settled'" in reject.reason


@pytest.mark.parametrize("length, written", [(500, 4), (501, 3)])
def test_a_text_too_long_to_keep_is_a_reject_and_stops_nothing(
    database: Database, theirs: Connection, length: int, written: int
) -> None:
    lease, random = a_lease(database), Random(1)
    for column in ("no", "pay", "refund"):
        long = "".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(length))
        add(theirs, ROWS[0] | {"no": "long", column: long})
        copied = foreign.copy(database, lease, MAPPING)
        theirs.execute(text("DELETE FROM refund_requests WHERE state = 'ok' AND request_no <> 'r1'"))

        assert len(intents(database)) == written
        assert ["501 characters" in each.reason for each in copied.rejects] == [True] * (4 - written)


def test_a_text_that_no_database_takes_is_kept_without_it(
    database: Database, tmp_path: Path, database_url: str
) -> None:
    with create_engine(f"sqlite:///{tmp_path / 'theirs.db'}").begin() as connection:
        connection.execute(text("CREATE TABLE r (k TEXT, a INTEGER, at TEXT, pay TEXT)"))
        row = {"k": "r1", "at": "2026-03-06T12:00:00Z", "pay": "pi_\x001"}
        connection.execute(text("INSERT INTO r VALUES (:k, 4900, :at, :pay)"), row)
    columns = {"key": "k", "amount_minor": "a", "created_at": "at", "payment": "pay"}
    constants = {"currency": "usd", "status": "done"}
    url = Secret(f"sqlite:///{tmp_path / 'theirs.db'}")
    mapping = mapped({"table": "r", "columns": columns, "constants": constants})
    foreign.copy(database, a_lease(database), replace(mapping, url=url))

    assert intents(database)["r1"][3] == "pi_\ufffd1"


@pytest.mark.postgres
def test_their_keys_may_be_uuids(database: Database, theirs: Connection) -> None:
    if database.dialect == "sqlite":
        return  # It has no such type.
    theirs.execute(text("ALTER TABLE refund_requests ALTER request_no TYPE uuid USING md5(request_no)::uuid"))

    assert foreign.copy(database, a_lease(database), MAPPING).rejects == ()
    assert str(UUID(md5(b"r1", usedforsecurity=False).hexdigest())) in intents(database)


def test_a_table_is_mapped_in_the_language_of_files(database: Database, tmp_path: Path) -> None:
    with create_engine(f"sqlite:///{tmp_path / 'theirs.db'}").begin() as connection:
        connection.execute(text("CREATE TABLE r (k TEXT, net TEXT, tax TEXT, at TEXT, info TEXT, kind TEXT)"))
        info = '{"refund": {"id": "re_1"}, "padding": "' + "x" * 600 + '"}'
        for key, kind in (("r1", "refund"), ("r2", "sale")):
            row = {"key": key, "info": info, "kind": kind}
            connection.execute(
                text("INSERT INTO r VALUES (:key, '-1.040,00', '-,', '06/03/2026 13:00', :info, :kind)"), row
            )
    amount = {"sum": ["net", "tax"], "decimal": ",", "thousands": ".", "sign": "negative"}
    told = {
        "table": "r",
        "columns": {
            "key": "k",
            "amount": amount,
            "created_at": {"column": "at", "format": "%d/%m/%Y %H:%M", "zone": "Europe/Paris"},
            "refund_id": "info.refund.id",
        },
        "constants": {"currency": "eur", "status": "done"},
        "where": [{"column": "kind", "is": "refund"}],
        "empty": ["-,"],
    }
    beside = replace(mapped(told), url=Secret(f"sqlite:///{tmp_path / 'theirs.db'}"))

    assert foreign.copy(database, a_lease(database), beside) == Copied(1, 0, ())
    assert intents(database)["r1"] == (104000, "eur", "done", None, "re_1", None, None)
    frame = reading.read(database, full=True, mark=0, as_of=NOON).intents.frame
    assert frame["created_at"].tolist() == [NOON]


@pytest.mark.parametrize(
    "told, said",
    [
        (
            {"columns": {"amount_minor": {"colum": "a"}}},
            "intents.columns.amount_minor has no setting 'colum'; its settings are column, constant, sum",
        ),
        ({"where": "kind"}, "intents.where must be a list of tables such as"),
        ({"zone": "Mars"}, "intents.zone must be a zone such as UTC"),
        ({"empty": "NULL"}, 'intents.empty must be a list of texts such as ["NULL", "-"]'),
    ],
)
def test_what_a_table_cannot_be_read_by_is_named_with_its_key(told: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build({"intents": {"table": "r", "columns": {}, **told}})

    assert said in str(caught.value)
