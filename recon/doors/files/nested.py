"""Tables whose cells hold the provider's objects: raw records of an extract tool, charges with refunds.

Never judges an object.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recon.doors.files.pieces import Reading
from recon.model import columns, values
from recon.model.columns import REFUNDS

_RECORD = "_airbyte_data"
_OF_CHARGES = ("id", "account", "payment_intent", "amount_refunded", "refunded")


def inner(names: Sequence[str], reading: Reading) -> Sequence[str]:
    """Return the columns out of which objects are made; none where the table's rows are rows of the side."""
    if reading.told.columns:
        return ()
    found = {name.lower(): name for name in reversed(names)}
    plain = set(columns.recognise(names, reading.side).columns)
    if _RECORD in found and not plain & set(columns.NEEDED[reading.side]):
        return (found[_RECORD],)
    ours = {"amount_minor", "created_at"} & found.keys()
    if reading.side == REFUNDS and "refunds" in found and "id" in found and not ours:
        return [found[name] for name in (*_OF_CHARGES, "refunds") if name in found]
    return ()


def items(held: Mapping[str, Any]) -> Iterator[object]:
    """Yield an object for each row of some columns: an envelope, or a charge."""
    lists = [column.to_pylist() for column in held.values()]
    names = [name.lower() for name in held]
    for cells in zip(*lists, strict=True):
        row = dict(zip(names, cells, strict=True))
        yield row if _RECORD in row else _charge(row)


def _charge(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row of a table of charges as the provider's object."""
    refunds, amount = row.get("refunds"), row.get("amount_refunded")
    if isinstance(refunds, str):
        try:
            refunds = values.parsed(refunds) if refunds.strip() else None
        except (ValueError, RecursionError):  # Cut off at a column's width.
            refunds = values.Unreadable("refunds that are no JSON")
    if isinstance(amount, str) and amount.strip().isdecimal():
        amount = int(amount)
    if refunds is None and amount is None:  # A list of no refunds, as tables write it.
        refunds = []
    return {**row, "object": "charge", "refunds": refunds, "amount_refunded": amount}
