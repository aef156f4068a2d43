import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from recon.model.records.words import (
    Direction,
    Finding,
    Kind,
    RefundId,
)
from recon.rules.reports import documents, listings
from tests.rules.reports.results import MISMATCH, a_result


def test_the_csv_has_the_jsons_columns_and_quotes_what_it_must() -> None:
    found = replace(
        MISMATCH,
        kind=Kind.AMOUNT_MISMATCH,
        finding=Finding.LANDED,
        direction=Direction.OVER,
        refund_ids=(RefundId("re_1"), RefundId("re_2")),
        why='He said "twice", and\nmeant it.',
    )

    rows = list(csv.DictReader(io.StringIO(listings.as_csv(a_result(mismatches=(found,))))))
    document: dict[str, Any] = documents.as_json(a_result(mismatches=(found,)))
    listed = document["mismatches"][0]

    assert list(rows[0]) == list(listed)
    assert rows[0]["refund_ids"] == "re_1 re_2"
    assert rows[0]["amount_at_risk"] == "4900"
    assert rows[0]["payment"] == ""
    assert rows[0]["why"] == found.why


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_csv_is_a_formula(start: str) -> None:
    found = replace(MISMATCH, order_id=f"{start}cmd|' /C calc'!A0")

    (row,) = csv.DictReader(io.StringIO(listings.as_csv(a_result(mismatches=(found,))), newline=""))

    assert row["order_id"] == f"'{start}cmd|' /C calc'!A0"


def test_the_csv_of_nothing_is_its_header() -> None:
    assert listings.as_csv(a_result(mismatches=())).count("\n") == 1
