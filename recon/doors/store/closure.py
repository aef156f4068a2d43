"""The rows a run must judge: those that were touched, and everything tied to them, in temporary tables.

A tie is an account with an intent key, a refund id, a payment (PaymentIntent or charge) or an order. Rows
lead to ties and ties to rows until nothing is added, so that the diff of these rows is the diff of all rows,
as far as these go. Cost follows what was touched, not what there is.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from recon.model.stored import MICROSECOND, microseconds
from recon.model.subjects import OF_INTENTS, OF_REFUNDS

# A resolution that a week of runs did not contradict is left alone.
LOOKED_AT_AFTER_DECISION = timedelta(days=7)

Tie = tuple[str, str, str]  # Account, which of the four below, value.
KEY, REFUND, PAYMENT, ORDER = "k", "r", "p", "o"
# What leads from each table's rows to ties: column and tie.
INTENT_TIES = (("key", KEY), ("refund_id", REFUND), ("payment", PAYMENT), ("order_id", ORDER))
REFUND_TIES = (
    ("id", REFUND),
    ("payment_intent", PAYMENT),
    ("charge", PAYMENT),
    ("intent_key", KEY),
    ("request_key", KEY),
    ("operator_key", KEY),
)
TOUCH_TIES = (
    ("intent_key", KEY),
    ("request_key", KEY),
    ("operator_key", KEY),
    ("refund_id", REFUND),
    ("payment", PAYMENT),
    ("charge", PAYMENT),
    ("order_id", ORDER),
)
SIDES = {"intents": ("key", INTENT_TIES), "refunds": ("id", REFUND_TIES)}

# A subject as the tie it names, and back: both prefixes have seven letters.
SUBJECT_TIE = f"CASE WHEN subject LIKE '{OF_INTENTS}%' THEN '{KEY}' ELSE '{REFUND}' END"
SUBJECT_VALUE = "substr(subject, 8)"
SUBJECTS = (
    f"SELECT account, CASE WHEN tie = '{KEY}' THEN '{OF_INTENTS}' ELSE '{OF_REFUNDS}' END || value "  # noqa: S608 -- our names
    f"FROM ties WHERE tie IN ('{KEY}', '{REFUND}')"
)


def mark(connection: Connection) -> int:
    """Return the number up to which this connection's snapshot sees every touch.

    On PostgreSQL the transactions before the oldest one still at work; on SQLite, where writers go one by
    one, the last.
    """
    query = (
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'touches'"
        if connection.dialect.name == "sqlite"
        else "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1"
    )
    return int(connection.scalar(text(query)) or 0)


def follow(connection: Connection, *, above: int, as_of: datetime, beside: Iterable[Tie] = ()) -> None:
    """Fill the transaction's temporary tables ties, read_intents and read_refunds with what must be judged.

    beside: ties to start from that the database's own tables do not tell.
    """
    _make(connection)
    _seed(connection, above=above, as_of=as_of)
    _add_each(connection, beside)
    step = 0
    while _step(connection, step):
        step += 1


def _make(connection: Connection) -> None:
    columns = {
        "ties": "account TEXT, tie TEXT, value TEXT, step INTEGER, PRIMARY KEY (account, tie, value)",
        "read_intents": 'account TEXT, "key" TEXT, step INTEGER, PRIMARY KEY (account, "key")',
        "read_refunds": "account TEXT, id TEXT, step INTEGER, PRIMARY KEY (account, id)",
    }
    for table, declared in columns.items():
        connection.execute(text(f"CREATE TEMPORARY TABLE {table} ({declared})"))
        connection.execute(text(f"CREATE INDEX {table}_step ON {table} (step)"))


def _seed(connection: Connection, *, above: int, as_of: datetime) -> None:
    number = "id" if connection.dialect.name == "sqlite" else "xact"
    touched = [
        f"SELECT account, '{tie}' AS tie, {column} AS value FROM touches WHERE {number} > :above"  # noqa: S608 -- our names
        for column, tie in TOUCH_TIES
    ]
    subject = f"SELECT account, {SUBJECT_TIE} AS tie, {SUBJECT_VALUE} AS value"
    looked_at = [
        f"{subject} FROM due WHERE at <= :as_of",
        f"{subject} FROM cases WHERE state IN ('open', 'acknowledged')",
        f"{subject} FROM cases WHERE state = 'resolved' AND decided_at >= :decided_since",
        f"{subject} FROM cases WHERE state = 'accepted' AND accepted_until <= :as_of",
    ]
    parameters = {
        "above": above,
        "as_of": microseconds(as_of),
        # In whole numbers: whoever asks for the first day of all has none before it.
        "decided_since": microseconds(as_of) - LOOKED_AT_AFTER_DECISION // MICROSECOND,
    }
    for query in [*touched, *looked_at]:
        _add_ties(connection, query, 0, parameters)


def _step(connection: Connection, step: int) -> bool:
    """Follow the ties found in this step to rows, and those to new ties; return whether there are any."""
    if connection.dialect.name == "postgresql":
        # Temporary tables have no statistics until they are asked for, and no plan is worse than one without.
        connection.execute(text("ANALYZE ties"))
    found = 0
    for table, (key, ties) in SIDES.items():
        for column, tie in ties:
            # CROSS JOIN keeps SQLite to the order ties first, rows by index.
            query = (
                f'INSERT INTO read_{table} SELECT DISTINCT x.account, x."{key}", {step} '  # noqa: S608 -- our names
                f"FROM ties t CROSS JOIN {table} x WHERE t.step = {step} AND t.tie = '{tie}' "
                f'AND x.account = t.account AND x."{column}" = t.value ON CONFLICT DO NOTHING'
            )
            found += connection.execute(text(query)).rowcount
    if not found:
        return False
    added = 0
    for table, (key, ties) in SIDES.items():
        for column, tie in ties:
            query = (
                f"SELECT x.account, '{tie}' AS tie, x.\"{column}\" AS value "  # noqa: S608 -- our names
                f"FROM read_{table} s CROSS JOIN {table} x WHERE s.step = {step} "
                f'AND x.account = s.account AND x."{key}" = s."{key}"'
            )
            added += _add_ties(connection, query, step + 1, {})
    return added > 0


def _add_each(connection: Connection, ties: Iterable[Tie]) -> None:
    rows = [{"account": account, "tie": tie, "value": value} for account, tie, value in ties]
    if rows:
        adding = "INSERT INTO ties VALUES (:account, :tie, :value, 0) ON CONFLICT DO NOTHING"
        connection.execute(text(adding), rows)


def _add_ties(connection: Connection, query: str, step: int, parameters: dict[str, int]) -> int:
    adding = (
        f"INSERT INTO ties SELECT DISTINCT account, tie, value, {step} FROM ({query}) AS found "  # noqa: S608 -- our names
        "WHERE value IS NOT NULL AND value <> '' ON CONFLICT DO NOTHING"
    )
    return connection.execute(text(adding), parameters).rowcount
