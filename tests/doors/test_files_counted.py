"""What a document's wrappings say is counted: no row and no refund goes without a word."""

import json
from pathlib import Path
from typing import Any

import pytest

from recon.doors.files import reading
from recon.model.mapping import Column, Map, Side
from tests.doors.refund_files import FLAT, OBJECT, ids, refunds_of, refused, unusable

CHARGE: dict[str, Any] = {"id": "ch_1", "object": "charge", "amount_refunded": 4900}
MAPPED = {"ref": "k1", "cents": 5, "ccy": "usd", "at": "2026-03-06T10:00:00Z"}
TOLD = Map(
    intents=Side(
        {
            "key": Column(("ref",)),
            "amount_minor": Column(("cents",)),
            "currency": Column(("ccy",)),
            "status": Column(missing="done"),
            "created_at": Column(("at",)),
        }
    )
)


@pytest.mark.parametrize("empty", [[], {"object": "list", "data": [], "has_more": False}])
def test_a_charge_that_was_refunded_and_holds_no_refund_is_refused(tmp_path: Path, empty: object) -> None:
    intake = refunds_of(tmp_path, json.dumps([OBJECT, CHARGE | {"refunds": empty}]), ".json")

    assert refused(intake) == [(2, "ch_1")]


@pytest.mark.parametrize(
    "held, is_part",
    [
        ({"data": [OBJECT | {"amount": 200}]}, True),
        ({"data": [OBJECT, OBJECT | {"id": "re_2", "status": "failed"}]}, False),
        ({"data": [OBJECT | {"status": "failed"}]}, True),
        ({"data": [OBJECT], "total_count": 3}, True),
        ({"data": [OBJECT], "total_count": 1, "has_more": False}, False),
        ({"data": [OBJECT], "has_more": "true"}, True),
    ],
)
def test_a_charge_that_holds_less_than_was_refunded_is_a_part(
    tmp_path: Path, held: object, *, is_part: bool
) -> None:
    intake = refunds_of(tmp_path, json.dumps(CHARGE | {"refunds": held}), ".json")

    assert (intake.incomplete is not None) == is_part


def test_a_row_with_a_field_called_refunds_is_a_row(tmp_path: Path) -> None:
    table = ",".join([*FLAT, "refunds"]) + "\n" + ",".join([*FLAT.values(), ""])

    assert ids(refunds_of(tmp_path, json.dumps([FLAT | {"refunds": []}]), ".json")) == ["re_1"]
    assert ids(refunds_of(tmp_path, table)) == ["re_1"]


def test_a_table_of_charges_without_any_refund_holds_none(tmp_path: Path) -> None:
    assert "2 charges of which nothing was refunded" in unusable(tmp_path, "id,refunds\nch_1,\nch_2,\n")


@pytest.mark.parametrize(
    "more", [{"type": "state"}, {"type": "STATE"}, {"type": "log", "log": 1}, {"data": []}]
)
def test_a_row_that_a_map_reads_is_no_message_and_no_page(tmp_path: Path, more: dict[str, object]) -> None:
    path = tmp_path / "intents.json"
    path.write_text(json.dumps([MAPPED | more]))

    assert reading.read_intents(path, TOLD).frame["key"].tolist() == ["k1"]


def test_the_answer_to_a_failed_request_holds_no_refunds(tmp_path: Path) -> None:
    failed = {"data": [], "message": "401 unauthorised"}

    assert "an empty one with the field 'message'" in unusable(tmp_path, json.dumps(failed), ".json")


def test_a_page_that_says_in_words_that_there_is_more_is_a_part(tmp_path: Path) -> None:
    page = {"object": "list", "data": [OBJECT], "has_more": "true"}

    assert refunds_of(tmp_path, json.dumps(page), ".json").incomplete is not None


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_wrappings_beyond_reason_are_a_reject(tmp_path: Path, suffix: str) -> None:
    deep = '{"object":' * 600 + json.dumps(OBJECT) + "}" * 600
    content = f"[{json.dumps(OBJECT)},{deep}]" if suffix == ".json" else f"{json.dumps(OBJECT)}\n{deep}"

    intake = refunds_of(tmp_path, content, suffix)

    assert (ids(intake), [row for row, _ in refused(intake)]) == (["re_1"], [2])


@pytest.mark.parametrize("amount, read", [("100", False), ("4900", True)])
def test_a_field_that_an_object_has_twice_is_read_where_both_agree(
    tmp_path: Path, amount: str, *, read: bool
) -> None:
    content = json.dumps([OBJECT]).replace('"amount": 4900', f'"amount": {amount}, "amount": 4900')

    intake = refunds_of(tmp_path, content, ".json")

    assert (len(intake.frame), len(intake.rejects)) == ((1, 0) if read else (0, 1))
