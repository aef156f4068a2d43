"""Who must answer a case, and how soon: a change in, the same change with an owner and a severity out.

Never reads a file: the mapping is owners.toml as doors/config.py read it. The format:

    [[rules]]                          # In order; the last that fits wins.
    name = "everything"                # Unique; the first rule has no matcher.
    owner = "refund operators"         # As people say it.
    target = "#refund-operators"       # Where messages go: a #channel, a channel or user id, an e-mail.

    [[rules]]
    name = "double refunds of support"
    kind = ["duplicate"]               # Matchers, of which all must fit, each one value or a list:
    team = "support"                   # kind, certainty, finding, account, team, tool, reason.
    amount_at_least_minor = { usd = 10000, jpy = 10000 }   # Another currency does not fit.
    older_than_minutes = 1440          # At least this old.
    owner = "support leads"
    target = "#support-leads"
    group = "S0123456789"              # A user group to mention there; may be left out.

    [[rules]]
    name = "the old importer"
    tool = "importer_2019"
    unowned = "Closed books, says finance."   # Nobody, on purpose, and why; instead of owner and target.

    [[severities]]                     # The same matchers and order; the first has none.
    level = "medium"                   # critical, high, medium or low

Without [[severities]] every case is medium.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar, cast

from recon.model.errors import ConfigurationError
from recon.model.records.cases import JOB, Case, Change, Entry, Owner
from recon.model.records.results import Mismatch
from recon.model.records.words import Action, CaseState, Certainty, Finding, Kind, RunId, Severity

# The name of the owner of a case that a rule leaves unowned; its target is empty.
NOBODY = "nobody, on purpose"

_Word = TypeVar("_Word", bound=StrEnum)

_TEXT_MATCHERS = ("account", "team", "tool", "reason")
_WORD_MATCHERS: Mapping[str, type[StrEnum]] = {"kind": Kind, "certainty": Certainty, "finding": Finding}
_MATCHERS = frozenset((*_WORD_MATCHERS, *_TEXT_MATCHERS, "amount_at_least_minor", "older_than_minutes"))
_RULE_KEYS = _MATCHERS | {"name", "owner", "target", "group", "unowned"}
_SEVERITY_KEYS = _MATCHERS | {"level"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of a mismatch; every part must fit.

    words: per field of the mismatch, the values that fit. at_least_minor: minor units per currency; empty
    fits any money. older_than: zero fits any age.
    """

    words: Mapping[str, frozenset[str]]
    at_least_minor: Mapping[str, int]
    older_than: timedelta

    def fits(self, mismatch: Mismatch, *, as_of: datetime) -> bool:
        """Return whether this mismatch is meant."""
        if any((getattr(mismatch, name) or "") not in values for name, values in self.words.items()):
            return False
        if self.at_least_minor:
            least = self.at_least_minor.get(mismatch.at_risk.currency)
            if least is None or mismatch.at_risk.amount_minor < least:
                return False
        return not self.older_than or as_of - mismatch.since >= self.older_than

    @property
    def catches_all(self) -> bool:
        """Return whether nothing is asked."""
        return not (self.words or self.at_least_minor or self.older_than)


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One [[rules]]. mention: a user group to mention where the message goes; None mentions nobody."""

    condition: Condition
    owner: Owner
    mention: str | None


@dataclass(frozen=True, slots=True)
class SeverityRule:
    """One [[severities]]."""

    condition: Condition
    level: Severity


@dataclass(frozen=True, slots=True)
class Ownership:
    """All rules, in order; the last that fits wins and the first fits everything."""

    rules: tuple[OwnerRule, ...]
    severities: tuple[SeverityRule, ...]

    def owner(self, mismatch: Mismatch, *, as_of: datetime) -> Owner:
        """Return who must answer this mismatch; NOBODY with an empty target where a rule says so."""
        return next(rule.owner for rule in reversed(self.rules) if rule.condition.fits(mismatch, as_of=as_of))

    def severity(self, mismatch: Mismatch, *, as_of: datetime) -> Severity:
        """Return how soon somebody must look."""
        return next(
            rule.level for rule in reversed(self.severities) if rule.condition.fits(mismatch, as_of=as_of)
        )

    def mentions(self) -> dict[str, str]:
        """Return the user group to mention, by the name of the rule that chose the owner."""
        return {rule.owner.rule: rule.mention for rule in self.rules if rule.mention is not None}


def parse(mapping: Mapping[str, object]) -> Ownership:
    """Return the rules of an owners.toml.

    Raises:
        ConfigurationError: a rule is not as the format says; the text names the rule and what was expected.
    """
    unknown = sorted(set(mapping) - {"rules", "severities"})
    if unknown:
        raise ConfigurationError(
            f"owners.toml: unknown table {unknown[0]!r}; expected [[rules]] and [[severities]]."
        )
    rules = _unique(
        tuple(_owner_rule(row, where) for row, where in _tables(mapping, "rules", names="name")), "rules"
    )
    severities = tuple(
        _severity_rule(row, where) for row, where in _tables(mapping, "severities", names="level")
    )
    if not rules:
        raise ConfigurationError("owners.toml: no [[rules]]; expected at least one, without matchers.")
    for title, conditions in (
        ("rules", [rule.condition for rule in rules]),
        ("severities", [each.condition for each in severities]),
    ):
        if conditions and not conditions[0].catches_all:
            raise ConfigurationError(
                f"owners.toml: the first [[{title}]] has a matcher; it must fit every case, or some had none."
            )
    everything = Condition({}, {}, timedelta(0))
    return Ownership(rules, severities or (SeverityRule(everything, Severity.MEDIUM),))


def assign(changes: Iterable[Change], ownership: Ownership, *, as_of: datetime) -> tuple[Change, ...]:
    """Return the same changes, in order, with their cases owned and rated.

    A pinned owner stays, and a cleared case keeps both.
    """
    return tuple(replace(change, case=_owned(change.case, ownership, as_of=as_of)) for change in changes)


def reconsider(
    cases: Iterable[Case], ownership: Ownership, *, run_id: RunId, as_of: datetime, now: datetime
) -> tuple[Change, ...]:
    """Return a change for each undecided case that rules or age now give another owner or severity.

    For the cases that a run leaves as they are; in the order given.
    """
    changes = []
    for case in cases:
        after = _owned(case, ownership, as_of=as_of)
        if case.state not in {CaseState.OPEN, CaseState.ACKNOWLEDGED} or after == case:
            continue
        after = replace(after, version=case.version + 1, updated_at=now)
        entry = Entry(
            case_id=case.id,
            action=Action.ASSIGNED,
            actor=JOB,
            at=now,
            reason=_handed_over(case, after),
            from_state=case.state,
            to_state=case.state,
            version=after.version,
            action_id=f"{run_id}:{case.id}",
            run_id=run_id,
        )
        changes.append(Change(after, entry, from_version=case.version))
    return tuple(changes)


def _owned(case: Case, ownership: Ownership, *, as_of: datetime) -> Case:
    if case.state is CaseState.CLEARED:
        return case
    owner = case.owner if case.pinned else ownership.owner(case.mismatch, as_of=as_of)
    return replace(case, owner=owner, severity=ownership.severity(case.mismatch, as_of=as_of))


def _handed_over(before: Case, after: Case) -> str:
    """Return in a sentence what became of owner and severity."""
    told = []
    if before.owner != after.owner:
        was = before.owner.name if before.owner else "nobody"
        now = f"{after.owner.name} by rule {after.owner.rule!r}" if after.owner else "nobody"
        told.append(f"Owner was {was}, is {now}.")
    if before.severity is not after.severity:
        told.append(f"Severity was {before.severity}, is {after.severity}.")
    return " ".join(told)


def _tables(
    mapping: Mapping[str, object], title: str, *, names: str
) -> list[tuple[Mapping[str, object], str]]:
    """Return the tables of an array of tables, each with the words that errors call it by."""
    tables = mapping.get(title, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise ConfigurationError(f"owners.toml: {title} must be written as [[{title}]] tables.")
    rows = cast("list[Mapping[str, object]]", tables)
    return [
        (row, f"owners.toml, [[{title}]] number {number} ({row.get(names, f'without a {names}')})")
        for number, row in enumerate(rows, start=1)
    ]


def _owner_rule(row: Mapping[str, object], where: str) -> OwnerRule:
    condition = _condition(row, where, known=_RULE_KEYS)
    name = _text(row, "name", where)
    if "unowned" in row:
        _text(row, "unowned", where)
        if {"owner", "target", "group"} & set(row):
            raise ConfigurationError(f"{where}: unowned excludes owner, target and group.")
        return OwnerRule(condition, Owner(NOBODY, "", name), mention=None)
    target = _text(row, "target", where)
    if not (target[0] in "#UWCGD" or "@" in target[1:-1]) or " " in target:
        raise ConfigurationError(
            f"{where}: target is {target!r}; expected a #channel, a channel or user id, or an e-mail address."
        )
    mention = _text(row, "group", where) if "group" in row else None
    if mention is not None and not mention.startswith("S"):
        raise ConfigurationError(f"{where}: group is {mention!r}; expected a user group's id, S....")
    return OwnerRule(condition, Owner(_text(row, "owner", where), target, name), mention)


def _severity_rule(row: Mapping[str, object], where: str) -> SeverityRule:
    condition = _condition(row, where, known=_SEVERITY_KEYS)
    return SeverityRule(condition, _word(Severity, _text(row, "level", where), "level", where))


def _condition(row: Mapping[str, object], where: str, *, known: frozenset[str]) -> Condition:
    unknown = sorted(set(row) - known)
    if unknown:
        raise ConfigurationError(
            f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}."
        )
    words = {name: _texts(row[name], name, where) for name in _TEXT_MATCHERS if name in row}
    for name, vocabulary in _WORD_MATCHERS.items():
        if name in row:
            words[name] = frozenset(
                _word(vocabulary, value, name, where) for value in _texts(row[name], name, where)
            )
    minutes = row.get("older_than_minutes", 0)
    if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 0:
        raise ConfigurationError(f"{where}: older_than_minutes is {minutes!r}; expected whole minutes.")
    return Condition(words, _amounts(row.get("amount_at_least_minor", {}), where), timedelta(minutes=minutes))


def _amounts(value: object, where: str) -> Mapping[str, int]:
    """Return minor units per lower-case currency."""
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where}: amount_at_least_minor must be like {{ usd = 10000 }}.")
    for currency, amount in value.items():
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
            raise ConfigurationError(
                f"{where}: amount_at_least_minor.{currency} is {amount!r}; expected whole minor units."
            )
    return {str(currency).lower(): int(amount) for currency, amount in value.items()}


def _texts(value: object, name: str, where: str) -> frozenset[str]:
    """Return one or several texts."""
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str) for each in values):
        raise ConfigurationError(f"{where}: {name} is {value!r}; expected text or a list of texts.")
    return frozenset(cast("list[str]", values))


def _text(row: Mapping[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{where}: {name} is {value!r}; expected text.")
    return value


def _word(vocabulary: type[_Word], value: str, name: str, where: str) -> _Word:
    try:
        return vocabulary(value)
    except ValueError:  # A word that is not in the vocabulary.
        raise ConfigurationError(
            f"{where}: unknown {name} {value!r}; known are {', '.join(vocabulary)}."
        ) from None


def _unique(rules: tuple[OwnerRule, ...], title: str) -> tuple[OwnerRule, ...]:
    names = [rule.owner.rule for rule in rules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"owners.toml: two [[{title}]] are named {twice[0]!r}; names are unique.")
    return rules
