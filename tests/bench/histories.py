"""A database that looks as after years of saved runs: intents, each with its refund, all in agreement.

The schema, its indexes and its triggers are the real ones; rows come in by bulk while indexes and triggers
are away. One in a thousand had a case once, which was cleared. The bench never waits for any of this.
"""

import sqlite3
from datetime import datetime
from pathlib import Path

from sqlalchemy import text

from recon.doors.store import triggers
from recon.doors.store.engines import Database
from recon.doors.store.rows import mismatch_document
from recon.model.records.words import Kind
from recon.model.stored import canonical, microseconds
from tests.builders import a_mismatch

ONE_IN = 1000
# Odd, so that every number below the second has an image of its own there: keys and ids are as scattered as
# hashes are, and an index is not only written at its end.
SCATTER, ROOM = 2_654_435_761, 1 << 40


def scattered(number: int) -> str:
    """Return ten hexadecimal digits that no other number has."""
    return f"{number * SCATTER % ROOM:010x}"


def fill(path: Path, rows: int, *, oldest: datetime, newest: datetime) -> None:
    """Put so many intents and refunds, made between these times, into a migrated database without touches."""
    with sqlite3.connect(path, isolation_level=None) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
            connection.execute(f"PRAGMA {pragma}")
        indexes = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
            "AND tbl_name IN ('intents', 'refunds', 'cases')"
        ).fetchall()
        named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in named:
            connection.execute(f"DROP TRIGGER {name}")
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        step = (microseconds(newest) - microseconds(oldest)) // rows
        numbers = {"rows": rows, "first": microseconds(oldest), "step": step, "one_in": ONE_IN}
        evidence = canonical(mismatch_document(a_mismatch(kind=Kind.MISSING)))
        for statement in (INTENTS, REFUNDS, CASES, ENTRIES):
            connection.execute(
                NUMBERED + statement, numbers | {"mismatch": evidence, "scatter": SCATTER, "room": ROOM}
            )
        for _, statement in indexes:
            connection.execute(statement)
    with Database.open(f"sqlite:///{path}") as database, database.write() as connection_again:
        triggers.install(connection_again)
        assert not connection_again.scalar(text("SELECT count(*) FROM touches"))
    connection.close()


# n from 0; x is what is scattered of it; at is when it was made.
NUMBERED = """
WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < :rows),
numbered AS (
    SELECT n, printf('%010x', n * :scatter % :room) AS x, :first + n * :step AS at,
        :one_in AS one_in, :mismatch AS mismatch FROM counted
)
"""
INTENTS = """
INSERT INTO intents (account, key, order_id, payment, amount_minor, currency, status, refund_id, created_at,
    updated_at, first_sent_at, tool, customer_id, mapped)
SELECT '', 'refund_order:' || x, 'order_' || x, 'pi_' || x, 100 + n % 50000, 'usd', 'done', 're_' || x, at,
    at + 2000000, at, 'refund_order', 'cus_' || x, 0
FROM numbered ORDER BY x
"""
REFUNDS = """
INSERT INTO refunds (account, id, payment_intent, charge, amount_minor, currency, status, created_at,
    intent_key, request_key, system, reason)
SELECT '', 're_' || x, 'pi_' || x, 'ch_' || x, 100 + n % 50000, 'usd', 'succeeded', at / 1000000 * 1000000,
    'refund_order:' || x, 'refund_order:' || x, 0, 'requested_by_customer'
FROM numbered ORDER BY x
"""
CASES = """
INSERT INTO cases (id, account, subject, kind, certainty, state, version, head, waiting, rank, pinned,
    at_risk_minor, currency, since, opened_at, updated_at, intent_key, order_id, customer_id, payment,
    mismatch)
SELECT 'C-' || x, '', 'intent:refund_order:' || x, 'missing', 'confirmed', 'cleared', 2, 'head' || x, 0, 1, 0,
    0, 'usd', at, at, at, 'refund_order:' || x, 'order_' || x, 'cus_' || x, 'pi_' || x, mismatch
FROM numbered WHERE n % one_in = 0
"""
ENTRIES = """
INSERT INTO entries (topic, version, action, actor, at, reason, from_state, to_state, action_id,
    previous_hash, hash)
SELECT 'C-' || x, v, CASE v WHEN 1 THEN 'opened' ELSE 'cleared' END, 'recon', at, 'of the history',
    CASE v WHEN 1 THEN NULL ELSE 'open' END, CASE v WHEN 1 THEN 'open' ELSE 'cleared' END, x || v, '',
    'hash' || x || v
FROM numbered, (SELECT 1 AS v UNION ALL SELECT 2) WHERE n % one_in = 0
"""
