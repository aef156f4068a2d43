"""Who must answer a case, and how soon: a change in, the same change with an owner and a severity out.

Never reads a file: the mapping is owners.toml as doors/config.py read it, which tells of each key. In short:

    [owners."support leads"]           # Said once: where they read, when they rest, who is asked after them.
    target = "#support-leads"          # A #channel, the id of a channel, person or user group, an e-mail.
    escalation = [ { after_minutes = 60, owner = "refund operators" } ]

    [[rules]]                          # In order; the last that fits wins.
    name = "everything"                # Unique; the first rule has no matcher.
    owner = "refund operators"         # As people say it.
    target = "#refund-operators"       # Only where the owner has no table.

    [[rules]]
    name = "double refunds of support"
    kind = ["duplicate"]               # Matchers, of which all must fit: model/conditions.py.
    owner = "support leads"

    [[rules]]
    name = "the old importer"
    tool = "importer_2019"
    unowned = "Closed books, says finance."   # Nobody, on purpose, and why; instead of an owner.

    [[severities]]                     # The same matchers and order; the first has none.
    level = "medium"                   # critical, high, medium or low

Without [[severities]] every case is medium; doors/config.py gives a file that has none the shipped ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import cast

from recon.model import conditions, profiles
from recon.model.conditions import Condition
from recon.model.documents import Table, error
from recon.model.records.cases import JOB, Case, Change, Entry, Owner
from recon.model.records.owners import Profile
from recon.model.records.remarks import Level, Remark, Section
from recon.model.records.results import Mismatch
from recon.model.records.words import Action, CaseState, RunId, Severity

# The name of the owner of a case that a rule leaves unowned; its target is empty.
NOBODY = "nobody, on purpose"

_RULE_KEYS = conditions.MATCHERS | {"name", "owner", "target", "group", "unowned"}
_SEVERITY_KEYS = conditions.MATCHERS | {"level"}


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One [[rules]].

    mention: a user group to mention where the message goes; None mentions nobody. unowned: why it is nobody's
    on purpose; None where somebody owns it. line: where it stands in the file; None where that is not known.
    """

    condition: Condition
    owner: Owner
    mention: str | None
    unowned: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SeverityRule:
    """One [[severities]]. line: as of a rule."""

    condition: Condition
    level: Severity
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """All rules, in order; the last that fits wins and the first fits everything.

    owners: what is known of each, by name.
    """

    rules: tuple[OwnerRule, ...]
    severities: tuple[SeverityRule, ...]
    owners: Mapping[str, Profile] = field(default_factory=dict)

    def rule(self, mismatch: Mismatch, *, as_of: datetime) -> OwnerRule:
        """Return the rule that says who must answer this mismatch."""
        return next(rule for rule in reversed(self.rules) if rule.condition.fits(mismatch, as_of=as_of))

    def owner(self, mismatch: Mismatch, *, as_of: datetime) -> Owner:
        """Return who must answer this mismatch; NOBODY with an empty target where a rule says so."""
        return self.rule(mismatch, as_of=as_of).owner

    def severity(self, mismatch: Mismatch, *, as_of: datetime) -> Severity:
        """Return how soon somebody must look."""
        return next(
            rule.level for rule in reversed(self.severities) if rule.condition.fits(mismatch, as_of=as_of)
        )


def parse(mapping: Mapping[str, object]) -> Ownership:
    """Return the rules of an owners.toml.

    Raises:
        ConfigurationError: a rule is not as the format says; the text names the rule and what was expected.
    """
    unknown = sorted(set(mapping) - {"rules", "severities", "owners"})
    if unknown:
        raise error(
            mapping,
            f"unknown table {unknown[0]!r:.60}; expected [[rules]], [[severities]] and [owners].",
            unknown[0],
        )
    owners = profiles.read(mapping)
    tables = list(_tables(mapping, "rules", names="name"))
    if not tables:
        raise error(mapping, "no [[rules]]; expected at least one, without matchers.")
    rules: list[OwnerRule] = []
    names: set[str] = set()
    for table in tables:
        rule, owners = _owner_rule(table, owners)
        if rule.owner.rule in names:
            raise table.error(f"two [[rules]] are named {rule.owner.rule!r}; names are unique.", "name")
        rules.append(rule)
        names.add(rule.owner.rule)
    levels = list(_tables(mapping, "severities", names="level"))
    severities = tuple(map(_severity_rule, levels))
    firsts = [("rules", tables[0], rules[0].condition)]
    firsts += [("severities", levels[0], severities[0].condition)] if levels else []
    for title, first, condition in firsts:
        if not condition.catches_all:
            raise first.error(
                f"the first [[{title}]] has a matcher; it must fit every case, or some had none."
            )
    if NOBODY in owners:
        raise error(mapping, f'no owner can be named {NOBODY!r}: write unowned = "why" in a rule.')
    everything = SeverityRule(Condition({}, {}, timedelta(0)), Severity.MEDIUM)
    mentioning = (
        rule if rule.unowned else replace(rule, mention=owners[rule.owner.name].group) for rule in rules
    )
    return Ownership(tuple(mentioning), severities or (everything,), profiles.chained(mapping, owners))


def beaten(these: Sequence[Condition]) -> Iterator[tuple[int, int]]:
    """Yield each condition that can never win, with the first later one that fits all it fits; by place."""
    for earlier, mine in enumerate(these):
        later = (at for at in range(earlier + 1, len(these)) if these[at].covers(mine))
        if (winner := next(later, None)) is not None:
            yield earlier, winner


def owners_of(mapping: Mapping[str, object]) -> Mapping[str, Profile]:
    """Return what an owners.toml tells of owners, by their names; nothing where there is none.

    Raises:
        ConfigurationError: as `parse`.
    """
    return parse(mapping).owners if mapping else {}


def remarks(owners: Ownership) -> Iterator[Remark]:
    """Yield what is hardly meant, though a run can work by it: what never wins, or tells nobody new."""
    rules = [(f"the rule {rule.owner.rule!r}", rule.condition, rule.line) for rule in owners.rules]
    levels = [
        (f"the severity {rule.level} (number {at})", rule.condition, rule.line)
        for at, rule in enumerate(owners.severities, start=1)
    ]
    for these in (rules, levels):
        for earlier, later in beaten([condition for _, condition, _ in these]):
            name, _, line = these[earlier]
            yield _warning(
                f"{name} never wins: {these[later][0]} comes later and fits all that it fits.",
                "The last that fits wins: put the wider one first.",
                line=line,
            )
    called = {rule.owner.name for rule in owners.rules}
    called |= {step.owner for profile in owners.owners.values() for step in profile.steps}
    for profile in owners.owners.values():
        if profile.name not in called:
            yield _warning(
                f"the owner {profile.name!r} is named by no rule and no chain.",
                "Take their table out, unless cases are given to them by hand.",
            )
        for number, step in enumerate(profile.steps, start=1):
            if step.target == profile.target:
                yield _warning(
                    f"step {number} of {profile.name!r} tells {step.owner!r}, who read there as well.",
                    "Name somebody who reads elsewhere: these have been told.",
                )


def _warning(found: str, todo: str, *, line: int | None = None) -> Remark:
    at = f", line {line}," if line is not None else ""
    return Remark(Section.OWNERS, Level.WARNING, f"In owners.toml{at} {found}", todo)


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


def _tables(mapping: Mapping[str, object], title: str, *, names: str) -> Iterator[Table]:
    """Yield the tables of an array of tables, each with the words that errors call it by."""
    tables = mapping.get(title, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise error(mapping, f"{title} must be written as [[{title}]] tables.", title)
    for place, row in enumerate(cast("list[Mapping[str, object]]", tables)):
        called = f"[[{title}]] number {place + 1} ({row.get(names, f'without a {names}')!s:.60})"
        yield Table(row, called, (title, place), mapping)


def _owner_rule(table: Table, owners: dict[str, Profile]) -> tuple[OwnerRule, dict[str, Profile]]:
    """Return a rule, and the owners with the one that it names."""
    table.only(_RULE_KEYS)
    condition, name = conditions.read(table), table.text("name")
    if "unowned" in table.row:
        why = table.text("unowned")
        if {"owner", "target", "group"} & set(table.row):
            raise table.error("unowned excludes owner, target and group.", "unowned")
        return OwnerRule(
            condition, Owner(NOBODY, "", name), mention=None, unowned=why, line=table.line
        ), owners
    profile = profiles.inline(table, owners)
    rule = OwnerRule(condition, Owner(profile.name, profile.target, name), mention=None, line=table.line)
    return rule, owners | {profile.name: profile}


def _severity_rule(table: Table) -> SeverityRule:
    table.only(_SEVERITY_KEYS)
    level = conditions.word(Severity, table.text("level"), "level", table)
    return SeverityRule(conditions.read(table), level, table.line)
