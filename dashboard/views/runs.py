"""The runs: what each read, whether that was everything, and what it changed; one of them opened."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final
from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard import asked, grids, links, overviews, passes, safe, session, times, trends, words
from recon.model import phrases
from recon.model.records.histories import Passed, Rejects, RunCursor, RunsPage
from recon.overview import Overview

CHART_PIXELS: Final = 180
COLUMNS: Final = (
    "Finished",
    "Verdict",
    "Took",
    "Accounts",
    "Opened",
    "Again",
    "Cleared",
    "Waiting",
    "Intents finished",
    "At risk, as judged",
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look saw. before: where each page up to this one begins, the first at None."""

    id: str
    at: datetime
    before: tuple[RunCursor | None, ...]
    page: RunsPage


def main() -> None:
    """Show the run that the address names, or all of them, newest first."""
    books, zone = overviews.overview(), session.zone()
    named = next(iter(links.chosen("run")), "")
    held = st.session_state.get("snapshot")
    if named:
        st.session_state["opened"] = True
        passes.show(books, named, zone, known=held.page.passes if held else ())
        return
    st.title("Runs", anchor=False)
    back = st.session_state.pop("opened", False)
    if held is None or (back and len(held.before) == 1):  # Back from a run: the latest may be newer by now.
        held = _look(books, (None,))
    if not held.page.passes:
        st.info("No run has saved anything yet: start one with `recon run`.", icon=":material/info:")
        return
    _chart(held.page.passes, held.at, zone)
    if grids.as_list():
        _list(held.page.passes, zone)
    else:
        _table(held, zone)
    _pager(books, held)
    _rejects(books.rejects())


def _look(books: Overview, before: tuple[RunCursor | None, ...]) -> Snapshot:
    """Read one page and keep it for as long as this person looks at it: a choice is by place."""
    with st.spinner("Reading the runs…"):
        found = Snapshot(uuid4().hex, books.now(), before, books.runs(after=before[-1]))
    st.session_state["snapshot"] = found
    return found


def _chart(found: tuple[Passed, ...], now: datetime, zone: tzinfo) -> None:
    """Show how many cases waited after each run, oldest to the left, and the same in a sentence."""
    waited = [sum(each.waiting.values()) for each in found]
    few = f"{phrases.several(waited[0], 'case')} waited after the latest run shown"
    said = few if len(waited) == 1 else f"{few}, {min(waited)} to {max(waited)} after these {len(waited)}."
    st.caption(f"{said.rstrip('.')}. A case waits while it is open or acknowledged.")
    if len(waited) == 1:
        return
    finished = [times.short(each.run.finished_at, now, zone) for each in found]
    st.vega_lite_chart(
        pd.DataFrame({"Day": finished, "Value": waited})[::-1],
        trends.chart("bar", title="Waiting cases"),
        height=CHART_PIXELS,
        alt=f"Waiting cases after each of {len(waited)} runs; the table below has the same numbers.",
    )


def _row(passed: Passed, now: datetime, zone: tzinfo) -> tuple[object, ...]:
    run, lines = passed.run, passed.lines
    return (
        times.short(run.finished_at, now, zone),
        words.VERDICTS[run.verdict],
        passes.took(run),
        passes.read(run),
        f"{sum(line.opened for line in lines):,}",
        f"{sum(line.back for line in lines):,}",
        f"{sum(line.cleared for line in lines):,}",
        f"{sum(passed.waiting.values()):,}",
        f"{run.healed:,}",
        passes.at_risk(run),
    )


def _table(held: Snapshot, zone: tzinfo) -> None:
    """Show the page as a grid; choosing a row opens its run."""
    found = held.page.passes
    config = st.column_config
    right = {name: config.TextColumn(width=66, alignment="right") for name in COLUMNS[4:8]}
    whole = all(each.complete for passed in found for each in passed.run.accounts)
    chosen = st.dataframe(
        grids.frame([_row(each, held.at, zone) for each in found], COLUMNS),
        hide_index=True,
        height=grids.height(len(found)),
        on_select="rerun",
        selection_mode="single-row",
        key=f"grid-{held.id}",
        column_config={
            "Finished": config.TextColumn(f"Finished ({times.zone_name(held.at, zone)})", width=116),
            "Verdict": config.TextColumn(width=192),
            "Took": config.TextColumn(width=58),
            # Where all were read, it says nothing that the verdict does not: the money needs the room.
            "Accounts": None if whole else config.TextColumn(width=76),
            **right,
            "Intents finished": config.TextColumn(width=112, alignment="right"),
        },
        alt=f"{len(found)} runs, newest first. The same as a plain list of links: choose List.",
    )
    if chosen.selection.rows:
        _open(found[chosen.selection.rows[0]])


def _open(passed: Passed) -> None:
    links.choose("run", (passed.run.id,))
    st.rerun()


def _list(found: tuple[Passed, ...], zone: tzinfo) -> None:
    """Show the page as plain links."""
    for passed in found:
        run = passed.run
        with st.container(border=True, gap="xsmall"):
            st.page_link(
                "views/runs.py",
                label=f"**{times.moment(run.finished_at, zone)}**",
                query_params={"run": run.id, **grids.chosen()},
            )
            passes.badge(run)
            done = ", ".join(passes.done(passed)) or "nothing changed"
            st.text(f"{phrases.several(sum(passed.waiting.values()), 'case')} waiting; {done}")
            st.text(safe.line(f"{passes.read(run)} accounts read, took {passes.took(run)}"))
            st.text(safe.line(f"At risk, as judged: {passes.at_risk(run)}"))


def _pager(books: Overview, held: Snapshot) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        first, last = len(held.before) == 1, held.page.next is None
        newer = st.button("Newer", key="newer", icon=":material/chevron_left:", disabled=first)
        older = st.button("Older", key="older", icon=":material/chevron_right:", disabled=last)
        tick = "" if asked.as_list() else " Tick a row to open its run."
        shown = phrases.several(len(held.page.passes), "run")
        st.caption(f"Page {len(held.before)}, {shown}, newest first; {times.clock(held.at)} UTC.{tick}")
    if older and held.page.next is not None:
        _look(books, (*held.before, held.page.next))
        st.rerun()
    if newer and len(held.before) > 1:
        _look(books, held.before[:-1])
        st.rerun()


def _rejects(found: Rejects) -> None:
    """Show the rows that cannot be judged as things stand, and why."""
    with st.container(border=True):
        st.header("Rows that cannot be judged", anchor=False)
        if not found.rows:
            st.text("None: every row that was read could be judged.")
            return
        st.text(
            f"{phrases.several(found.rows, 'row')}: what they touch is withheld until they are put right."
        )
        with st.container(gap="xxsmall"):
            for source, reason, rows in found.reasons:
                st.text(safe.line(f"{phrases.several(rows, 'row')} of {source}: {reason}"))
        named = [
            (each.source, each.id or f"row {each.row}", phrases.account(each.account), each.reason)
            for each in found.first
        ]
        columns = ("Source", "Id", "Account", "Reason")
        listed = asked.as_list()
        grids.show(named, columns, alt=f"{len(named)} rejected rows, the latest first.", listed=listed)
        if len(named) < found.rows:
            st.caption(f"The latest {len(named)} of {found.rows:,}.")


main()
