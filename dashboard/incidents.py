"""An incident as the page shows it: its address, its timeline and its cases as frames, and its export.

Every cell of somebody else's text went through `safe`; money is text, never a frame's number.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

import pandas as pd

from dashboard import links, safe, tables, times, words
from recon.model import formulas, moments, money, phrases
from recon.model.records.cases import Case
from recon.model.records.incidents import Bar, Window
from recon.model.records.words import Kind

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
EARLIEST_YEAR, LATEST_YEAR = 2000, 2200  # Beyond them is nobody's incident, and no zone's arithmetic.
CELL_LIMIT: Final = 10_000  # Characters of one cell of the export: the ids of hundreds of refunds.

STANDING, EXTRA, SENT = "Should stand", "Extra", "Calls first sent"
# Both are told apart on a light and on a dark page, and by who sees no red or green.
COLORS: Final = {STANDING: "#5b9ab8", EXTRA: "#c2843b", SENT: "#7a8aa0"}
CASES: Final = ("Customer", "Order", "At risk", "Began", "Should stand", "Extra", "State", "Owner", "Case")
EXPORTED: Final = (
    "case",
    "kind",
    "certainty",
    "state",
    "account",
    "customer_id",
    "order_id",
    "payment",
    "intent_key",
    "at_risk",
    "at_risk_minor",
    "currency",
    "began_at",
    "refunds_that_should_stand",
    "extra_refunds",
    "owner",
)


def address(kind: Kind, window: Window) -> Mapping[str, str]:
    """Return what stands in the address of this incident's page."""
    return {"kind": kind.value, "from": phrases.iso(window.from_at), "to": phrases.iso(window.to_at)}


def beside(case: Case) -> Mapping[str, str]:
    """Return the address of what else of a case's kind began within the hour before and after it."""
    minute = case.mismatch.since.replace(second=0, microsecond=0)
    return address(case.mismatch.kind, Window(minute - HOUR, minute + HOUR + timedelta(minutes=1)))


def kind() -> Kind:
    """Return the kind that the address asks for; an unknown one is the duplicate."""
    asked = links.chosen("kind")
    return next((word for word in Kind if asked == (word.value,)), Kind.DUPLICATE)


def window() -> Window | None:
    """Return the window that the address asks for; None where it asks for none, or for one that is none."""
    first, last = (moments.read(next(iter(links.chosen(name)), "")) for name in ("from", "to"))
    return None if first is None or last is None else between(first, last)


def between(first: datetime, last: datetime) -> Window | None:
    """Return the window between two times; None where the second is not after the first."""
    sane = first.year > EARLIEST_YEAR and last.year < LATEST_YEAR
    return Window(first, last) if sane and first < last else None


def minutes(bars: Iterable[Bar], step: timedelta, zone: tzinfo) -> pd.DataFrame:
    """Return the timeline in long form: one row per step and series, in time order; At is in the zone."""
    rows = [
        (label(bar.at, step, zone), series, number)
        for bar in bars
        for series, number in ((STANDING, bar.standing), (EXTRA, bar.extra), (SENT, bar.sent))
    ]
    return pd.DataFrame(rows, columns=["At", "Series", "Number"])


def counted(bars: Iterable[Bar], step: timedelta, zone: tzinfo) -> pd.DataFrame:
    """Return the timeline as a table for reading: one row per step in which anything happened."""
    rows = [
        (label(bar.at, step, zone), bar.standing, bar.extra, bar.decided, bar.sent)
        for bar in bars
        if bar.standing or bar.extra or bar.decided or bar.sent
    ]
    heading = f"At ({times.zone_name(bar_at(bars), zone)})"
    return pd.DataFrame(rows, columns=[heading, STANDING, EXTRA, "Intents", "First sent"])


def bar_at(bars: Iterable[Bar]) -> datetime:
    """Return when the timeline begins: the zone's name may change with the season."""
    return next(iter(bars)).at


def label(at: datetime, step: timedelta, zone: tzinfo) -> str:
    """Return what a step of the timeline is called: 18:03; with its day where steps are longer."""
    there = at.astimezone(zone)
    if step >= DAY:
        return f"{there.day} {there:%b %Y}"
    return f"{there:%H:%M}" if step < HOUR else f"{there.day} {there:%b, %H:%M}"


def chart(
    series: Sequence[str], *, title: str, zone_name: str, colors: Mapping[str, str] = COLORS
) -> dict[str, object]:
    """Return how a timeline is drawn: stacked bars in the order of time, whole numbers on the axis."""
    return {
        "mark": {"type": "bar"},
        "transform": [{"filter": {"field": "Series", "oneOf": list(series)}}],
        "encoding": {
            "x": {
                "field": "At",
                "type": "ordinal",
                "sort": None,
                "title": zone_name,
                "axis": {"labelOverlap": "greedy", "labelAngle": 0},
            },
            "y": {
                "field": "Number",
                "type": "quantitative",
                "title": title,
                "axis": {"tickMinStep": 1, "format": "d"},
            },
            "color": {
                "field": "Series",
                "type": "nominal",
                "scale": {"domain": list(series), "range": [colors[name] for name in series]},
                "legend": {"title": None, "orient": "top"} if len(series) > 1 else None,
            },
            "order": {"field": "Series", "sort": "descending"},
        },
    }


def cases(found: Iterable[Case], now: datetime, zone: tzinfo) -> pd.DataFrame:
    """Return the affected as a grid: one row per case in the same order, columns CASES, all text."""
    rows = [
        (
            safe.cell(case.mismatch.customer_id),
            safe.cell(case.mismatch.order_id),
            tables.money(case.mismatch.at_risk),
            times.short(case.mismatch.since, now, zone),
            safe.cell(", ".join(stands(case))),
            safe.cell(", ".join(case.mismatch.extra_refund_ids)),
            words.STATES[case.state],
            safe.cell(tables.owner(case)),
            safe.cell(case.id),
        )
        for case in found
    ]
    return pd.DataFrame(rows, columns=list(CASES), dtype="str")


def stands(case: Case) -> tuple[str, ...]:
    """Return the refunds that take part in the case and are not too many."""
    extra = case.mismatch.extra_refund_ids
    return tuple(each for each in case.mismatch.refund_ids if each not in extra)


def export(found: Iterable[Case]) -> str:
    """Return the affected as CSV, one row per case, columns EXPORTED; no cell is taken for a formula."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(EXPORTED)
    for case in found:
        lines.writerow(map(_cell, _exported(case)))
    return written.getvalue()


def _exported(case: Case) -> tuple[object, ...]:
    mismatch = case.mismatch
    amount, currency = mismatch.at_risk.amount_minor, mismatch.at_risk.currency
    return (
        case.id,
        mismatch.kind,
        mismatch.certainty,
        case.state,
        case.account,
        mismatch.customer_id,
        mismatch.order_id,
        mismatch.payment,
        mismatch.intent_key,
        money.major(amount, currency) if currency in money.EXPONENTS else None,
        amount,
        currency,
        phrases.iso(mismatch.since),
        " ".join(stands(case)),
        " ".join(mismatch.extra_refund_ids),
        case.owner.name if case.owner else None,
    )


def _cell(value: object) -> str:
    if value is None or value == "":
        return ""
    shown = safe.text(value, limit=CELL_LIMIT).replace("\n", " ")
    return shown if isinstance(value, int) else formulas.defused(shown)
