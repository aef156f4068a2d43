"""The bridge: why what our records call done and what went back are not the same sum, per currency.

Every intent, and every live refund that belongs to none, stands on one line; so what it begins with and the
differences come to what it ends with. Currencies are never added.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from recon.model import arrays, money, phrases, subjects
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import Links
from recon.model.records.reports import Report, Step, StepRole
from recon.model.records.results import InFlight, Mismatch, Money, Result
from recon.model.records.words import AccountId, Certainty, Direction, IntentStatus, Kind, Subject
from recon.rules.reports import totals

_HALF = 32  # Bits: amounts are added in two halves, so that no sum of them passes an int64.

BEGINS = "marked done in our records"
ENDS = "went back, or will: live refunds"
_AGREES = "in agreement: the same on both sides"
_TWICE = "refunded twice: more than the intent asked for"
_AGAIN = "probably twice: asked for twice, refunded twice"
_ABROAD = "wrong currency: meant in one, sent in another"
_OVER = "wrong amount: too much went back"
_UNDER = "wrong amount: too little went back"
_LATE = "pending too long: not with the customer yet"
_BEHIND = "asked for above, but not marked done"
_DENIED = "went back, though we say failed or cancelled"
_CAME_BACK = "refund came back: done, failed at the provider"
_MISSING = "refund missing: done, not at the provider"
_UNKNOWN = "outcome unknown: what went back for it"
_TWIN = "probably refunded twice: asked for only once"
_ORPHAN = "refund nobody asked for"
_HEALABLE = "healable: went back, a run marks it done"
_COMING = "in flight: done, too young to be missing"
_OPEN = "in flight: not done yet, what went back for it"
_NEW = "in flight: no intent yet, too young to judge"
_WITHHELD = "withheld: not judged"
_STRAY = "withheld: not judged, of no intent"

# In the order of a report. A difference of the first is that to the amount that was asked for, whatever the
# intent's status, which _BEHIND makes good.
_BY_AMOUNT = (_TWICE, _AGAIN, _ABROAD, _OVER, _UNDER, _LATE)
_OF_REFUNDS = (_TWIN, _ORPHAN, _NEW, _STRAY)
_LINES = (
    _AGREES,
    *_BY_AMOUNT,
    _BEHIND,
    _DENIED,
    _CAME_BACK,
    _MISSING,
    _UNKNOWN,
    _TWIN,
    _ORPHAN,
    _HEALABLE,
    _COMING,
    _OPEN,
    _NEW,
    _WITHHELD,
    _STRAY,
)
_BY_KIND = {
    Kind.CURRENCY_MISMATCH: _ABROAD,
    Kind.STATUS_MISMATCH: _DENIED,
    Kind.REFUND_FAILED: _CAME_BACK,
    Kind.MISSING: _MISSING,
    Kind.STUCK: _UNKNOWN,
    Kind.OVERDUE: _LATE,
    Kind.ORPHAN: _ORPHAN,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Amounts:
    """Amounts with what each is of: codes of a currency and of a line, and the subject's position."""

    amount: Ints
    currency: Ints
    line: Ints
    subject: Ints

    def of(self, wanted: Bools) -> "_Amounts":
        """Return those that are wanted."""
        return _Amounts(self.amount[wanted], self.currency[wanted], self.line[wanted], self.subject[wanted])

    def on(self, line: str) -> "_Amounts":
        """Return the same amounts on another line."""
        return _Amounts(self.amount, self.currency, np.full_like(self.line, _LINES.index(line)), self.subject)

    def sums(self) -> dict[tuple[int, int], int]:
        """Return what each line of each currency comes to."""
        places = self.currency * len(_LINES) + self.line
        high, low = np.zeros((2, int(places.max(initial=0)) + 1), np.int64)
        np.add.at(high, places, self.amount >> _HALF)
        np.add.at(low, places, self.amount & np.int64((1 << _HALF) - 1))
        return {
            divmod(place, len(_LINES)): (int(high[place]) << _HALF) + int(low[place])
            for place in np.flatnonzero(np.bincount(places)).tolist()
        }


def of(result: Result, intents: pd.DataFrame, refunds: pd.DataFrame, links: Links) -> tuple[Step, ...]:
    """Return the lines by currency: what it begins with, the differences in report order, what it ends with.

    A line that anything is on is there even where it comes to nothing.
    """
    (mine, others), names = arrays.encode(
        arrays.strings(intents["currency"]), arrays.strings(refunds["currency"])
    )
    line, stray = _placed(result, intents, refunds, links)
    meant = _Amounts(intents["amount_minor"].to_numpy(), mine, line, np.arange(len(intents)))
    done = arrays.isin(arrays.strings(intents["status"]), (IntentStatus.DONE.value,))
    by_amount = np.isin(line, [_LINES.index(each) for each in _BY_AMOUNT])
    linked = links.intent != ABSENT
    sent = _Amounts(
        refunds["amount_minor"].to_numpy(),
        others,
        np.where(linked, line[links.intent] if len(line) else stray, stray),
        np.where(linked, links.intent, np.arange(len(refunds))),
    ).of(links.live & ~refunds["system"].to_numpy())
    behind = meant.of(by_amount & ~done).on(_BEHIND)
    return tuple(
        _steps(
            names.to_pylist(),
            begins=meant.of(done),
            less=meant.of(done | by_amount),
            more=(sent, behind),
            ends=sent,
            there=(meant, sent, behind),
        )
    )


def adds_up(steps: Iterable[Step]) -> bool:
    """Return whether one currency's first line and its differences come to its last."""
    came_to = 0
    for each in steps:
        came_to += -each.amount.amount_minor if each.role is StepRole.ENDS else each.amount.amount_minor
    return came_to == 0


def by_currency(steps: Iterable[Step]) -> dict[str, list[Step]]:
    """Return the lines of each currency, in their order."""
    found: dict[str, list[Step]] = {}
    for each in steps:
        found.setdefault(each.amount.currency, []).append(each)
    return found


def amount(step: Step) -> str:
    """Return a line's amount, a difference with its sign: +49.00 USD."""
    return (money.signed if step.role is StepRole.DIFFERS else money.written)(step.amount)


def outside(report: Report) -> tuple[str, ...]:
    """Return what to say of what stands on no line, if there is anything of it."""
    said = []
    rejected = phrases.several(len(report.result.rejected), "rejected row")
    if report.result.rejected:
        stands = "is" if len(report.result.rejected) == 1 else "are"
        said.append(f"{rejected} {stands} in none of these sums: what cannot be read has no amount.")
    system = {
        each.amount.currency: each.amount.amount_minor
        for each in report.totals
        if each.status == totals.SYSTEM
    }
    if system:
        made = phrases.listed([money.written(Money(minor, name)) for name, minor in sorted(system.items())])
        said.append(f"What the provider made by itself is in none of them either: {made}.")
    return tuple(said)


def _placed(result: Result, intents: pd.DataFrame, refunds: pd.DataFrame, links: Links) -> tuple[Ints, Ints]:
    """Return the line of each intent, and of each refund that belongs to none, as codes into _LINES."""
    told: dict[tuple[AccountId, Subject], str] = {
        pair: _WITHHELD if subjects.is_intent(pair[1]) else _STRAY for pair in result.withheld
    }
    told |= {(each.account, each.subject): _in_flight(each) for each in result.in_flight}
    told |= {(each.account, subjects.of_intent(each.intent_key)): _HEALABLE for each in result.healable}
    told |= {(each.account, each.subject): _mismatch(each) for each in result.mismatches}
    sides = (
        (subjects.OF_INTENTS, intents["key"], links.intent_account),
        (subjects.OF_REFUNDS, refunds["id"], links.refund_account),
    )
    found = []
    for prefix, column, accounts in sides:
        mine = [
            (account, subject.removeprefix(prefix), line)
            for (account, subject), line in told.items()
            if subject.startswith(prefix)
        ]
        codes = np.array([_LINES.index(line) for *_, line in mine], np.int64)
        their_accounts = arrays.find(pa.array([each[0] for each in mine], pa.large_string()), links.accounts)
        wanted = pa.array([each[1] for each in mine], pa.large_string())
        places = arrays.find_within(arrays.strings(column), accounts, wanted, their_accounts)
        lines = np.full(len(column), _LINES.index(_AGREES), np.int64)
        lines[places != ABSENT] = codes[places[places != ABSENT]]
        found.append(lines)
    return found[0], found[1]


def _mismatch(found: Mismatch) -> str:
    if found.kind is Kind.DUPLICATE:
        if found.certainty is Certainty.CONFIRMED:
            return _TWICE
        return _AGAIN if subjects.is_intent(found.subject) else _TWIN
    if found.kind is Kind.AMOUNT_MISMATCH:
        return _OVER if found.direction is Direction.OVER else _UNDER
    return _BY_KIND[found.kind]


def _in_flight(found: InFlight) -> str:
    if not subjects.is_intent(found.subject):
        return _NEW
    return _COMING if found.becomes is Kind.MISSING else _OPEN


def _steps(
    names: Sequence[str],
    *,
    begins: _Amounts,
    less: _Amounts,
    more: Iterable[_Amounts],
    ends: _Amounts,
    there: Sequence[_Amounts],
) -> Iterator[Step]:
    """Yield each currency's lines. there: what has a line even where it moves nothing."""
    differences: dict[tuple[int, int], int] = {key: -amount for key, amount in less.sums().items()}
    for amounts in more:
        for key, amount in amounts.sums().items():
            differences[key] = differences.get(key, 0) + amount
    numbers = _numbers(there)
    for name, currency in sorted((name, code) for code, name in enumerate(names)):
        number, amount = _whole(begins, currency)
        yield Step(BEGINS, StepRole.BEGINS, number, "intent", Money(amount, name))
        for line, said in enumerate(_LINES):
            if (currency, line) in numbers:
                number, amount = numbers[currency, line], differences.get((currency, line), 0)
                of = "refund" if said in _OF_REFUNDS else "intent"
                yield Step(said, StepRole.DIFFERS, number, of, Money(amount, name))
        number, amount = _whole(ends, currency)
        yield Step(ENDS, StepRole.ENDS, number, "refund", Money(amount, name))


def _whole(amounts: _Amounts, currency: int) -> tuple[int, int]:
    """Return how many amounts of a currency there are, and what they come to."""
    mine = amounts.of(amounts.currency == currency)
    return len(mine.amount), sum(mine.sums().values())


def _numbers(there: Sequence[_Amounts]) -> dict[tuple[int, int], int]:
    """Return how many subjects stand on each line of each currency, each once."""
    line = np.concatenate([each.currency * len(_LINES) + each.line for each in there])
    subject = np.concatenate([each.subject for each in there])
    width = int(subject.max(initial=0)) + 1
    # Not NumPy's unique, which takes many times as long on a million rows.
    numbers = np.bincount(pd.unique(line * width + subject) // width)
    return {divmod(place, len(_LINES)): int(numbers[place]) for place in np.flatnonzero(numbers).tolist()}
