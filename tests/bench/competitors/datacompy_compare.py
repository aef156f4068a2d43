"""datacompy's comparison of the two frames, joined on the key, column by column where the names are the same.

The refunds' columns are named as the intents' are before the clock begins. Only the comparison is timed, not
its report.
"""

import sys
from typing import Any

import datacompy  # type: ignore[import-not-found] # In an environment of its own.
import pandas as pd

from tests.bench.competitors import stopwatch

NAMES = {"intent_key": "key", "id": "refund_id", "payment_intent": "payment"}


def main() -> None:
    """Read both files; compare them."""
    intents, refunds = (pd.read_parquet(path) for path in sys.argv[1:3])
    refunds = refunds.rename(columns=NAMES)

    def compared() -> Any:  # noqa: ANN401 - it is of no type here.
        return datacompy.PandasCompare(intents, refunds, join_columns=["account", "key"])

    stopwatch.tell(compared, _said, "datacompy", "pandas", "pyarrow", "numpy")


def _said(told: Any) -> dict[str, int]:  # noqa: ANN401 - as above.
    """Return how many rows it set side by side, and how many it could not."""
    return {
        "both": len(told.intersect_rows),
        "only_intents": len(told.df1_unq_rows),
        "only_refunds": len(told.df2_unq_rows),
    }


if __name__ == "__main__":
    main()
