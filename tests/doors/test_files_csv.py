import csv
from pathlib import Path

import pandas as pd
import pytest

from tests.doors.refund_files import HEADER, ROW, ids, refunds_of, refused, unusable

REORDERED = "whose columns are in another order, so what follows it may be misread"


@pytest.mark.parametrize(
    "content",
    [
        f"{HEADER}\n{ROW}\n",
        f"{HEADER}\r\n{ROW}",
        f"\ufeff{HEADER}\n{ROW}\n",
        f"\n\n{HEADER}\n\n{ROW}\n\n\n",
        f"{HEADER.replace(',', ' , ')}\n{ROW.replace(',', ' , ')}\n",
        f"{HEADER.upper()}\n{ROW}\n",
        "\n".join('"' + line.replace(",", '","') + '"' for line in (HEADER, ROW)),
        f"{HEADER}\n{ROW}\n".replace(",", ";"),
        f"{HEADER}\n{ROW}\n".replace(",", "\t"),
        f"sep=;\r\n{HEADER}\r\n{ROW}\r\n".replace(",", ";"),
        f"{HEADER},a;b;c;d;e;f;g;h;i\n{ROW},\n",
    ],
)
def test_a_csv_is_read_as_whoever_wrote_it_wrote_it(tmp_path: Path, content: str) -> None:
    intake = refunds_of(tmp_path, content)

    assert intake.rejects == ()
    assert intake.frame[["id", "payment_intent", "amount_minor"]].values.tolist() == [["re_1", "pi_1", 4900]]


def test_cells_stay_text_and_an_empty_cell_is_missing(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER},charge,reason,intent_key\n0012{ROW[4:]},1e5,NA,\n")

    assert intake.frame[["id", "charge", "reason"]].values.tolist() == [["0012", "1e5", "NA"]]
    assert intake.frame["intent_key"].isna().tolist() == [True]


def test_a_quoted_cell_may_hold_commas_quotes_and_newlines(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f'{HEADER},reason\n{ROW},"a, ""b""\nc"\nre_2{ROW[4:]},\nre_3{ROW[4:]}\n')

    assert ids(intake) == ["re_1", "re_2"]
    assert intake.frame["reason"].iloc[0] == 'a, "b"\nc'
    assert refused(intake) == [(3, None)]


def test_a_ragged_line_is_a_reject_with_its_row(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path, f"{HEADER}\n{ROW}\n\nre_2,pi_2\nre_3{ROW[4:]},more\nre_4,pi_4,-1{ROW[14:]}\nre_5{ROW[4:]}\n"
    )

    assert ids(intake) == ["re_1", "re_5"]
    assert refused(intake) == [(2, None), (3, None), (4, "re_4")]
    assert intake.rejects[0].reason == "expected 6 cells as in the header, found 2 (line 4)"


def test_bytes_that_are_no_utf8_reject_their_line_only(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n{ROW}\n".encode() + b"re_\xff" + ROW[4:].encode() + b"\n")

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None)]
    assert "UTF-8" in intake.rejects[0].reason


def test_a_quote_that_never_closes_makes_the_side_incomplete(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f'{HEADER}\n{ROW}\n"re_2{ROW[4:]}\nre_3{ROW[4:]}\n')

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None)]
    assert intake.incomplete == (
        "refunds.csv: the quote that row 2 opens is never closed, so what follows it was not read"
    )


@pytest.mark.parametrize("lines", [[f'{ROW},"k1', f"re_2{ROW[4:]},k2"], [f'{ROW},"k1']])
def test_a_quote_that_its_last_cell_opens_and_nobody_closes_loses_nothing_in_silence(
    tmp_path: Path, lines: list[str]
) -> None:
    intake = refunds_of(tmp_path, "\n".join([f"{HEADER},intent_key", f"re_0{ROW[4:]},k0", *lines]))

    assert (ids(intake), refused(intake)) == (["re_0"], [(2, None)])
    assert intake.incomplete is not None


def test_a_quote_that_another_row_closes_takes_the_rows_between_with_it_and_says_so(tmp_path: Path) -> None:
    cells = ('"k1', "k2", '"k3', "k4")
    rows = [f"re_{number}{ROW[4:]},{cell}" for number, cell in enumerate(cells, start=1)]
    intake = refunds_of(tmp_path, "\n".join([f"{HEADER},intent_key", *rows]))

    assert (ids(intake), refused(intake)) == (["re_4"], [(1, None)])
    assert intake.incomplete == (
        "refunds.csv: the quote that row 1 opens is closed 2 lines below, within a cell, so the lines between"
        " were not read"
    )


def test_rows_within_the_quotes_of_one_cell_are_no_cell(tmp_path: Path) -> None:
    rows = f'{ROW},"k1\nre_2{ROW[4:]},k2"\nre_3{ROW[4:]},k3\n'
    intake = refunds_of(tmp_path, f"{HEADER},intent_key\n{rows}")

    assert (ids(intake), refused(intake)) == (["re_3"], [(1, None)])
    assert "whole rows between its quotes" in intake.rejects[0].reason


@pytest.mark.parametrize("cell", ['"k"1', '""k1', '""k1""', '"k1" ', '"k""1"x'])
@pytest.mark.parametrize("other", ["", "ragged\n"])
def test_what_follows_a_closed_cell_rejects_the_row_whatever_else_is_there(
    tmp_path: Path, cell: str, other: str
) -> None:
    intake = refunds_of(
        tmp_path, f"intent_key,{HEADER}\n{cell},{ROW}\n{other}k2,re_2{ROW[4:]}\n", suffix=".csv"
    )

    assert ids(intake) == ["re_2"]
    assert (1, None) in refused(intake)


@pytest.mark.parametrize("cell", ['k"1', 'k1"', ' "k1" ', '""', '"a"', '"""a"""', '"a,""b"""', '"a"",b"'])
@pytest.mark.parametrize("other", ["", "ragged\n"])
def test_a_quote_in_its_place_means_the_same_whatever_else_is_there(
    tmp_path: Path, cell: str, other: str
) -> None:
    intake = refunds_of(tmp_path, f"\ufeffreason,{HEADER}\n{cell},{ROW}\n{other}")

    expected = next(csv.reader([cell]))[0].strip() or None
    assert [None if pd.isna(each) else each for each in intake.frame["reason"]] == [expected]


def test_a_header_line_alone_is_a_side_with_nothing_in_it(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n")

    assert (len(intake.frame), intake.rejects) == (0, ())


@pytest.mark.parametrize(
    "content, expected",
    [
        ("", "is empty"),
        ("\ufeff\n\n", "is empty"),
        ("a,b,c\n1,2,3\n", "its first headers are 'a', 'b', 'c'"),
        (f"{HEADER}\n{ROW}\n".replace(",", "#"), "'id#payment_intent#amount_minor"),
        ('{"id": "re_1"}', "none of the columns"),
        (f"{HEADER}\n{ROW}\n".encode("utf-16"), "UTF-8"),
        (b"PK\x03\x04\x00\x00", "UTF-8"),
        (f"{HEADER},id\n{ROW},re_2\n", "the column 'id' twice"),
        (
            "id,Amount,Amount Refunded,Currency,PaymentIntent ID\nch_1,1.00,0.00,usd,pi_1\n",
            "export of payments",
        ),
    ],
)
def test_a_csv_that_is_none_of_refunds_is_refused_with_what_was_found(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    assert expected in unusable(tmp_path, content)


def test_a_csv_that_lacks_one_needed_column_has_its_rows_rejected(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, "id,amount_minor,currency\nre_1,4900,usd\n")

    assert [reject.reason for reject in intake.rejects] == ["created_at is missing (line 2)"]
    (note,) = intake.notes
    assert note.startswith("refunds.csv: no column is called created_at, which refunds need; its first")
    assert note.endswith("--columns MAP.toml says which of them is meant, and recon map proposes one.")


def test_an_amount_in_either_unit_is_enough(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path, "id,amount,currency,status,created_at\nre_1,49.00,usd,failed,2026-03-06T17:00:01Z\n"
    )

    assert (ids(intake), intake.notes) == (["re_1"], ())


def test_a_zero_byte_rejects_its_line_only(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n{ROW}\nre_2\0{ROW[4:]}\n")

    assert ids(intake) == ["re_1"]
    assert [(reject.row, reject.reason) for reject in intake.rejects] == [
        (2, "expected text, found a zero byte (line 3)")
    ]


def test_a_long_cell_is_read_beside_a_ragged_line_too(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER},reason\n{ROW},{'x' * 200_000}\nragged\n")

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None)]


@pytest.mark.parametrize(
    "first, second, expected", [("id", "ID", "re_1"), ("ID", "id", "re_9"), ("Id", "ID", "re_1")]
)
def test_of_headers_that_differ_in_case_ours_to_the_letter_counts_else_the_first(
    tmp_path: Path, first: str, second: str, expected: str
) -> None:
    intake = refunds_of(tmp_path, f"{first}{HEADER[2:]},{second}\n{ROW},re_9\n")

    assert ids(intake) == [expected]


@pytest.mark.parametrize("above", [",,,,,\n", ",,,,,\r\n , ,\n", "\ufeff,,\n", "sep=,\n,,\n"])
def test_empty_rows_above_the_header_are_no_header(tmp_path: Path, above: str) -> None:
    intake = refunds_of(tmp_path, f"{above}{HEADER}\n{ROW}\n{ROW.replace('4900', 'x')}\n")

    assert (ids(intake), refused(intake)) == (["re_1"], [(2, "re_1")])
    assert f"(line {above.count(chr(10)) + 3})" in intake.rejects[0].reason


def test_headers_that_differ_in_capitals_are_told(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"ID,{HEADER}\nre_9,{ROW}\n")

    assert ids(intake) == ["re_1"]
    assert intake.notes == ("refunds.csv: 'id' and 'ID' differ in nothing but capitals; the first is read.",)


@pytest.mark.parametrize(
    "again, said",
    [
        (HEADER, "expected a row, found a second header (line 3)"),
        (f"\ufeff{HEADER}", "expected a row, found a second header (line 3)"),
        (HEADER.upper().replace(",", " , "), "expected a row, found a second header (line 3)"),
        (
            ",".join(reversed(HEADER.split(","))),
            f"expected a row, found a second header {REORDERED} (line 3)",
        ),
    ],
)
def test_a_second_header_is_said_and_is_nobodys_money(tmp_path: Path, again: str, said: str) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n{ROW}\n{again}\n{ROW.replace('re_1', 're_2')}\n")

    assert [(reject.row, reject.id, reject.reason) for reject in intake.rejects] == [(2, None, said)]
    assert intake.frame["amount_minor"].tolist() == [4900, 4900]
    assert intake.notes == ()


def test_a_row_in_which_one_cell_is_a_header_is_a_row(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER},reason\n{ROW},Status\n")

    assert intake.frame["reason"].tolist() == ["Status"]
