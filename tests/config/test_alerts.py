"""The alert rules speak of metrics that exist."""

import re
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from jobs import vitals
from jobs.scheduler import Record
from recon.doors.pulse import PREFIX, Sample
from recon.doors.store import cases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.settings import Settings
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import a_lease, a_run, opened
from tests.house import tree

RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((tree.ROOT / "config/deploy/prometheus-alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
OTHERS = {"node_textfile_mtime_seconds"}  # Of Prometheus' node exporter.
SELECTOR = re.compile(r"\b([a-z]+_[a-z_]+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)(=~?)"([^"]*)"')


@pytest.fixture
def exported(database: Database) -> dict[str, Sample]:
    """Every metric of a database with a complete run in it, and of the scheduler."""
    saving = Saving(a_run(), changes=(opened(a_case(a_mismatch(), opened_at=NOON)),))
    cases.save_run(database, a_lease(database), saving)
    record = Record(Settings())
    record.codes["hourly"] = 0
    told = (*vitals.told(database, now=NOON), *record.samples())
    return {f"{PREFIX}{sample.name}": sample for sample in told}


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_a_rule_names_metrics_and_labels_that_are_exported(
    rule: dict[str, Any], exported: dict[str, Sample]
) -> None:
    named = SELECTOR.findall(rule["expr"])

    assert named
    for name, selector in named:
        if name in OTHERS:
            continue
        assert name in exported
        for label, _, value in LABEL.findall(selector):
            assert (label, value) in {pair for labels in exported[name].values for pair in labels}


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_a_rule_says_how_urgent_it_is_why_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["alert"].startswith("Recon")
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert len(rule["annotations"]["description"]) > 80


def test_what_must_not_go_unnoticed_has_a_rule() -> None:
    told = " ".join(rule["expr"] for rule in RULES)

    for name in (
        "last_success_timestamp",
        "database_up",
        "deliveries",
        "delivery_lag_seconds",
        "open_cases",
        "oldest_unanswered_seconds",
        "scheduler_events_total",
        "accounts_read",
        "pending_unknown",
        "rejected_rows",
    ):
        assert f"recon_{name}" in told
    assert "absent(" in told
