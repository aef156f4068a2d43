import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from recon.model.records.results import Healable, InFlight, Mismatch, Reject
from recon.model.records.words import (
    AccountId,
    Basis,
    IntentKey,
    Kind,
    RefundId,
    Subject,
)
from recon.rules.reports import documents
from tests.rules.reports.results import AT, MISMATCH, a_result


def test_every_key_is_there_in_the_contracts_order() -> None:
    document: dict[str, Any] = documents.as_json(a_result())

    assert list(document) == [
        "as_of",
        "verdict",
        "counts",
        "at_risk",
        "mismatches",
        "in_flight",
        "healable",
        "rejected",
    ]
    assert list(document["counts"]) == [
        "intents",
        "refunds",
        "matched",
        "matched_inferred",
        "declared_repeats",
        "in_flight",
        "healable",
        "system",
        "withheld",
        "rejected",
        "superseded",
        "unknown_status",
        "mismatches",
    ]
    assert document["counts"]["mismatches"] == {
        "duplicate": 1,
        "currency_mismatch": 0,
        "amount_mismatch": 0,
        "status_mismatch": 0,
        "refund_failed": 0,
        "missing": 0,
        "stuck": 0,
        "overdue": 0,
        "orphan": 0,
    }


def test_a_mismatch_has_every_field_in_the_contracts_order() -> None:
    document: dict[str, Any] = documents.as_json(a_result())

    assert list(document["mismatches"][0].items()) == list(
        {
            "kind": "duplicate",
            "certainty": "probable",
            "finding": None,
            "subject": "intent:k1",
            "account": "",
            "intent_key": None,
            "order_id": None,
            "customer_id": None,
            "tool": None,
            "team": None,
            "payment": None,
            "refund_ids": [],
            "extra_refund_ids": [],
            "amount_at_risk": 4900,
            "currency": "usd",
            "since": "2026-03-06T17:00:00Z",
            "direction": None,
            "diagnosis": None,
            "why": "49.00 USD went back twice.",
        }.items()
    )


def test_the_other_lists_say_what_the_contract_says() -> None:
    document = documents.as_json(
        a_result(
            in_flight=(InFlight(AccountId("a"), Subject("intent:k2"), Kind.MISSING, AT),),
            healable=(Healable(AccountId("a"), IntentKey("k3"), RefundId("re_3"), Basis.INTENT_KEY),),
            rejected=(Reject("r.csv", 7, None, "id is missing", AccountId("a"), ("k9",)),),
        )
    )

    assert document["in_flight"] == [
        {"subject": "intent:k2", "account": "a", "becomes": "missing", "breaks_at": "2026-03-06T17:00:00Z"}
    ]
    assert document["healable"] == [
        {"account": "a", "intent_key": "k3", "refund_id": "re_3", "basis": "intent_key"}
    ]
    assert document["rejected"] == [{"source": "r.csv", "row": 7, "id": None, "reason": "id is missing"}]


@pytest.mark.parametrize(
    "time, expected",
    [
        (AT, "2026-03-06T17:00:00Z"),
        (AT + timedelta(microseconds=5), "2026-03-06T17:00:00.000005Z"),
        (AT.astimezone(timezone(timedelta(hours=1))), "2026-03-06T17:00:00Z"),
    ],
)
def test_a_time_ends_in_z_and_has_microseconds_only_if_there_are_some(time: datetime, expected: str) -> None:
    assert documents.as_json(a_result(as_of=time))["as_of"] == expected


@pytest.mark.parametrize("mismatches", [(), (MISMATCH,), (MISMATCH, MISMATCH)])
def test_the_json_text_is_the_document(mismatches: tuple[Mismatch, ...]) -> None:
    result = a_result(mismatches=tuple(replace(one, why='"Zoë"\n') for one in mismatches))

    text = documents.json_text(result)

    assert json.loads(text) == documents.as_json(result)
    assert text.endswith("}\n")
    assert text.count("\n") == 10 + (len(mismatches) and len(mismatches) + 1)
