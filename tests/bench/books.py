"""Two large parquet files with mismatches at one in a thousand a kind; the same rows for the same seed."""

from pathlib import Path

import numpy as np
import pandas as pd

FIRST = pd.Timestamp("2026-03-01T00:00:00Z")
SPREAD_DAYS = 5
AS_OF = "2026-03-20T00:00:00Z"
ONE_IN = 1000


def write(rows: int, folder: Path, *, seed: int = 1) -> tuple[Path, Path]:
    """Write rows intents and rows refunds, both in random order, and return the two files."""
    random = np.random.default_rng(seed)
    intents, refunds = _pair(rows, random)
    groups = iter(np.array_split(random.permutation(rows)[: rows // ONE_IN * 10], 10))
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
    refunds = pd.concat([refunds[~gone], twice, strange])

    folder.mkdir(parents=True, exist_ok=True)
    files = folder / f"intents-{rows}.parquet", folder / f"refunds-{rows}.parquet"
    intents.sample(frac=1, random_state=seed).to_parquet(files[0], index=False)
    refunds.sample(frac=1, random_state=seed).to_parquet(files[1], index=False)
    return files


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
