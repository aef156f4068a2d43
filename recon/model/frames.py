"""The two frames that the diff takes: their columns and dtypes, and how raw rows become them.

Source: files, or the database's intents and mirror tables. Never judges a refund; never drops a row in
silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from recon.model import dtypes, sheets, versions
from recon.model.mapping import NOTHING, Side
from recon.model.records.results import Reject
from recon.model.records.words import IntentStatus, RefundStatus
from recon.model.sheets import Part

TEXT = dtypes.TEXT
TIME = dtypes.TIME
INTENT_DTYPES = dtypes.INTENT_DTYPES
REFUND_DTYPES = dtypes.REFUND_DTYPES

# Reasons of refunds that the provider makes by itself. Source: https://docs.stripe.com/api/refunds/object
SYSTEM_REASONS = ("expired_uncaptured_charge",)


@dataclass(frozen=True, slots=True)
class Intake:
    """One side of the diff, normalised.

    frame: one row per standing row, with exactly the columns and dtypes above, a RangeIndex, in source order.
    rejects: the rows that cannot be judged, by source and row. superseded: versions that another version
    replaced. incomplete: a sentence when the source itself says that it holds only a part, else None. notes:
    sentences about how the source was read, for people. latest: the latest time in any row of the source,
    also in one that does not stand; None where no time could be read. duplicates: rows that equal another.
    left_out: rows that a map's filters keep out, records of other tables and charges with nothing refunded.
    read: all rows as the source counts them, which those that stand and all the others add up to. sources:
    the names of the files, as rejects have them.
    """

    frame: pd.DataFrame
    rejects: tuple[Reject, ...] = ()
    superseded: int = 0
    incomplete: str | None = None
    notes: tuple[str, ...] = ()
    latest: datetime | None = None
    duplicates: int = 0
    left_out: int = 0
    read: int = 0
    sources: tuple[str, ...] = ()


def intents(raw: pd.DataFrame, *, source: str, statuses: str = "", how: Side = NOTHING) -> Intake:
    """Return raw intent rows as the intents' frame, beside the rows that cannot be judged.

    raw: any subset of the columns above, and `amount` in major units where it stands for amount_minor; texts,
    numbers, Decimals or times as the source has them. An index named "row" gives the row numbers; else they
    are positions from 1. statuses: the setting that maps other status words, named to who has to add one.
    """
    return settled(dtypes.INTENTS, [part_of_intents(raw, source=source, statuses=statuses, how=how)])


def refunds(raw: pd.DataFrame, *, source: str, how: Side = NOTHING) -> Intake:
    """Return raw refund rows as the refunds' frame; raw is as for intents.

    A refund that the provider made by itself, which its reason tells, is a system refund whatever `system`
    says.
    """
    return settled(dtypes.REFUNDS, [part_of_refunds(raw, source=source, how=how)])


def settled(side: str, parts: Sequence[Part]) -> Intake:
    """Return the rows of all parts of a side, of each refund or intent the one that stands."""
    table = sheets.table(parts)
    read = len(table.rows) + sum(len(part.rejects) for part in parts)
    rejects = [reject for part in parts for reject in part.rejects]
    settle = versions.settled_intents if side == dtypes.INTENTS else versions.settled_refunds
    frame, refused, superseded, duplicates = settle(table)
    rejects = sorted((*rejects, *refused), key=lambda reject: (reject.source, reject.row))
    assert read == len(frame) + len(rejects) + superseded + duplicates
    times = (part.latest for part in parts if part.latest is not None)
    return Intake(
        frame,
        tuple(rejects),
        superseded,
        latest=max(times, default=None),
        duplicates=duplicates,
        read=read,
    )


def part_of_intents(raw: pd.DataFrame, *, source: str, statuses: str = "", how: Side = NOTHING) -> Part:
    """Return raw intent rows as a part of the intents' frame; raw is as for intents."""
    sheet = sheets.Sheet(raw, how.columns, how.zone)
    account = sheet.text("account")
    currency = sheet.currency()
    created_at = sheet.instant("created_at", needed=True)
    columns = {
        "key": sheet.key("key"),
        "account": sheets.filled(account, ""),
        "order_id": sheet.text("order_id"),
        "reference": sheet.text("reference"),
        "payment": sheet.text("payment"),
        "amount_minor": sheet.amount(currency),
        "currency": currency,
        "status": sheet.word("status", tuple(IntentStatus), mapped_in=statuses),
        "refund_id": sheet.text("refund_id"),
        "created_at": created_at,
        "updated_at": sheets.filled(sheet.instant("updated_at"), created_at),
        "first_sent_at": sheet.instant("first_sent_at"),
        "tool": sheet.text("tool"),
        "team": sheet.text("team"),
        "customer_id": sheet.text("customer_id"),
    }
    return sheet.divided(
        columns, source=source, key="key", names=("refund_id",), payments=versions.PAYMENT_OF_INTENT
    )


def part_of_refunds(raw: pd.DataFrame, *, source: str, how: Side = NOTHING) -> Part:
    """Return raw refund rows as a part of the refunds' frame; raw is as for intents."""
    sheet = sheets.Sheet(raw, how.columns, how.zone)
    currency = sheet.currency()
    reason = sheet.text("reason")
    columns = {
        "id": sheet.key("id"),
        "account": sheets.filled(sheet.text("account"), ""),
        "payment_intent": sheet.text("payment_intent"),
        "charge": sheet.text("charge"),
        "amount_minor": sheet.amount(currency),
        "currency": currency,
        "status": sheet.text("status", words=tuple(RefundStatus)),
        "created_at": sheet.instant("created_at", needed=True),
        "intent_key": sheet.text("intent_key"),
        "request_key": sheet.text("request_key"),
        "operator_key": sheet.text("operator_key"),
        "system": sheets.marked(sheet.flag("system"), reason, SYSTEM_REASONS),
        "reason": reason,
        "failure_reason": sheet.text("failure_reason"),
        "pending_reason": sheet.text("pending_reason"),
    }
    return sheet.divided(
        columns, source=source, key="id", names=versions.KEYS, payments=versions.PAYMENT_OF_REFUND
    )
