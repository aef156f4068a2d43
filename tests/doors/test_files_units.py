"""An amount whose unit nobody said is never read as a hundredth of what it is."""

import json
from pathlib import Path

import pandas as pd
import pytest

from recon.doors.files import reading
from recon.model.mapping import Column, Map, Side
from tests.doors.refund_files import OBJECT, ids, refunds_of, refused

HEAD = "id,amount,currency,created,charge\n"


def table(*amounts: str) -> str:
    rows = (f"re_{number},{amount},usd,1772816401,ch_1" for number, amount in enumerate(amounts))
    return HEAD + "\n".join(rows)


@pytest.mark.parametrize(
    "amounts, rejected",
    [
        (["4900", "4900.0"], []),
        (["4900", "49.00", "7.000"], [2, 3]),
        (["4900.000000000"], []),
        (["49.50", "50", "7.00"], [1, 2, 3]),
        (["49.5", "", "x"], [1, 2, 3]),
    ],
)
def test_decimals_under_the_name_amount_are_rejected(
    tmp_path: Path, amounts: list[str], rejected: list[int]
) -> None:
    intake = refunds_of(tmp_path, table(*amounts))

    assert [row for row, _ in refused(intake)] == rejected
    assert len(intake.frame) == len(amounts) - len(rejected)


def test_floats_beside_a_fraction_are_rejected(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["re_1", "re_2"], "amount": [49.5, 50.0], "currency": "usd"})
    frame.assign(created=1772816401, charge="ch_1").to_parquet(tmp_path / "refunds.parquet")

    assert refused(reading.read_refunds(tmp_path / "refunds.parquet")) == [(1, "re_1"), (2, "re_2")]


def test_the_reject_says_how_a_map_tells_the_unit(tmp_path: Path) -> None:
    (reject,) = refunds_of(tmp_path, table("49.00")).rejects

    assert 'a map for --columns says so by amount = "amount"' in reject.reason


def test_a_map_that_names_the_unit_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "refunds.csv"
    path.write_text(table("49.00"))

    found = [
        reading.read_refunds(path, Map(refunds=Side({ours: Column(("amount",))}))).frame["amount_minor"][0]
        for ours in ("amount", "amount_minor")
    ]

    assert found == [4900, 49]


@pytest.mark.parametrize("amount", ['"49.00"', "49.00", '"49.000"'])
def test_decimals_in_the_providers_object_are_rejected(tmp_path: Path, amount: str) -> None:
    content = json.dumps([OBJECT, OBJECT | {"id": "re_2", "amount": "?"}]).replace('"?"', amount)

    intake = refunds_of(tmp_path, content, ".json")

    assert (ids(intake), refused(intake)) == (["re_1"], [(2, "re_2")])
    assert "as major units have" in intake.rejects[0].reason
