"""The queue as a grid, and money as people read it.

Every cell is text that went through `safe`; an amount is never a frame's number, which could become a float.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from dashboard import safe, times, words
from recon.model import money as units
from recon.model.records.cases import Case
from recon.model.records.results import Money
from recon.model.records.words import Certainty

COLUMNS: Final = ("Severity", "Kind", "At risk", "Order", "Customer", "Owner", "State", "Opened", "Case")


def money(amount: Money) -> str:
    """Return the amount in major units with its thousands apart: "1,234.50 USD".

    A currency that is not the provider's, in a row of somebody else's, is said in minor units.
    """
    if amount.currency not in units.EXPONENTS:
        name = "".join(filter(str.isalnum, amount.currency))[:8].upper()
        return f"{amount.amount_minor} minor units of {name or 'no currency'}"
    return units.written(amount)


def kind(case: Case) -> str:
    """Return what is wrong in a phrase of ours, and that it is only likely where it is."""
    phrase = words.KINDS[case.mismatch.kind]
    return f"{phrase} (probable)" if case.mismatch.certainty is Certainty.PROBABLE else phrase


def owner(case: Case) -> str:
    """Return who must answer the case."""
    return case.owner.name if case.owner else words.NOBODY


def queue(cases: Iterable[Case], now: datetime, zone: tzinfo) -> pd.DataFrame:
    """Return the queue's grid: one row per case in the same order, columns COLUMNS, all text."""
    rows = [
        (
            words.SEVERITIES[case.severity],
            kind(case),
            money(case.mismatch.at_risk),
            safe.cell(case.mismatch.order_id),
            safe.cell(case.mismatch.customer_id),
            safe.cell(owner(case)),
            words.STATES[case.state],
            times.short(case.opened_at, now, zone),
            safe.cell(case.id),
        )
        for case in cases
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype="str")


def queue_columns(now: datetime, zone: tzinfo) -> Mapping[str, ColumnConfig]:
    """Return how the queue's columns are shown: amounts to the right, the zone in the times' heading."""
    config = st.column_config
    return {
        "Severity": config.TextColumn(width=64),
        "Kind": config.TextColumn(width=174),
        "At risk": config.TextColumn(width=94, alignment="right"),
        "Order": config.TextColumn(width=80),
        "Customer": config.TextColumn(width=156),
        "Owner": config.TextColumn(width=117),
        "State": config.TextColumn(width=98),
        "Opened": config.TextColumn(f"Opened ({times.zone_name(now, zone)})", width=102),
        "Case": config.TextColumn(width=114),
    }
