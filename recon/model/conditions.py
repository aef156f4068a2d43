"""What a rule of owners.toml asks of a mismatch: the matchers, whether they fit, and why they do not.

Never says who owns what: rules/ownership.py does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar, cast

from recon.model import money, phrases
from recon.model.documents import Table
from recon.model.records.results import Mismatch, Money
from recon.model.records.words import Certainty, Finding, Kind

_LONGEST_MINUTES = 10 * 366 * 24 * 60  # Ten years: beyond it somebody has mistaken the unit.

_Word = TypeVar("_Word", bound=StrEnum)

_TEXTS = ("account", "team", "tool", "reason")
_WORDS: Mapping[str, type[StrEnum]] = {"kind": Kind, "certainty": Certainty, "finding": Finding}
_AT_LEAST, _BELOW, _OLDER = "amount_at_least_minor", "amount_below_minor", "older_than_minutes"
_PERHAPS = frozenset({Kind.DUPLICATE, Kind.STUCK})  # The kinds that are ever only probable.
# What a field without a matcher can be, where that is known and some word is always there.
_EVERY: Mapping[str, frozenset[str]] = {"kind": frozenset(Kind), "certainty": frozenset(Certainty)}
_NO_END = 2**128  # More than any sum of amounts that the provider can hold.
MATCHERS = frozenset((*_WORDS, *_TEXTS, _AT_LEAST, _BELOW, _OLDER))


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a condition does not fit: the first matcher that fails. found, asked: in words for people."""

    matcher: str
    found: str
    asked: str


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of a mismatch; every part must fit.

    words: per field of the mismatch, the values that fit. at_least_minor, below_minor: minor units per
    currency, of which another does not fit; empty fits any money. older_than: zero fits any age.
    """

    words: Mapping[str, frozenset[str]]
    at_least_minor: Mapping[str, int]
    older_than: timedelta
    below_minor: Mapping[str, int] = field(default_factory=dict)

    def fits(self, mismatch: Mismatch, *, as_of: datetime) -> bool:
        """Return whether this mismatch is meant."""
        return next(self._failing(mismatch, as_of), None) is None

    def unfit(self, mismatch: Mismatch, *, as_of: datetime) -> Unfit | None:
        """Return the first matcher that this mismatch does not fit; None where all do."""
        failing = next(self._failing(mismatch, as_of), None)
        if failing is None:
            return None
        return Unfit(failing, self._found(failing, mismatch, as_of), self._asked(failing))

    @property
    def asked(self) -> Mapping[str, str]:
        """Return what each matcher asks for, in words and in the order of the format."""
        others = {
            _AT_LEAST: self.at_least_minor,
            _BELOW: self.below_minor,
            _OLDER: self.older_than,
        }
        names = [*self.words, *(name for name, asks in others.items() if asks)]
        return {name: self._asked(name) for name in names}

    def _asked(self, name: str) -> str:
        if name in self.words:
            return " or ".join(sorted(_named(name, value) for value in self.words[name]))
        if name == _OLDER:
            return f"{phrases.duration(self.older_than)} or more"
        least = name == _AT_LEAST
        bounds = self.at_least_minor if least else self.below_minor
        told = [money.written(Money(minor, currency)) for currency, minor in sorted(bounds.items())]
        return " or ".join(f"{each} or more" if least else f"less than {each}" for each in told)

    def _found(self, name: str, mismatch: Mismatch, as_of: datetime) -> str:
        if name in self.words:
            return _named(name, getattr(mismatch, name))
        return phrases.duration(as_of - mismatch.since) if name == _OLDER else money.written(mismatch.at_risk)

    def _failing(self, mismatch: Mismatch, as_of: datetime) -> Iterator[str]:
        """Yield the matchers that do not fit, in the order of the format."""
        for name, values in self.words.items():
            if (getattr(mismatch, name) or "") not in values:
                yield name
        amount, currency = mismatch.at_risk.amount_minor, mismatch.at_risk.currency
        if self.at_least_minor and not amount >= self.at_least_minor.get(currency, amount + 1):
            yield _AT_LEAST
        if self.below_minor and not amount < self.below_minor.get(currency, amount):
            yield _BELOW
        if self.older_than and as_of - mismatch.since < self.older_than:
            yield _OLDER

    @property
    def catches_all(self) -> bool:
        """Return whether nothing is asked."""
        return not (self.words or self.at_least_minor or self.below_minor or self.older_than)

    @property
    def never(self) -> str | None:
        """Return why no mismatch can ever fit, as one sentence; None where one can, as far as is known."""
        kinds, certainties = self.words.get("kind"), self.words.get("certainty")
        if kinds is not None and "finding" in self.words and Kind.STUCK not in kinds:
            return "Only stuck has a finding, and kind leaves stuck out."
        if certainties == frozenset({Certainty.PROBABLE}) and kinds is not None and not kinds & _PERHAPS:
            return f"Only {' and '.join(sorted(_PERHAPS))} are ever probable, and kind leaves both out."
        if self.at_least_minor and self.below_minor and not self.reach:
            return f"{_AT_LEAST} and {_BELOW} have no currency and amount in common."
        return None

    def covers(self, other: "Condition") -> bool:
        """Return whether this fits whatever the other fits, as far as the two alone tell."""
        for name, values in self.words.items():
            theirs = other.words.get(name, _EVERY.get(name))
            if theirs is None or not theirs <= values:
                return False
        if self.older_than > other.older_than:
            return False
        mine, given = self.reach, other.reach
        if not (self.at_least_minor or self.below_minor):
            return True
        return bool(given) and all(
            currency in mine and mine[currency][0] <= low and high <= mine[currency][1]
            for currency, (low, high) in given.items()
        )

    @property
    def reach(self) -> dict[str, tuple[int, int]]:
        """Return the amounts that fit, by currency, from and below; empty where any money does, or none."""
        bounded = [each for each in (self.at_least_minor, self.below_minor) if each]
        named = set.intersection(*map(set, bounded)) if bounded else set()
        reach = {
            currency: (self.at_least_minor.get(currency, 0), self.below_minor.get(currency, _NO_END))
            for currency in named
        }
        return {currency: (low, high) for currency, (low, high) in reach.items() if low < high}


def read(table: Table) -> Condition:
    """Return the matchers of a table.

    Raises:
        ConfigurationError: a matcher is not as the format says.
    """
    row = table.row
    words = {name: _texts(table, name) for name in _TEXTS if name in row}
    for name, vocabulary in _WORDS.items():
        if name in row:
            words[name] = frozenset(word(vocabulary, each, name, table) for each in _texts(table, name))
    condition = Condition(
        {name: words[name] for name in (*_WORDS, *_TEXTS) if name in words},
        _amounts(table, _AT_LEAST, least=0),
        timedelta(minutes=_minutes(table)),
        _amounts(table, _BELOW, least=1),
    )
    if condition.never is not None:
        raise table.error(f"no mismatch can fit: {condition.never}")
    return condition


def sentence(asked: Mapping[str, str]) -> str:
    """Return what a rule asks for, in words, from what each of its matchers asks for."""
    told = (f"{matcher(name)} {asks}" for name, asks in asked.items())
    return ", ".join(told) or "anything"


def matcher(name: str) -> str:
    """Return how a matcher reads before what it asks for or has found."""
    return {_OLDER: "age"}.get(name, "amount" if name.startswith("amount_") else name)


def word(vocabulary: type[_Word], value: str, name: str, table: Table) -> _Word:
    """Return a word of a closed vocabulary."""
    try:
        return vocabulary(value)
    except ValueError:  # A word that is not in the vocabulary.
        raise table.error(f"unknown {name} {value!r:.60}; known are {', '.join(vocabulary)}.", name) from None


def _named(name: str, value: str | None) -> str:
    return phrases.account(value or "") if name == "account" else value or "none"


def _texts(table: Table, name: str) -> frozenset[str]:
    """Return one or several texts."""
    value = table.row[name]
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str) for each in values):
        raise table.error(f"{name} is {value!r:.60}; expected text or a list of texts.", name)
    return frozenset(cast("list[str]", values))


def _minutes(table: Table) -> int:
    value = table.row.get(_OLDER, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LONGEST_MINUTES:
        raise table.error(f"{_OLDER} is {value!r:.60}; expected whole minutes, ten years at most.", _OLDER)
    return value


def _amounts(table: Table, name: str, *, least: int) -> Mapping[str, int]:
    """Return minor units per lower-case currency."""
    if name not in table.row:
        return {}
    value, found = table.row[name], {}
    if not isinstance(value, Mapping) or not value:
        raise table.error(f"{name} must be like {{ usd = 10000 }}.", name)
    for written, amount in value.items():
        currency = str(written).lower()
        if currency not in money.EXPONENTS:
            raise table.error(f"{name} names {written!r:.60}, which is no currency of the provider's.", name)
        if (
            not isinstance(amount, int)
            or isinstance(amount, bool)
            or not least <= amount <= money.LARGEST_MINOR
        ):
            raise table.error(
                f"{name}.{currency} is {amount!r:.60}; expected whole minor units, {least} or more.", name
            )
        if currency in found:
            raise table.error(f"{name} names {currency} twice.", name)
        found[currency] = amount
    return found
