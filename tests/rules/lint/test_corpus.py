"""Whole sources that break a rule, each beside a twin that looks like it and does not.

A corpus file holds pairs: `=== rule`, what breaks it, `--- good`, the twin.
"""

import re
from pathlib import Path

import pytest

from recon.model.records.flaws import Rule
from recon.rules.lint import catalogue
from tests.rules.lint.reading import rules_of

FOLDER = Path(__file__).parent / "corpus"
PAIR = re.compile(r"^=== ([\w-]+)\n(.*?)^--- good\n(.*?)(?=^=== |\Z)", re.MULTILINE | re.DOTALL)
NAMES = {"prompts": "support.md"}  # What is no Python; the rest is a module.


def pairs() -> list[tuple[str, str, str, str]]:
    """Every pair: the name that it is read under, the rule, what breaks it, and its twin."""
    return [
        (NAMES.get(path.stem, "refunds.py"), rule, bad.strip("\n") + "\n", good.strip("\n") + "\n")
        for path in sorted(FOLDER.glob("*.corpus"))
        for rule, bad, good in PAIR.findall(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("name, rule, bad, good", pairs())
def test_what_breaks_a_rule_is_found_and_its_twin_is_not(name: str, rule: str, bad: str, good: str) -> None:
    assert (rules_of(bad, name), rules_of(good, name)) == ([rule], [])


def test_no_pair_is_overlooked() -> None:
    heads = sum(
        len(re.findall(r"^=== ", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in FOLDER.glob("*.corpus")
    )

    assert len(pairs()) == heads > 100


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_is_explained_by_examples_that_are_true(rule: Rule) -> None:
    (explained,) = (each for each in catalogue.RULES if each.rule == rule)

    assert rule in rules_of(explained.bad)
    assert rules_of(explained.good) == []
