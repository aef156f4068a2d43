"""The queue as a grid, and money as people read it.

Every cell is text that went through `safe`; an amount is never a frame's number, which could become a float.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from dashboard import safe, times, words
from recon.model import money as units
from recon.model import phrases, subjects
from recon.model.records.cases import Case
from recon.model.records.queues import WAITING
from recon.model.records.results import Money
from recon.model.records.words import Certainty

COLUMNS: Final = (
    "Severity",
    "Kind",
    "At risk",
    "Order or refund",
    "Customer",
    "Owner",
    "State",
    "Opened",
    "Case",
)


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


def subject(case: Case) -> str | None:
    """Return what people call it by: its order, else a refund; None where it has neither."""
    side, named = subjects.parted(case.subject)
    refund = named if side == subjects.REFUND else None
    return case.mismatch.order_id or refund or next(iter(case.mismatch.refund_ids), None)


def asleep(case: Case, now: datetime) -> bool:
    """Return whether somebody put the case off until later than now."""
    return case.state in WAITING and case.snoozed_until is not None and case.snoozed_until > now


def state(case: Case, now: datetime, zone: tzinfo) -> str:
    """Return where the case stands, in one cell; of one that was put off, until which day."""
    if case.snoozed_until is not None and asleep(case, now):
        until = case.snoozed_until.astimezone(zone)
        return f"Snoozed to {until.day:02} {until:%b}"
    return words.STATES[case.state]


def amounts(cases: Iterable[Case]) -> str:
    """Return what is at risk in all, each currency by itself: "147.00 USD, 1,000 JPY"; or "nothing"."""
    found: dict[str, int] = {}
    for case in cases:
        at_risk = case.mismatch.at_risk
        found[at_risk.currency] = found.get(at_risk.currency, 0) + at_risk.amount_minor
    written = [money(Money(minor, currency)) for currency, minor in sorted(found.items()) if minor]
    return ", ".join(written) or "nothing"


def total(cases: Sequence[Case]) -> str:
    """Return how many cases there are and what is at risk in them."""
    return f"{phrases.several(len(cases), 'case')}, {amounts(cases)} at risk"


def queue(cases: Iterable[Case], now: datetime, zone: tzinfo) -> pd.DataFrame:
    """Return the queue's grid: one row per case in the same order, columns COLUMNS, all text."""
    rows = [
        (
            words.SEVERITIES[case.severity],
            kind(case),
            money(case.mismatch.at_risk),
            safe.cell(subject(case)),
            safe.cell(case.mismatch.customer_id),
            safe.cell(owner(case)),
            state(case, now, zone),
            times.short(case.opened_at, now, zone),
            safe.cell(case.id),
        )
        for case in cases
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype="str")


def queue_columns(now: datetime, zone: tzinfo) -> Mapping[str, ColumnConfig | None]:
    """Return how the queue's columns are shown: amounts to the right, the zone in the times' heading.

    The customer is folded away, in the list of columns above the grid: the rest is uncut from 1280 pixels on.
    """
    config = st.column_config
    return {
        "Severity": config.TextColumn(width=68),
        "Kind": config.TextColumn(width=202),
        "At risk": config.TextColumn(width=112, alignment="right"),
        "Order or refund": config.TextColumn("Order, refund", width=112),
        "Customer": None,
        "Owner": config.TextColumn(width=126),
        "State": config.TextColumn(width=136),
        "Opened": config.TextColumn(f"Opened ({times.zone_name(now, zone)})", width=114),
        "Case": config.TextColumn(width=120),
    }
