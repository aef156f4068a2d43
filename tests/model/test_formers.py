import json
from datetime import timedelta
from typing import Any

import pytest

from recon.model import formers
from recon.model.errors import UnusableInput
from recon.model.records.comparisons import Seen
from recon.model.records.results import Money
from recon.model.records.words import Kind, Verdict
from tests.builders import NOON

MISMATCH = {"account": "", "subject": "intent:k", "kind": "stuck", "amount_at_risk": 10, "currency": "usd"}
REPORT = {"as_of": "2026-03-06T12:00:00Z", "verdict": "breaks", "mismatches": [MISMATCH]}


def read(**changes: Any) -> object:  # noqa: ANN401 - any field of the document
    return formers.read(json.dumps({**REPORT, **changes}).encode(), source="old.json")


def test_a_report_is_read_back() -> None:
    earlier = formers.read(json.dumps(REPORT).encode(), source="old.json")

    assert (earlier.source, earlier.as_of, earlier.verdict) == ("old.json", NOON, Verdict.BREAKS)
    assert dict(earlier.seen) == {("", "intent:k"): Seen(Kind.STUCK, Money(10, "usd"))}


def test_the_refunds_in_a_mismatch_are_read_back() -> None:
    told = {**MISMATCH, "refund_ids": ["re_1", "re_2"]}
    earlier = formers.read(json.dumps({**REPORT, "mismatches": [told]}).encode(), source="old.json")

    assert [each.refund_ids for each in earlier.seen.values()] == [("re_1", "re_2")]


def test_an_amount_beyond_any_integer_column_is_read_back() -> None:
    earlier = formers.read(
        json.dumps({**REPORT, "mismatches": [{**MISMATCH, "amount_at_risk": 2**64}]}).encode(),
        source="old.json",
    )

    assert [each.at_risk.amount_minor for each in earlier.seen.values()] == [2**64]


@pytest.mark.parametrize(
    "content, found",
    [
        (b"\xff\xfe", "it is not UTF-8"),
        (b"", "it is not JSON"),
        (b"kind,certainty\n", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "it is not one object"),
        (b"{}", "it has no as_of"),
    ],
)
def test_what_is_no_report_is_refused_with_what_it_is(content: bytes, found: str) -> None:
    with pytest.raises(UnusableInput, match=f"old.json must be a report that .* but {found}"):
        formers.read(content, source="old.json")


@pytest.mark.parametrize(
    "changes, found",
    [
        ({"as_of": "yesterday"}, "no as_of"),
        ({"as_of": 3}, "no as_of"),
        ({"verdict": "fine"}, "no verdict"),
        ({"verdict": []}, "no verdict"),
        ({"mismatches": {}}, "no list of mismatches"),
        ({"mismatches": [1]}, "mismatch 1 has no account"),
        ({"mismatches": [{**MISMATCH, "kind": "odd"}]}, "mismatch 1 has no account, subject or kind"),
        (
            {"mismatches": [{**MISMATCH, "subject": "intent:\ud800"}]},
            "mismatch 1 has an account or subject with",
        ),
        ({"mismatches": [MISMATCH, MISMATCH]}, "mismatch 2 is about a subject"),
        ({"mismatches": [{**MISMATCH, "amount_at_risk": 1.5}]}, "mismatch 1 has no amount_at_risk"),
        ({"mismatches": [{**MISMATCH, "amount_at_risk": True}]}, "mismatch 1 has no amount_at_risk"),
        ({"mismatches": [{**MISMATCH, "currency": "xyz"}]}, "mismatch 1 has no amount_at_risk"),
        ({"mismatches": [{**MISMATCH, "currency": []}]}, "mismatch 1 has no amount_at_risk"),
        ({"mismatches": [{**MISMATCH, "refund_ids": "re_1"}]}, "mismatch 1 has no list of refund_ids"),
        ({"mismatches": [{**MISMATCH, "refund_ids": [1]}]}, "mismatch 1 has no list of refund_ids"),
    ],
)
def test_a_report_with_something_strange_is_refused(changes: dict[str, Any], found: str) -> None:
    with pytest.raises(UnusableInput, match=found):
        read(**changes)


@pytest.mark.parametrize("later, fits", [(timedelta(0), True), (timedelta(microseconds=1), False)])
def test_a_report_judged_later_is_not_an_earlier_one(later: timedelta, *, fits: bool) -> None:
    earlier = formers.read(json.dumps(REPORT).encode(), source="old.json")
    if fits:
        formers.check_order(earlier, NOON - later)
        return

    with pytest.raises(UnusableInput, match="was judged as of 2026-03-06T12:00:00Z, after"):
        formers.check_order(earlier, NOON - later)
