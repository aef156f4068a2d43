"""The one place where tests of the diff call the product: rows in, the JSON document out."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from recon.doors.files import reading as files
from recon.model import frames
from recon.model.records.results import Coverage, Policy, Reading
from recon.rules import linking
from recon.rules.mismatches import finding
from recon.rules.reports import documents

Row = Mapping[str, object]
INTENT_COLUMNS = (
    "key account order_id reference payment amount_minor currency status refund_id created_at updated_at "
    "first_sent_at tool team customer_id"
)
REFUND_COLUMNS = (
    "id account payment_intent charge amount_minor currency status created_at intent_key request_key "
    "operator_key system reason failure_reason pending_reason"
)


def product_diff(
    intents_rows: Sequence[Row],
    refunds_rows: Sequence[Row],
    *,
    as_of: datetime,
    policy: Mapping[str, timedelta | bool] | None = None,
    incomplete: frozenset[str] = frozenset(),
    refunds_from: datetime | None = None,
    intents_from: datetime | None = None,
    older_is_outside: bool = False,
) -> dict[str, Any]:
    """The result of the product's diff as its JSON document; rejects say which side they are of."""
    intents = frames.intents(table(intents_rows, INTENT_COLUMNS), source="intents")
    if any("object" in row for row in refunds_rows):
        refunds = read_objects(refunds_rows)
    else:
        refunds = frames.refunds(table(refunds_rows, REFUND_COLUMNS), source="refunds")
    coverage = Coverage(
        default_refunds=Reading(from_at=refunds_from, complete="refunds" not in incomplete),
        default_intents=Reading(from_at=intents_from, complete="intents" not in incomplete),
        older_is_outside=older_is_outside,
    )
    changed: dict[str, Any] = dict(policy or {})
    rules = replace(Policy(), **changed)
    links = linking.link(intents.frame, refunds.frame, rules)
    result = finding.find(intents, refunds, links, policy=rules, coverage=coverage, as_of=as_of)
    document: dict[str, Any] = documents.as_json(result)
    for reject in document["rejected"]:
        reject["source"] = Path(reject["source"]).stem
    return document


def table(rows: Sequence[Row], columns: str) -> pd.DataFrame:
    """The rows as a file of that side would give them: whatever was written, nothing made a float."""
    if rows:
        return pd.DataFrame([dict(row) for row in rows], dtype=object)
    return pd.DataFrame(columns=columns.split(), dtype=object)


def read_objects(rows: Sequence[Row]) -> frames.Intake:
    """The provider's objects and pages, through the door that reads files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "refunds.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        return files.read_refunds(path)
