"""What is hardly meant in owners.toml, though a run can work by it."""

from typing import Any

import pytest

from recon.model import documents
from recon.model.records.remarks import Level
from recon.rules import ownership

EVERYTHING = {"name": "everything", "owner": "operators", "target": "#operators"}
LEADS = {"target": "#leads"}
DOUBLES = {"name": "doubles", "kind": "duplicate", "owner": "leads"}


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([{}, {"team": "a"}, {"tool": "b"}], []),
        ([{}, {"team": "a"}, {}], [(0, 2), (1, 2)]),
        ([{}, {"team": "a"}, {"tool": "b"}, {"team": "a"}], [(1, 3)]),
        ([{}, {"team": "a", "tool": "b"}, {"team": ["a", "c"]}, {"tool": "b"}], [(1, 2)]),
        ([{}, {"older_than_minutes": 60}, {"older_than_minutes": 30}], [(1, 2)]),
        ([{}, {"older_than_minutes": 30}, {"older_than_minutes": 60}], []),
        ([{}], []),
    ],
)
def test_a_rule_that_never_wins_is_found(rows: list[dict[str, Any]], expected: list[tuple[int, int]]) -> None:
    rules = [EVERYTHING | {"name": str(place)} | row for place, row in enumerate(rows)]
    found = ownership.parse({"rules": rules}).rules

    assert list(ownership.beaten([rule.condition for rule in found])) == expected


def found(*rules: dict[str, Any], **tables: Any) -> list[str]:  # noqa: ANN401  # what TOML holds
    mapping = {"rules": [EVERYTHING, *rules], "owners": {"leads": LEADS}} | tables
    remarks = list(ownership.remarks(ownership.parse(mapping)))

    assert {remark.level for remark in remarks} <= {Level.WARNING}
    assert all(remark.todo for remark in remarks)
    return [remark.found for remark in remarks]


def chain(*steps: str) -> list[dict[str, Any]]:
    return [{"after_minutes": 60 * number, "owner": owner} for number, owner in enumerate(steps, start=1)]


def test_of_rules_that_may_all_win_nothing_is_said() -> None:
    assert found(DOUBLES) == []


def test_a_rule_and_a_severity_that_never_win_are_named() -> None:
    severities = [{"level": "low"}, {"level": "high", "kind": "orphan"}, {"level": "medium"}]

    told = found(DOUBLES, DOUBLES | {"name": "again"}, severities=severities)
    never = [each.removesuffix(" comes later and fits all that it fits.") for each in told]

    assert never == [
        "In owners.toml the rule 'doubles' never wins: the rule 'again'",
        "In owners.toml the severity low (number 1) never wins: the severity medium (number 3)",
        "In owners.toml the severity high (number 2) never wins: the severity medium (number 3)",
    ]


def test_a_rule_that_never_wins_is_named_with_its_line() -> None:
    rule = '[[rules]]\nname = "{}"\nowner = "operators"\ntarget = "#operators"\n'
    document = documents.read(f"\n{rule.format('a')}{rule.format('b')}", file="owners.toml")
    (remark,) = ownership.remarks(ownership.parse(document))

    assert remark.found.startswith("In owners.toml, line 2, the rule 'a' never wins: the rule 'b'")


def test_an_owner_whom_no_rule_and_no_chain_names_is_named() -> None:
    owners = {
        "leads": LEADS | {"escalation": chain("head")},
        "head": {"target": "#head"},
        "x": {"target": "#x"},
    }

    assert found(DOUBLES, owners=owners) == ["In owners.toml the owner 'x' is named by no rule and no chain."]


def test_a_step_that_tells_the_same_channel_again_is_named() -> None:
    owners = {"leads": LEADS | {"escalation": chain("operators", "same")}, "same": {"target": "#leads"}}

    assert found(DOUBLES, owners=owners) == [
        "In owners.toml step 2 of 'leads' tells 'same', who read there as well."
    ]
