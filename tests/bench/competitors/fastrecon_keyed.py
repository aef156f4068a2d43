"""fastrecon's keyed comparison of the same two tables, held in memory as Arrow, at its defaults.

The refunds' columns are named as the intents' are before the clock begins: with a mapping of its own it fails
where a mapped name is a column of the other side too. Its engine asks the network for two extensions that
comparing does not need; it is told of a repository that is not there, so that no wait counts against it.
"""

import sys
from functools import partial
from typing import Any

import duckdb  # type: ignore[import-not-found] # In an environment of its own.
import fastrecon  # type: ignore[import-not-found] # As above.
import pyarrow.parquet as pq
from fastrecon.sources.base import Source  # type: ignore[import-not-found] # As above.

from tests.bench.competitors import stopwatch

NAMES = {"intent_key": "key", "id": "refund_id", "payment_intent": "payment"}
NOWHERE = {"custom_extension_repository": "/nowhere"}


class Held(Source):  # type: ignore[misc] # It ships no types.
    """A table in memory."""

    def __init__(self, table: object) -> None:
        self._table = table

    def register(self, con: Any, view_name: str) -> str:  # noqa: ANN401 - duckdb's connection.
        """Let the engine see the table under this name, without a copy."""
        con.register(view_name, self._table)
        return f'SELECT * FROM "{view_name}"'  # noqa: S608 - the engine's own name.


def main() -> None:
    """Read both files; compare them."""
    duckdb.connect = partial(duckdb.connect, config=NOWHERE)
    intents, refunds = (pq.read_table(path) for path in sys.argv[1:3])
    refunds = refunds.rename_columns([NAMES.get(name, name) for name in refunds.column_names])

    def compared() -> Any:  # noqa: ANN401 - it is of no type here.
        return fastrecon.compare(Held(intents), Held(refunds), keys=["account", "key"])

    stopwatch.tell(compared, _said, "fastrecon", "duckdb", "polars", "pyarrow")


def _said(told: Any) -> dict[str, int]:  # noqa: ANN401 - as above.
    """Return what it counted."""
    assert told.error is None, told.error
    return {
        "only_intents": told.missing_in_right,
        "changed": told.changed_rows,
        "repeated_keys": told.duplicate_keys_right,
    }


if __name__ == "__main__":
    main()
