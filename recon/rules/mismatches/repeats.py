"""Rule 4: intents refunded soon after another one like them, with nothing to say that it is a repeat."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import Links
from recon.model.records.results import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """The intents that repeat another one.

    before: per intent, the intent whose first refund comes before its own within the window in its group,
    else -1. declared: how many intents have such a one only when references are ignored.
    """

    before: Ints
    declared: int


def find(intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, first: Ints, policy: Policy) -> Repeats:
    """Return the repeats; first is each intent's first live refund, -1 where it has none."""
    before = np.full(len(intents), ABSENT, np.int64)
    table = _candidates(intents, refunds, links, first)
    if table.empty:
        return Repeats(before, 0)
    window = arrays.microseconds(policy.repeat_window)
    alike = arrays.group(
        *(table[name].to_numpy() for name in ("account", "kind", "place", "amount", "currency"))
    )
    same = arrays.group(alike, table["reference"].to_numpy())
    undeclared = _preceding(table, same, window)
    anyhow = _preceding(table, alike, window)
    before[table["intent"].to_numpy()] = undeclared
    return Repeats(before, int(((anyhow != ABSENT) & (undeclared == ABSENT)).sum()))


def _candidates(intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, first: Ints) -> pd.DataFrame:
    """Return the intents that share a payment, or an order, with another, in time order of first refunds.

    One row per such intent: place is a code of the payment of its first refund (kind 0), or of its order
    where that has none (kind 1).
    """
    refunded = np.flatnonzero(first != ABSENT)
    payment = links.refund_payment[first[refunded]]
    shared = _shared(payment)
    orders = refunded[payment == ABSENT]
    (order,), _ = arrays.encode(arrays.strings(intents["order_id"].iloc[orders]))
    shared_order = _shared(order)

    chosen = np.concatenate([refunded[shared], orders[shared_order]])
    rows = intents.iloc[chosen]
    (currency,), _ = arrays.encode(arrays.strings(rows["currency"]))
    (reference,), _ = arrays.encode(arrays.strings(rows["reference"]))
    table = pd.DataFrame(
        {
            "intent": chosen,
            "account": links.intent_account[chosen],
            "kind": np.repeat([0, 1], [int(shared.sum()), int(shared_order.sum())]),
            "place": np.concatenate([payment[shared], order[shared_order]]),
            "amount": rows["amount_minor"].to_numpy(),
            "currency": currency,
            "reference": reference,
            "at": arrays.times(refunds["created_at"])[first[chosen]],
            "id": refunds["id"].iloc[first[chosen]].to_numpy(object),
        }
    )
    return table.sort_values(["at", "id"], kind="stable", ignore_index=True)


def _shared(codes: Ints) -> Bools:
    """Return which codes occur more than once; a missing one never does."""
    counts = np.bincount(codes[codes != ABSENT], minlength=1)
    return np.asarray((codes != ABSENT) & (counts[codes] > 1))


def _preceding(table: pd.DataFrame, groups: Ints, window: int) -> Ints:
    """Return per row, rows in time order, the intent before it in its group if at most a window earlier."""
    grouped = table.groupby(groups, sort=False)
    gap = table["at"] - grouped["at"].shift(fill_value=np.iinfo(np.int64).min // 2)
    return np.where(gap <= window, grouped["intent"].shift(fill_value=ABSENT), ABSENT).astype(np.int64)
