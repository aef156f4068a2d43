"""One run opened: its verdict, what it read of each account, and what it changed, so that it adds up."""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import asked, grids, panels, safe, tables, times, words
from recon.model import phrases
from recon.model.records.histories import Passed
from recon.model.records.results import Money
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import Action
from recon.overview import Overview, RunView

ACCOUNT_COLUMNS: Final = (
    "Account",
    "Read",
    "From",
    "To",
    "Pages",
    "Refunds",
    "New or different",
    "Why not all",
)


def show(books: Overview, named: str, zone: tzinfo, *, known: Iterable[Passed] = ()) -> None:
    """Show the run of this id, or that there is none. known: runs that were read before."""
    st.page_link("views/runs.py", label="Runs", icon=":material/arrow_back:", query_params=grids.chosen())
    with st.spinner("Counting back…"):
        found = books.run(named, known=known)
    if found is None:
        st.title("No such run", anchor=False)
        st.text(f"No run that saved anything has the id {safe.line(named)}.")
        return
    run = found.passed.run
    st.title(f"Run of {times.moment(run.finished_at, zone)}", anchor=False)
    badge(run)
    _facts(found, zone)
    with st.container(border=True):
        _ledger(found, zone)
    with st.container(border=True):
        st.header("What it read", anchor=False)
        _accounts(run, zone)
    with st.container(border=True):
        st.header("What it counted", anchor=False)
        _counts(run, found.said)


def badge(run: Run) -> None:
    """Show a run's verdict: in words, then color."""
    st.badge(
        words.VERDICTS[run.verdict],
        icon=words.VERDICT_ICONS[run.verdict],
        color=words.VERDICT_COLORS[run.verdict],
    )


def took(run: Run) -> str:
    """Return how long a run took."""
    seconds = max(int((run.finished_at - run.started_at).total_seconds()), 0)
    return f"{seconds} s" if seconds < times.MINUTE else times.span(run.finished_at - run.started_at)


def read(run: Run) -> str:
    """Return how many of the accounts were read to their end."""
    return f"{sum(each.complete for each in run.accounts)} of {len(run.accounts)}"


def at_risk(run: Run) -> str:
    """Return what is at risk in what a run judged, each currency by itself."""
    told = [tables.money(Money(minor, currency)) for currency, minor in sorted(run.at_risk.items()) if minor]
    return ", ".join(told) or "nothing"


def done(passed: Passed) -> Iterator[str]:
    """Yield what a run changed, and what people had changed before it, each in a few words."""
    lines = passed.lines
    told = {
        "opened": sum(line.opened for line in lines),
        "waiting again": sum(line.back for line in lines),
        "cleared": sum(line.cleared for line in lines),
        "answered before it": -sum(line.people for line in lines),
    }
    return (f"{number:,} {word}" for word, number in told.items() if number)


def _facts(found: RunView, zone: tzinfo) -> None:
    run = found.passed.run
    with st.container(border=True):
        panels.facts(
            [
                ("Finished", times.exact(run.finished_at, zone)),
                ("Took", took(run)),
                ("Judged as of", times.exact(run.as_of, zone)),
                ("Accounts read", read(run)),
                ("Looked at", "everything" if run.full else "what was touched or due"),
                ("At risk in that", at_risk(run)),
                ("Intents finished", f"{run.healed:,}, from the provider's proof"),
                ("Run", run.id),
            ],
            columns=4,
            width=180,
        )


def _ledger(found: RunView, zone: tzinfo) -> None:
    """Show, by kind, how what waited after the run before became what waited after this one."""
    st.header("What changed", anchor=False)
    passed, before = found.passed, found.before
    since = (
        "before the first run"
        if before is None
        else f"after the run of {times.moment(before.finished_at, zone)}"
    )
    lines = passed.lines
    if not lines:
        st.text(f"Nothing: no case waited {since}, and none waits now.")
    else:
        st.text(f"Cases that waited {since}, and what became of them:")
        _sums(passed)
        st.text(_sum(passed))
    beside = [
        f"{words.ACTIONS[action].partition(':')[0].lower()} {n:,}" for action, n in passed.beside.items()
    ]
    if beside:
        st.text(f"Moved as well, with as many waiting as before: {', '.join(beside)}.")
    if Action.RECLASSIFIED in passed.beside:
        st.caption("A case that became another kind is counted under the kind it has now, before as well.")
    late = passed.run.opened - sum(line.opened for line in lines)
    if late > 0:
        st.caption(
            f"{phrases.several(late, 'case')} it opened moved while it saved: they count for the next run."
        )


def _sum(passed: Passed) -> str:
    """Return the sum over all kinds as one line: 5 waited + 2 opened - 3 cleared - 1 by people = 3 now."""
    lines = passed.lines
    before, now = sum(line.before for line in lines), sum(line.now for line in lines)
    told = {
        "opened": sum(line.opened for line in lines),
        "again": sum(line.back for line in lines),
        "cleared": -sum(line.cleared for line in lines),
        "by people": sum(line.people for line in lines),
    }
    parts = [
        f"{'-' if number < 0 else '+'} {abs(number):,} {word}" for word, number in told.items() if number
    ]
    return " ".join([f"{before:,} waited", *parts, f"= {now:,} now"])


def _sums(passed: Passed) -> None:
    """Show the sums as a table that a screen reader reads; every word and number in it is ours.

    As a list where lists are asked for: on a phone the table would scroll, and no key scrolls it.
    """
    lines = passed.lines
    columns = {
        "Before": [line.before for line in lines],
        "Opened (+)": [line.opened for line in lines],
        "Again (+)": [line.back for line in lines],
        "Cleared (-)": [line.cleared for line in lines],
        "People (+/-)": [line.people for line in lines],
        "Now (=)": [line.now for line in lines],
    }
    rows = {name: [*values, sum(values)] for name, values in columns.items()}
    signed = rows.pop("People (+/-)")
    written = {name: [f"{value:,}" for value in values] for name, values in rows.items()}
    written["People (+/-)"] = [f"{value:+,}" if value else "0" for value in signed]
    kinds = [*(words.KINDS[line.kind] for line in lines), "All"]
    shown = pd.DataFrame({"Waiting cases": kinds} | {name: written[name] for name in columns})
    if asked.as_list():
        grids.show(shown.to_numpy().tolist(), list(shown.columns), alt="", listed=True)
    else:
        st.table(shown, hide_index=True)


def _accounts(run: Run, zone: tzinfo) -> None:
    if all(each.complete for each in run.accounts):
        st.text(f"{phrases.several(len(run.accounts), 'account')}, read to the end.")
    rows = [_account(each, zone) for each in run.accounts]
    listed = asked.as_list()
    grids.show(rows, ACCOUNT_COLUMNS, alt=f"What was read of {len(rows)} accounts.", listed=listed)
    for each in run.accounts:
        if not each.complete:
            why = phrases.why_unread(each.account, each.error or "not read to its end")
            st.text(safe.text(f"{phrases.account(each.account)}: {why}"))


def _account(reading: AccountReading, zone: tzinfo) -> tuple[object, ...]:
    return (
        phrases.account(reading.account),
        "to the end" if reading.complete else "not to the end",
        times.moment(reading.from_at, zone),
        times.moment(reading.to_at, zone),
        f"{reading.pages:,}",
        f"{reading.refunds:,}",
        f"{reading.changed:,}",
        "" if reading.complete else phrases.why_unread(reading.account, reading.error or ""),
    )


def _counts(run: Run, said: tuple[str, ...]) -> None:
    counted = [(label, run.counts[name]) for name, label in words.COUNTS.items() if name in run.counts]
    panels.facts(
        [(label, f"{value:,}") for label, value in counted if isinstance(value, int)], columns=6, width=130
    )
    if not run.full:
        st.caption(
            "Of what was touched or due since the run before; what did not change was not counted again."
        )
    for sentence in said:
        st.text(safe.text(sentence))
    if run.counts.get("rejected"):
        st.text("Rejected rows as they stand now are named below the list of runs.")
