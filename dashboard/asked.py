"""What the address asks of the queue, read into filters.

An unknown word in an address filters nothing; a link from an older version must still open.
"""

from enum import StrEnum
from typing import Final, TypeVar

import streamlit as st

from dashboard import links, words
from recon.model import moments, money
from recon.model.records.queues import WAITING, QueueFilters
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseState, Kind, Severity

EVERY: Final = "all"  # In the address: no word of this vocabulary is left out, though some are by default.
YES: Final = "yes"  # In the address: only what waits for a second person.
PLATFORM: Final = "platform"  # In the address: the account without a name.
VIEWS: Final = {"table": "Table", "list": "List"}

Word = TypeVar("Word", bound=StrEnum)


def queue() -> QueueFilters:
    """Return the filters that the address asks for."""
    owner, account = one("owner"), one("account")
    return QueueFilters(
        states=several("state", CaseState, default=WAITING),
        kinds=several("kind", Kind),
        severities=several("severity", Severity),
        owners=() if owner is None else ("" if owner == words.NOBODY else owner,),
        accounts=() if account is None else (named(account),),
        person=one("person") or "",
        opened_from=moments.read(one("from") or ""),
        opened_before=moments.read(one("before") or ""),
        at_least=amount(one("least") or ""),
        proposed=links.chosen("proposed") == (YES,),
        search=(one("text") or "").strip(),
    )


def one(name: str) -> str | None:
    """Return the first value of a filter; None where the address has none."""
    return next(iter(links.chosen(name)), None)


def several(name: str, vocabulary: type[Word], *, default: tuple[Word, ...] = ()) -> tuple[Word, ...]:
    """Return the words of a filter in the vocabulary's order; empty is all.

    default: what is meant where the address names no word that we know.
    """
    asked = links.chosen(name)
    known = tuple(word for word in vocabulary if word.value in asked)
    return known if known or asked == (EVERY,) else default


def named(account: str) -> AccountId:
    """Return the account that a value of the address stands for."""
    return AccountId("" if account == PLATFORM else account)


def amount(text: str) -> Money | None:
    """Return the money that a text names, as "49.50 usd"; None where it is none."""
    typed, _, currency = text.rpartition(" ")
    minor = money.minor(typed.replace(",", ""), currency.lower()) if typed else None
    return None if minor is None else Money(minor, currency.lower())


def as_list() -> bool:
    """Return whether rows are to be a plain list instead of a grid: what is asked for, else on a phone."""
    view = one("view")
    return view == "list" if view in VIEWS else on_phone()


def on_phone() -> bool:
    """Return whether the browser says that it is a phone's: a server sees no more of it than that.

    Source: MDN, "Browser detection using the user agent", which asks to look for these letters alone.
    """
    return "Mobi" in (st.context.headers.get("User-Agent") or "")
