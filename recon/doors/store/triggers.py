"""The triggers: touches of every change to intents and refunds, and entries that can only be added.

Whoever writes the tables is seen: the guarded tool, the company's own code, a person with a database shell.
What takes a second person is in four_eyes.py. Asserted again after every migration, because a table that is
rebuilt loses its triggers in silence.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, text

from recon.doors.store import four_eyes
from recon.model.tables import intents, refunds

APPEND_ONLY = "entries are append-only"
# touches' columns, and what each side's row puts there.
TIES = (
    "account",
    "intent_key",
    "request_key",
    "operator_key",
    "refund_id",
    "payment",
    "charge",
    "order_id",
)
INTENT_TIES = ("account", "key", None, None, "refund_id", "payment", None, "order_id")
REFUND_TIES = (
    "account",
    "intent_key",
    "request_key",
    "operator_key",
    "id",
    "payment_intent",
    "charge",
    None,
)
SIDES = {"intents": (intents, INTENT_TIES, "key"), "refunds": (refunds, REFUND_TIES, "id")}


def install(connection: Connection) -> None:
    """Make every trigger anew."""
    _drop(connection, _names(connection.dialect.name))
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)


def lift(connection: Connection) -> None:
    """Drop the triggers that read other tables than their own, until `install` makes them anew.

    SQLite renames and alters no table while a trigger anywhere reads one that is not there.
    """
    _drop(connection, four_eyes.NAMES[connection.dialect.name])


def missing(connection: Connection) -> tuple[str, ...]:
    """Return the names of the triggers that should be there, enabled, and are not; by name."""
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if connection.dialect.name == "sqlite"
        else "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') "
        "AND c.relnamespace = current_schema()::regnamespace"
    )
    found = set(connection.scalars(text(query)))
    return tuple(sorted(name for _, name in _names(connection.dialect.name) if name not in found))


def _drop(connection: Connection, names: Iterable[tuple[str, str]]) -> None:
    for table, name in names:
        connection.execute(text(f"DROP TRIGGER IF EXISTS {name}{_on(connection, table)}"))


def _on(connection: Connection, table: str) -> str:
    return "" if connection.dialect.name == "sqlite" else f" ON {table}"


def _names(dialect: str) -> list[tuple[str, str]]:
    events = (
        ("inserted", "replaced", "updated", "deleted") if dialect == "sqlite" else ("changed", "truncated")
    )
    touching = [(table, f"{table}_{event}") for table in SIDES for event in events]
    guarding = ("added_once", "unchanged", "kept") if dialect == "sqlite" else ("kept", "not_truncated")
    return [*touching, *(("entries", f"entries_{rule}") for rule in guarding), *four_eyes.NAMES[dialect]]


def _statements(dialect: str) -> list[str]:
    return (_sqlite() if dialect == "sqlite" else _postgresql()) + four_eyes.statements(dialect)


def _ties(row: str, side: str) -> str:
    """Return the SELECT list of one row's ties; row is OLD, NEW or a table's name."""
    quoted = (f'{row}."{column}"' if column else "NULL" for column in SIDES[side][1])
    return ", ".join(quoted)


def _sqlite() -> list[str]:
    into = f"INSERT INTO touches ({', '.join(TIES)})"
    statements = []
    for table, (columns, _, key) in SIDES.items():
        changed = " OR ".join(f'OLD."{column.name}" IS NOT NEW."{column.name}"' for column in columns.c)
        same_row = f'{table}.account = NEW.account AND {table}."{key}" = NEW."{key}"'
        former = f"SELECT {_ties(table, table)} FROM {table} WHERE {same_row}"  # noqa: S608 -- our names
        old, new = f"SELECT {_ties('OLD', table)}", f"SELECT {_ties('NEW', table)}"
        events = {
            f"{table}_inserted AFTER INSERT ON {table}": new,
            # INSERT OR REPLACE removes the former row without a word unless recursive_triggers is on.
            f"{table}_replaced BEFORE INSERT ON {table}": former,
            # A row that keeps its ties is one touch: UNION leaves equal rows out.
            f"{table}_updated AFTER UPDATE ON {table} WHEN {changed}": f"{old} UNION {new}",
            f"{table}_deleted AFTER DELETE ON {table}": old,
        }
        statements += [f"CREATE TRIGGER {event} BEGIN {into} {rows}; END" for event, rows in events.items()]
    same_entry = "(topic = NEW.topic AND version = NEW.version) OR action_id = NEW.action_id"
    twice = f"WHEN EXISTS (SELECT 1 FROM entries WHERE {same_entry})"  # noqa: S608 -- our names
    refuse = f"BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"
    return [
        *statements,
        f"CREATE TRIGGER entries_added_once BEFORE INSERT ON entries {twice} {refuse}",
        f"CREATE TRIGGER entries_unchanged BEFORE UPDATE ON entries {refuse}",
        f"CREATE TRIGGER entries_kept BEFORE DELETE ON entries {refuse}",
    ]


def _postgresql() -> list[str]:
    # The transaction's own number, because a counter's would follow the order of writing, not of commits.
    number = "pg_current_xact_id()::text::bigint"
    into = f"INSERT INTO touches (xact, {', '.join(TIES)})"
    refusal = f"RAISE EXCEPTION '{APPEND_ONLY}' USING ERRCODE = 'integrity_constraint_violation'"
    statements = [_function("entries_refused", refusal)]
    for table in SIDES:
        old, new = f"SELECT {number}, {_ties('OLD', table)}", f"SELECT {number}, {_ties('NEW', table)}"
        everything = f"{into} SELECT {number}, {_ties(table, table)} FROM {table}"  # noqa: S608 -- our names
        changed = f"""
            IF TG_OP = 'INSERT' THEN {into} {new};
            ELSIF TG_OP = 'DELETE' THEN {into} {old};
            ELSIF OLD IS DISTINCT FROM NEW THEN {into} {old} UNION {new};
            END IF"""
        statements += [
            _function(f"{table}_changed", changed),
            _function(f"{table}_truncated", everything),
            _trigger(
                f"{table}_changed AFTER INSERT OR UPDATE OR DELETE ON {table}", "ROW", f"{table}_changed"
            ),
            _trigger(f"{table}_truncated BEFORE TRUNCATE ON {table}", "STATEMENT", f"{table}_truncated"),
        ]
    return [
        *statements,
        _trigger("entries_kept BEFORE UPDATE OR DELETE ON entries", "ROW", "entries_refused"),
        _trigger("entries_not_truncated BEFORE TRUNCATE ON entries", "STATEMENT", "entries_refused"),
    ]


def _function(name: str, body: str) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION recon_{name}() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN {body}; RETURN NULL; END $$"
    )


def _trigger(event: str, each: str, function: str) -> str:
    return f"CREATE TRIGGER {event} FOR EACH {each} EXECUTE FUNCTION recon_{function}()"
