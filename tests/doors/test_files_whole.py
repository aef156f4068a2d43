"""A document is read in one way from its first row to its last, however many rows lie between."""

import json
from pathlib import Path
from typing import Any

import pytest

from recon.doors.files import documents, reading
from recon.model.mapping import Column, Filter, Map, Side
from tests.doors.refund_files import FLAT, OBJECT

ROW = {name: cell for name, cell in FLAT.items() if name != "amount_minor"}


def read(
    folder: Path, rows: list[dict[str, Any]], suffix: str, told: Map | None = None
) -> list[tuple[object, ...]]:
    path = folder / f"refunds{suffix}"
    path.write_text(json.dumps(rows) if suffix == ".json" else "\n".join(map(json.dumps, rows)))
    frame = reading.read_refunds(path, told).frame
    return [*zip(*(frame[name].tolist() for name in ("id", "amount_minor", "status")), strict=True)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_VALUES", 2)


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_field_that_comes_late_says_what_the_first_rows_mean_too(tmp_path: Path, suffix: str) -> None:
    rows = [ROW | {"id": f"re_{number}", "amount": "4900"} for number in range(5)]
    rows[4]["balance_transaction"] = "txn_1"

    found = read(tmp_path, rows, suffix)

    assert found == [(f"re_{number}", 4900, "succeeded") for number in range(5)]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_filter_holds_for_rows_before_the_first_that_has_its_field(tmp_path: Path, suffix: str) -> None:
    rows: list[dict[str, Any]] = [FLAT | {"id": f"re_{number}"} for number in range(5)]
    rows[4]["kind"] = "refund"

    found = read(tmp_path, rows, suffix, Map(refunds=Side(filters=(Filter("kind", ("refund",)),))))

    assert found == [("re_4", 4900, "succeeded")]


def test_what_a_map_names_is_never_taken_from_a_field_of_its_own_finding(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [FLAT | {"id": f"re_{number}", "status": "failed"} for number in range(4)]
    rows.append(OBJECT | {"id": "re_4", "state": "pending"})

    found = read(
        tmp_path, rows, ".jsonl", Map(refunds=Side({"status": Column(("state",), missing="succeeded")}))
    )

    assert found == [
        *((f"re_{number}", 4900, "succeeded") for number in range(4)),
        ("re_4", 4900, "pending"),
    ]


def test_an_object_beside_flat_rows_says_nothing_of_their_units(tmp_path: Path) -> None:
    flat = ROW | {"id": "re_f", "amount": "49.00"}

    assert read(tmp_path, [OBJECT, flat], ".json") == read(tmp_path, [OBJECT], ".json") + read(
        tmp_path, [flat], ".json"
    )
    assert read(tmp_path, [flat], ".json") == [("re_f", 4900, "succeeded")]
