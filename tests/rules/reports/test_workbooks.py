import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import openpyxl
import pytest

from recon.model.records.comparisons import Compared, Comparison, Earlier, NowIs, Seen, Standing
from recon.model.records.reports import Total
from recon.model.records.results import Healable, InFlight, Money, Reject, Result
from recon.model.records.words import AccountId, Basis, IntentKey, Kind, RefundId, Subject, Verdict
from recon.rules.reports import workbooks
from tests.rules.reports.results import AT, BRIDGE, MISMATCH, a_report, a_result


def book(result: Result | None = None, **fields: object) -> Any:  # noqa: ANN401 - openpyxl has no types
    return openpyxl.load_workbook(io.BytesIO(workbooks.as_xlsx(a_report(result, **fields))))


def rows(sheet: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as above
    header, *rest = sheet.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rest]


def test_every_sheet_is_there_with_its_rows() -> None:
    result = a_result(
        in_flight=(InFlight(AccountId("acct_1"), Subject("intent:k2"), Kind.MISSING, AT),),
        healable=(Healable(AccountId(""), IntentKey("k3"), RefundId("re_3"), Basis.REQUEST_KEY),),
        rejected=(Reject("r.csv", 7, "re_7", "currency is missing"),),
    )
    sheets = book(result)

    assert sheets.sheetnames == ["Summary", "Mismatches", "In flight", "Healable", "Rejected", "Counts"]
    assert rows(sheets["In flight"]) == [
        {
            "Account": "acct_1",
            "Subject": "intent:k2",
            "Becomes": "missing",
            "Breaks at (UTC)": AT.replace(tzinfo=None),
        }
    ]
    assert rows(sheets["Healable"])[0]["Refund id"] == "re_3"
    assert rows(sheets["Rejected"]) == [
        {"Source": "r.csv", "Row": 7, "Id": "re_7", "Reason": "currency is missing"}
    ]
    assert {"Side": "intents", "What": "together", "How many": 4} in rows(sheets["Counts"])
    summary = {row["What"]: row["Value"] for row in rows(sheets["Summary"])}
    assert summary["verdict"] == "mismatches found"
    assert summary["stuck_after_minutes"] == "60"
    assert summary["as of (UTC)"] == AT.replace(tzinfo=None)


@pytest.mark.parametrize(
    "money, number, shown",
    [
        (Money(123_456, "usd"), 1234.56, "#,##0.00"),
        (Money(500, "jpy"), 500, "#,##0"),
        (Money(1, "bhd"), 0.001, "#,##0.000"),
        (Money(999_999_999_999_999, "usd"), 9_999_999_999_999.99, "#,##0.00"),
        (Money(2**63, "usd"), "92233720368547758.08", "General"),
    ],
)
def test_an_amount_is_a_number_in_its_currencys_decimals_or_whole_as_text(
    money: Money, number: object, shown: str
) -> None:
    sheet = book(a_result(mismatches=(replace(MISMATCH, at_risk=money),)))["Mismatches"]

    assert (sheet["C2"].value, sheet["C2"].number_format) == (number, shown)
    assert sheet["D2"].value == money.currency.upper()
    whole = money.amount_minor
    assert sheet["E2"].value == (whole if whole < 10**15 else str(whole))


@pytest.mark.parametrize(
    "at, value",
    [
        (AT, datetime(2026, 3, 6, 17)),  # noqa: DTZ001 - a spreadsheet knows no zone
        (datetime(1850, 1, 1, tzinfo=UTC), "1850-01-01T00:00:00Z"),
        (datetime(9999, 12, 31, 23, 59, tzinfo=UTC), datetime(9999, 12, 31, 23, 59)),  # noqa: DTZ001 - as above
    ],
)
def test_a_time_is_a_time_where_spreadsheets_have_it(at: datetime, value: object) -> None:
    sheet = book(a_result(mismatches=(replace(MISMATCH, since=at),)))["Mismatches"]

    assert sheet["F2"].value == value


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "http://", "{="])
def test_no_cell_is_a_formula_or_a_link_and_none_becomes_one_when_edited(start: str) -> None:
    said = f"{start}cmd|' /C calc'!A0"
    found = replace(MISMATCH, order_id=said, why=said, account=AccountId(said), subject=Subject(said))
    result = a_result(
        mismatches=(found,),
        rejected=(Reject(said, 1, said, said),),
        withheld=((AccountId(said), Subject(said)),),
    )
    content = workbooks.as_xlsx(a_report(result, policy_from=said))
    sheets = openpyxl.load_workbook(io.BytesIO(content))
    cells = [cell for sheet in sheets for row in sheet.iter_rows() for cell in row]
    hostile = [cell for cell in cells if isinstance(cell.value, str) and "calc" in cell.value]

    assert len(hostile) == 10
    assert {cell.data_type for cell in hostile} == {"s"}
    assert {cell.quotePrefix for cell in hostile} == {True}
    assert {cell.hyperlink for cell in hostile} == {None}
    assert not [name for name in zipfile.ZipFile(io.BytesIO(content)).namelist() if "calcChain" in name]
    assert b"<f>" not in b"".join(
        zipfile.ZipFile(io.BytesIO(content)).read(f"xl/worksheets/sheet{n}.xml") for n in range(1, 8)
    )


def test_what_no_cell_can_hold_is_cut_or_replaced_and_the_file_opens() -> None:
    found = replace(MISMATCH, why="x" * 40_000, order_id="a\ud800b\x00c\x01")
    sheet = book(a_result(mismatches=(found,)))["Mismatches"]
    (row,) = rows(sheet)

    assert len(row["Why"]) == 32_767
    assert row["Order id"] == "a\ufffdb\ufffdc_x0001_"  # As the format spells what XML has no sign for.


def test_a_sheet_keeps_its_header_in_sight_and_can_be_filtered() -> None:
    sheet = book(a_result(mismatches=(MISMATCH, MISMATCH)))["Mismatches"]

    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:H3"
    assert sheet.column_dimensions["H"].width > 60


def test_the_same_report_gives_the_same_bytes_whenever_it_is_written() -> None:
    content = workbooks.as_xlsx(a_report())

    assert content == workbooks.as_xlsx(a_report())
    properties = openpyxl.load_workbook(io.BytesIO(content)).properties
    assert (properties.created, properties.modified) == (AT.replace(tzinfo=None),) * 2


def test_a_list_longer_than_a_sheet_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "ROWS", 2)
    sheets = book(a_result(mismatches=(MISMATCH,) * 5))

    assert len(rows(sheets["Mismatches"])) == 2
    assert sheets["Mismatches"].auto_filter.ref == "A1:H3"


def test_a_comparison_has_a_sheet() -> None:
    before = Seen(Kind.MISSING, Money(100, "usd"))
    gone = Compared(Standing.RESOLVED, AccountId(""), Subject("intent:k"), before, None, NowIs.NO_MISMATCH)
    comparison = Comparison(Earlier("old.json", AT, Verdict.BREAKS, {}), (gone,))
    (row,) = rows(book(comparison=comparison)["Compared"])

    assert (row["Standing"], row["Earlier at risk"], row["Earlier currency"]) == ("resolved", 1, "USD")
    assert row["Now is"] == "no mismatch"


def test_the_largest_of_each_currency_come_first_within_a_kind() -> None:
    found = tuple(
        replace(MISMATCH, kind=kind, at_risk=Money(amount, currency), subject=Subject(f"intent:{name}"))
        for kind in (Kind.DUPLICATE, Kind.MISSING)
        for name, amount, currency in (("a", 5, "usd"), ("b", 7, "usd"), ("c", 6, "eur"), ("d", 7, "usd"))
    )

    told = [(row["Kind"], row["Subject"][-1]) for row in rows(book(a_result(mismatches=found))["Mismatches"])]

    assert told == [(kind, name) for kind in ("duplicate", "missing") for name in "cbda"]


def test_a_column_in_which_no_row_has_anything_is_left_out() -> None:
    found = (MISMATCH, replace(MISMATCH, subject=Subject("intent:k2"), order_id="o2"))
    full, empty = (book(a_result(mismatches=each))["Mismatches"] for each in (found, ()))

    assert "Order id" in rows(full)[0]
    assert "Customer id" not in rows(full)[0]
    assert "Customer id" in [cell.value for cell in empty[1]]


def test_why_something_is_withheld_and_what_each_side_comes_to_have_sheets() -> None:
    pair = (AccountId(""), Subject("refund:re_9"))
    sheets = book(
        a_result(withheld=(pair,)),
        why_withheld={pair: "not all intents were read"},
        totals=(Total("intents", "pending_unknown", 2, Money(123, "usd")),),
    )

    assert rows(sheets["Withheld"]) == [{"Subject": "refund:re_9", "Because": "not all intents were read"}]
    assert rows(sheets["Totals"]) == [
        {"Side": "intents", "Status": "pending unknown", "How many": 2, "Amount": 1.23, "Currency": "USD"}
    ]


def test_the_bridge_is_a_sheet_whose_amounts_are_numbers() -> None:
    result = a_result(rejected=(Reject("r.csv", 1, None, "odd"),))

    told = [list(row.values()) for row in rows(book(result, bridge=BRIDGE)["Bridge"])]

    assert told == [
        ["marked done", "intents", 2, 70, "USD"],
        ["refunded twice", "intents", 1, 49, "USD"],
        ["refund missing", "intents", 1, -21, "USD"],
        ["live refunds", "refunds", 2, 98, "USD"],
        ["1 rejected row is in none of these sums: what cannot be read has no amount.", *[None] * 4],
    ]


def test_what_may_be_wrong_with_the_files_stands_in_the_summary() -> None:
    summary = rows(book(hints=("Is the zone of one file right?",))["Summary"])

    assert ("what may be wrong with the files", "Is the zone of one file right?") in [
        (row["What"], row["Value"]) for row in summary
    ]
