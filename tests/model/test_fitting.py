from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from recon.model import frames
from recon.model.frames import Intake
from recon.model.mapping import Case, Column, Side, Sign
from tests.model.test_frames import INTENT, REFUND


def read(name: str, column: Column, *values: object, zone: str = "", **others: object) -> Intake:
    """Return refunds of which one column holds these values and is read in this way."""
    raw = pd.DataFrame([REFUND | others] * len(values), dtype=object)
    raw["id"] = [f"re_{number}" for number in range(1, len(values) + 1)]
    raw[name] = pd.Series(list(values), dtype=object)
    if name == "amount":
        raw = raw.drop(columns="amount_minor")
    return frames.refunds(raw, source="r.csv", how=Side({name: column}, zone=zone))


def cells(intake: Intake, name: str) -> list[Any]:
    return intake.frame[name].astype(object).where(intake.frame[name].notna(), None).tolist()


COMMA = Column(("x",), decimal=",", thousands=".")


@pytest.mark.parametrize(
    "column, value, minor",
    [
        (COMMA, "1.234,50", 123450),
        (COMMA, "12.34.567,5", 123456750),
        (COMMA, "49,00", 4900),
        (COMMA, "49", 4900),
        (COMMA, Decimal("49.50"), 4950),
        (COMMA, 49, 4900),
        (COMMA, "1.23,00", None),
        (COMMA, "49.00", None),
        (COMMA, "1,234.50", None),
        (Column(("x",), thousands=" "), "1 234.50", 123450),
        (Column(("x",), sign=Sign.NEGATIVE), "-49.00", 4900),
        (Column(("x",), sign=Sign.NEGATIVE), "(49.00)", 4900),
        (Column(("x",), sign=Sign.NEGATIVE), "49.00-", 4900),
        (Column(("x",), sign=Sign.NEGATIVE), "0.00", 0),
        (Column(("x",), sign=Sign.NEGATIVE), "49.00", None),
        (Column(("x",), sign=Sign.EITHER), "49.00", 4900),
        (Column(("x",), sign=Sign.EITHER), "-49.00", 4900),
        (Column(("x",), sign=Sign.EITHER), "--49.00", None),
        (Column(("x",)), "-49.00", None),
        (Column(("x",)), "49.005", None),
    ],
)
def test_an_amount_is_read_as_the_map_says_or_not_at_all(
    column: Column, value: object, minor: int | None
) -> None:
    intake = read("amount", column, value)

    assert intake.frame["amount_minor"].tolist() == ([] if minor is None else [minor])
    assert len(intake.rejects) == (minor is None)


def test_a_sum_adds_what_is_there() -> None:
    raw = pd.DataFrame([REFUND] * 4, dtype=object).drop(columns="amount_minor")
    raw["id"] = ["a", "b", "c", "d"]
    raw["amount 0"] = ["10.00", "10.00", None, "x"]
    raw["amount 1"] = ["2.50", None, None, "1.00"]

    intake = frames.refunds(raw, source="r.csv", how=Side({"amount": Column(sums=("net", "tax"))}))

    assert intake.frame[["id", "amount_minor"]].values.tolist() == [["a", 1250], ["b", 1000]]
    assert [(reject.id, reject.reason) for reject in intake.rejects] == [
        ("c", "amount (column 'net' or 'tax') is missing"),
        ("d", "amount (column 'net') must be a decimal number of major units; found 'x'"),
    ]


DAY = Column(("x",), format="%d/%m/%Y %H:%M", zone="Europe/Paris")


@pytest.mark.parametrize(
    "column, value, at",
    [
        (DAY, "06/03/2026 18:00", "2026-03-06T17:00:00Z"),
        (DAY, "29/03/2026 02:30", None),  # No clock in Paris shows it.
        (DAY, "25/10/2026 02:30", None),  # Every clock there shows it twice.
        (DAY, "2026-03-06T17:00:00Z", None),
        (Column(("x",), format="%Y-%m-%d %H:%M %z"), "2026-03-06 18:00 +0100", "2026-03-06T17:00:00Z"),
        (Column(("x",), format="unix_ms"), 1772816400123, "2026-03-06T17:00:00.123Z"),
        (Column(("x",), format="unix_ms"), "1772816400123", "2026-03-06T17:00:00.123Z"),
        (Column(("x",), format="unix_us"), 1772816400123456, "2026-03-06T17:00:00.123456Z"),
        (Column(("x",), format="unix"), 86400, "1970-01-02T00:00:00Z"),
        (Column(("x",), format="unix_ms"), "soon", None),
        (Column(("x",), format="unix"), 10**15, None),
        (Column(("x",), format="unix"), -(2**63), None),
        (Column(("x",), format="%Y-%m-%d%%z", zone="Asia/Tokyo"), "2026-03-06%z", "2026-03-05T15:00:00Z"),
        (Column(("x",), zone="UTC"), "2026-03-06 17:00:00", "2026-03-06T17:00:00Z"),
        (Column(("x",), zone="UTC"), "2026-03-06", "2026-03-06T00:00:00Z"),
        (Column(("x",), zone="Asia/Kolkata"), "2026-03-06 22:30:00.5", "2026-03-06T17:00:00.5Z"),
        (Column(("x",), zone="Asia/Kolkata"), "2026-03-06T17:00:00Z", "2026-03-06T17:00:00Z"),
        (Column(("x",), zone="+05:30"), "2026-03-06 22:30", "2026-03-06T17:00:00Z"),
        (Column(("x",), zone="Europe/Paris"), "2026-10-25 02:30", None),
        (Column(("x",)), "2026-03-06 17:00:00", None),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_a_time_is_read_as_the_map_says_or_not_at_all(
    column: Column, value: object, at: str | None, *, typed: bool
) -> None:
    values = [value, value] if typed else [value, value, None]

    intake = read("created_at", column, *values)

    assert intake.frame["created_at"].tolist() == ([] if at is None else [pd.Timestamp(at)] * 2)


def test_a_side_has_a_zone_for_the_times_that_say_none() -> None:
    intake = read("created_at", Column(("x",)), "2026-03-06 18:00", zone="Europe/Paris")

    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:00Z")]


def test_a_parquets_times_without_a_zone_take_that_of_the_map() -> None:
    raw = pd.DataFrame([INTENT]).assign(created_at=pd.Timestamp("2026-03-06T18:00:00"), updated_at=None)

    intake = frames.intents(raw, source="i.parquet", how=Side(zone="Europe/Paris"))

    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:00Z")]


def test_words_are_translated_and_strangers_counted() -> None:
    column = Column(
        ("State",), case=Case.LOWER, words={"ok": "succeeded", "true": "failed"}, missing="pending"
    )
    raw = pd.DataFrame([REFUND] * 6, dtype=object)
    raw["id"] = list("abcdef")
    raw["status"] = ["OK", "ok", True, None, "canceled", "hm"]

    part = frames.part_of_refunds(raw, source="r.csv", how=Side({"status": column}))

    assert pa.chunked_array([part.columns["status"]]).to_pylist() == [
        "succeeded",
        "succeeded",
        "failed",
        "pending",
        "canceled",
        "hm",
    ]
    assert part.strangers == {"status": {"hm": 1}}


def test_without_words_of_its_own_a_map_meets_no_strangers() -> None:
    raw = pd.DataFrame([REFUND | {"status": "hm"}], dtype=object)

    assert frames.part_of_refunds(raw, source="r.csv").strangers == {}


def test_what_stands_for_a_missing_cell_does_not_mend_a_bad_one() -> None:
    intake = read("reason", Column(("why",), missing="none given"), None, "fraud", ["x"])

    assert cells(intake, "reason") == ["none given", "fraud"]
    assert [reject.reason for reject in intake.rejects] == [
        "reason (column 'why') must be text; found '['x']'"
    ]


def test_milliseconds_are_named_and_not_taken_for_seconds() -> None:
    (reject,) = read("created_at", Column(), "1772816400123").rejects

    assert reject.reason.endswith("found '1772816400123', which looks like milliseconds since 1970")
