"""Control totals: how many rows of each side were compared, and their money, per currency and status.

They are for tying a report to a sum that somebody made of the same file. Currencies are never added.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import arrays
from recon.model.frames import Intake
from recon.model.records.reports import Total
from recon.model.records.results import Money
from recon.model.records.words import DEAD, IntentStatus, RefundStatus

_HALF = 32  # Bits: amounts are added in two halves, so that no sum of them passes an int64.
_UNKNOWN = "of a status we do not know"
SYSTEM = "made by the provider itself"
_OURS = tuple(map(str, IntentStatus))
_THEIRS = (*map(str, RefundStatus), _UNKNOWN, SYSTEM)
# What money went out by, or is on its way.
_LIVE = frozenset(_THEIRS) - {*map(str, DEAD), SYSTEM}

Sums = Mapping[str, Mapping[str, tuple[int, int]]]
"""By currency and status: how many, and how much in minor units."""


def of(intents: Intake, refunds: Intake) -> tuple[Total, ...]:
    """Return the totals of both sides, by currency: one for each status, then what they come to together.

    Of refunds those that are live also have a sum of their own.
    """
    theirs = refunds.frame
    status = arrays.strings(theirs["status"])
    known = pc.is_in(status, value_set=pa.array(map(str, RefundStatus), pa.large_string()))
    status = pc.if_else(known, status, pa.scalar(_UNKNOWN, pa.large_string()))
    system = pa.array(theirs["system"].to_numpy())
    status = pc.if_else(system, pa.scalar(SYSTEM, pa.large_string()), status)
    ours = _sums(intents.frame, arrays.strings(intents.frame["status"]))
    return (
        *_told("intents", ours, _OURS, {"together": frozenset(_OURS)}),
        *_told(
            "refunds",
            _sums(theirs, status),
            _THEIRS,
            {"together": frozenset(_THEIRS), "live: went out, or will": _LIVE},
        ),
    )


def _sums(frame: pd.DataFrame, status: pa.Array) -> Sums:
    amounts = frame["amount_minor"].to_numpy()
    rows = pa.table(
        {
            "currency": arrays.strings(frame["currency"]),
            "status": status,
            "high": pa.array(amounts >> _HALF),
            "low": pa.array(amounts & np.int64((1 << _HALF) - 1)),
        }
    )
    found: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    grouped = rows.group_by(["currency", "status"]).aggregate(
        [("high", "sum"), ("low", "sum"), ([], "count_all")]
    )
    for row in grouped.to_pylist():
        amount = (row["high_sum"] << _HALF) + row["low_sum"]
        found[row["currency"]][row["status"]] = row["count_all"], amount
    return found


def _told(
    side: str, sums: Sums, order: Sequence[str], together: Mapping[str, frozenset[str]]
) -> Iterator[Total]:
    for currency, by_status in sorted(sums.items()):
        for status in order:
            if status in by_status:
                number, amount = by_status[status]
                yield Total(side, status, number, Money(amount, currency))
        for name, statuses in together.items():
            parts = [part for status, part in by_status.items() if status in statuses]
            number, amount = (sum(column) for column in zip((0, 0), *parts, strict=True))
            yield Total(side, name, number, Money(amount, currency), is_sum=True)
