"""The queue's filters: the widgets that show what the address asks, and write into it what is chosen.

The address alone says what is asked for: the widgets follow it, also on the way back through a history.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, tzinfo
from enum import StrEnum
from typing import Final, TypeVar

import streamlit as st

from dashboard import asked, chips, grids, links, safe, words
from recon.model import moments, money, phrases
from recon.model.records.people import Operator
from recon.model.records.queues import WAITING, QueueFilters, QueueSummary
from recon.model.records.words import CaseState, Kind, Severity

SEARCH_LIMIT: Final = 200  # Characters: the longest key we know of fits.
SEARCH_PIXELS: Final = 370  # What can be searched for is said in it.
ANYONE: Final = "anyone"  # What the owner filter says when it filters nothing; in the address it is absent.
ANY: Final = "any"  # The same of the account filter.
AMOUNT_LIMIT: Final = 30  # Characters: an int64 with its thousands apart fits.
KEYS: Final = {name: f"filter-{name}" for name in links.FILTERS}

MINE, UNOWNED, UNANSWERED, PROPOSED = "mine", "unowned", "unanswered", "proposed"
AT_ONCE_KEY: Final = "filter-at-once"
CURRENCY_KEY: Final = "filter-currency"
UNFOLDED_KEY: Final = "filters-unfolded"
AT_ONCE: Final = {MINE: "Mine", UNOWNED: "Nobody's", UNANSWERED: "Unanswered", PROPOSED: "Waits for approval"}

Word = TypeVar("Word", bound=StrEnum)


def show(summary: QueueSummary, *, operator: Operator, zone: tzinfo) -> QueueFilters:
    """Show the filters, and return what is asked for.

    Those that are asked for now and then are folded away, and stand as buttons of their own while they are at
    work: the first case has to be in sight. Unfolded they follow in the page's order, for who has no mouse.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _at_once(operator)
        _search()
        unfolded = st.toggle("Filters", key=UNFOLDED_KEY)
        grids.view()
    if unfolded:
        with st.container(border=True):
            _unfolded(summary, zone)
    chips.show(chips.at_work(operator, zone), drop=_drop, clear=clear)
    return asked.queue()


def everywhere() -> None:
    """Look for what is searched in every state, and through no other filter."""
    searched = links.chosen("text")
    clear()
    links.choose("text", searched)
    links.choose("state", (asked.EVERY,))


def clear() -> None:
    """Forget every filter, in the widgets and in the address."""
    for name in KEYS:
        if name != "view":
            _forget(name)


def _unfolded(summary: QueueSummary, zone: tzinfo) -> None:
    """Show the folded filters, with how many wait for each word."""
    _words("kind", "Kind", Kind, words.KINDS, counts=summary.kinds)
    with st.grid(2, min_column_width=300, gap="small"):
        _words("severity", "Severity", Severity, words.SEVERITIES, counts=summary.severities)
        _words("state", "State", CaseState, words.STATES, default=WAITING)
    with st.grid(3, min_column_width=150, gap="small", vertical_alignment="bottom"):
        _owners(summary)
        _accounts(summary)
        _day("from", "Opened from", zone)
        _day("before", "Opened before", zone)
        _at_least(summary)


def _drop(name: str, value: str) -> None:
    """Take one value of a filter away."""
    rest = tuple(each for each in links.chosen(name) if each != value)
    _forget(name)
    links.choose(name, rest)


def _forget(name: str) -> None:
    links.choose(name, ())
    if name == "least":  # The one widget that may show what is no amount, and so not in the address.
        st.session_state.pop(KEYS[name], None)
        st.session_state.pop(CURRENCY_KEY, None)


def _at_once(operator: Operator) -> None:
    """Show what is asked for most, one click each."""
    told = {
        MINE: asked.one("person") == operator.name,
        UNOWNED: links.chosen("owner") == (words.NOBODY,),
        UNANSWERED: links.chosen("state") == (CaseState.OPEN.value,),
        PROPOSED: links.chosen("proposed") == (asked.YES,),
    }
    now = [name for name, holds in told.items() if holds]

    def shown(name: str) -> str:
        return f":blue[{AT_ONCE[name]}]" if name in now else AT_ONCE[name]

    def write() -> None:
        for name in {*st.session_state[AT_ONCE_KEY]} ^ {*now}:
            _turn(name, operator, on=name not in now)

    st.session_state[AT_ONCE_KEY] = now
    st.pills(
        "Show only",
        list(AT_ONCE),
        selection_mode="multi",
        format_func=shown,
        key=AT_ONCE_KEY,
        on_change=write,
        label_visibility="collapsed",
        wrap=True,
    )


def _turn(name: str, operator: Operator, *, on: bool) -> None:
    """Write one of these choices into the address."""
    filtered, value = {
        MINE: ("person", operator.name),
        UNOWNED: ("owner", words.NOBODY),
        UNANSWERED: ("state", CaseState.OPEN.value),
        PROPOSED: ("proposed", asked.YES),
    }[name]
    links.choose(filtered, (value,) if on else ())
    if name == PROPOSED:  # Whatever its state: what is accepted can be proposed to be resolved.
        links.choose("state", (asked.EVERY,) if on else ())


def _words(
    name: str,
    label: str,
    vocabulary: type[Word],
    phrases: Mapping[Word, str],
    *,
    counts: Mapping[Word, int] | None = None,
    default: tuple[Word, ...] = (),
) -> None:
    """Show one vocabulary as buttons. counts: how many wait; a word without any is left out unless chosen."""
    chosen = asked.several(name, vocabulary, default=default)
    options = [word for word in vocabulary if counts is None or counts.get(word) or word in chosen]
    if not options:
        return

    def shown(word: Word) -> str:
        label = phrases[word] if counts is None else f"{phrases[word]} {counts.get(word, 0):,}"
        # The theme's own color of a chosen button is too dim to read on a dark page.
        return f":blue[{label}]" if word in chosen else label

    def write() -> None:
        picked = tuple(st.session_state[KEYS[name]] or ())
        every = (asked.EVERY,) if default and not picked else tuple(word.value for word in picked)
        links.choose(name, () if set(picked) == set(default) else every)

    st.session_state[KEYS[name]] = list(chosen)
    st.pills(
        label,
        options,
        selection_mode="multi",
        format_func=shown,
        key=KEYS[name],
        on_change=write,
        wrap=True,
    )


def _owners(summary: QueueSummary) -> None:
    owner = asked.one("owner")
    names = sorted({*(name or words.NOBODY for name in summary.owners), *([owner] if owner else [])})

    def shown(name: str) -> str:
        count = summary.owners.get("" if name == words.NOBODY else name, 0)
        return name if name == ANYONE else f"{safe.line(name)} ({count:,})"

    _choice("owner", "Owner", ANYONE, names, shown)


def _accounts(summary: QueueSummary) -> None:
    account = asked.one("account")
    names = sorted({*(name or asked.PLATFORM for name in summary.accounts), *([account] if account else [])})

    def shown(name: str) -> str:
        count = summary.accounts.get(asked.named(name), 0)
        return name if name == ANY else f"{safe.line(phrases.account(asked.named(name)))} ({count:,})"

    _choice("account", "Account", ANY, names, shown)


def _choice(name: str, label: str, nothing: str, names: list[str], shown: Callable[[str], str]) -> None:
    """Show one of several names. nothing: what is chosen when this filters nothing."""

    def write() -> None:
        picked = st.session_state[KEYS[name]]
        links.choose(name, () if picked in {None, nothing} else (picked,))

    st.session_state[KEYS[name]] = asked.one(name) or nothing
    st.selectbox(label, [nothing, *names], format_func=shown, key=KEYS[name], on_change=write)


def _search() -> None:
    def write() -> None:
        typed = st.session_state[KEYS["text"]].strip()
        links.choose("text", (typed,) if typed else ())

    st.session_state[KEYS["text"]] = asked.one("text") or ""
    st.text_input(
        "Find exactly",
        max_chars=SEARCH_LIMIT,
        placeholder="case, order, customer, payment, key or refund id",
        key=KEYS["text"],
        on_change=write,
        icon=":material/search:",
        label_visibility="collapsed",
        width=SEARCH_PIXELS,
    )


def _day(name: str, label: str, zone: tzinfo) -> None:
    """Show the day of a moment in the address; a day that is chosen is written as its beginning, in UTC."""
    at = moments.read(asked.one(name) or "")

    def write() -> None:
        day: date | None = st.session_state[KEYS[name]]
        links.choose(name, () if day is None else (phrases.iso(datetime.combine(day, time.min, zone)),))

    st.session_state[KEYS[name]] = None if at is None else at.astimezone(zone).date()
    st.date_input(label, value=None, format="YYYY-MM-DD", key=KEYS[name], on_change=write)


def _at_least(summary: QueueSummary) -> None:
    """Show the least amount at risk, in the one currency that it is asked for in."""
    least = asked.amount(asked.one("least") or "")
    currencies = sorted({*summary.at_risk, *([least.currency] if least else [])} & {*money.EXPONENTS})
    if not currencies:
        return
    st.session_state.setdefault(
        KEYS["least"], "" if least is None else money.major(least.amount_minor, least.currency)
    )
    st.session_state.setdefault(CURRENCY_KEY, least.currency if least else currencies[0])

    def write() -> None:
        typed = f"{st.session_state[KEYS['least']].strip()} {st.session_state[CURRENCY_KEY]}"
        links.choose("least", (typed,) if asked.amount(typed) else ())

    typed = st.text_input("At risk at least", max_chars=AMOUNT_LIMIT, key=KEYS["least"], on_change=write)
    currency = st.selectbox("Currency", currencies, format_func=str.upper, key=CURRENCY_KEY, on_change=write)
    if typed.strip() and least is None:
        st.caption(f"Expected an amount such as 100 or 49.50 in {currency.upper()}.")
