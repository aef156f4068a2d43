import re
import tomllib
from dataclasses import replace
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest

from recon.model import documents
from recon.model.errors import ConfigurationError
from recon.model.records.cases import Change, Entry, Owner
from recon.model.records.owners import Profile, Step, profile_of
from recon.model.records.results import Money
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseState,
    Certainty,
    Finding,
    Kind,
    RunId,
    Severity,
)
from recon.rules import ownership
from tests.builders import NOON, a_case, a_mismatch, an_owner

# A line of an example: a table, a key, a row of a list or its end; what goes on a comment is none.
EXAMPLE = re.compile(r"# (\[|[a-z_]+ = |    \{|\]$)")
EVERYTHING = {"name": "everything", "owner": "operators", "target": "#operators"}
BO = {"name": "bo's", "owner": "Bo", "target": "U0BO"}
AS_OF = NOON + timedelta(hours=1)


def parsed(*rules: dict[str, Any], severities: list[dict[str, Any]] | None = None) -> ownership.Ownership:
    mapping: dict[str, object] = {"rules": [EVERYTHING, *rules]}
    if severities is not None:
        mapping["severities"] = severities
    return ownership.parse(mapping)


def a_change(**changes: Any) -> Change:  # noqa: ANN401  # any field of the case
    case = a_case(**changes)
    entry = Entry(
        case.id, Action.OPENED, Actor("recon"), NOON, "seen", None, case.state, case.version, "run:case"
    )
    return Change(case, entry, from_version=0)


MATCHED = a_mismatch(account=AccountId("acct_1"), reason="requested_by_customer", finding=Finding.ABSENT)


@pytest.mark.parametrize(
    "matcher, expected",
    [
        ({}, "Bo"),
        ({"kind": "duplicate"}, "Bo"),
        ({"kind": ["missing", "duplicate"]}, "Bo"),
        ({"kind": ["missing", "orphan"]}, "operators"),
        ({"certainty": "confirmed"}, "Bo"),
        ({"certainty": "probable"}, "operators"),
        ({"finding": "absent"}, "Bo"),
        ({"finding": "unknown"}, "operators"),
        ({"account": "acct_1"}, "Bo"),
        ({"account": ""}, "operators"),
        ({"team": "support"}, "Bo"),
        ({"team": ["billing"]}, "operators"),
        ({"tool": "refund_order"}, "Bo"),
        ({"tool": "importer"}, "operators"),
        ({"reason": "requested_by_customer"}, "Bo"),
        ({"reason": "fraudulent"}, "operators"),
        ({"amount_at_least_minor": {"usd": 4900}}, "Bo"),
        ({"amount_at_least_minor": {"USD": 4900}}, "Bo"),
        ({"amount_at_least_minor": {"usd": 4901}}, "operators"),
        ({"amount_at_least_minor": {"eur": 1}}, "operators"),
        ({"older_than_minutes": 59}, "Bo"),
        ({"older_than_minutes": 60}, "operators"),  # It began half a minute after noon.
        ({"kind": "duplicate", "team": "billing"}, "operators"),
    ],
)
def test_a_rule_fits_when_all_its_matchers_do(matcher: dict[str, Any], expected: str) -> None:
    rules = parsed(BO | matcher)

    assert rules.owner(MATCHED, as_of=AS_OF).name == expected


def test_a_mismatch_exactly_as_old_as_the_rule_asks_fits() -> None:
    rules = parsed(BO | {"older_than_minutes": 60})
    at_noon = a_mismatch(since=NOON)

    assert rules.owner(at_noon, as_of=AS_OF).name == "Bo"
    assert rules.owner(at_noon, as_of=AS_OF - timedelta(microseconds=1)).name == "operators"


def test_the_last_rule_that_fits_wins() -> None:
    rules = parsed(BO, {**BO, "name": "cy's", "owner": "Cy"}, {**BO, "name": "no", "kind": "orphan"})

    assert rules.owner(MATCHED, as_of=AS_OF) == Owner("Cy", "U0BO", "cy's")


def test_nobody_on_purpose_is_a_value_that_names_its_rule() -> None:
    rules = parsed({"name": "closed books", "tool": "refund_order", "unowned": "Says finance."})

    assert rules.owner(MATCHED, as_of=AS_OF) == Owner(ownership.NOBODY, "", "closed books")


def test_a_group_is_mentioned_where_its_rule_chose_the_owner() -> None:
    rules = parsed({**BO, "target": "#support", "group": "S0123"})

    assert [rule.mention for rule in rules.rules] == [None, "S0123"]


LEADS = {"target": "#leads", "group": "S0123", "quiet_hours": "22:00-07:00"}


def with_owners(*rules: dict[str, Any], **owners: dict[str, Any]) -> ownership.Ownership:
    return ownership.parse({"rules": [EVERYTHING, *rules], "owners": owners})


def test_an_owner_is_said_once_and_named_by_rules() -> None:
    rules = with_owners(
        {"name": "a", "kind": "duplicate", "owner": "leads"},
        {"name": "b", "kind": "orphan", "owner": "leads", "target": "#leads", "group": "S0123"},
        leads=LEADS,
    )

    assert rules.owner(MATCHED, as_of=AS_OF) == Owner("leads", "#leads", "a")
    assert [rule.mention for rule in rules.rules] == [None, "S0123", "S0123"]


def test_a_group_that_one_rule_names_is_mentioned_for_its_owner_everywhere() -> None:
    rules = parsed(BO, BO | {"name": "x", "kind": "orphan", "group": "S9"}, BO | {"name": "y", "team": "z"})

    assert rules.owners["Bo"].group == "S9"
    assert [rule.mention for rule in rules.rules] == [None, "S9", "S9", "S9"]


def test_owners_are_known_by_name_with_or_without_a_table() -> None:
    chain = [{"after_minutes": 60, "owner": "operators"}]
    rules = with_owners(BO, leads=LEADS | {"escalation": chain})

    assert rules.owners == {
        "operators": Profile("operators", "#operators"),
        "Bo": Profile("Bo", "U0BO"),
        "leads": Profile(
            "leads",
            "#leads",
            "S0123",
            rest=(time(22), time(7)),
            steps=(Step(timedelta(hours=1), "operators", "#operators"),),
        ),
    }


def test_whoever_a_person_chose_has_an_ordinary_day_and_no_chain() -> None:
    rules = with_owners(leads=LEADS)
    leads = rules.owners["leads"]

    assert profile_of(Owner("Cy", "U0CY", "assigned by Bo"), rules.owners) == Profile("Cy", "U0CY")
    assert profile_of(Owner("leads", "#leads", "assigned by Bo"), rules.owners) == leads
    assert profile_of(Owner("leads", "#old", "assigned by Bo"), rules.owners) == replace(leads, target="#old")


def test_nobody_on_purpose_has_a_reason_and_no_profile() -> None:
    rules = parsed({"name": "closed", "unowned": "Says finance."})

    assert [rule.unowned for rule in rules.rules] == [None, "Says finance."]
    assert ownership.NOBODY not in rules.owners


LADDER: list[dict[str, Any]] = [
    {"level": "low"},
    {"level": "high", "kind": "duplicate"},
    {"level": "critical", "amount_at_least_minor": {"usd": 10_000, "jpy": 10_000}},
]


@pytest.mark.parametrize(
    "kind, money, expected",
    [
        (Kind.ORPHAN, Money(9_999, "usd"), Severity.LOW),
        (Kind.DUPLICATE, Money(9_999, "usd"), Severity.HIGH),
        (Kind.DUPLICATE, Money(10_000, "usd"), Severity.CRITICAL),
        (Kind.ORPHAN, Money(10_000, "jpy"), Severity.CRITICAL),
        (Kind.ORPHAN, Money(10_000, "eur"), Severity.LOW),
    ],
)
def test_severity_comes_from_kind_and_money_in_its_own_currency(
    kind: Kind, money: Money, expected: Severity
) -> None:
    rules = parsed(severities=LADDER)

    assert rules.severity(a_mismatch(kind=kind, at_risk=money), as_of=AS_OF) is expected


def test_without_severities_every_case_is_medium() -> None:
    assert parsed().severity(MATCHED, as_of=AS_OF) is Severity.MEDIUM


@pytest.mark.parametrize(
    "mapping, told",
    [
        ({}, "no [[rules]]"),
        ({"rule": []}, "unknown table 'rule'"),
        ({"rules": "all"}, "must be written as [[rules]]"),
        ({"rules": [BO | {"kind": "orphan"}]}, "first [[rules]] has a matcher"),
        ({"rules": [EVERYTHING], "severities": [{"level": "low", "tool": "x"}]}, "first [[severities]]"),
        ({"rules": [EVERYTHING, BO | {"kind": "orphans"}]}, "number 2 (bo's): unknown kind 'orphans'"),
        ({"rules": [EVERYTHING, BO | {"kinds": "orphan"}]}, "number 2 (bo's): unknown key 'kinds'"),
        ({"rules": [EVERYTHING, BO, BO]}, 'two [[rules]] are named "bo\'s"'),
        ({"rules": [{"owner": "x", "target": "#x"}]}, "number 1 (without a name): name is None"),
        ({"rules": [EVERYTHING | {"target": "operators"}]}, "target is 'operators'"),
        ({"rules": [EVERYTHING | {"target": "#two words"}]}, "target is '#two words'"),
        ({"rules": [EVERYTHING | {"owner": " "}]}, "owner is ' '"),
        ({"rules": [EVERYTHING | {"group": "support"}]}, "group is 'support'"),
        ({"rules": [EVERYTHING | {"unowned": "why"}]}, "unowned excludes"),
        ({"rules": [EVERYTHING, BO | {"unowned": ""}]}, "unowned is ''"),
        ({"rules": [EVERYTHING, BO | {"team": []}]}, "team is []"),
        ({"rules": [EVERYTHING, BO | {"team": 7}]}, "team is 7"),
        ({"rules": [EVERYTHING, BO | {"older_than_minutes": True}]}, "older_than_minutes is True"),
        ({"rules": [EVERYTHING, BO | {"older_than_minutes": -1}]}, "older_than_minutes is -1"),
        ({"rules": [EVERYTHING, BO | {"amount_at_least_minor": 5}]}, "must be like"),
        (
            {"rules": [EVERYTHING, BO | {"amount_at_least_minor": {"usd": 49.0}}]},
            "amount_at_least_minor.usd is 49.0",
        ),
        ({"rules": [EVERYTHING], "severities": [{"level": "worst"}]}, "unknown level 'worst'"),
        ({"rules": [EVERYTHING, BO | {"target": "U0CY", "name": "x"}, BO]}, "'Bo' reads at 'U0CY' already"),
        (
            {"rules": [EVERYTHING | {"target": "#x"}], "owners": {"operators": {"target": "#y"}}},
            "target is '#x', and 'operators' reads at '#y' already",
        ),
        ({"rules": [EVERYTHING, BO | {"group": "S1"}, BO | {"name": "x", "group": "S2"}]}, "group is S2"),
        ({"rules": [EVERYTHING, {"name": "x", "owner": "Cy"}]}, "owner 'Cy' has no target"),
        ({"rules": [EVERYTHING | {"owner": ownership.NOBODY}]}, "no owner can be named 'nobody, on purpose'"),
        ({"rules": [EVERYTHING], "owners": {"a": {"target": "a"}}}, "[owners.\"a\"]: target is 'a'"),
    ],
)
def test_a_mistake_in_owners_toml_is_named(mapping: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ownership.parse(mapping)

    assert told in str(caught.value)


MISTAKEN = """
[owners."leads"]
target = "#leads"
digest_at = "9"

# [[rules]]
[[rules]]
name = "everything"
owner = "leads"

[[rules]]
name = "x"
owner = "leads"
kind = [
  "orphan",
  "orphans",
]
"""


@pytest.mark.parametrize(
    "wrong, right, told",
    [
        ("", "", "owners.toml, line 4, [owners.\"leads\"]: digest_at is '9'"),
        ('"9"', '"09:00"', "owners.toml, line 14, [[rules]] number 2 (x): unknown kind 'orphans'"),
        ('"9"', '""\ncolour = 1', "owners.toml, line 5, [owners.\"leads\"]: unknown key 'colour'"),
        ('"9"', '"09:00"\n[rulez]', "owners.toml, line 5: unknown table 'rulez'"),
    ],
)
def test_a_mistake_names_file_and_line(wrong: str, right: str, told: str) -> None:
    document = documents.read(MISTAKEN.replace(wrong, right, 1), file="owners.toml")
    with pytest.raises(ConfigurationError) as caught:
        ownership.parse(document)

    assert str(caught.value).startswith(told)


def test_the_shipped_owners_give_every_kind_an_owner_and_a_severity() -> None:
    shipped = Path(__file__).parents[2] / "config" / "owners.toml"
    rules = ownership.parse(tomllib.loads(shipped.read_text()))

    assert {rules.owner(a_mismatch(kind=kind), as_of=AS_OF).name for kind in Kind} == {"refund operators"}
    assert rules.severity(a_mismatch(), as_of=AS_OF) is Severity.HIGH
    assert rules.severity(a_mismatch(at_risk=Money(500_000, "usd")), as_of=AS_OF) is Severity.CRITICAL


def test_changes_are_owned_and_rated_and_nothing_else() -> None:
    change = a_change(owner=None, severity=Severity.LOW)
    (after,) = ownership.assign([change], parsed(BO), as_of=AS_OF)

    assert (after.case.owner, after.case.severity) == (Owner("Bo", "U0BO", "bo's"), Severity.MEDIUM)
    assert (after.entry, after.from_version) == (change.entry, change.from_version)


def test_an_owner_whom_a_person_chose_stays() -> None:
    (after,) = ownership.assign([a_change(pinned=True)], parsed(BO), as_of=AS_OF)

    assert after.case.owner == an_owner()
    assert after.case.severity is Severity.MEDIUM


def test_a_cleared_case_keeps_its_owner() -> None:
    change = a_change(state=CaseState.CLEARED)

    assert ownership.assign([change], parsed(BO), as_of=AS_OF) == (change,)


def test_age_alone_raises_the_severity_of_a_case_that_did_not_change() -> None:
    rules = parsed(severities=[{"level": "low"}, {"level": "high", "older_than_minutes": 60}])
    case = a_case(
        a_mismatch(since=NOON), severity=Severity.LOW, owner=Owner("operators", "#operators", "everything")
    )
    again = {"run_id": RunId("run-2"), "now": AS_OF}

    assert ownership.reconsider([case], rules, as_of=AS_OF - timedelta(microseconds=1), **again) == ()  # type: ignore[arg-type]  # keywords
    (change,) = ownership.reconsider([case], rules, as_of=AS_OF, **again)  # type: ignore[arg-type]  # keywords
    assert change.case.severity is Severity.HIGH
    assert (change.from_version, change.case.version, change.entry.version) == (1, 2, 2)
    assert change.entry.reason == "Severity was low, is high."
    assert ownership.reconsider([change.case], rules, as_of=AS_OF, **again) == ()  # type: ignore[arg-type]  # keywords


@pytest.mark.parametrize("state", [CaseState.RESOLVED, CaseState.ACCEPTED, CaseState.CLEARED])
def test_a_decided_case_is_not_handed_over(state: CaseState) -> None:
    case = a_case(state=state)

    assert ownership.reconsider([case], parsed(BO), run_id=RunId("r"), as_of=AS_OF, now=AS_OF) == ()


def test_probable_and_confirmed_may_have_different_owners() -> None:
    rules = parsed(BO | {"certainty": "probable"})
    likely = a_mismatch(certainty=Certainty.PROBABLE)

    assert [rules.owner(each, as_of=AS_OF).name for each in (a_mismatch(), likely)] == ["operators", "Bo"]


def test_the_examples_in_the_shipped_owners_hold_once_they_are_uncommented() -> None:
    shipped = (Path(__file__).parents[2] / "config" / "owners.toml").read_text()
    lines = shipped.splitlines()
    begins = next(at for at, line in enumerate(lines) if line.startswith('# [owners."support leads"]'))
    examples = [line.removeprefix("# ") if EXAMPLE.match(line) else line for line in lines[begins:]]
    rules = ownership.parse(documents.read("\n".join(examples), file="owners.toml"))

    assert [rule.owner.name for rule in rules.rules] == [
        "refund operators",
        "support leads",
        ownership.NOBODY,
    ]
    assert [step.owner for step in rules.owners["support leads"].steps] == [
        "head of support",
        "refund operators",
    ]
    assert len(rules.severities) == 5
    assert list(ownership.remarks(rules)) == []
