"""Both sides of a case, fact by fact: what we meant in one block, what the provider did in the other.

The blocks stand next to each other where there is room, else one above the other. Says only where two records
differ; what that means is the mismatch's own sentence.
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
from recon.model.records.words import DEAD, IntentStatus

SIDE_LIMIT: Final = 3  # Columns of one side at once: more would be too narrow to read.
COLUMN_WIDTH: Final = 66  # Pixels below which a block scrolls: four columns fit a small phone.
ROOMY_WIDTH: Final = 90  # Pixels a column needs for both blocks to stand next to each other.

NOT_SENT: Final = frozenset({IntentStatus.FAILED, IntentStatus.CANCELLED})

Values = Sequence[object]
Differ = Callable[[object, Values], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of both sides. differ: whether a value contradicts the other side; None: not alike."""

    label: str
    ours: Callable[[Intent], object]
    theirs: Callable[[Refund], object]
    differ: Differ | None = None


def show(view: CaseView, zone: tzinfo) -> None:
    """Show the intents and the refunds, one row a fact, and mark what differs from the other side."""
    intents, refunds = view.intents[:SIDE_LIMIT], view.refunds[:SIDE_LIMIT]
    extra = [refund.id in view.case.mismatch.extra_refund_ids for refund in refunds]
    rows = [
        (row, [row.ours(intent) for intent in intents], [row.theirs(refund) for refund in refunds])
        for row in _rows(zone)
    ]
    widest = max(len(intents), len(refunds), 1)
    with st.grid(2, min_column_width=(1 + widest) * ROOMY_WIDTH, gap=(24, 16)) as blocks:
        with blocks.cell():
            facts = [(row, left, right) for row, left, right in rows]
            _block("Intent", [False] * len(intents), facts, nothing="no intent of ours")
        with blocks.cell():
            facts = [(row, right, left) for row, left, right in rows]
            _block("Refund", extra, facts, nothing="no refund at the provider")
    _hidden(len(view.intents) - len(intents), "intent")
    _hidden(len(view.refunds) - len(refunds), "refund")


def _block(
    name: str, extra: Sequence[bool], facts: Sequence[tuple[Row, Values, Values]], *, nothing: str
) -> None:
    """Show one side; facts: each with this side's values and the other's, left out where this has none."""
    with st.grid(1 + max(len(extra), 1), min_column_width=COLUMN_WIDTH, wrap=False, gap=(8, 12)):
        st.text(" ")  # Above the names of the facts.
        _headings(name, extra)
        if not extra:
            st.text(" ")
            st.text(nothing)
        for row, values, others in facts:
            if any(values):
                _line(row, values, others)


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


def _headings(name: str, extra: Sequence[bool]) -> None:
    """Show a side's headings, numbered where it has several records; a refund too many says so."""
    for number, too_many in enumerate(extra or [False], 1):
        heading = f"**{name} {number}**" if len(extra) > 1 else f"**{name}**"
        # In one line with the heading, or the two blocks would not be level.
        st.markdown(f"{heading} :small[:red[extra]]" if too_many else heading)


def _line(row: Row, values: Values, others: Values) -> None:
    st.caption(row.label)
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
