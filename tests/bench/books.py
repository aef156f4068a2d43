"""Two large parquet files with mismatches at one in a thousand a kind; the same rows for the same seed.

python -m tests.bench.books ROWS FOLDER [SEED] writes them in a process of its own, so that whoever measures
stays small.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FIRST = pd.Timestamp("2026-03-01T00:00:00Z")
SPREAD_DAYS = 5
AS_OF = "2026-03-20T00:00:00Z"
ONE_IN = 1000
GROUPS = 14


def files(rows: int, folder: Path) -> tuple[Path, Path]:
    """Return where the intents and the refunds of so many rows are, or will be."""
    return folder / f"intents-{rows}.parquet", folder / f"refunds-{rows}.parquet"


def write(rows: int, folder: Path, *, seed: int = 1) -> tuple[Path, Path]:
    """Write about so many intents and as many refunds, both in random order, and return the two files.

    Of each rows // ONE_IN: every kind, and duplicates in three ways: two refunds of one intent, two intents
    of one payment, a twin of a linked refund. As many are healable, linked by their id alone, and inferred.
    """
    random = np.random.default_rng(seed)
    intents, refunds = _pair(rows, random)
    groups = iter(np.array_split(random.permutation(rows)[: rows // ONE_IN * GROUPS], GROUPS))
    refunds.loc[next(groups), "amount_minor"] += 1
    refunds.loc[next(groups), "currency"] = "jpy"
    intents.loc[next(groups), "status"] = "failed"
    refunds.loc[next(groups), "status"] = "failed"
    intents.loc[next(groups), "status"] = "pending_unknown"
    refunds.loc[next(groups), "status"] = "pending"
    missing, stuck = next(groups), next(groups)
    gone = refunds.index.isin([*missing, *stuck])
    intents.loc[stuck, "status"] = "pending_unknown"
    twice = refunds.loc[next(groups)].assign(id=lambda rows: rows["id"] + "x")
    twice["created_at"] += pd.Timedelta("60s")
    strange = refunds.loc[next(groups)].assign(id=lambda rows: rows["id"] + "y", intent_key=None)
    strange["payment_intent"] += "y"
    twins = refunds.loc[next(groups)].assign(id=lambda rows: rows["id"] + "z", intent_key=None)
    twins["created_at"] += pd.Timedelta("120s")
    asked, made = _again(intents, refunds, next(groups))
    by_id, inferred = next(groups), next(groups)
    refunds.loc[[*by_id, *inferred], "intent_key"] = None
    intents.loc[inferred, "refund_id"] = None

    folder.mkdir(parents=True, exist_ok=True)
    whole = pd.concat([intents, asked]), pd.concat([refunds[~gone], twice, strange, twins, made])
    written = files(rows, folder)
    for frame, path in zip(whole, written, strict=True):
        frame.sample(frac=1, random_state=seed).to_parquet(path, index=False)
    return written


def _again(
    intents: pd.DataFrame, refunds: pd.DataFrame, some: NDArray[np.int64]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return some intents as asked for once more under another key, and the refunds made of that."""
    asked, made = intents.loc[some].copy(), refunds.loc[some].copy()
    later = pd.Timedelta("180s")
    for frame, key, own in ((asked, "key", "refund_id"), (made, "intent_key", "id")):
        frame[key] += "-2"
        frame[own] += "-2"
    for column in ("created_at", "updated_at", "first_sent_at"):
        asked[column] += later
    made["created_at"] += later
    return asked, made


def _pair(rows: int, random: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return intents and the refunds that agree with them, one each."""
    numbers = pd.Series(np.arange(rows)).astype(str).str.zfill(16)
    created = FIRST + pd.to_timedelta(random.integers(0, SPREAD_DAYS * 86_400 * 10**6, rows), unit="us")
    amount = random.integers(100, 50_000, rows)
    currency = random.choice(["usd", "eur", "gbp"], rows)
    intents = pd.DataFrame(
        {
            "key": "refund_order:" + numbers,
            "account": "",
            "order_id": "o" + numbers,
            "payment": "pi_" + numbers,
            "amount_minor": amount,
            "currency": currency,
            "status": "done",
            "refund_id": "re_" + numbers,
            "created_at": created,
            "updated_at": created + pd.Timedelta("2s"),
            "first_sent_at": created,
            "tool": "refund_order",
            "customer_id": "cus_" + numbers,
        }
    )
    refunds = pd.DataFrame(
        {
            "id": "re_" + numbers,
            "account": "",
            "payment_intent": "pi_" + numbers,
            "charge": "ch_" + numbers,
            "amount_minor": amount,
            "currency": currency,
            "status": "succeeded",
            "created_at": (created + pd.Timedelta("1s")).floor("s"),
            "intent_key": "refund_order:" + numbers,
            "reason": "requested_by_customer",
        }
    )
    return intents, refunds


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]), seed=int(sys.argv[3]) if sys.argv[3:] else 1)
