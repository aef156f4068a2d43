"""The queue's filters: what the address says, the widgets that change it, and both always the same.

An unknown word in an address filters nothing; a link from an older version must still open.
"""

from collections.abc import Mapping
from datetime import date, datetime, time, tzinfo
from enum import StrEnum
from typing import Final, TypeVar

import streamlit as st

from dashboard import links, safe, words
from recon.model import moments, money, phrases
from recon.model.records.people import Operator
from recon.model.records.queues import WAITING, QueueFilters, QueueSummary
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseState, Kind, Severity

SEARCH_LIMIT: Final = 200  # Characters: the longest key we know of fits.
EVERY: Final = "all"  # In the address: no word of this vocabulary is left out, though some are by default.
ANYONE: Final = "anyone"  # What the owner filter says when it filters nothing; in the address it is absent.
ANY: Final = "any"  # The same of the account filter.
PLATFORM: Final = "platform"  # In the address: the account without a name.
AMOUNT_LIMIT: Final = 30  # Characters: an int64 with its thousands apart fits.
KEYS: Final = {name: f"filter-{name}" for name in links.FILTERS}
VIEWS: Final = {"table": "Table", "list": "List"}
NARROW: Final = ("account", "from", "before", "least")  # Asked for now and then: folded away until they are.

MINE, UNOWNED, UNANSWERED, PROPOSED = "mine", "unowned", "unanswered", "proposed"
YES: Final = "yes"  # In the address: only what waits for a second person.
AT_ONCE_KEY: Final = "filter-at-once"
CURRENCY_KEY: Final = "filter-currency"
AT_ONCE: Final = {MINE: "Mine", UNOWNED: "Nobody's", UNANSWERED: "Unanswered", PROPOSED: "Waits for approval"}

Word = TypeVar("Word", bound=StrEnum)


def show(summary: QueueSummary, *, operator: Operator, zone: tzinfo) -> QueueFilters:
    """Show the filters, with how many wait for each word, and return what is asked for."""
    person = _at_once(operator)
    kinds = _words("kind", "Kind", Kind, words.KINDS, counts=summary.kinds)
    with st.grid(2, min_column_width=300, gap="small"):
        severities = _words("severity", "Severity", Severity, words.SEVERITIES, counts=summary.severities)
        states = _words("state", "State", CaseState, words.STATES, default=WAITING)
    with st.grid(3, min_column_width=210, gap="small", vertical_alignment="bottom"):
        owners = _owners(summary)
        search = _search()
        _view()
    folded = not any(links.chosen(name) for name in NARROW)
    with (
        st.expander("Account, age and amount", expanded=not folded),
        st.grid(5, min_column_width=150, gap="small", vertical_alignment="bottom"),
    ):
        accounts = _accounts(summary)
        opened_from = _day("from", "Opened from", zone)
        opened_before = _day("before", "Opened before", zone)
        at_least = _at_least(summary)
    return QueueFilters(
        states=states,
        kinds=kinds,
        severities=severities,
        owners=owners,
        accounts=accounts,
        person=person,
        opened_from=opened_from,
        opened_before=opened_before,
        at_least=at_least,
        proposed=links.chosen("proposed") == (YES,),
        search=search,
    )


def as_list() -> bool:
    """Return whether the cases are to be shown as a plain list instead of a grid."""
    asked = links.chosen("view")[:1]
    return asked == ("list",) if asked and asked[0] in VIEWS else _on_phone()


def _on_phone() -> bool:
    """Return whether the browser says that it is a phone's: a server sees no more of it than that.

    Source: MDN, "Browser detection using the user agent", which asks to look for these letters alone.
    """
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def clear() -> None:
    """Forget every filter, in the widgets and in the address."""
    for name, key in KEYS.items():
        if name != "view":
            st.session_state.pop(key, None)
            links.choose(name, ())
    st.session_state.pop(CURRENCY_KEY, None)


def _at_once(operator: Operator) -> str:
    """Show what is asked for most, one click each, and return whose cases are asked for; "" is anybody's."""
    person = next(iter(links.chosen("person")), "")
    theirs = person if person != operator.name else ""

    def chosen() -> list[str]:
        told = {
            MINE: bool(person),
            UNOWNED: links.chosen("owner") == (words.NOBODY,),
            UNANSWERED: links.chosen("state") == (CaseState.OPEN.value,),
            PROPOSED: links.chosen("proposed") == (YES,),
        }
        return [name for name, holds in told.items() if holds]

    def shown(name: str) -> str:
        label = f"Of {safe.line(theirs)}" if name == MINE and theirs else AT_ONCE[name]
        return f":blue[{label}]" if name in now and not (name == MINE and theirs) else label

    def write() -> None:
        for name in {*st.session_state[AT_ONCE_KEY]} ^ {*now}:
            _turn(name, operator, on=name not in now)

    now = chosen()
    st.session_state[AT_ONCE_KEY] = now
    st.pills(
        "Show only",
        list(AT_ONCE),
        selection_mode="multi",
        format_func=shown,
        key=AT_ONCE_KEY,
        on_change=write,
    )
    return person


def _turn(name: str, operator: Operator, *, on: bool) -> None:
    """Write one of these choices into the address and into the widget that says the same at length."""
    if name == MINE:
        links.choose("person", (operator.name,) if on else ())
    elif name == UNOWNED:
        links.choose("owner", (words.NOBODY,) if on else ())
        st.session_state[KEYS["owner"]] = words.NOBODY if on else ANYONE
    elif name == PROPOSED:
        links.choose("proposed", (YES,) if on else ())
        # Whatever its state: what is accepted can be proposed to be resolved.
        links.choose("state", (EVERY,) if on else ())
        st.session_state[KEYS["state"]] = [] if on else list(WAITING)
    else:
        links.choose("state", (CaseState.OPEN.value,) if on else ())
        st.session_state[KEYS["state"]] = [CaseState.OPEN] if on else list(WAITING)


def _words(
    name: str,
    label: str,
    vocabulary: type[Word],
    phrases: Mapping[Word, str],
    *,
    counts: Mapping[Word, int] | None = None,
    default: tuple[Word, ...] = (),
) -> tuple[Word, ...]:
    """Show one vocabulary as buttons and return the chosen words, in the vocabulary's order; empty is all."""
    asked = links.chosen(name)
    known = tuple(word for word in vocabulary if word.value in asked)
    options = [word for word in vocabulary if counts is None or counts.get(word) or word in known]
    if not options:
        return ()

    def shown(word: Word) -> str:
        label = phrases[word] if counts is None else f"{phrases[word]} {counts.get(word, 0):,}"
        # The theme's own color of a chosen button is too dim to read on a dark page.
        return f":blue[{label}]" if word in (st.session_state.get(KEYS[name]) or ()) else label

    def write() -> None:
        picked = tuple(st.session_state[KEYS[name]] or ())
        every = (EVERY,) if default and not picked else tuple(word.value for word in picked)
        links.choose(name, () if set(picked) == set(default) else every)

    st.session_state.setdefault(KEYS[name], list(known if known or asked == (EVERY,) else default))
    picked = st.pills(
        label, options, selection_mode="multi", format_func=shown, key=KEYS[name], on_change=write
    )
    return tuple(word for word in vocabulary if word in picked)


def _owners(summary: QueueSummary) -> tuple[str, ...]:
    asked = links.chosen("owner")
    names = sorted({*(name or words.NOBODY for name in summary.owners), *asked[:1]})
    st.session_state.setdefault(KEYS["owner"], asked[0] if asked else ANYONE)

    def shown(name: str) -> str:
        count = summary.owners.get("" if name == words.NOBODY else name, 0)
        return safe.line(name) if name == ANYONE else f"{safe.line(name)} ({count:,})"

    def write() -> None:
        picked = st.session_state[KEYS["owner"]]
        links.choose("owner", () if picked in {None, ANYONE} else (picked,))

    picked = st.selectbox("Owner", [ANYONE, *names], format_func=shown, key=KEYS["owner"], on_change=write)
    if picked in {None, ANYONE}:
        return ()
    return ("" if picked == words.NOBODY else str(picked),)


def _search() -> str:
    asked = links.chosen("text")
    st.session_state.setdefault(KEYS["text"], asked[0] if asked else "")

    def write() -> None:
        typed = st.session_state[KEYS["text"]].strip()
        links.choose("text", (typed,) if typed else ())

    typed = st.text_input(
        "Find exactly",
        max_chars=SEARCH_LIMIT,
        placeholder="case, order, customer, payment, key or refund id",
        key=KEYS["text"],
        on_change=write,
        icon=":material/search:",
    )
    return typed.strip()


def _accounts(summary: QueueSummary) -> tuple[AccountId, ...]:
    asked = links.chosen("account")[:1]
    names = sorted({*(name or PLATFORM for name in summary.accounts), *asked})
    st.session_state.setdefault(KEYS["account"], asked[0] if asked else ANY)

    def shown(name: str) -> str:
        count = summary.accounts.get(_account(name), 0)
        label = phrases.account(_account(name))
        return name if name == ANY else f"{safe.line(label)} ({count:,})"

    def write() -> None:
        picked = st.session_state[KEYS["account"]]
        links.choose("account", () if picked in {None, ANY} else (picked,))

    picked = st.selectbox("Account", [ANY, *names], format_func=shown, key=KEYS["account"], on_change=write)
    return () if picked in {None, ANY} else (_account(str(picked)),)


def _account(name: str) -> AccountId:
    return AccountId("" if name == PLATFORM else name)


def _day(name: str, label: str, zone: tzinfo) -> datetime | None:
    """Show the day of a moment in the address; a day that is chosen is written as its beginning, in UTC."""
    asked = moments.read(next(iter(links.chosen(name)), ""))
    st.session_state.setdefault(KEYS[name], None if asked is None else asked.astimezone(zone).date())

    def write() -> None:
        day: date | None = st.session_state[KEYS[name]]
        links.choose(name, () if day is None else (phrases.iso(datetime.combine(day, time.min, zone)),))

    st.date_input(label, value=None, format="YYYY-MM-DD", key=KEYS[name], on_change=write)
    return asked


def _at_least(summary: QueueSummary) -> Money | None:
    """Show the least amount at risk, in the one currency that it is asked for in."""
    asked = _amount(next(iter(links.chosen("least")), ""))
    currencies = sorted({*summary.at_risk, *([asked.currency] if asked else [])} & {*money.EXPONENTS})
    if not currencies:
        return None
    st.session_state.setdefault(
        KEYS["least"], "" if asked is None else money.major(asked.amount_minor, asked.currency)
    )
    st.session_state.setdefault(CURRENCY_KEY, asked.currency if asked else currencies[0])

    def write() -> None:
        typed = f"{st.session_state[KEYS['least']].strip()} {st.session_state[CURRENCY_KEY]}"
        links.choose("least", (typed,) if _amount(typed) else ())

    typed = st.text_input("At risk at least", max_chars=AMOUNT_LIMIT, key=KEYS["least"], on_change=write)
    currency = st.selectbox("Currency", currencies, format_func=str.upper, key=CURRENCY_KEY, on_change=write)
    if typed.strip() and asked is None:
        st.caption(f"Expected an amount such as 100 or 49.50 in {currency.upper()}.")
    return asked


def _amount(text: str) -> Money | None:
    """Return the money that a text names, as "49.50 usd"; None where it is none."""
    typed, _, currency = text.rpartition(" ")
    amount = money.minor(typed.replace(",", ""), currency.lower()) if typed else None
    return None if amount is None else Money(amount, currency.lower())


def _view() -> None:
    st.session_state.setdefault(KEYS["view"], "list" if as_list() else "table")

    def write() -> None:
        links.choose("view", (st.session_state[KEYS["view"]],))

    def shown(view: str) -> str:
        return f":blue[{VIEWS[view]}]" if view == st.session_state[KEYS["view"]] else VIEWS[view]

    st.segmented_control(
        "Show as",
        list(VIEWS),
        format_func=shown,
        required=True,
        key=KEYS["view"],
        on_change=write,
    )
