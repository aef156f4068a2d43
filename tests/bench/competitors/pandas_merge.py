"""A plain pandas outer merge on the key that the refunds carry. It classifies nothing.

python pandas_merge.py INTENTS REFUNDS in memory: only the merge is timed. With --quiet nothing is printed but
the counts: reading and merging as a process, for whoever times that from outside.
"""

import sys

import pandas as pd

from tests.bench.competitors import stopwatch


def main() -> None:
    """Read both files; merge them."""
    intents, refunds = (pd.read_parquet(path) for path in sys.argv[1:3])

    def merged() -> pd.DataFrame:
        here, there = ["account", "key"], ["account", "intent_key"]
        return intents.merge(refunds, how="outer", left_on=here, right_on=there, indicator=True)

    if "--quiet" in sys.argv:
        print(_sides(merged()))
    else:
        stopwatch.tell(merged, _sides, "pandas", "pyarrow", "numpy")


def _sides(merged: pd.DataFrame) -> dict[str, int]:
    """Return how many rows have both sides, and how many only one."""
    return {str(side): int(count) for side, count in merged["_merge"].value_counts().items()}


if __name__ == "__main__":
    main()
