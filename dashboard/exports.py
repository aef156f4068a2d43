"""The cases of a filter as CSV, for spreadsheets and programs.

Reads nothing, and no cell can become a formula.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from recon.model import formulas, money, phrases
from recon.model.records.cases import Case

COLUMNS: Final = (
    "case",
    "account",
    "subject",
    "kind",
    "certainty",
    "finding",
    "state",
    "resolution",
    "severity",
    "owner",
    "at_risk_minor",
    "at_risk",
    "currency",
    "intent_key",
    "order_id",
    "customer_id",
    "payment",
    "refund_ids",
    "extra_refund_ids",
    "tool",
    "team",
    "since",
    "opened_at",
    "updated_at",
    "snoozed_until",
    "accepted_until",
    "why",
)


def header() -> bytes:
    """Return the first line."""
    return _lines([COLUMNS])


def rows(cases: Iterable[Case]) -> bytes:
    """Return a line per case: times in UTC, money in minor units and, of a known currency, in major ones."""
    return _lines([[_cell(value) for value in _values(case)] for case in cases])


def _values(case: Case) -> tuple[object, ...]:
    mismatch, at_risk = case.mismatch, case.mismatch.at_risk
    known = at_risk.currency in money.EXPONENTS
    times = (mismatch.since, case.opened_at, case.updated_at, case.snoozed_until, case.accepted_until)
    return (
        case.id,
        case.account,
        case.subject,
        mismatch.kind,
        mismatch.certainty,
        mismatch.finding,
        case.state,
        case.resolution,
        case.severity,
        case.owner and case.owner.name,
        at_risk.amount_minor,
        money.major(at_risk.amount_minor, at_risk.currency) if known else None,
        at_risk.currency,
        mismatch.intent_key,
        mismatch.order_id,
        mismatch.customer_id,
        mismatch.payment,
        " ".join(mismatch.refund_ids),
        " ".join(mismatch.extra_refund_ids),
        mismatch.tool,
        mismatch.team,
        *(None if at is None else phrases.iso(at) for at in times),
        mismatch.why,
    )


def _cell(value: object) -> str:
    return formulas.defused("" if value is None else str(value))


def _lines(table: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerows(table)
    # What is no text, as half of a pair, must not keep the rest back.
    return written.getvalue().encode("utf-8", errors="replace")
