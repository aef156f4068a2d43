"""The filters that are at work, each as a button that takes it away: what is folded is never forgotten."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

import streamlit as st

from dashboard import asked, links, safe, times, words
from recon.model import moments, phrases
from recon.model.records.people import Operator
from recon.model.records.words import CaseState, Kind, Severity

LABEL_LIMIT: Final = 40  # Characters of somebody else's text on a button.

VOCABULARIES: Final = {
    "kind": {word.value: words.KINDS[word] for word in Kind},
    "severity": {word.value: f"{words.SEVERITIES[word]} severity" for word in Severity},
    "state": {word.value: words.STATES[word] for word in CaseState} | {asked.EVERY: "Every state"},
}


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter at work: its name and value in the address, and what it is called."""

    name: str
    value: str
    label: str


def at_work(operator: Operator, zone: tzinfo) -> tuple[Chip, ...]:
    """Return the filters in the address that no widget in sight shows, in the order of the filters."""
    return tuple(
        chip
        for name in ("kind", "severity", "state", "owner", "person", "account", "from", "before", "least")
        for chip in _of(name, operator, zone)
    )


def show(found: tuple[Chip, ...], *, drop: Callable[[str, str], None], clear: Callable[[], None]) -> None:
    """Show each filter with a cross, and one way to be rid of all."""
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("Filtered by", width="content")
        for chip in found:
            st.button(
                safe.plain(chip.label, limit=LABEL_LIMIT),
                key=f"chip-{chip.name}-{chip.value}",
                icon=":material/close:",
                icon_position="right",
                on_click=drop,
                args=(chip.name, chip.value),
            )
        st.button("Clear all", key="clear-all", type="tertiary", on_click=clear)


def _of(name: str, operator: Operator, zone: tzinfo) -> Iterator[Chip]:
    for value in links.chosen(name):
        label = _label(name, value, zone)
        if label is not None and (name, value) not in _in_sight(operator):
            yield Chip(name, value, label)


def _in_sight(operator: Operator) -> frozenset[tuple[str, str]]:
    """Return what the buttons beside the search say by themselves."""
    alone = {("state", CaseState.OPEN.value)} if links.chosen("state") == (CaseState.OPEN.value,) else set()
    return frozenset({("person", operator.name), ("owner", words.NOBODY)} | alone)


def _label(name: str, value: str, zone: tzinfo) -> str | None:
    """Return what a filter is called; None for a word that filters nothing."""
    match name:
        case "owner":
            return f"Owner {value}"
        case "person":
            return f"Of {value}"
        case "account":
            return f"Account {phrases.account(asked.named(value))}"
        case "from" | "before":
            at = moments.read(value)
            return None if at is None else f"Opened {name} {times.day(at, zone)}"
        case "least":
            return f"At least {value.upper()}"
        case _:
            return VOCABULARIES[name].get(value)
