"""Several rows of one refund or intent: equal ones are one; of different ones one stands, or none.

Versions of a refund may differ in status, reasons and keys. In amount, currency or payment they may not,
because the provider never changes those; a charge stands for the PaymentIntent that any row shows for it.
Creation times may differ, because extracts round them: the standing version's holds.
"""

import re
from collections.abc import Hashable, Iterable, Mapping

import pandas as pd

from recon.model import arrays, hashes
from recon.model.cells import shown
from recon.model.records.results import Reject
from recon.model.records.words import NO_PROGRESS, PROGRESS, AccountId
from recon.model.sheets import Table

KEYS = ("intent_key", "request_key", "operator_key")
"""Where a refund names intents."""
PAYMENT_OF_REFUND = ("payment_intent", "charge")
PAYMENT_OF_INTENT = ("payment",)

Settled = tuple[pd.DataFrame, list[Reject], int, int]
"""The rows that stand, those of which nobody can say, how many are superseded, and how many equal another."""

# What exports write where there is no id. In one row it may pass for one; several rows are not one refund.
_PLACEHOLDER = re.compile(
    r"(?i)n/?a|#n/a|none|null|nil|nan|undefined|unknown|missing|tbd|[-\u2013\u2014?.]+|\\N"
    r"|([a-z]+_)*(0{6,}|x{6,}|(.)\3{11,})"
)


def settled_refunds(table: Table) -> Settled:
    """Return one row per refund, and what became of the other rows."""
    repeated = _repeated(table.frame, "id")
    if repeated is None:
        return table.frame, [], 0, 0
    versions = _distinct(table, repeated, "id")
    differing = _differing(table.frame, versions)
    whys = {group: _why_refund(row) for group, row in differing[differing.any(axis=1)].iterrows()}
    whys |= _placeholders(versions, "id")
    conflicting = versions["group"].isin(list(whys))
    refused = [
        _reject(row, "id", KEYS, PAYMENT_OF_REFUND, reason=whys[row["group"]])
        for row in versions[conflicting].to_dict("records")
    ]
    ordered = _furthest_first(versions[~conflicting])
    standing = ordered.drop_duplicates("group").set_index("group")
    for column in (*KEYS, *PAYMENT_OF_REFUND):
        standing[column] = ordered.groupby("group")[column].first()
    superseded = len(ordered) - len(standing)
    duplicates = int(repeated.sum()) - len(versions)
    return _standing(table.frame, repeated, standing), refused, superseded, duplicates


def settled_intents(table: Table) -> Settled:
    """Return one row per intent, and what became of the other rows."""
    repeated = _repeated(table.frame, "key")
    if repeated is None:
        return table.frame, [], 0, 0
    versions = _distinct(table, repeated, "key")
    whys = _placeholders(versions, "key")
    latest = versions["updated_at"] == versions.groupby("group")["updated_at"].transform("max")
    tied = latest.groupby(versions["group"]).transform("sum") > 1
    wrong = tied | versions["group"].isin(list(whys))
    whys = _whys_tied(versions[tied & latest]) | whys
    refused = [
        _reject(row, "key", ("refund_id",), PAYMENT_OF_INTENT, reason=whys[row["group"]])
        for row in versions[wrong].to_dict("records")
    ]
    standing = versions[latest & ~wrong].set_index("group")
    superseded = int((~wrong).sum()) - len(standing)
    duplicates = int(repeated.sum()) - len(versions)
    return _standing(table.frame, repeated, standing), refused, superseded, duplicates


def _placeholders(versions: pd.DataFrame, key: str) -> dict[Hashable, str]:
    """Return, by group, why several different rows with what stands for no id are not versions of one."""
    sizes = versions.groupby("group")[key].agg(["first", "size"])
    return {
        group: f"{key} must be one of its own; found the placeholder {shown(row['first'])},"
        f" which {row['size']} different rows have"
        for group, row in sizes[sizes["size"] > 1].iterrows()
        if _PLACEHOLDER.fullmatch(str(row["first"]))
    }


def _repeated(frame: pd.DataFrame, key: str) -> pd.Series | None:
    """Return which rows share account and key with another; None where none do."""
    may = hashes.repeated(arrays.strings(frame[key]))
    mask = pd.Series(may, index=frame.index)
    mask[may] = frame.loc[may, [key, "account"]].duplicated(keep=False)
    return mask if mask.any() else None


def _distinct(table: Table, repeated: pd.Series, key: str) -> pd.DataFrame:
    """Return the repeated rows, equal ones once, with their group, position and row number as columns."""
    rows = table.frame[repeated]
    fresh = ~rows.duplicated()
    versions = rows[fresh].copy()
    versions["position"] = versions.index
    versions["row"] = table.rows[versions.index]
    versions["source"] = [table.source(position) for position in versions.index]
    versions["group"] = versions.groupby(["account", key], sort=False).ngroup()
    return versions.reset_index(drop=True)


def _differing(frame: pd.DataFrame, versions: pd.DataFrame) -> pd.DataFrame:
    """Return, one row per group, which of the things that may not differ do."""
    payments = versions.assign(payment=_payments(frame, versions)).groupby("group")
    counts = payments[["amount_minor", "currency"]].nunique()
    counts["payment"] = payments["payment"].nunique(dropna=False)
    return counts > 1


def _payments(frame: pd.DataFrame, versions: pd.DataFrame) -> pd.Series:
    """Return each version's payment: its PaymentIntent, else what any row shows for its charge, else that."""
    alone = versions["payment_intent"].isna() & versions["charge"].notna()
    if not alone.any():
        return versions["payment_intent"]
    shown = frame.loc[
        frame["charge"].isin(versions.loc[alone, "charge"]), ["account", "charge", "payment_intent"]
    ]
    known = shown.groupby(["account", "charge"], as_index=False)["payment_intent"].min()
    mapped = versions[["account", "charge"]].merge(known, on=["account", "charge"], how="left")[
        "payment_intent"
    ]
    return versions["payment_intent"].fillna(mapped).fillna(versions["charge"])


def _furthest_first(versions: pd.DataFrame) -> pd.DataFrame:
    """Return versions by group: the furthest status first, then the fuller row, then the greater as text."""
    names = [name for name in versions if name != "source"]
    told = [name for name in names if versions[name].dtype in ("str", "bool") or name == "created_at"]
    texts = versions[told].astype("str").fillna("").add_prefix("text ")
    rank = versions["status"].map(PROGRESS).fillna(NO_PROGRESS)
    keys = texts.assign(group=versions["group"], rank=rank, full=versions.notna().sum(axis=1))
    by = ["group", "rank", "full", *texts.columns]
    order = keys.sort_values(by, ascending=[True, *([False] * (len(by) - 1))], kind="stable").index
    return versions.loc[order]


def _why_refund(differing: pd.Series) -> str:
    """Return why no version of a refund can be taken for the true one."""
    columns = ", ".join(str(column) for column in differing.index[differing])
    return f"the versions of this refund differ in {columns}, which the provider never changes"


def _whys_tied(latest: pd.DataFrame) -> dict[Hashable, str]:
    """Return, by group, why none of an intent's versions stands, the latest ones of each given."""
    untold = latest["updated_at"] == latest["created_at"]  # As where no updated_at is told.
    groups = latest.assign(untold=untold).groupby("group").agg({"key": "first", "untold": "all"})
    return {
        group: f"different rows are about intent {shown(key)}, and no updated_at says which of them is newer"
        if untold
        else f"several versions of intent {shown(key)} share the latest updated_at, so nobody can say which"
        " one stands"
        for group, key, untold in groups.itertuples(name=None)
    }


def _reject(
    row: Mapping[Hashable, object], key: str, names: Iterable[str], payments: Iterable[str], *, reason: str
) -> Reject:
    """Return one version as a reject."""

    def told(columns: Iterable[str]) -> tuple[str, ...]:
        held = (row[name] for name in columns)
        return tuple(dict.fromkeys(text for text in held if isinstance(text, str)))

    return Reject(
        source=str(row["source"]),
        row=int(str(row["row"])),
        id=str(row[key]),
        reason=reason,
        account=AccountId(str(row["account"])),
        names=told(names),
        payments=told(payments),
    )


def _standing(frame: pd.DataFrame, repeated: pd.Series, standing: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that were alone and those that stand, in source order."""
    chosen = standing.set_index("position")[list(frame.columns)].astype(frame.dtypes.to_dict())
    return pd.concat([frame[~repeated], chosen]).sort_index().reset_index(drop=True)
