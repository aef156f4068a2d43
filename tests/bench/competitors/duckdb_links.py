"""Hand-written SQL in DuckDB: the strong links, and how many intents each confirmed rule would count.

The two tables are its own, in memory, loaded before the clock begins. It writes no evidence, no sentence,
no money; it infers nothing; it knows no repeats, no twins, no strays, no coverage, and trusts every row.
"""

import sys

import duckdb  # type: ignore[import-not-found] # In an environment of its own.

from tests.bench.competitors import stopwatch

# A file that names neither an operator's key nor a request's has no link by them, so nothing is asked of it.
LINKS = """
CREATE TEMP TABLE links AS
WITH claims AS (
    SELECT account, refund_id, arg_min(rowid, (created_at, key)) AS intent
    FROM intents WHERE refund_id IS NOT NULL GROUP BY ALL
)
SELECT r.rowid AS refund, coalesce(named.rowid, claims.intent) AS intent,
    r.status NOT IN ('failed', 'canceled') AS live,
    CASE WHEN named.rowid IS NOT NULL THEN 'intent_key'
        WHEN claims.intent IS NOT NULL THEN 'refund_id' END AS basis
FROM refunds r
LEFT JOIN intents named ON named.account = r.account AND named.key = r.intent_key
LEFT JOIN claims ON claims.account = r.account AND claims.refund_id = r.id
"""
COUNTS = """
WITH sums AS (
    SELECT l.intent, count(*) FILTER (live) AS live, count(*) FILTER (NOT live) AS dead,
        sum(r.amount_minor) FILTER (live) AS total,
        bool_and(r.currency = i.currency) FILTER (live) AS at_home,
        count(*) FILTER (live AND r.status IN ('pending', 'requires_action')
            AND r.created_at <= $as_of::TIMESTAMPTZ - INTERVAL 7 DAY) AS late
    FROM links l JOIN refunds r ON r.rowid = l.refund JOIN intents i ON i.rowid = l.intent GROUP BY 1
)
SELECT CASE
    WHEN live > 1 AND (NOT at_home OR total > amount_minor) THEN 'duplicate'
    WHEN live = 1 AND NOT at_home THEN 'currency_mismatch'
    WHEN live > 0 AND total <> amount_minor THEN 'amount_mismatch'
    WHEN live > 0 AND status IN ('failed', 'cancelled') THEN 'status_mismatch'
    WHEN live = 1 AND status IN ('pending', 'pending_unknown') THEN 'healable'
    WHEN coalesce(live, 0) = 0 AND status = 'done' AND dead > 0 THEN 'refund_failed'
    WHEN coalesce(live, 0) = 0 AND status = 'done'
        AND updated_at <= $as_of::TIMESTAMPTZ - INTERVAL 15 MINUTE THEN 'missing'
    WHEN status IN ('pending', 'pending_unknown')
        AND coalesce(first_sent_at, created_at) <= $as_of::TIMESTAMPTZ - INTERVAL 60 MINUTE THEN 'stuck'
    WHEN late > 0 THEN 'overdue'
    END AS kind, count(*)
FROM intents i LEFT JOIN sums ON sums.intent = i.rowid GROUP BY 1
"""
LINKED = "SELECT coalesce(basis, 'none'), count(*) FROM links GROUP BY 1"


def main() -> None:
    """Load both files; link and count."""
    intents, refunds, as_of = sys.argv[1:4]
    database = duckdb.connect()
    for name, path in (("intents", intents), ("refunds", refunds)):
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet('{path}')")  # noqa: S608 - ours.

    def counted() -> dict[str, dict[str, int]]:
        database.execute(LINKS)
        linked = dict(database.execute(LINKED).fetchall())
        kinds = database.execute(COUNTS, {"as_of": as_of}).fetchall()
        return {"linked": linked, "kinds": {kind: count for kind, count in kinds if kind is not None}}

    stopwatch.tell(counted, dict, "duckdb")


if __name__ == "__main__":
    main()
