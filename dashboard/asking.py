"""The calls that a guarded tool recorded for a case's intents: who asked, what was answered, what drifted.

What was asked is other people's text, and goes through `safe` like all of it.
"""

from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

import streamlit as st

from dashboard import grids, times
from recon.desk import CaseView
from recon.model import phrases
from recon.model.records.tools import ToolCall

COLUMNS: Final = ("Asked", "By", "Call", "Key", "Answer", "Drifted from the first call")
UNANSWERED: Final = "none: nobody answered, or its process died"


def show(view: CaseView, zone: tzinfo) -> None:
    """Show one row per call, oldest first."""
    calls = view.around.calls
    st.header("Calls of the tool", anchor=False)
    number = view.around.asked
    st.caption(counted(number, len({call.key for call in calls})))
    rows = [
        (
            times.exact(call.asked_at, zone),
            call.caller,
            call.call_id,
            call.key,
            call.answer or UNANSWERED,
            "; ".join(drifted(calls[0], call)),
        )
        for call in calls
    ]
    grids.show(rows, COLUMNS, alt="Calls of the tool for it, oldest first", listed=False)
    if number > len(calls):
        st.caption(f"{number - len(calls):,} later calls are not shown here.")


def counted(number: int, keys: int) -> str:
    """Return what so many calls under so many keys say of the intent: a key each is a refund each."""
    if keys > 1:
        told = f"{phrases.several(number, 'call')} under {phrases.several(keys, 'key')}"
        return f"{told}: the provider takes each key for a refund of its own."
    if number == 1:
        return "One call was recorded under its key."
    return f"{number:,} calls under one key: it is one intent all the same."


def drifted(first: ToolCall, call: ToolCall) -> tuple[str, ...]:
    """Return what was asked otherwise than in the first call, with both values."""
    was, told = _plain(first.asked), _plain(call.asked)
    names = sorted({*was, *told})
    return tuple(
        f"{name}: {was.get(name, 'nothing')} → {told.get(name, 'nothing')}"
        for name in names
        if was.get(name) != told.get(name)
    )


def _plain(asked: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value).strip() for name, value in asked.items() if value is not None and value != ""}
