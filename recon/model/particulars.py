"""How cases read in any message: the line of each, its ids, their money, whom it calls and where it leads.

Never decides what is said, and never says anything about a person but ids.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlencode

from recon.model import money
from recon.model.blocks import VALUE_LIMIT, clean, code, escaped, overflow
from recon.model.buttons import MENU, Button, Verb
from recon.model.phrases import iso, minute
from recon.model.records.cases import Case, Owner
from recon.model.records.notices import Block, Manner
from recon.model.records.owners import Profile, is_group
from recon.model.records.queues import WAITING
from recon.model.records.results import Money
from recon.model.records.words import CaseState, Kind

TOP = 5  # Cases that a root shows: what a person takes in at a glance; the rest are in the thread.
NAMED_LIMIT = 2_500  # Characters of the plain text in which a message names its cases; it may have 4,000.
_INCIDENT = timedelta(days=1)  # Of what began longer apart, the latest is the incident.
_BESIDE = timedelta(minutes=10)  # Others, of another owner or severity, began beside them.
# What a click does, in the order of the menu.
_CLICKS = {
    Verb.ACKNOWLEDGE: "Acknowledge",
    Verb.TAKE: "Assign to me",
    Verb.SNOOZE: "Snooze …",
    Verb.RESOLVE: "Resolve …",
}


def largest(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases that a message shows of many, the most money first."""
    return tuple(by_money(cases)[:TOP])


def by_money(cases: Iterable[Case]) -> list[Case]:
    """Return cases by their money in whole units, the largest first; currencies are only set side by side."""

    def size(case: Case) -> tuple[Decimal, str, str]:
        at_risk = case.mismatch.at_risk
        return -Decimal(money.major(at_risk.amount_minor, at_risk.currency)), at_risk.currency, case.id

    return sorted(cases, key=size)


def sums(cases: Iterable[Case]) -> str:
    """Return the sum per currency, in the currencies' order."""
    minor: Counter[str] = Counter()
    for case in cases:
        minor[case.mismatch.at_risk.currency] += case.mismatch.at_risk.amount_minor
    return " and ".join(money.written(Money(minor[each], each)) for each in sorted(minor)) or "nothing"


def line(case: Case, manner: Manner, *, struck: bool = False) -> str:
    """Return a case in one short line: its link, what is at risk, its ids, and whether it is looked after."""
    mismatch = case.mismatch
    url = escaped(f"{manner.dashboard_url}/case?{urlencode({'case': case.id})}")
    at_risk = money.written(mismatch.at_risk)
    link = f"<{url}|{case.id}>"
    first = f"~{link} {at_risk}~" if struck else f"{link}  *{at_risk}*"
    stands = [] if struck else standing(case, manner)
    return " · ".join([first, *(f"{word} {code(value)}" for word, value in ids(case)), *stands])


def standing(case: Case, manner: Manner) -> list[str]:
    """Return what keeps a waiting case from being asked about: somebody is at it, or it sleeps."""
    found = ["acknowledged"] if case.state is CaseState.ACKNOWLEDGED else []
    if case.snoozed_until is not None and case.snoozed_until > manner.now:
        found.append(f"snoozed until {minute(case.snoozed_until)}")
    return found


def menu(case: Case, manner: Manner) -> Block | None:
    """Return what can be done to a case from its message; None where nobody would hear of a click."""
    if not manner.answers or case.state not in WAITING:
        return None
    verbs = [verb for verb in _CLICKS if verb is not Verb.ACKNOWLEDGE or case.state is CaseState.OPEN]
    options = [(_CLICKS[verb], Button.of(verb, case).value, None) for verb in verbs]
    url = f"{manner.dashboard_url}/case?{urlencode({'case': case.id})}"
    return overflow(MENU, [*options, ("Open in the dashboard", Button.of(Verb.OPEN, case).value, url)])


def named(cases: Iterable[Case]) -> str:
    """Return cases in plain words, as many as the text has room for."""
    words = [
        ", ".join(
            [
                f"{each.id} {money.written(each.mismatch.at_risk)}",
                *(f"{word} {clean(value, limit=VALUE_LIMIT)}" for word, value in ids(each)),
            ]
        )
        for each in cases
    ]
    room = NAMED_LIMIT
    shown: list[str] = []
    for each in words:
        room -= len(each) + 2
        if room < 0:
            return f"{'; '.join(shown)}; and {len(words) - len(shown)} more."
        shown.append(each)
    return f"{'; '.join(shown)}."


def ids(case: Case) -> list[tuple[str, str]]:
    """Return the ids that name a case to people; where nothing else is known, the refund in question."""
    mismatch = case.mismatch
    found = [("order", mismatch.order_id), ("customer", mismatch.customer_id)]
    if not any(value for _, value in found):
        found = [("refund", each) for each in (mismatch.extra_refund_ids or mismatch.refund_ids)[:1]]
    return [(word, value) for word, value in (*found, ("account", case.account)) if value]


def mode(manner: Manner) -> str:
    """Return what follows a title where the money is not real."""
    return "" if manner.livemode else ", test mode"


def mention(profile: Profile) -> str:
    """Return the mention of a user group, with a space behind it, where an owner has one or is one."""
    group = profile.target if is_group(profile.target) else profile.group
    return f"<!subteam^{clean(group)}> " if group else ""


def queue(manner: Manner, **filters: str) -> str:
    """Return the address of the queue, filtered, escaped."""
    asked = f"/?{urlencode(filters)}" if filters else ""
    return escaped(f"{manner.dashboard_url}{asked}")


def incident(manner: Manner, kind: Kind, cases: Iterable[Case]) -> str:
    """Return the address of what began with these cases or just beside them, escaped; a day at most."""
    began = [case.mismatch.since.replace(second=0, microsecond=0) for case in cases]
    first = max(min(began), max(began) - _INCIDENT)
    window = {"from": iso(first - _BESIDE), "to": iso(max(began) + _BESIDE + timedelta(minutes=1))}
    return escaped(f"{manner.dashboard_url}/incident?{urlencode({'kind': kind.value, **window})}")


def names(owners: Iterable[Owner]) -> str:
    """Return who these are, in the order of their names; several owners can read in one place."""
    every = sorted({owner.name for owner in owners})
    more = len(every) - TOP
    shown = [clean(name, limit=VALUE_LIMIT) for name in every[:TOP]]
    return ", ".join(shown + ([f"{more} more"] if more > 0 else []))
