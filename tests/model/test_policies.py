import re
from datetime import timedelta
from typing import Any

import pytest

from recon.model import policies
from recon.model.errors import ConfigurationError
from recon.model.records.results import Policy

HOURS = timedelta(hours=2)


@pytest.mark.parametrize(
    "document, expected",
    [
        ({}, Policy()),
        ({"stuck_after_minutes": 120}, Policy(stuck_after=HOURS)),
        (
            {"policy": {"stuck_after_minutes": 120, "healing": False}},
            Policy(stuck_after=HOURS, healing=False),
        ),
        ({"policy": {"stuck_after_minutes": 120}, "slack": {"odd": 1}}, Policy(stuck_after=HOURS)),
        ({"missing_after_minutes": 0.5}, Policy(missing_after=timedelta(seconds=30))),
    ],
)
def test_graces_are_read_from_the_top_or_from_a_recon_toml(
    document: dict[str, Any], expected: Policy
) -> None:
    assert policies.read(document, source="p.toml") == expected


@pytest.mark.parametrize(
    "document, said",
    [
        (
            {"stuck_after": 120},
            "p.toml: 'stuck_after' is no grace; known are stuck_after_minutes, missing_after",
        ),
        ({"policy": {"odd": 1}}, "p.toml: 'odd' is no grace; known are"),
        ({"policy": 3}, "p.toml: [policy] must be a table of graces by name; found 3"),
        ({"policy": {}, "odd": {}}, "p.toml: [policy] must be a table of graces by name; found 'odd'"),
        ({"stuck_after_minutes": -1}, "p.toml: stuck_after_minutes must be a number of minutes from 0 to"),
        ({"stuck_after_minutes": "60"}, "found '60'"),
        ({"healing": 1}, "p.toml: healing must be true or false; found 1"),
    ],
)
def test_what_is_no_grace_is_refused_with_what_is(document: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        policies.read(document, source="p.toml")


def test_every_grace_of_the_policy_has_a_name_and_is_told_in_its_unit() -> None:
    told = policies.told(Policy())

    assert {field for field, _ in policies.KEYS.values()} == set(Policy.__slots__)
    assert told == {
        "stuck_after_minutes": "60",
        "missing_after_minutes": "15",
        "orphan_after_minutes": "15",
        "duplicate_window_hours": "24",
        "repeat_window_days": "30",
        "inferred_window_hours": "24",
        "clock_skew_seconds": "5",
        "provider_pending_after_days": "7",
        "healing": "true",
    }


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("stuck_after_minutes", timedelta(minutes=1), "1 minute"),
        ("stuck_after_minutes", timedelta(seconds=90), "1.5 minutes"),
        ("repeat_window_days", timedelta(0), "0 days"),
        ("healing", False, "false"),
    ],
)
def test_a_grace_is_said_with_its_unit(name: str, value: object, said: str) -> None:
    assert policies.in_words(name, value) == said
