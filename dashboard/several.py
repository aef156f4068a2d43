"""The dialogs that are about more than one case: a decision about those that were chosen, and the CSV."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final
from uuid import UUID, uuid4

import pandas as pd
import streamlit as st

from dashboard import bulk, decision, exports, making, safe, session, tables
from recon.desk import Desk
from recon.model import phrases
from recon.model.characters import is_blank
from recon.model.records.cases import Case
from recon.model.records.queues import QueueFilters
from recon.model.records.words import Action

EXPORT_LIMIT: Final = 100_000  # Cases in one file, which this server holds in memory for whoever asks.
NAMED_LIMIT: Final = 20  # Cases that were not moved and are named under the table; it has them all.
TABLE_PIXELS: Final = 260  # Seven rows, before the table scrolls.


def choices(desk: Desk, chosen: Sequence[Case], zone: tzinfo) -> None:
    """Show what was chosen, and a button for each decision that can be made about it at once."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for move in bulk.MOVES:
            clicked = st.button(
                decision.VERBS[move], key=f"several-{move}", icon=decision.ICONS[move], disabled=not chosen
            )
            if clicked:
                # One id for as long as the dialog is open: however often it is pressed, each case moves once.
                opened = st.dialog(title(move, chosen), width="medium", on_dismiss="rerun")
                opened(ask)(desk, tuple(chosen), move, zone, bulk_id=uuid4())
        st.caption(f"Chosen: {tables.total(chosen)}." if chosen else "Nothing is chosen yet.")


def title(move: Action, cases: Sequence[Case]) -> str:
    """Return what is about to be done to how many."""
    return f"{decision.VERBS[move]} {phrases.several(len(cases), 'case')}"


def ask(desk: Desk, cases: Sequence[Case], move: Action, zone: tzinfo, *, bulk_id: UUID) -> None:
    """Show what a decision about several cases asks, make it once it is confirmed, and show each result."""
    if st.session_state.get("done"):  # The button below the results.
        st.rerun()
    done = st.session_state.get("results")
    if done is not None and done[0] == bulk_id:
        _results(done[1])
        return
    st.text(f"{tables.total(cases)}.")
    st.caption(decision.PURPOSES[move])
    with st.form("several", border=False, enter_to_submit=False):
        asked = decision.plain(desk, move, zone)
        reason = making.reason(str(bulk_id))
        label = f"{title(move, cases)} · {tables.amounts(cases)}"
        pressed = st.form_submit_button(label, type="primary", icon=decision.ICONS[move])
    if not pressed:
        return
    lacking = next((name for name, value in asked.items() if not value), None)
    if lacking is not None or is_blank(reason):
        missing = decision.MISSING[lacking] if lacking is not None else "A reason is required."
        st.warning(missing, icon=":material/edit:")
        return
    st.session_state["answered"] = True  # Whatever comes of it, the queue is read anew after this.
    results = []
    bar = st.progress(0.0, text="Saving …")
    moved = bulk.decide(
        desk, cases, move, bulk_id=bulk_id, reason=reason, operator=session.operator(), asked=asked
    )
    for number, result in enumerate(moved, start=1):
        results.append(result)
        bar.progress(number / len(cases), text=f"{number:,} of {len(cases):,}")
    st.session_state["results"] = (bulk_id, tuple(results))
    st.rerun(scope="fragment")


def outcome(result: bulk.Result) -> str:
    """Return what became of one case, as a cell."""
    if result.proposed:
        return "Proposed: another person must approve it"
    return "Done" if result.why is None else safe.cell(result.why)


def export(desk: Desk, asked: QueueFilters) -> None:
    """Write all that the filters let through into a file, unless that is too much, and offer it."""
    number = desk.count(asked, limit=EXPORT_LIMIT + 1)
    if number > EXPORT_LIMIT:
        st.warning(
            f"More than {EXPORT_LIMIT:,} cases fit these filters, which is too much for one file. "
            "Narrow them first, by account, kind or age.",
            icon=":material/filter_alt:",
        )
        return
    bar = st.progress(0.0, text="Reading …")
    parts, read = [exports.header()], 0
    for cases in desk.every(asked):
        parts.append(exports.rows(cases))
        read += len(cases)
        bar.progress(min(read / max(number, 1), 1.0), text=f"{read:,} of {number:,}")
    bar.empty()
    st.text(f"{phrases.several(read, 'case')}, as filtered, in the queue's order. Times are UTC.")
    st.download_button(
        "Download the CSV",
        b"".join(parts),
        file_name=f"cases-{desk.now():%Y-%m-%dT%H%M}Z.csv",
        mime="text/csv",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
    )


def _results(results: Sequence[bulk.Result]) -> None:
    """Show what became of each case: how many in a sentence, all in a table, and why not in words."""
    failed = [result for result in results if result.why is not None]
    proposed = sum(result.proposed for result in results)
    moved = len(results) - len(failed) - proposed
    if failed or proposed:
        waits = f", {proposed:,} proposed, for another person to approve" if proposed else ""
        lacking = f", {len(failed):,} not" if failed else ""
        st.warning(f"{moved:,} done{waits}{lacking}.", icon=":material/rule:")
    else:
        st.success(f"{phrases.several(moved, 'case')} done, saved with your reason.", icon=":material/check:")
    rows = [
        (
            safe.cell(result.case.id),
            tables.money(result.case.mismatch.at_risk),
            outcome(result),
        )
        for result in results
    ]
    st.dataframe(
        pd.DataFrame(rows, columns=["Case", "At risk", "Result"], dtype="str"),
        hide_index=True,
        height=min(TABLE_PIXELS, 33 * (len(rows) + 1) + 3),
        column_config={
            "Case": st.column_config.TextColumn(width=114),
            "At risk": st.column_config.TextColumn(width=94),
        },
        alt=f"The result for each of {phrases.several(len(results), 'case')}; below it, what was not done.",
    )
    for result in failed[:NAMED_LIMIT]:
        st.text(safe.text(f"{result.case.id}: {result.why}"))
    if len(failed) > NAMED_LIMIT:
        st.caption(f"And {len(failed) - NAMED_LIMIT:,} more, in the table.")
    st.button("Back to the queue", key="done", icon=":material/arrow_back:")
