"""Both sides of a case, fact by fact: what we meant in the first columns, what the provider did in the last.

Says only where two records differ; what that means is the mismatch's own sentence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

import streamlit as st

from dashboard import safe, tables, times
from recon.desk import CaseView
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Money
from recon.model.records.words import IntentStatus, RefundStatus

SIDE_LIMIT: Final = 3  # Columns of one side at once: more would be too narrow to read.
COLUMN_WIDTH: Final = 100  # Pixels below which the grid scrolls instead of squeezing.

DEAD: Final = frozenset({RefundStatus.FAILED, RefundStatus.CANCELED})
NOT_SENT: Final = frozenset({IntentStatus.FAILED, IntentStatus.CANCELLED})

Differ = Callable[[object, Sequence[object]], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of both sides. differ: whether a value contradicts the other side; None: not alike."""

    label: str
    ours: Callable[[Intent], object]
    theirs: Callable[[Refund], object]
    differ: Differ | None = None


def show(view: CaseView, zone: tzinfo) -> None:
    """Show the intents and the refunds next to each other, one row a fact, and mark what differs."""
    intents, refunds = view.intents[:SIDE_LIMIT], view.refunds[:SIDE_LIMIT]
    columns = 1 + max(len(intents), 1) + max(len(refunds), 1)
    with st.grid(columns, min_column_width=COLUMN_WIDTH, wrap=False, gap=(8, 12)):
        extra = [refund.id in view.case.mismatch.extra_refund_ids for refund in refunds]
        _headings("Intent", [False] * len(intents), first=True)
        _headings("Refund", extra)
        for row in _rows(zone):
            left = [row.ours(intent) for intent in intents]
            right = [row.theirs(refund) for refund in refunds]
            if any(left) or any(right) or row.label == "Amount":
                _line(row, left, right)
    _hidden(len(view.intents) - len(intents), "intent")
    _hidden(len(view.refunds) - len(refunds), "refund")


def _rows(zone: tzinfo) -> tuple[Row, ...]:
    def when(at: datetime | None) -> str | None:
        return None if at is None else times.exact(at, zone)

    def amount(record: Intent | Refund) -> str:
        return tables.money(Money(record.amount_minor, record.currency))

    return (
        Row("Amount", amount, amount, _unlike),
        Row("Status", lambda intent: intent.status, lambda refund: refund.status, _contradicts),
        Row("Refund id", lambda intent: intent.refund_id, lambda refund: refund.id, _unlike),
        Row("Intent key", lambda intent: intent.key, _named, _unlike),
        Row(
            "Payment",
            lambda intent: intent.payment,
            lambda refund: refund.payment_intent or refund.charge,
            _unlike,
        ),
        Row(
            "Sent / created",
            lambda intent: when(intent.first_sent_at),
            lambda refund: when(refund.created_at),
        ),
        Row("Intent written", lambda intent: when(intent.created_at), lambda _: None),
        Row("Order", lambda intent: intent.order_id, lambda _: None),
        Row("Reference", lambda intent: intent.reference, lambda _: None),
        Row("Request key", lambda _: None, lambda refund: refund.request_key),
        Row("Reason", lambda _: None, _reason),
    )


def _named(refund: Refund) -> object:
    return refund.operator_key or refund.intent_key


def _reason(refund: Refund) -> object:
    return refund.failure_reason or refund.pending_reason or refund.reason


def _unlike(value: object, others: Sequence[object]) -> bool:
    """Whether the other side has values, and this is none of them."""
    present = [other for other in others if other]
    return bool(value) and bool(present) and value not in present


def _contradicts(value: object, others: Sequence[object]) -> bool:
    """Whether one side says that the money went, and the other that it did not."""
    if isinstance(value, IntentStatus):
        return any(_clash(value, str(other)) for other in others)
    return any(isinstance(other, IntentStatus) and _clash(other, str(value)) for other in others)


def _clash(intent: IntentStatus, refund: str) -> bool:
    dead = refund in DEAD
    return (intent is IntentStatus.DONE and dead) or (intent in NOT_SENT and not dead)


def _headings(name: str, extra: Sequence[bool], *, first: bool = False) -> None:
    """Show a side's headings, numbered where it has several records; a refund too many says so."""
    if first:
        st.text(" ")  # Above the names of the facts.
    for number, too_many in enumerate(extra or [False], 1):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            st.markdown(f"**{name} {number}**" if len(extra) > 1 else f"**{name}**", width="content")
            if too_many:
                st.badge("extra", icon=":material/content_copy:", color="red")


def _line(row: Row, left: Sequence[object], right: Sequence[object]) -> None:
    st.caption(row.label)
    for values, others, nothing in ((left, right, "no intent of ours"), (right, left, "no refund there")):
        if not values:
            st.text(nothing if row.label == "Amount" else "")
        for value in values:
            _cell(value, differs=row.differ is not None and row.differ(value, others))


def _cell(value: object, *, differs: bool) -> None:
    with st.container(gap="xxsmall"):
        st.text(safe.line(value))
        if differs:
            st.badge("differs", icon=":material/warning:", color="red")


def _hidden(count: int, noun: str) -> None:
    if count > 0:
        st.caption(f"{count} more {noun}{'s' if count > 1 else ''} of this case not shown here.")
