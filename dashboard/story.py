"""A case's story in one order: what was done, what was told to whom, and the runs that had a part in it.

The newest comes first. Whatever people, files or Slack wrote is shown as text.
"""

from datetime import datetime, tzinfo
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import safe, times, words
from recon.desk import CaseView
from recon.model import phrases
from recon.model.records.cases import JOB, Entry
from recon.model.records.notices import Notice
from recon.model.records.runs import Run
from recon.model.records.words import NoticeState, Verdict

LIMIT: Final = 50  # Parts shown at once; the older ones are behind a switch.

Part = Entry | Notice | Run


def parts(view: CaseView) -> tuple[Part, ...]:
    """Return everything in the story of a case, newest first.

    At one moment a run comes after what it told, which comes after what it wrote.
    """
    found: list[tuple[datetime, int, int, Part]] = [
        (entry.at, 0, entry.version, entry) for entry in view.entries
    ]
    found += [
        (notice.sent_at or notice.created_at, 1, notice.id or 0, notice) for notice in view.around.notices
    ]
    found += [(run.finished_at, 2, run.fence, run) for run in view.around.runs]
    return tuple(part for *_, part in sorted(found, key=lambda each: each[:3], reverse=True))


def show(view: CaseView, zone: tzinfo) -> None:
    """Show the story of a case."""
    st.header("Story", anchor=False)
    every = parts(view)
    whole = len(every) <= LIMIT or st.toggle(f"All {len(every)} parts", key="every-part")
    for part in every if whole else every[:LIMIT]:
        with st.container(gap="xxsmall"):
            if isinstance(part, Entry):
                _entry(part, zone)
            elif isinstance(part, Notice):
                _notice(part, zone)
            else:
                _run(part, zone)
    unseen = view.around.told - len(view.around.notices)
    if whole and unseen:
        st.caption(f"{phrases.several(unseen, 'earlier message')} about it not shown here.")


def _entry(entry: Entry, zone: tzinfo) -> None:
    with _line():
        if entry.actor == JOB:
            st.badge(words.ACTIONS[entry.action], icon=":material/smart_toy:", color="gray")
            st.text("recon, in a run")
        else:
            st.badge(words.ACTIONS[entry.action], icon=":material/person:", color="blue")
            st.text(safe.line(entry.actor))
        st.caption(times.moment(entry.at, zone))
    if entry.from_state is not None and entry.from_state is not entry.to_state:
        st.caption(f"{words.STATES[entry.from_state]} → {words.STATES[entry.to_state]}")
    if entry.resolution is not None:
        st.caption(words.RESOLUTIONS[entry.resolution])
    st.text(safe.text(entry.reason))


def _notice(notice: Notice, zone: tzinfo) -> None:
    with _line():
        state = notice.state
        st.badge(words.NOTICE_STATES[state], icon=words.NOTICE_ICONS[state], color=words.NOTICE_COLORS[state])
        st.text(safe.line(f"to {notice.target}"))
        st.caption(times.moment(notice.sent_at or notice.created_at, zone))
    st.caption(f"{words.VERBS.get(notice.verb, 'Message')}{_fate(notice, zone)}")
    if notice.error and state is not NoticeState.SENT:
        st.text(safe.text(notice.error))
    if notice.verb != "edit":  # It only brings up to date what stands there already.
        # What is to be done stands on this page, and the link leads to it.
        st.text(safe.line(notice.message.text.partition(" What to do: ")[0]))


def _fate(notice: Notice, zone: tzinfo) -> str:
    """Return what becomes of a message that nobody has yet, to stand behind what it is."""
    at = times.moment(notice.next_at, zone)
    told = {
        NoticeState.WAITING: f"; goes out from {at}",
        NoticeState.UNKNOWN: f"; nobody knows whether it arrived: looked for from {at}",
        NoticeState.UNDELIVERABLE: "; nobody was told",
    }
    return told.get(notice.state, "")


def _run(run: Run, zone: tzinfo) -> None:
    with _line():
        st.badge(words.VERDICTS[run.verdict], icon=words.VERDICT_ICONS[run.verdict], color="gray")
        st.text("a run ended")
        st.caption(times.moment(run.finished_at, zone))
    read = "not everything was read" if run.verdict is Verdict.INCOMPLETE else "everything was read"
    st.caption(f"Covered to {times.moment(run.as_of, zone)}; {read}.")


def _line() -> DeltaGenerator:
    return st.container(horizontal=True, gap="xsmall", vertical_alignment="center")
